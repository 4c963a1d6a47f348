"""config.toml belongs to the person: switched by key, edited outside, broken in places."""

from __future__ import annotations

import json
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes.mcp_stdio import argv
from tests.terminal.homes import been_here, write_config, write_marketplace
from tests.terminal.panel import ESCAPE, PanelTerminal, panel_environ

SOON = 1.0
"""Seconds until an outside edit is on the screen."""
BUSY = 4
"""How much longer a machine may take that runs other tests."""
PLUGIN = "tidy@shelf"
COMMAND, *WORDS = argv()


def config_text(shelf: Path) -> str:
    """As a person writes it: comments, odd blanks, an order of their own."""
    return f"""\
# mine, do not touch
model = "x"   # whatever

[marketplaces.shelf]   # plugins of the house
source_type = "local"
source = {json.dumps(str(shelf))}

  # the reviewer
[plugins."{PLUGIN}"]
enabled = true   # since March

[mcp_servers.notes]        # my notes
command = {json.dumps(COMMAND)}
args = {json.dumps(WORDS)}

# the last line is a comment
[mcp_servers.other]
command = {json.dumps(COMMAND)}
args = {json.dumps(WORDS)}
enabled = false # off for now"""


@pytest.fixture
def config(home: Path, tmp_path: Path) -> Path:
    """The file, of a home with a marketplace, an installed plugin and two servers."""
    been_here(home)
    shelf = tmp_path / "shelf"
    write_marketplace(shelf, "shelf", {"tidy": {"description": "Sorts cells."}, "spare": {}})
    source = shelf / "plugins" / "tidy"
    skill = source / "skills" / "tidy" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: tidy\ndescription: Sorts cells.\n---\n")
    shutil.copytree(source, home / ".codex/plugins/cache/shelf/tidy/1.0.0")
    return write_config(home / ".codex", config_text(shelf))


@contextmanager
def servers_tab(home: Path, cwd: Path) -> Generator[PanelTerminal]:
    with PanelTerminal("--yes", environ=panel_environ(home), cwd=cwd) as panel:
        panel.shows("MCP servers")
        panel.press(b"4")
        panel.shows("notes", "connected")
        yield panel


def select(panel: PanelTerminal, name: str) -> None:
    """Put the cursor on the row of that name."""
    panel.press(b"g")
    for _ in range(panel.screen.lines):
        panel.settle()
        if panel.line("▌", name):
            return
        panel.press(b"j")
    raise AssertionError(f"no row {name}:\n" + "\n".join(panel.lines))


def test_a_server_is_switched_by_key_and_undone_byte_for_byte(
    config: Path, home: Path, tmp_path: Path
) -> None:
    before = config.read_text()
    with servers_tab(home, tmp_path) as panel:
        select(panel, "notes")
        panel.press(b" ")
        panel.shows("notes", "disabled")
        after = config.read_text()
        added = [line for line in after.splitlines() if line not in before.splitlines()]
        assert added == ["enabled = false"]
        assert after.replace("enabled = false\n", "", 1) == before
        panel.press(b"z")
        panel.shows("notes", "connected")
        assert config.read_text() == before
        select(panel, "other")
        panel.press(b" ")
        panel.shows("other", "connected")
        assert config.read_text() == before.replace(
            "enabled = false # off for now", "enabled = true # off for now"
        )


def test_a_plugin_is_switched_by_key_and_undone_byte_for_byte(
    config: Path, home: Path, tmp_path: Path
) -> None:
    before = config.read_text()
    with PanelTerminal("--yes", environ=panel_environ(home), cwd=tmp_path) as panel:
        panel.shows("● tidy", "enabled")
        select(panel, "tidy")
        panel.press(b" ")
        panel.shows("○ tidy", "disabled")
        after = config.read_text()
        assert after == before.replace(
            "enabled = true   # since March", "enabled = false   # since March"
        )
        panel.press(b"z")
        panel.shows("● tidy", "enabled")
        assert config.read_text() == before


def test_an_outside_edit_is_seen_at_once_and_kept(config: Path, home: Path, tmp_path: Path) -> None:
    with servers_tab(home, tmp_path) as panel:
        new = (
            f"\n[mcp_servers.added]  # by hand\ncommand = {json.dumps(COMMAND)}\nenabled = false\n"
        )
        with config.open("a") as file:
            file.write(new)
        took = panel.until(lambda: panel.line("added", "disabled"))
        assert took < SOON * BUSY
        select(panel, "notes")
        panel.press(b" ")
        panel.shows("notes", "disabled")
        edited = config.read_text()
        assert new in edited
        # Other programs replace the file instead of writing into it.
        beside = config.with_name("config.toml.tmp")
        beside.write_text(edited.replace("[mcp_servers.added]", "[mcp_servers.renamed]"))
        beside.replace(config)
        took = panel.until(lambda: panel.line("renamed", "disabled") and not panel.line("added"))
        assert took < SOON * BUSY
        panel.press(b"z")
        panel.shows("notes", "connected")
        assert "[mcp_servers.renamed]  # by hand" in config.read_text()
        assert config.read_text().count("enabled = false") == 2


def test_switching_works_while_another_table_is_invalid(
    config: Path, home: Path, tmp_path: Path
) -> None:
    text = config.read_text()
    bad = '\n\n[mcp_servers.both]\ncommand = "a"\nurl = "http://127.0.0.1:9/mcp"\n'
    config.write_text(text + bad)
    with servers_tab(home, tmp_path) as panel:
        line = 1 + (text + bad).splitlines().index("[mcp_servers.both]")
        assert panel.shows("both", "invalid", f"config.toml:{line}")
        select(panel, "notes")
        panel.press(b" ")
        panel.shows("notes", "disabled")
        assert bad in config.read_text()


def test_in_a_broken_file_nothing_is_switched_and_the_place_is_named(
    config: Path, home: Path, tmp_path: Path
) -> None:
    text = config.read_text()
    with servers_tab(home, tmp_path) as panel:
        broken = text + "\n[oops\n"
        config.write_text(broken)
        line = broken.splitlines().index("[oops") + 1
        select(panel, "notes")
        panel.press(b" ")
        panel.until(lambda: "notes:notswitched" in panel.squeezed)
        assert f"config.toml:{line}" in panel.squeezed
        assert config.read_text() == broken
        panel.shows("notes", "connected")
        config.write_text(text)
        panel.settle(0.3)
        panel.press(b" ")
        panel.shows("notes", "disabled")


def test_every_fault_is_a_row_with_its_place_and_all_else_is_listed(
    config: Path, home: Path, tmp_path: Path
) -> None:
    hand_made = tmp_path / "hand-made" / ".agents" / "plugins"
    hand_made.mkdir(parents=True)
    (hand_made / "marketplace.json").write_text('{\n  "name": "hand-made"\n  "plugins": []\n}\n')
    more = (
        "\n\n[marketplaces.gone]\n"
        f'source_type = "local"\nsource = {json.dumps(str(tmp_path / "no-such-folder"))}\n'
        "[marketplaces.hand-made]\n"
        f'source_type = "local"\nsource = {json.dumps(str(tmp_path / "hand-made"))}\n'
        "[mcp_servers.x]\nargs = 3\n"
    )
    text = "\ufeff" + config.read_text() + more
    config.write_text(text)
    lines = text.splitlines()
    with servers_tab(home, tmp_path) as panel:
        panel.shows("other", "disabled")
        panel.shows("x", "invalid", f"config.toml:{lines.index('args = 3') + 1}")
        panel.press(b"1")
        panel.shows("● tidy", "enabled")
        panel.shows("hand-made", "line 3 column 3")
        select(panel, "gone")
        panel.shows("place", f"config.toml:{lines.index('[marketplaces.gone]') + 1}")
        assert config.read_text() == text


def test_read_only_writes_nothing_and_says_so(config: Path, home: Path, tmp_path: Path) -> None:
    before = config.read_bytes()
    words = ("--yes", "--read-only")
    with PanelTerminal(*words, environ=panel_environ(home), cwd=tmp_path) as panel:
        panel.shows("● tidy", "enabled")
        select(panel, "tidy")
        panel.shows("(read-only)")
        panel.press(b" ")
        panel.until(lambda: "Nothingiswritten" in panel.squeezed)
        panel.press(b"4")
        panel.shows("notes", "connected")
        select(panel, "notes")
        panel.press(b" ")
        panel.settle(0.3)
        assert panel.line("notes", "connected")
        assert config.read_bytes() == before
        assert not list((home / ".local" / "state" / "jackfield").glob("backups/*"))


def test_what_a_project_decides_names_its_line_and_is_written_for_the_user_on_wish(
    config: Path, home: Path, tmp_path: Path
) -> None:
    project = tmp_path / "atlas"
    theirs = project / ".codex" / "config.toml"
    theirs.parent.mkdir(parents=True)
    (project / ".git").mkdir()
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    theirs.write_text("# the team's\n\n[mcp_servers.notes]\nenabled = false\n")
    config.write_text(
        config.read_text() + f'\n\n[projects.{json.dumps(str(project))}]\ntrust_level = "trusted"\n'
    )
    before, decided = config.read_text(), theirs.read_text()
    with PanelTerminal("--yes", environ=panel_environ(home), cwd=project) as panel:
        panel.press(b"4")
        panel.shows("notes", "disabled", "config.toml:4")
        select(panel, "notes")
        panel.press(b" ")
        panel.shows("notes is decided elsewhere")
        panel.shows("config.toml:4 decides whether notes is on")
        panel.press(ESCAPE)
        panel.settle()
        assert config.read_text() == before, "cancel writes nothing"
        panel.press(b" ")
        panel.shows("Write it all the same")
        panel.press(b"\t")
        panel.settle()
        panel.press(b"\r")
        panel.until(lambda: config.read_text() != before)
        added = [
            line for line in config.read_text().splitlines() if line not in before.splitlines()
        ]
        assert added == ["enabled = true"]
        panel.shows("notes", "disabled", "config.toml:4")
        panel.settle(0.3)
        panel.press(b"z")
        panel.until(lambda: config.read_text() == before)
        assert theirs.read_text() == decided


def test_a_byte_order_mark_stays_where_it_is(config: Path, home: Path, tmp_path: Path) -> None:
    config.write_text("\ufeff" + config.read_text())
    before = config.read_bytes()
    with servers_tab(home, tmp_path) as panel:
        select(panel, "notes")
        panel.press(b" ")
        panel.shows("notes", "disabled")
        assert config.read_bytes().startswith(before[:30])
        panel.press(b"z")
        panel.shows("notes", "connected")
        assert config.read_bytes() == before
