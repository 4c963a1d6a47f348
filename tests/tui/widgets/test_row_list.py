import logging
from collections.abc import Callable, Collection

import pytest
from textual.app import App
from textual.geometry import Offset, Region
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.widgets.support import Stage, drawn, lines_of, seen, segments_of
from tui.signs import Glyphs, SignName
from tui.widgets.columns import Column
from tui.widgets.row_header import RowHeader
from tui.widgets.row_list import RowList
from tui.widgets.row_view import RowView

pytestmark = pytest.mark.anyio

COLUMNS = (
    Column("name", "Name", 12, grow=1, most=24, match=True),
    Column("state", "State", 20, grow=1, spill=True),
    Column("ms", "ms", 4, right=True, keep=2),
)


def plain_row(id: str) -> RowView:
    return RowView("works", {"name": id, "state": "connected", "ms": "84"})


class Watched(RowList):
    """Notes what is asked to be drawn again."""

    def __init__(self) -> None:
        super().__init__(COLUMNS)
        self.regions: list[Region | None] = []

    def refresh(self, *regions: Region, **options: bool) -> "Watched":  # type: ignore[override]
        self.regions += regions or [None]
        return super().refresh(*regions, **options)


class Builder:
    """Builds rows and counts how often."""

    def __init__(self, signs: dict[str, SignName] | None = None) -> None:
        self.built: list[str] = []
        self.signs = signs or {}
        self.word = "connected"

    def __call__(self, id: str) -> RowView:
        self.built.append(id)
        return RowView(self.signs.get(id, "works"), {"name": id, "state": self.word})


def names(count: int, start: int = 0) -> list[str]:
    return [f"row-{n:05}" for n in range(start, start + count)]


async def start(
    app: App[None],
    pilot: Pilot[None],
    ids: list[str],
    build: Callable[[str], RowView] = plain_row,
    heads: Collection[str] = (),
) -> RowList:
    rows = app.query_one(RowList)
    rows.set_rows(ids, build, heads=heads)
    rows.focus()
    await pilot.pause()
    return rows


def first(rows: RowList) -> str:
    """The name on the first line of the screen."""
    return lines_of(rows)[0][5:].split()[0]


# rows


async def test_only_the_rows_on_the_screen_are_built() -> None:
    build = Builder()
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 10)) as pilot:
        rows = await start(app, pilot, names(20_321), build)
        assert len(set(build.built)) == 10
        await pilot.press("G")
        assert len(set(build.built)) == 20
        assert rows.cursor_id == "row-20320"
        assert lines_of(rows)[-1].startswith("▌  ● row-20320")


async def test_a_row_that_was_built_is_not_built_again_by_moving() -> None:
    build = Builder()
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 10)) as pilot:
        await start(app, pilot, names(8), build)
        await pilot.press("down", "down", "up", "G", "g")
        assert len(build.built) == 8


async def test_a_changed_row_is_built_again_and_only_its_line_is_drawn() -> None:
    build = Builder()
    rows = Watched()
    app = Stage(rows)
    async with app.run_test(size=(60, 10)) as pilot:
        await start(app, pilot, names(100), build)
        build.built.clear()
        rows.regions.clear()
        build.word = "failed"
        rows.update_row("row-00003")
        rows.update_row("row-00090")
        await pilot.pause()
        assert build.built == ["row-00003"]
        assert [(r.y, r.height) for r in rows.regions if r] == [(3, 1)]
        assert None not in rows.regions
        assert "failed" in lines_of(rows)[3]
        assert "connected" in lines_of(rows)[2]


async def test_everything_is_built_again_when_asked() -> None:
    build = Builder()
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 4)) as pilot:
        rows = await start(app, pilot, names(50), build)
        build.word = "off"
        await pilot.press("down")
        rows.invalidate()
        await pilot.pause()
        assert all("off" in line for line in lines_of(rows))
        assert rows.cursor_id == "row-00001"


async def test_a_row_that_cannot_be_built_takes_nothing_else_down(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def build(id: str) -> RowView:
        if id == "row-00001":
            raise KeyError(id)
        return plain_row(id)

    app = Stage(RowList(COLUMNS))
    with caplog.at_level(logging.ERROR):
        async with app.run_test(size=(60, 6)) as pilot:
            rows = await start(app, pilot, names(3), build)
            assert lines_of(rows)[1].strip() == "✗ row-00001"
            assert "connected" in lines_of(rows)[2]
    assert "row-00001" in caplog.text


# cursor


async def test_the_cursor_keeps_its_row_and_that_row_its_line() -> None:
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 10)) as pilot:
        rows = await start(app, pilot, names(100))
        rows.move_to("row-00040")
        await pilot.press("up", "down")
        before = drawn(rows)
        rows.set_rows(names(10, 500) + names(100), plain_row)
        await pilot.pause()
        assert rows.cursor_id == "row-00040"
        assert rows.cursor_line == 50
        assert drawn(rows) == before


async def test_what_is_on_the_screen_stays_there_when_the_cursor_is_elsewhere() -> None:
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 10)) as pilot:
        rows = await start(app, pilot, names(100))
        rows.scroll_to(y=50, animate=False)
        await pilot.pause()
        before = drawn(rows)
        rows.set_rows(names(3, 500) + names(100), plain_row)
        await pilot.pause()
        assert drawn(rows) == before
        assert rows.cursor_id == "row-00000"


async def test_a_removed_row_gives_the_cursor_to_the_next_one() -> None:
    messages: list[Message] = []
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 10), message_hook=messages.append) as pilot:
        rows = await start(app, pilot, names(5))
        await pilot.press("down", "down")
        messages.clear()
        rows.set_rows([id for id in names(5) if id != "row-00002"], plain_row)
        await pilot.pause()
        assert rows.cursor_id == "row-00003"
        assert [m.id for m in seen(messages, RowList.Highlighted)] == ["row-00003"]  # type: ignore[attr-defined]


async def test_another_search_begins_at_its_first_row() -> None:
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 10)) as pilot:
        rows = await start(app, pilot, names(100))
        await pilot.press("G")
        rows.set_rows(names(60), plain_row, reset=True)
        await pilot.pause()
        assert (rows.cursor_id, first(rows)) == ("row-00000", "row-00000")
        rows.set_rows(names(60), plain_row, keep="row-00050")
        await pilot.pause()
        assert rows.cursor_id == "row-00050"
        assert "row-00050" in "\n".join(lines_of(rows))


async def test_an_empty_list_has_no_cursor_and_says_so_once() -> None:
    messages: list[Message] = []
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 10), message_hook=messages.append) as pilot:
        rows = await start(app, pilot, names(5))
        messages.clear()
        rows.set_rows([], plain_row)
        await pilot.press("down", "up", "G", "pagedown", "left", "enter", "enter")
        assert rows.cursor_id is None
        assert [m.id for m in seen(messages, RowList.Highlighted)] == [""]  # type: ignore[attr-defined]
        assert seen(messages, RowList.Activated) == []
        assert not "".join(lines_of(rows)).strip()
        rows.set_rows(names(2), plain_row)
        assert rows.cursor_id == "row-00000"


async def test_rows_that_were_set_before_the_first_layout_are_shown() -> None:
    rows = RowList(COLUMNS)
    rows.set_rows(names(100), plain_row, keep="row-00070")
    app = Stage(rows)
    async with app.run_test(size=(60, 10)) as pilot:
        await pilot.pause()
        assert rows.cursor_id == "row-00070"
        assert any("row-00070" in line for line in lines_of(rows))


@pytest.mark.parametrize(
    ("keys", "lands_on"),
    [
        (["j", "j", "k"], 1),
        (["down", "up", "up"], 0),
        (["pagedown"], 9),
        (["pagedown", "pagedown", "pageup"], 9),
        (["G"], 49),
        (["end", "home"], 0),
        (["G", "down", "g"], 0),
    ],
)
async def test_keys_move_the_cursor(keys: list[str], lands_on: int) -> None:
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 10)) as pilot:
        rows = await start(app, pilot, names(50))
        await pilot.press(*keys)
        assert rows.cursor_line == lands_on
        assert rows.cursor_id == f"row-{lands_on:05}"


async def test_moving_draws_two_lines_only() -> None:
    rows = Watched()
    app = Stage(rows)
    async with app.run_test(size=(60, 10)) as pilot:
        await start(app, pilot, names(50))
        rows.regions.clear()
        await pilot.press("down")
        assert sorted(r.y for r in rows.regions if r) == [0, 1]
        assert None not in rows.regions


async def test_the_cursor_stays_on_the_screen_when_it_gets_lower() -> None:
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 20)) as pilot:
        rows = await start(app, pilot, names(50))
        rows.move_to("row-00018")
        await pilot.resize_terminal(60, 8)
        assert any(line.startswith("▌  ● row-00018") for line in lines_of(rows))


# groups

GROUPS = ["A", "a1", "a2", "B", "b1"]


async def test_a_fold_hides_the_group_and_its_row_takes_the_cursor() -> None:
    messages: list[Message] = []
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 10), message_hook=messages.append) as pilot:
        rows = await start(app, pilot, GROUPS, heads={"A", "B"})
        assert lines_of(rows)[0].startswith("▌  ▾ A")
        await pilot.press("down", "down", "left")
        assert list(rows.visible_ids) == ["A", "B", "b1"]
        assert rows.cursor_id == "A"
        assert rows.folded == {"A"}
        assert lines_of(rows)[0].startswith("▌  ▸ A")
        await pilot.press("l")
        assert list(rows.visible_ids) == GROUPS
        folds = [(m.id, m.shut) for m in seen(messages, RowList.Folded)]  # type: ignore[attr-defined]
        assert folds == [("A", True), ("A", False)]


async def test_a_row_in_a_folded_group_can_be_gone_to() -> None:
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 10)) as pilot:
        rows = await start(app, pilot, GROUPS, heads={"A", "B"})
        rows.fold("B", True)
        assert rows.move_to("b1")
        assert rows.cursor_id == "b1"
        assert rows.folded == frozenset()
        assert not rows.move_to("nothing")
        assert rows.cursor_id == "b1"


# mouse


async def test_a_click_selects_and_a_second_one_goes_in() -> None:
    messages: list[Message] = []
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 10), message_hook=messages.append) as pilot:
        rows = await start(app, pilot, names(50))
        rows.scroll_to(y=5, animate=False)
        await pilot.pause()
        await pilot.click(rows, offset=(12, 3))
        assert rows.cursor_id == "row-00008"
        assert seen(messages, RowList.Activated) == []
        await pilot.click(rows, offset=(12, 3))
        assert [m.id for m in seen(messages, RowList.Activated)] == ["row-00008"]  # type: ignore[attr-defined]


async def test_a_click_that_brings_the_focus_does_not_go_in() -> None:
    messages: list[Message] = []
    app = Stage(Input(), RowList(COLUMNS))
    async with app.run_test(size=(60, 12), message_hook=messages.append) as pilot:
        rows = await start(app, pilot, names(3))
        app.query_one(Input).focus()
        await pilot.pause()
        await pilot.click(rows, offset=(12, 0))
        assert rows.has_focus
        assert seen(messages, RowList.Activated) == []


async def test_a_click_on_a_fold_mark_folds() -> None:
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 10)) as pilot:
        rows = await start(app, pilot, GROUPS, heads={"A", "B"})
        await pilot.click(rows, offset=(3, 3))
        assert rows.folded == {"B"}
        await pilot.click(rows, offset=(12, 9))
        assert rows.cursor_id == "B"


# looks


async def test_freshness_marks_stand_in_the_gutter() -> None:
    def build(id: str) -> RowView:
        fresh = {"a": "cached", "b": "new", "c": "changed"}.get(id, "")
        return RowView("works", {"name": id}, fresh=fresh)  # type: ignore[arg-type]

    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 10)) as pilot:
        rows = await start(app, pilot, ["x", "a", "b", "c"], build)
        assert [line[1:5] for line in lines_of(rows)[:4]] == ["  ● ", "┊ ● ", "+ ● ", "≠ ● "]


async def test_matches_are_marked_and_follow_the_filter() -> None:
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 10)) as pilot:
        rows = await start(app, pilot, ["re-review", "other"])
        rows.needle = "REV"
        await pilot.pause()
        marked = [s for s in segments_of(rows, 0) if s.style and s.style.underline]
        assert [s.text for s in marked] == ["rev"]
        rows.needle = ""
        await pilot.pause()
        assert not [s for s in segments_of(rows, 0) if s.style and s.style.underline]


async def test_the_cursor_can_be_seen_without_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Stage(Input(), RowList(COLUMNS))
    async with app.run_test(size=(60, 10)) as pilot:
        rows = await start(app, pilot, names(3))
        assert lines_of(rows)[0].startswith(">")
        styles = {s.style for s in segments_of(rows, 0)}
        assert len(styles) == 1  # tones under reverse make a patchwork
        (style,) = styles
        assert style
        assert style.reverse
        assert style.bold
        app.query_one(Input).focus()
        await pilot.pause()
        assert all(s.style and s.style.underline for s in segments_of(rows, 0))
        assert not any(s.style and s.style.underline for s in segments_of(rows, 1))


async def test_the_terminal_theme_reverses_the_cursor_too() -> None:
    app = Stage(RowList(COLUMNS), theme="terminal")
    async with app.run_test(size=(60, 10)) as pilot:
        rows = await start(app, pilot, names(3))
        assert lines_of(rows)[0].startswith(">")
        assert all(s.style and s.style.reverse for s in segments_of(rows, 0))


async def test_with_colour_the_cursor_has_a_ground_a_bar_and_bold() -> None:
    app = Stage(Input(), RowList(COLUMNS))
    async with app.run_test(size=(60, 10)) as pilot:
        rows = await start(app, pilot, names(3))
        here, other = segments_of(rows, 0), segments_of(rows, 1)
        assert here[0].text.startswith("▌")
        assert here[0].style
        assert other[0].style
        assert here[0].style.bgcolor != other[0].style.bgcolor
        assert all(s.style and s.style.bold for s in here)
        focused = here[0].style.bgcolor
        app.query_one(Input).focus()
        await pilot.pause()
        blurred = segments_of(rows, 0)[0].style
        assert blurred
        assert blurred.bgcolor not in (focused, other[0].style.bgcolor)


async def test_in_ascii_nothing_of_ours_is_anything_else() -> None:
    def build(id: str) -> RowView:
        long = "a very long reason that cannot fit into this narrow list of ours at all"
        return RowView(id, {"name": id, "state": long}, fresh="cached")  # type: ignore[arg-type]

    signs = ["works", "busy", "failed", "off", "policy", "update", "leftover", "unknown", "none"]
    app = Stage(RowList(COLUMNS), glyphs=Glyphs(ascii=True))
    async with app.run_test(size=(60, 12)) as pilot:
        rows = await start(app, pilot, ["works", *signs[1:]], build, heads={"works"})
        assert all(line.isascii() for line in lines_of(rows))


async def test_hostile_text_stays_in_its_line() -> None:
    evil = "\x1b[2J\x1b]0;t\x07\u202egnp\u200b[/red]" + "\u0301" * 50 + "\n\nnext" + "数" * 100
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 6)) as pilot:
        rows = await start(
            app, pilot, ["a", "b"], lambda id: RowView("failed", {"name": evil, "state": evil})
        )
        for line in (0, 1):
            strip = rows.render_line(line)
            assert strip.cell_length == 59
            assert "\x1b" not in strip.text
            assert "\n" not in strip.text
            assert "[/red]" in strip.text


async def test_columns_can_be_exchanged_and_the_heads_follow() -> None:
    rows = RowList(COLUMNS)
    app = Stage(RowHeader(rows), rows)
    async with app.run_test(size=(60, 10)) as pilot:
        await start(app, pilot, names(2))
        header = app.query_one(RowHeader)
        assert lines_of(header)[0].split() == ["Name", "State", "ms"]
        assert lines_of(header)[0].index("State") == lines_of(rows)[0].index("connected")
        rows.columns = (COLUMNS[0], Column("state", "How", 30))
        await pilot.pause()
        assert lines_of(header)[0].split() == ["Name", "How"]
        assert lines_of(header)[0].index("How") == lines_of(rows)[0].index("connected")


async def test_a_busy_sign_turns_only_while_motion_is_wanted() -> None:
    def sign(rows: RowList) -> str:
        return lines_of(rows)[0][3]

    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 6)) as pilot:
        app.animation_level = "none"
        rows = await start(app, pilot, ["a"], Builder({"a": "busy"}))
        assert rows._timer is None
        app.animation_level = "full"
        rows.invalidate()
        await pilot.pause()
        assert rows._timer is not None
        assert sign(rows) == "◐"
        rows._turn_on()
        await pilot.pause()
        assert sign(rows) == "◓"
        rows.set_rows(["b"], plain_row)
        await pilot.pause()
        rows._turn_on()
        assert rows._timer is None


async def test_the_real_cursor_can_stand_on_the_selected_row() -> None:
    app = Stage(Input(), RowList(COLUMNS))
    async with app.run_test(size=(60, 12)) as pilot:
        rows = await start(app, pilot, names(50))
        rows.real_cursor = True
        await pilot.press("down", "down")
        assert app.cursor_position == Offset(rows.region.x, rows.region.y + 2)
        await pilot.press("G")
        assert app.cursor_position.y == rows.region.bottom - 1


async def test_another_theme_draws_the_rows_again() -> None:
    app = Stage(RowList(COLUMNS))
    async with app.run_test(size=(60, 6)) as pilot:
        rows = await start(app, pilot, names(2))
        dark = segments_of(rows, 1)[0].style
        app.theme = "paper"
        await pilot.pause()
        light = segments_of(rows, 1)[0].style
        assert dark
        assert light
        assert dark.bgcolor != light.bgcolor
