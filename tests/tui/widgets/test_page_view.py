import pytest
from textual.containers import VerticalScroll
from textual.geometry import Offset
from textual.selection import Selection

from tests.tui.widgets.support import Stage, drawn
from tui.widgets.page import Page
from tui.widgets.page_view import Detail, PageView

pytestmark = pytest.mark.anyio


def long_page(page: Page) -> None:
    for n in range(50):
        page.text(f"line {n}, {page.width} cells")


async def test_a_page_is_as_high_as_its_text_and_written_for_its_width() -> None:
    view = PageView(lambda page: page.text("one two three four five six"))
    app = Stage(VerticalScroll(view))
    async with app.run_test(size=(40, 10)) as pilot:
        assert view.size.height == 1
        await pilot.resize_terminal(20, 10)
        await pilot.pause()
        assert drawn(view) == ["one two three four".ljust(20), "five six".ljust(20)]


async def test_it_grows_and_shrinks_with_what_it_tells() -> None:
    texts = ["one"]
    view = PageView(lambda page: page.text("\n".join(texts)))
    app = Stage(VerticalScroll(view))
    async with app.run_test(size=(40, 10)) as pilot:
        texts[:] = ["a", "b", "c"]
        view.redraw()
        await pilot.pause()
        assert [line.strip() for line in drawn(view)] == ["a", "b", "c"]
        texts[:] = ["z"]
        view.redraw()
        await pilot.pause()
        assert view.size.height == 1


async def test_details_scroll_by_key_and_begin_at_the_top_for_another_row() -> None:
    view = Detail(long_page)
    app = Stage(view)
    async with app.run_test(size=(60, 12)) as pilot:
        view.focus()
        await pilot.pause()
        await pilot.press("j", "j", "down")
        assert drawn(view)[0].startswith("line 3,")
        await pilot.press("G")
        assert view.scroll_offset.y == view.max_scroll_y
        view.redraw()
        assert view.scroll_offset.y == view.max_scroll_y
        view.show(long_page)
        await pilot.pause()
        assert drawn(view)[0].startswith("line 0,")


async def test_text_never_touches_the_scrollbar() -> None:
    view = Detail(lambda page: page.exact("x" * 3000))
    app = Stage(view)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        assert view.show_vertical_scrollbar
        assert {line[-2:] for line in drawn(view)[:5]} == {"x "}


async def test_only_lines_on_the_screen_are_drawn() -> None:
    view = Detail(long_page)
    app = Stage(view)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        assert 0 < len(view._strips) <= 12


async def test_its_text_can_be_selected_and_taken() -> None:
    view = Detail(long_page)
    app = Stage(view)
    async with app.run_test(size=(60, 12)) as pilot:
        selection = Selection(Offset(0, 1), Offset(6, 2))
        app.screen.selections = {view: selection}
        await pilot.pause()
        taken = view.get_selection(selection)
        assert taken
        assert taken[0] == f"line 1, {view.page.width} cells\nline 2"
        plain, marked = view.render_line(0), view.render_line(1)
        assert marked._segments[0].style != plain._segments[0].style


async def test_a_page_can_be_taken_before_it_has_a_place() -> None:
    view = PageView(lambda page: page.title("x"))
    app = Stage(view)
    view.redraw()
    async with app.run_test(size=(40, 10)):
        assert view.page.text_lines[0].strip() == "x"
