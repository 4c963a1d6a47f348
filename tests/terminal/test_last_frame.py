"""What the last start has shown is on the screen before this one has loaded anything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.terminal.homes import been_here, marketplace_table, write_config, write_marketplace
from tests.terminal.panel import PanelTerminal, panel_environ

QUESTION = b"\x1b]11;?"
"""What the panel asks the terminal before it loads Textual."""


@pytest.fixture
def environ(home: Path, tmp_path: Path) -> Mapping[str, str]:
    been_here(home)
    write_marketplace(tmp_path / "shelf", "shelf", {f"tidy-{n}": {} for n in range(30)})
    write_config(home / ".codex", marketplace_table("shelf", tmp_path / "shelf"))
    return panel_environ(home, "last-frame")


def frames(home: Path) -> list[Path]:
    return [path for path in home.rglob("frame-*") if path.is_file()]


def rows_kept(home: Path) -> bool:
    return any(home.rglob("plugins-*.jsonl"))


def start_until_kept(environ: Mapping[str, str], home: Path, root: Path) -> None:
    """The first start keeps rows, the second one shows them and keeps the frame."""
    with PanelTerminal(environ=environ, cwd=root) as panel:
        panel.shows("tidy-1")
        panel.until(lambda: rows_kept(home))
    with PanelTerminal(environ=environ, cwd=root) as panel:
        panel.shows("tidy-1")
        panel.until(lambda: frames(home))


def test_the_rows_are_there_before_anything_else_is_loaded(
    environ: Mapping[str, str], home: Path, tmp_path: Path
):
    start_until_kept(environ, home, tmp_path)
    (frame,) = frames(home)
    assert frame.stat().st_mode & 0o077 == 0
    with PanelTerminal(environ=environ, cwd=tmp_path) as panel:
        panel.until(lambda: QUESTION in panel.output)
        early = bytes(panel.output[: panel.output.index(QUESTION)])
        assert b"tidy-1" in early
        # Not one of them is said to be confirmed.
        assert early.count("┊".encode()) >= 20
        panel.shows("tidy-1", "empty", "nothing")
        panel.press(b"q")
        assert panel.ended() == 0
    written = bytes(panel.output)
    assert written.rindex(b"\x1b[?1049l") > written.rindex(b"\x1b[?1049h")


@pytest.mark.parametrize("change", ["mode", "size", "nonsense"])
def test_a_frame_that_is_not_ours_or_does_not_fit_is_not_shown(
    environ: Mapping[str, str], home: Path, tmp_path: Path, change: str
):
    start_until_kept(environ, home, tmp_path)
    (frame,) = frames(home)
    if change == "mode":
        frame.chmod(0o644)
    elif change == "nonsense":
        frame.write_bytes(b"tidy-1 \xff\xfe")
    rows = 30 if change == "size" else 40
    with PanelTerminal(environ=environ, cwd=tmp_path, rows=rows) as panel:
        panel.until(lambda: QUESTION in panel.output)
        assert b"tidy-1" not in panel.output[: panel.output.index(QUESTION)]
        panel.shows("tidy-1", "empty", "nothing")


def test_a_frame_of_rows_that_are_gone_gives_way(
    environ: Mapping[str, str], home: Path, tmp_path: Path
):
    start_until_kept(environ, home, tmp_path)
    write_config(home / ".codex", "")
    with PanelTerminal(environ=environ, cwd=tmp_path) as panel:
        panel.until(lambda: not panel.line("tidy-1") and panel.line("No marketplace yet"))


def test_the_terminal_is_given_back_when_the_start_is_interrupted(
    environ: Mapping[str, str], home: Path, tmp_path: Path
):
    start_until_kept(environ, home, tmp_path)
    with PanelTerminal(environ=environ, cwd=tmp_path) as panel:
        panel.until(lambda: QUESTION in panel.output)
        panel.kill(2)
        panel.ended()
    written = bytes(panel.output)
    assert written.rindex(b"\x1b[?1049l") > written.rindex(b"\x1b[?1049h")
