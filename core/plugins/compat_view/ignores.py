"""What other agents would use of a plugin and Codex 0.171.0 does not, with the reason."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, cast

from core.plugins.commands import plugin_commands
from core.plugins.compat_view.uses import RUNNABLE, VARIABLE, is_linked, manifest_members
from core.plugins.hooks import EVENTS, plugin_hooks
from core.plugins.layout import read_file
from core.plugins.manifest import Manifest, below
from core.plugins.mcp_file import PluginServers
from core.plugins.skills import Found, plugin_skills
from core.protocol.jackfield_install import IgnoredPart

_CLAUDE = "only Claude Code uses it"
_EVENTS = frozenset(event for event, _, _ in EVENTS)
_FOLDERS = (
    ("agents", "agent", "agents"),
    ("output-styles", "output style", "outputStyles"),
    ("themes", "theme", "themes"),
)
_FILES = (
    (".lsp.json", "language server", "lspServers"),
    ("monitors/monitors.json", "monitor", "monitors"),
)
_LINKS = 20_000
_SKIPPED = frozenset({".git", "node_modules"})


def ignored_parts(
    manifest: Manifest,
    servers: PluginServers,
    metadata: Mapping[str, Any],
    *,
    installed: bool,
) -> Iterator[IgnoredPart]:
    """Everything that is left out. Reads the plugin's directory; blocks.

    Args:
        metadata: Other members of its marketplace entry, which Claude Code reads like a manifest.
    """
    yield from _commands(manifest)
    members = {**metadata, **manifest_members(manifest)}
    for folder, what, member in _FOLDERS:
        names = _markdown(f"{manifest.root}/{folder}") + _declared(members.get(member))
        if names:
            yield IgnoredPart(what=what, names=tuple(dict.fromkeys(names)), reason=_CLAUDE)
    for file, what, member in _FILES:
        names = _declared(members.get(member)) or _members(f"{manifest.root}/{file}")
        if names:
            yield IgnoredPart(what=what, names=tuple(names), reason=_CLAUDE)
    yield from _hooks(manifest)
    yield from _servers(servers)
    if not manifest.agent_plugins and (unsent := _unsent(servers, members)):
        reason = "`headers` is read and not sent; Codex sends `http_headers`"
        yield IgnoredPart(what="header set", names=tuple(unsent), reason=reason)
    if not installed:
        yield from _linked_skills(manifest)
        if links := _links(manifest.root):
            yield IgnoredPart(what="link", names=tuple(links), reason="links are not copied")


def _commands(manifest: Manifest) -> Iterator[IgnoredPart]:
    """Slash commands that become no skill, by why not."""
    if manifest.agent_plugins:
        names = _markdown(f"{manifest.root}/commands")
        if names:
            reason = "of a plugin of this format no skills are made of commands"
            yield IgnoredPart(what="command", names=tuple(names), reason=reason)
        return
    by_reason: dict[str, list[str]] = {}
    for command in plugin_commands(manifest):
        if command.reason:
            by_reason.setdefault(command.reason, []).append(f"/{command.slug}")
    for reason, names in by_reason.items():
        yield IgnoredPart(what="command", names=tuple(names), reason=f"no skill: {reason}")


def _hooks(manifest: Manifest) -> Iterator[IgnoredPart]:
    if manifest.agent_plugins:
        if os.path.isfile(f"{manifest.root}/hooks/hooks.json"):
            reason = "Codex reads no hooks of a plugin of this format"
            yield IgnoredPart(what="hook file", names=("hooks/hooks.json",), reason=reason)
        return
    kinds: dict[str, list[str]] = {}
    for group in plugin_hooks(manifest).sets:
        for event, wire, _ in EVENTS:
            for matcher in group.events.get(event, ()):
                for handler in cast("list[dict[str, Any]]", matcher.get("hooks", ())):
                    if handler.get("type") not in RUNNABLE:
                        kinds.setdefault(str(handler.get("type")), []).append(wire)
    for kind, events in kinds.items():
        reason = f"{kind} hooks are not supported"
        yield IgnoredPart(what="hook", names=tuple(events), reason=reason)
    if events := _unknown_events(manifest):
        yield IgnoredPart(what="hook", names=tuple(events), reason="Codex knows no such event")


def _unknown_events(manifest: Manifest) -> list[str]:
    """Events of hook files that Codex does not have."""
    written = manifest.hooks
    values: list[Any] = []
    if written is None or isinstance(written, str):
        path = below(written, manifest.root) if isinstance(written, str) else None
        values.append(_json(path or f"{manifest.root}/hooks/hooks.json"))
    elif isinstance(written, list):
        for item in cast("list[Any]", written):
            path = below(item, manifest.root) if isinstance(item, str) else None
            values.append(_json(path) if path else item)
    else:
        values.append(written)
    found: list[str] = []
    for value in values:
        table = cast("dict[str, Any]", value).get("hooks") if isinstance(value, dict) else None
        if isinstance(table, dict):
            found += [name for name in cast("dict[str, Any]", table) if name not in _EVENTS]
    return list(dict.fromkeys(found))


def _servers(servers: PluginServers) -> Iterator[IgnoredPart]:
    for dropped in servers.dropped:
        yield IgnoredPart(
            what="server", names=(dropped.name,), reason=f"left out: {dropped.reason}"
        )
    unfilled: dict[str, list[str]] = {}
    for name, entry in servers.entries.items():
        for variable in sorted(set(VARIABLE.findall(_text_of(entry)))):
            unfilled.setdefault(variable, []).append(name)
    for variable, names in unfilled.items():
        reason = f"{variable} is not filled in: the server gets it as it is written"
        yield IgnoredPart(what="variable", names=tuple(names), reason=reason)


def _unsent(servers: PluginServers, members: Mapping[str, Any]) -> list[str]:
    """Servers whose headers are written the way other agents read them."""
    inline: Any = members.get("mcpServers")
    value: Any = cast("Any", inline) if isinstance(inline, dict) else _json(servers.path)
    if not isinstance(value, dict):
        return []
    table = cast("dict[str, Any]", value)
    wrapped: Any = table.get("mcpServers")
    if isinstance(wrapped, dict):
        table = cast("dict[str, Any]", wrapped)
    return [
        name
        for name, entry in table.items()
        if name in servers.entries and isinstance(entry, dict) and "url" in entry
        if "headers" in entry
    ]


def _text_of(entry: Mapping[str, Any]) -> str:
    """Everything of a server that a variable may stand in."""
    texts = [str(entry.get(name, "")) for name in ("command", "url", "cwd")]
    arguments: Any = entry.get("args")
    if isinstance(arguments, list):
        texts += map(str, cast("list[Any]", arguments))
    environment: Any = entry.get("env")
    if isinstance(environment, Mapping):
        texts += map(str, cast("Mapping[str, Any]", environment).values())
    return "\n".join(texts)


def _linked_skills(manifest: Manifest) -> Iterator[IgnoredPart]:
    found = Found(skills=[], faults=[], seen=set())
    plugin_skills(manifest, found)
    base = os.path.realpath(manifest.root)
    names = [skill.name for skill in found.skills if is_linked(skill.path, base)]
    if names:
        reason = "they lie behind a link, and links are not copied"
        yield IgnoredPart(what="skill", names=tuple(names), reason=reason)


def _links(root: str) -> list[str]:
    """Symbolic links below a directory, as many as can be found quickly."""
    found: list[str] = []
    seen = 0
    for here, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in _SKIPPED]
        for name in (*folders, *files):
            seen += 1
            path = f"{here}/{name}"
            if os.path.islink(path):
                found.append(os.path.relpath(path, root))
        if seen > _LINKS:
            break
    return sorted(found)


def _markdown(directory: str) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            names = [e.name for e in entries if e.name.endswith(".md") and e.is_file()]
    except OSError:
        return []
    return sorted(name.removesuffix(".md") for name in names)


def _declared(value: Any) -> list[str]:
    """Names of what a manifest member declares: paths, or members of an object."""
    if isinstance(value, str):
        return [os.path.basename(value.rstrip("/")).removesuffix(".md") or value]
    if isinstance(value, list):
        return [name for item in cast("list[Any]", value) for name in _declared(item)]
    if isinstance(value, dict):
        return [str(name) for name in cast("dict[str, Any]", value)]
    return []


def _members(path: str) -> list[str]:
    """Names of the members of a JSON file; the file's own name when it cannot be read as one."""
    if not os.path.isfile(path):
        return []
    value = _json(path)
    names = _declared(value) if isinstance(value, dict) else []
    return names or [os.path.basename(path)]


def _json(path: str) -> Any:
    try:
        return json.loads(read_file(path))
    except (OSError, ValueError, RecursionError):
        return None
