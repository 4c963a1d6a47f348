"""Slash commands of plugins, and the skills that an install makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.plugins.commands import plugin_commands, skill_text
from core.plugins.front_matter import read_front_matter
from tests.core.plugins.world import manifest_at, put, put_plugin

HEAD = "---\ndescription: Says hello\n---\n"


def test_commands_are_named_by_their_path(tmp_path: Path):
    root = put_plugin(tmp_path / "p")
    put(root / "commands/Say Hello.md", f"{HEAD}Hello.")
    put(root / "commands/team/greet.md", f"{HEAD}Hello, all.")
    put(root / "commands/README.md", "about")
    put(root / "commands/notes.txt", "about")
    commands = plugin_commands(manifest_at(root))
    assert [(command.slug, command.reason) for command in commands] == [
        ("say-hello", ""),
        ("team-greet", ""),
    ]


@pytest.mark.parametrize(
    ("body", "simple"),
    [
        ("Look at it.", True),
        ("Write to me@example.test", True),
        ("Do $ARGUMENTS", False),
        ("Do $1", False),
        ("Run !`ls`", False),
        ("Read @src/main.py", False),
        ("Fill {{name}}", False),
    ],
)
def test_only_simple_commands_become_skills(tmp_path: Path, body: str, simple: bool):
    root = put_plugin(tmp_path / "p")
    put(root / "commands/c.md", HEAD + body)
    (command,) = plugin_commands(manifest_at(root))
    assert (not command.reason) is simple


def test_a_command_without_description_becomes_none(tmp_path: Path):
    root = put_plugin(tmp_path / "p")
    put(root / "commands/c.md", "Hello.")
    (command,) = plugin_commands(manifest_at(root))
    assert command.reason == "missing YAML frontmatter delimited by ---"


def test_a_manifest_may_name_files_and_directories(tmp_path: Path):
    root = put_plugin(tmp_path / "p", commands=["./one.md", "./more"])
    put(root / "one.md", f"{HEAD}Hello.")
    put(root / "more/two.md", f"{HEAD}Hello.")
    put(root / "commands/three.md", f"{HEAD}Hello.")
    assert [command.slug for command in plugin_commands(manifest_at(root))] == ["one", "two"]


def test_the_skill_of_a_command_can_be_read_again(tmp_path: Path):
    root = put_plugin(tmp_path / "p")
    put(root / "commands/c.md", '---\ndescription: Says "hi": always\n---\n\nHello.\n')
    (command,) = plugin_commands(manifest_at(root))
    text = skill_text(command)
    front = read_front_matter(text.encode())
    assert (front.name, front.description) == ("source-command-c", 'Says "hi": always')
    assert text.endswith("## Command Template\n\nHello.\n")
