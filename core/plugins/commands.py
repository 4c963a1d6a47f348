"""Slash commands of a plugin: Codex makes skills of the simple ones when it installs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from core.plugins.front_matter import SkillFault, read_front_matter
from core.plugins.layout import read_file
from core.plugins.manifest import Manifest, below

_APART = re.compile(r"[^a-z0-9]+")
_DYNAMIC = re.compile(r"\$ARGUMENTS|\$[0-9]|!`|\{\{|(?:^|\s)@[\w./~-]", re.MULTILINE)
_DELIMITED = re.compile(r"\A---[ \t]*\r?\n.*?^---[ \t]*\r?\n?", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A command file.

    Attributes:
        slug: Its path without `.md`, spelled for a skill's name.
        description, body: Empty when it does not become a skill.
        reason: Why it does not, or "".
    """

    path: str
    slug: str
    description: str = ""
    body: str = ""
    reason: str = ""


def plugin_commands(manifest: Manifest) -> list[Command]:
    """The commands of a classic plugin, sorted by name; other formats have none."""
    if manifest.agent_plugins:
        return []
    commands: dict[str, Command] = {}
    for base, path in _files(manifest):
        name = os.path.relpath(path, base).removesuffix(".md")
        slug = _APART.sub("-", name.lower()).strip("-")
        commands.setdefault(slug, read_command(path, slug))
    return [commands[slug] for slug in sorted(commands)]


def _files(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Command files with the directory that their names begin at."""
    written: Any = manifest.commands
    paths = cast("list[Any]", written) if isinstance(written, list) else [written]
    declared = [
        found
        for path in paths
        if isinstance(path, str) and (found := below(path, manifest.root)) is not None
    ]
    for place in declared or [f"{manifest.root}/commands"]:
        if os.path.isfile(place) and not os.path.islink(place):
            yield os.path.dirname(place), place
        for directory, folders, files in os.walk(place):
            folders.sort()
            for file in sorted(files):
                path = f"{directory}/{file}"
                if file.endswith(".md") and file != "README.md" and not os.path.islink(path):
                    yield place, path


def read_command(path: str, slug: str) -> Command:
    """A command, with why it becomes no skill."""
    try:
        data = read_file(path)
        text = data.decode()
        front = read_front_matter(data)
    except OSError:
        return Command(path, slug, reason="it cannot be read")
    except UnicodeDecodeError:
        return Command(path, slug, reason="it is not UTF-8")
    except SkillFault as fault:
        return Command(path, slug, reason=str(fault))
    body = _DELIMITED.sub("", text, count=1).strip()
    if _DYNAMIC.search(body):
        return Command(path, slug, reason="it uses arguments, commands or files")
    return Command(path, slug, front.description, body)


def skill_text(command: Command) -> str:
    """The SKILL.md that Codex 0.171.0 makes of a command."""
    from json import dumps

    name = f"source-command-{command.slug}"
    body = command.body or "No command template body was found."
    return (
        f"---\nname: {dumps(name, ensure_ascii=False)}\n"
        f"description: {dumps(command.description, ensure_ascii=False)}\n---\n\n"
        f"# {name}\n\n"
        "Use this skill when the user asks to run the migrated source command "
        f"`{command.slug}`.\n\n## Command Template\n\n{body}\n"
    )
