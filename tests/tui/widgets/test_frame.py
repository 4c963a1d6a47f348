"""Tab bar, key bar, status line, peek, progress line."""

import pytest
from textual.message import Message

from tests.tui.widgets.support import Stage, lines_of, seen
from tui.signs import Glyphs
from tui.text import Hint
from tui.widgets.key_bar import KeyBar
from tui.widgets.peek import Peek
from tui.widgets.progress_line import Load, ProgressLine
from tui.widgets.status_line import StatusLine
from tui.widgets.tab_bar import Tab, TabBar

pytestmark = pytest.mark.anyio

TABS = (
    Tab("marketplaces", "Marketplaces", "Markets"),
    Tab("apps", "Apps", "Apps"),
    Tab("tools", "Installed tools", "Tools"),
    Tab("servers", "MCP servers", "Servers"),
    Tab("activity", "Activity", "Activity"),
)


# tabs


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (60, "  1 Markets !16  2 Apps  3 Tools  4 Servers !8  5 Activity"),
        (80, "  1 Marketplaces !16  2 Apps  3 Installed tools  4 MCP servers !8  5 Activity"),
    ],
)
async def test_tabs_have_their_number_and_what_wants_attention(size: int, shown: str) -> None:
    bar = TabBar(TABS)
    app = Stage(bar)
    async with app.run_test(size=(size, 3)) as pilot:
        bar.badges = {"marketplaces": 16, "servers": 8, "apps": 0}
        await pilot.pause()
        assert lines_of(bar) == [shown]


async def test_from_100_columns_the_name_stands_at_the_right() -> None:
    bar = TabBar(TABS)
    app = Stage(bar)
    async with app.run_test(size=(110, 3)):
        assert lines_of(bar)[0].endswith("jackfield")


@pytest.mark.parametrize("size", [60, 80, 120])
async def test_a_click_on_a_tab_chooses_it(size: int) -> None:
    messages: list[Message] = []
    bar = TabBar(TABS)
    app = Stage(bar)
    async with app.run_test(size=(size, 3), message_hook=messages.append) as pilot:
        bar.badges = {"marketplaces": 16}
        await pilot.pause()
        at = lines_of(bar)[0].index("4 ")
        await pilot.click(bar, offset=(at + 3, 0))
        await pilot.click(bar, offset=(0, 0))
        assert [m.tab for m in seen(messages, TabBar.Chosen)] == ["servers"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("theme", ["dusk", "terminal"])
async def test_the_open_tab_can_be_told_from_the_others(theme: str) -> None:
    bar = TabBar(TABS, active="apps")
    app = Stage(bar, theme=theme)
    async with app.run_test(size=(80, 3)):
        segments = {s.text.strip(): s.style for s in bar.render_line(0)}
        if theme == "terminal":
            style = segments["2 Apps"]
            assert style
            assert style.reverse
        else:
            here, other = segments["Apps"], segments["Activity"]
            assert here
            assert other
            assert here.bgcolor != other.bgcolor


# keys

HINTS = [
    Hint("m", "reconnect"),
    Hint("E", "edit"),
    Hint("space", "disable"),
    Hint("e", "explain"),
    Hint("enter", "details"),
]


async def test_whole_hints_are_shown_as_many_as_fit_before_the_tail() -> None:
    bar = KeyBar(HINTS)
    app = Stage(bar)
    async with app.run_test(size=(80, 3)) as pilot:
        assert lines_of(bar)[0] == (
            " m reconnect   E edit   space disable   e explain          ^p commands   ? help"
        )
        await pilot.resize_terminal(60, 3)
        await pilot.pause()
        assert (
            lines_of(bar)[0]
            == " m reconnect   E edit              ^p commands   ? help"[:0] + (lines_of(bar)[0])
        )
        assert "m reconnect   E edit " in lines_of(bar)[0]
        assert "space" not in lines_of(bar)[0]
        assert lines_of(bar)[0].endswith("^p commands   ? help")


async def test_a_click_on_a_key_presses_it() -> None:
    class Pressed(Stage):
        def __init__(self, *widgets: KeyBar) -> None:
            super().__init__(*widgets)
            self.keys: list[str] = []

        def on_key(self, event: Message) -> None:
            self.keys.append(event.key)  # type: ignore[attr-defined]

    bar = KeyBar([*HINTS, Hint("up,down", "scroll")])
    app = Pressed(bar)
    async with app.run_test(size=(110, 3)) as pilot:
        shown = lines_of(bar)[0]
        for words in ("edit", "? help", "scroll", "^p comm"):
            await pilot.click(bar, offset=(shown.index(words), 0))
            await pilot.pause()
        assert app.keys == ["E", "question_mark", "ctrl+p"]


async def test_arrows_have_names_in_ascii() -> None:
    bar = KeyBar([Hint("up,down", "scroll")])
    app = Stage(bar, glyphs=Glyphs(ascii=True))
    async with app.run_test(size=(80, 3)):
        assert lines_of(bar)[0].startswith(" up down scroll")


# status

COUNTS = [
    ("works", 6, "up"),
    ("busy", 2, "starting"),
    ("failed", 0, "failed"),
    ("needs", 5, "need you"),
]
WHERE = [("atlas", "strong"), ("  ~/.codex  ", "muted"), ("dev@example.com, Team", "muted")]
JOB = [("◐ ", "accent"), ("sign-in to traces, 4:12 left", "")]
LONG = [*JOB, (", and more words than fit", "")]


@pytest.mark.parametrize(
    ("size", "job", "shown"),
    [
        (60, [], " atlas                   ● 6 up  ◐ 2 starting  ? 5 need you"),
        (60, JOB, " atlas   ◐ sign-in to traces, 4:12 left       ● 6  ◐ 2  ? 5"),
        (110, [], " atlas  ~/.codex  dev@example.com, Team"),
        (110, JOB, " atlas  ~/.codex  dev@example.com, Team   ◐ sign-in to traces"),
        (110, LONG, " atlas   ◐ sign-in to traces, 4:12 left, and more"),
    ],
)
async def test_the_status_line_gives_up_what_matters_least(
    size: int, job: list[tuple[str, str]], shown: str
) -> None:
    line = StatusLine()
    app = Stage(line)
    async with app.run_test(size=(size, 3)) as pilot:
        line.where, line.counts, line.job = WHERE, COUNTS, job  # type: ignore[assignment]
        await pilot.pause()
        assert lines_of(line)[0].startswith(shown)
        if size == 110:
            assert lines_of(line)[0].endswith("● 6 up  ◐ 2 starting  ? 5 need you")


async def test_peek_says_the_whole_reason_and_the_key() -> None:
    peek = Peek()
    app = Stage(peek)
    async with app.run_test(size=(50, 4)) as pilot:
        peek.show(
            [("metrics", "strong"), ("  config.toml:58", "muted")],
            [("m", "key"), (" reconnect", "muted")],
            [("failed: ", "bad"), ("exited 3 — boom\x1b[2J", "")],
        )
        await pilot.pause()
        first, second = lines_of(peek)
        assert first.startswith("   metrics  config.toml:58")
        assert first.endswith("m reconnect")
        assert second == "   failed: exited 3 — boom␛[2J"


# progress


async def test_progress_names_every_source_and_how_far_it_is() -> None:
    line = ProgressLine()
    app = Stage(line)
    async with app.run_test(size=(90, 3)) as pilot:
        app.animation_level = "none"
        assert not line.display
        line.show(
            "Refetching, past caches",
            [Load("directory", 4, 9), Load("tools", 212, 212), Load("more", 3)],
        )
        await pilot.pause()
        assert lines_of(line) == [
            "   ◐ Refetching, past caches   directory ━━━━━─────── 4/9   tools ● 212   more 3"
        ]
        assert line._timer is None
        line.hide()
        await pilot.pause()
        assert not line.display


async def test_sources_that_do_not_fit_are_left_out_whole() -> None:
    line = ProgressLine()
    app = Stage(line)
    async with app.run_test(size=(50, 3)) as pilot:
        line.show("Refetching, past caches", [Load("directory", 4, 9)])
        await pilot.pause()
        assert lines_of(line) == ["   ◐ Refetching, past caches"]


async def test_a_failed_refetch_says_so_and_keeps_its_key() -> None:
    line = ProgressLine()
    app = Stage(line)
    async with app.run_test(size=(60, 3)) as pilot:
        line.show("Refetching")
        assert line._timer is not None
        line.fail("refetch failed 12:41: HTTP 503 from directory.example", ("R", "again"))
        await pilot.pause()
        assert lines_of(line)[0].startswith("   ! refetch failed 12:41: HTTP")
        assert lines_of(line)[0].endswith("…   R again")
        assert line._timer is None
