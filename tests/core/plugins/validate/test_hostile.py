"""Folders made to keep a reader busy: they give findings, in time."""

from __future__ import annotations

import os
import time
from pathlib import Path
from threading import Event

from core.plugins.validate.look import validate
from core.plugins.validate.report import MOST
from tests.core.plugins.world import CODEX_PLACE, put, put_market, put_plugin

SKILL = "---\ndescription: d\n---\n"


def rules(root: Path, **more: float) -> set[str]:
    started = time.monotonic()
    found = {one.rule for one in validate(str(root), "/home/x", **more).findings}
    assert time.monotonic() - started < 5
    return found


def test_loops_of_links_end(tmp_path: Path):
    put_plugin(tmp_path, {"skills/a/SKILL.md": SKILL})
    (tmp_path / "skills/up").symlink_to("..")
    (tmp_path / "skills/a/round").symlink_to("../a")
    (tmp_path / "self").symlink_to("self")
    assert rules(tmp_path) == {"symlink", "symlink-broken"}


def test_pipes_and_devices_keep_nobody_waiting(tmp_path: Path):
    put_plugin(tmp_path, {"skills/a/SKILL.md": SKILL}, apps="./apps.json")
    for name in ("hooks", "skills/b", "commands"):
        (tmp_path / name).mkdir(parents=True)
    os.mkfifo(tmp_path / "hooks/hooks.json")
    os.mkfifo(tmp_path / "skills/b/SKILL.md")
    os.mkfifo(tmp_path / "commands/c.md")
    (tmp_path / ".mcp.json").symlink_to("/dev/zero")
    (tmp_path / "apps.json").symlink_to("/dev/zero")
    assert "special-file" in rules(tmp_path)


def test_a_marketplace_file_that_is_a_pipe_is_none(tmp_path: Path):
    (tmp_path / ".agents/plugins").mkdir(parents=True)
    os.mkfifo(tmp_path / CODEX_PLACE)
    assert rules(tmp_path) == {"no-manifest"}


def test_large_files_are_told_and_not_read(tmp_path: Path):
    put_market(tmp_path, "p")
    put_plugin(tmp_path / "plugins/p", {"skills/a/SKILL.md": SKILL})
    for name in (".mcp.json", "hooks/hooks.json", ".app.json", "skills/b/SKILL.md", "plugin.json"):
        path = tmp_path / "plugins/p" / name
        path.parent.mkdir(exist_ok=True)
        with open(path, "wb") as made:
            made.truncate(100_000_000)
    assert "file-too-large" in rules(tmp_path)


def test_a_large_marketplace_file_is_told_and_not_read(tmp_path: Path):
    path = put(tmp_path / CODEX_PLACE, "{}")
    with open(path, "r+b") as made:
        made.truncate(100_000_000)
    assert rules(tmp_path) == {"file-too-large"}


def test_folders_deeper_than_any_walker_goes(tmp_path: Path):
    put_plugin(tmp_path, {"skills/a/SKILL.md": SKILL})
    here = os.open(tmp_path, os.O_RDONLY)
    os.mkdir("commands", dir_fd=here)
    for _ in range(300):
        os.mkdir("d", dir_fd=here) if "d" not in os.listdir(here) else None
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    (tmp_path / "d").rename(tmp_path / "commands/d")
    assert rules(tmp_path) == {"too-deep"}


def test_json_nested_without_end(tmp_path: Path):
    put(tmp_path / CODEX_PLACE, '{"x":' * 50_000)
    put_plugin(tmp_path / "p", {"skills/a/SKILL.md": SKILL, ".mcp.json": '{"a":' * 50_000})
    assert rules(tmp_path) == {"marketplace-json"}
    assert rules(tmp_path / "p") == {"mcp-file"}


def test_it_ends_when_the_time_is_up_and_says_so(tmp_path: Path):
    put_plugin(tmp_path, {"skills/a/SKILL.md": SKILL})
    result = validate(str(tmp_path), "/home/x", seconds=0.0)
    assert [one.rule for one in result.findings] == ["stopped"]
    assert not result.whole


def test_it_ends_when_nobody_waits_any_more(tmp_path: Path):
    put_plugin(tmp_path, {"skills/a/SKILL.md": SKILL})
    gone = Event()
    gone.set()
    assert not validate(str(tmp_path), "/home/x", gone=gone).whole


def test_more_findings_than_anybody_reads_are_counted(tmp_path: Path):
    put_market(tmp_path, *({"name": f"p{n}", "source": 7} for n in range(MOST + 100)))
    result = validate(str(tmp_path), "/home/x")
    assert len(result.findings) == MOST
    assert "more findings" in next(one.message for one in result.findings if one.rule == "stopped")
    assert not result.whole


def test_nothing_there_and_something_else_there(tmp_path: Path):
    for path in (tmp_path / "gone", tmp_path, put(tmp_path / "x.txt", "x"), Path("/dev/null")):
        result = validate(str(path), "/home/x")
        assert (result.kind, [one.rule for one in result.findings]) == ("nothing", ["no-manifest"])
