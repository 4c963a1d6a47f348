"""What a plugin contributes in Codex, counted; and what Codex ignores of it."""

from __future__ import annotations

import os

from core.plugins.apps_file import plugin_apps
from core.plugins.commands import plugin_commands
from core.plugins.hooks import hook_keys, plugin_hooks
from core.plugins.manifest import Manifest
from core.plugins.mcp_file import plugin_servers
from core.plugins.skills import Found, plugin_skills
from core.protocol.rows import Brings

NAMES = 200
"""Of one plugin that the search knows."""


def count(manifest: Manifest, *, installed: bool) -> Brings:
    """Counts the parts of a plugin. Reads its directory; blocks.

    Args:
        installed: It is the installed copy, where commands have become skills already.
    """
    found = Found(skills=[], faults=[], seen=set())
    plugin_skills(manifest, found, installed=installed)
    base = os.path.realpath(manifest.root)
    skills = [skill for skill in found.skills if is_copied(skill.path, base)]
    linked = len(found.skills) - len(skills)
    commands = plugin_commands(manifest)
    usable = 0 if installed else sum(not command.reason for command in commands)
    servers = plugin_servers(manifest).entries
    prefix = f"{manifest.name}:"
    names = [skill.name.removeprefix(prefix) for skill in skills]
    return Brings(
        skills=len(skills) + usable,
        hooks=sum(1 for _ in hook_keys(plugin_hooks(manifest), "")),
        servers=len(servers),
        apps=len(plugin_apps(manifest)),
        ignored=(
            *ignored(manifest, sum(bool(command.reason) for command in commands)),
            *([_counted(linked, "linked skill")] if linked else []),
        ),
        names=tuple(dict.fromkeys([*names, *servers]))[:NAMES],
    )


def is_copied(path: str, base: str) -> bool:
    """No link is on the way to a file: an install leaves links out.

    Args:
        base: Real path of the plugin's directory.
    """
    return os.path.realpath(path).startswith(f"{base}/")


def ignored(manifest: Manifest, commands: int) -> tuple[str, ...]:
    """What other agents would use of the plugin and Codex does not, for people."""
    parts = [_counted(commands, "command")] if commands else []
    agents = _markdown(f"{manifest.root}/agents")
    if agents:
        parts.append(_counted(agents, "agent"))
    styles = _markdown(f"{manifest.root}/output-styles")
    if styles:
        parts.append(_counted(styles, "output style"))
    if os.path.isfile(f"{manifest.root}/.lsp.json"):
        parts.append("language servers")
    return tuple(parts)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _markdown(directory: str) -> int:
    try:
        with os.scandir(directory) as entries:
            return sum(entry.name.endswith(".md") and entry.is_file() for entry in entries)
    except OSError:
        return 0


def is_nothing(brings: Brings) -> bool:
    """Whether Codex can use nothing of it."""
    return not (brings.skills or brings.hooks or brings.servers or brings.apps)
