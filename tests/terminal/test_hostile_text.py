"""Foreign text never reaches the terminal as anything but text, on whatever screen it stands."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.terminal.escapes import MARKS, strays
from tests.terminal.hostile import ACCENTS, SIGN, hostile, hostile_home
from tests.terminal.panel import ESCAPE, PanelTerminal, panel_environ

SIZES = {"narrow": (80, 24), "wide": (120, 40)}
DOWN, UP, ENTER, PAGE = b"j", b"k", b"\r", b"\x1b[6~"
ASKING = "new or changed programs?"

Panels = list[PanelTerminal]


def visit(panels: Panels, *keys: bytes) -> None:
    """The same keys on all of them."""
    for key in keys:
        for panel in panels:
            panel.press(key)
        for panel in panels:
            panel.settle(0.02, 0.2)


def agree(panels: Panels) -> None:
    """Read through the consent screen, then start what it lists."""
    # The bytes are looked at, not the screen: drawing all of this would take longer than the rest.
    for panel in panels:
        panel.wait_for(b"new or changed programs?")
    visit(panels, *[PAGE] * 4, *[UP] * 14, *[DOWN] * 15)  # it began at "Cancel"
    before = [len(panel.output) for panel in panels]
    visit(panels, ENTER)
    for panel, since in zip(panels, before, strict=True):
        panel.wait_for(b"agreed to", since=since)
        panel.press(b"4")
        for said in (b"connected", b"exited 3", b"No such file or directory"):
            panel.wait_for(said, since=since)


def look_around(panels: Panels) -> None:
    """Each tab: every row, the details of some as a page, the filter, the views."""
    for tab in (b"1", b"2", b"3", b"4", b"5"):
        visit(panels, tab, b"g")
        for number in range(14):
            visit(panels, DOWN)
            if number in (1, 3, 6, 9):
                visit(panels, ENTER, PAGE, ESCAPE)
        visit(panels, b"/", SIGN[:1].encode(), ENTER, ENTER, ESCAPE, ESCAPE, b"f", b"F")


def test_the_check_itself_finds_what_it_looks_for() -> None:
    assert strays(b"\x1b[1;31mplain\x1b[0m\x1b[3;4Htext\r\n") == []
    for bad in ("\x1b[2J", "\x1b]0;x\x07", "\x1b]8;;u\x1b\\", "\x07", "\x9b", "\u202e", "\u200b"):
        assert strays(f"a{bad}b".encode()), repr(bad)
    assert strays(b"\x9b2J")
    assert strays(ACCENTS.encode()) == ["500 marks"]
    assert strays(("e" + "\u0301" * MARKS).encode()) == []
    assert strays(hostile().encode())


@pytest.mark.slow
def test_no_escape_of_a_stranger_reaches_the_terminal(tmp_path: Path) -> None:
    with ExitStack() as stack:
        panels: Panels = []
        for name, (columns, rows) in SIZES.items():
            home = tmp_path / name
            cwd = stack.enter_context(hostile_home(home, tmp_path / f"{name}-work"))
            environ = panel_environ(home)
            panel = PanelTerminal(environ=environ, cwd=cwd, columns=columns, rows=rows)
            panels.append(panel)
            stack.enter_context(panel)
        agree(panels)
        look_around(panels)
        visit(panels, b"!", *[DOWN] * 12, PAGE, ESCAPE, b"?", PAGE, PAGE, ESCAPE)
        visit(panels, b"\x10", b"o", b"n", ESCAPE)
        visit(panels, b"4", b"g", *[key for _ in range(5) for key in (b" ", DOWN)], b"z", b"z")
        visit(panels, b"R", ESCAPE, b"q")
        for panel in panels:
            assert panel.ended() == 0
            assert strays(bytes(panel.output)) == []
            shown = panel.output.decode()
            assert shown.count(SIGN) > 500
            assert "[bold red]not bold[/]" in shown
    for name in SIZES:
        log = tmp_path / name / ".local" / "state" / "jackfield" / "jackfield.log"
        assert "Traceback" not in log.read_text()
