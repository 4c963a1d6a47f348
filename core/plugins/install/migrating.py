"""Slash commands of a copy that is being installed become skills in that copy."""

from __future__ import annotations

import os

from core.plugins.commands import plugin_commands, skill_text
from core.plugins.manifest import Manifest, read_manifest
from core.plugins.skills import Found, plugin_skills

MIGRATED = ".codex-plugin/migrated-command-skills"


def migrate_commands(root: str) -> int:
    """Write a skill for every command of the plugin in `root` that can be one; how many.

    Names that a skill of the plugin already has stay that skill's.

    Raises:
        OSError: A file could not be written.
    """
    manifest = read_manifest(root)
    if not isinstance(manifest, Manifest):
        return 0
    commands = [command for command in plugin_commands(manifest) if not command.reason]
    if not commands:
        return 0
    own = _skill_names(manifest)
    written = 0
    for command in commands:
        name = f"source-command-{command.slug}"
        folder = f"{root}/{MIGRATED}/{name}"
        if name in own or not command.slug or os.path.lexists(folder):
            continue
        os.makedirs(folder)
        with open(f"{folder}/SKILL.md", "x", encoding="utf-8") as stream:
            stream.write(skill_text(command))
        written += 1
    return written


def _skill_names(manifest: Manifest) -> set[str]:
    found = Found(skills=[], faults=[], seen=set())
    plugin_skills(manifest, found)
    return {skill.name.rpartition(":")[2] for skill in found.skills}
