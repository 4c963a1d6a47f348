"""Skills below directories and of plugins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.plugins.skill_yaml import NOTHING, read_extras
from core.plugins.skills import Found, Switches, collect, plugin_skills
from tests.core.plugins.world import manifest_at, put, put_plugin


def nothing() -> Found:
    return Found(skills=[], faults=[], seen=set())


def put_skill(directory: Path, name: str | None = None, description: str = "d") -> Path:
    name = name or directory.name
    return put(directory / "SKILL.md", f"---\nname: {name}\ndescription: {description}\n---\n")


def names(found: Found) -> list[str]:
    found.sort()
    return [skill.name for skill in found.skills]


def below(root: Path, **more: Any) -> Found:
    found = nothing()
    collect(found, str(root), **more)
    return found


def test_skills_lie_in_the_root_and_up_to_six_directories_deep(tmp_path: Path):
    put_skill(tmp_path, "top")
    directory = tmp_path
    for depth in range(1, 8):
        directory = directory / f"d{depth}"
        put_skill(directory)
    assert names(below(tmp_path)) == ["d1", "d2", "d3", "d4", "d5", "d6", "top"]


def test_hidden_directories_and_linked_files_do_not_count_linked_directories_do(tmp_path: Path):
    root = tmp_path / "root"
    put_skill(root / ".hidden/x")
    put_skill(tmp_path / "elsewhere/linked")
    (root / "file").mkdir(parents=True)
    (root / "file/SKILL.md").symlink_to(tmp_path / "elsewhere/linked/SKILL.md")
    (root / "dir").symlink_to(tmp_path / "elsewhere/linked")
    (root / "loop").symlink_to(root)
    assert names(below(root)) == ["linked"]


def test_one_broken_skill_is_told_and_takes_no_other_down(tmp_path: Path):
    put_skill(tmp_path / "good")
    put(tmp_path / "bad/SKILL.md", "no front matter")
    found = below(tmp_path)
    assert names(found) == ["good"]
    assert [(fault.path, fault.message) for fault in found.faults] == [
        (f"{tmp_path}/bad/SKILL.md", "missing YAML frontmatter delimited by ---")
    ]


def test_a_root_that_is_not_there_adds_nothing(tmp_path: Path):
    found = below(tmp_path / "gone")
    assert (found.skills, found.faults) == ([], [])


def test_a_skill_without_name_takes_its_directorys(tmp_path: Path):
    put(tmp_path / "some-skill/SKILL.md", "---\ndescription: d\n---\n")
    assert names(below(tmp_path)) == ["some-skill"]


def test_skills_of_a_plugin_carry_its_name(tmp_path: Path):
    root = put_plugin(tmp_path / "p", name="guard")
    put_skill(root / "skills/look")
    found = nothing()
    plugin_skills(manifest_at(root), found, "guard@m")
    (skill,) = found.skills
    assert (skill.name, skill.plugin_id) == ("guard:look", "guard@m")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("./other", ["p:there"]),
        (["./other", "./skills"], ["p:look", "p:there"]),
        (["./other", "../x"], ["p:there"]),
        ("other", ["p:look"]),
        (7, ["p:look"]),
        ([], ["p:look"]),
    ],
)
def test_a_manifest_may_name_other_directories(tmp_path: Path, written: Any, expected: list[str]):
    root = put_plugin(tmp_path / "p", skills=written)
    put_skill(root / "skills/look")
    put_skill(root / "other/there")
    found = nothing()
    plugin_skills(manifest_at(root), found)
    assert names(found) == expected


def test_an_installed_copy_has_the_skills_that_were_made_of_commands(tmp_path: Path):
    root = put_plugin(tmp_path / "p")
    put_skill(root / ".codex-plugin/migrated-command-skills/run")
    assert names(found_in(root, installed=False)) == []
    assert names(found_in(root, installed=True)) == ["p:run"]


def found_in(root: Path, *, installed: bool) -> Found:
    found = nothing()
    plugin_skills(manifest_at(root), found, installed=installed)
    return found


def test_the_last_rule_that_fits_switches_a_skill(tmp_path: Path):
    put_skill(tmp_path / "a")
    (skill,) = below(tmp_path).skills
    path = skill.path
    assert Switches(None).enabled(skill)
    assert not Switches([{"name": "a", "enabled": False}]).enabled(skill)
    assert not Switches([{"name": "a"}, {"path": path, "enabled": False}]).enabled(skill)
    assert Switches([{"path": path, "enabled": False}, {"name": "a"}]).enabled(skill)
    assert Switches([{"name": "a", "path": path, "enabled": False}, 7]).enabled(skill)


# --- openai.yaml ---


def test_extras_show_a_skill_and_say_what_it_needs():
    text = """
interface:
  display_name: Look
  icon_small: ./assets/a.png
  icon_large: other/a.png
  brand_color: "#12aBcd"
dependencies:
  tools:
    - type: mcp
      value: search
      url: https://example.test/mcp
    - type: ""
      value: dropped
"""
    extras = read_extras(text.encode(), "/skill")
    assert extras.interface is not None
    assert extras.interface.display_name == "Look"
    assert extras.interface.icon_small == "/skill/assets/a.png"
    assert extras.interface.icon_large is None
    assert extras.interface.brand_color == "#12aBcd"
    assert extras.dependencies is not None
    assert [tool.value for tool in extras.dependencies.tools] == ["search"]


@pytest.mark.parametrize(
    ("products", "hidden"), [("[CODEX]", False), ("[CHATGPT]", True), ("[]", False), ("", False)]
)
def test_skills_for_other_products_are_hidden(products: str, hidden: bool):
    extras = read_extras(f"policy:\n  products: {products}".encode(), "/skill")
    assert extras.hidden is hidden


@pytest.mark.parametrize(
    "text",
    [
        "interface: [x]",
        "interface:\n  display_name: [x]",
        "policy:\n  products: [NOBODY]",
        "policy:\n  allow_implicit_invocation: maybe",
        "dependencies:\n  tools: x",
        "a: [",
        "just text",
        "\udc80",
    ],
)
def test_one_wrong_type_makes_the_extras_count_for_nothing(text: str):
    good = "interface:\n  display_name: Look\n"
    data = text.encode("utf-8", "surrogateescape")
    if text.startswith(("policy", "dependencies", "a:")):
        data = good.encode() + data
    assert read_extras(data, "/skill") == NOTHING
