import pytest
from textual.message import Message

from tests.tui.widgets.support import Stage, lines_of, seen
from tui.widgets.filter_bar import FilterBar, View

pytestmark = pytest.mark.anyio

VIEWS = (View("all", "all"), View("up", "up"), View("need", "need you"), View("failed", "failed"))
COUNTS = {"all": 18, "up": 6, "need": 5, "failed": 3}


async def test_views_stand_at_the_right_with_their_counts() -> None:
    bar = FilterBar(VIEWS)
    app = Stage(bar)
    async with app.run_test(size=(80, 3)) as pilot:
        bar.counts = COUNTS
        await pilot.pause()
        line = lines_of(bar)[0]
        assert line.startswith("   / filter")
        assert line.endswith("all 18   up 6   need you 5   failed 3")
        assert len(line) == 78


@pytest.mark.parametrize(
    ("size", "shown"),
    [(58, "all 18   up   need you   failed"), (45, "all 18"), (20, "all 18")],
)
async def test_where_there_is_little_room_the_field_keeps_its_own(size: int, shown: str) -> None:
    bar = FilterBar(VIEWS)
    app = Stage(bar)
    async with app.run_test(size=(size, 3)) as pilot:
        bar.counts = COUNTS
        await pilot.pause()
        assert lines_of(bar)[0].endswith(shown)
        if size > 20:
            assert bar._input.size.width >= 13


async def test_typing_tells_of_every_text_and_clearing_of_none() -> None:
    messages: list[Message] = []
    bar = FilterBar(VIEWS)
    app = Stage(bar)
    async with app.run_test(size=(80, 3), message_hook=messages.append) as pilot:
        bar.focus_input()
        await pilot.pause()
        assert bar.typing
        await pilot.press("r", "e", "q")
        bar.clear()
        await pilot.pause()
        texts = [m.text for m in seen(messages, FilterBar.TextChanged)]  # type: ignore[attr-defined]
        assert texts == ["r", "re", "req", ""]
        assert bar.text == ""


@pytest.mark.parametrize("key", ["enter", "down"])
async def test_the_field_is_left_for_the_list(key: str) -> None:
    messages: list[Message] = []
    bar = FilterBar(VIEWS)
    app = Stage(bar)
    async with app.run_test(size=(80, 3), message_hook=messages.append) as pilot:
        bar.focus_input()
        await pilot.press("r", key)
        assert len(seen(messages, FilterBar.Left)) == 1


async def test_views_are_stepped_through_in_a_circle() -> None:
    messages: list[Message] = []
    bar = FilterBar(VIEWS)
    app = Stage(bar)
    async with app.run_test(size=(80, 3), message_hook=messages.append) as pilot:
        assert bar.view == "all"
        bar.step(-1)
        bar.step(1)
        bar.step(1)
        await pilot.pause()
        views = [m.view for m in seen(messages, FilterBar.ViewChanged)]  # type: ignore[attr-defined]
        assert views == ["failed", "all", "up"]
        marked = [s.text for s in bar._line.render_line(0) if s.style and s.style.underline]
        assert marked == ["up"]


async def test_a_click_opens_a_view_and_elsewhere_the_field() -> None:
    bar = FilterBar(VIEWS)
    app = Stage(bar)
    async with app.run_test(size=(80, 3)) as pilot:
        bar.counts = COUNTS
        await pilot.pause()
        app.screen.set_focus(None)
        at = lines_of(bar)[0].index("need you")
        await pilot.click(bar, offset=(at + 2, 0))
        assert bar.view == "need"
        assert not bar.typing
        await pilot.click(bar, offset=(3, 0))
        assert bar.typing


async def test_held_events_are_said_before_the_views() -> None:
    bar = FilterBar(VIEWS)
    app = Stage(bar)
    async with app.run_test(size=(80, 3)) as pilot:
        bar.note = [("held 12", "care")]
        await pilot.pause()
        assert lines_of(bar)[0].endswith("held 12   all   up   need you   failed")


async def test_the_cursor_in_the_field_does_not_blink() -> None:
    bar = FilterBar(VIEWS)
    app = Stage(bar)
    async with app.run_test(size=(80, 3)):
        assert not bar._input.cursor_blink
