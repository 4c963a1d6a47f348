"""Every text cell that the widgets draw can be read: measured, in every theme and without colour."""

from typing import get_args

import pytest
from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical

from tests.tui.widgets.support import Stage
from tui.signs import FRESH, SignName, state_parts
from tui.theme import contrast
from tui.widgets.columns import Column
from tui.widgets.confirm import Choice, Confirm
from tui.widgets.field import ChoiceField, Field, Tick
from tui.widgets.filter_bar import FilterBar, View
from tui.widgets.key_bar import KeyBar
from tui.widgets.page import Page
from tui.widgets.page_view import Detail
from tui.widgets.peek import Peek
from tui.widgets.progress_line import Load, ProgressLine
from tui.widgets.row_header import RowHeader
from tui.widgets.row_list import RowList
from tui.widgets.row_view import RowView
from tui.widgets.sheet import Sheet
from tui.widgets.status_line import StatusLine
from tui.widgets.tab_bar import Tab, TabBar

pytestmark = pytest.mark.anyio

LEAST = {"dusk": 5.0, "paper": 5.0, "stark": 7.0}
SIGNS = get_args(SignName)


def row(id: str) -> RowView:
    if id == "group":
        return RowView(
            "none", {"name": [("group", ""), ("  ~/src", "muted")]}, note=[("2", "muted")]
        )
    fresh = tuple(FRESH)[SIGNS.index(id) % 4]
    cells = {"name": f"re-{id}", "state": state_parts(id, id, "a reason"), "ms": [("84", "muted")]}
    return RowView(id, cells, fresh=fresh)  # type: ignore[arg-type]


def page(page: Page) -> None:
    page.title("title", "note")
    for sign in SIGNS:
        page.state(sign, sign, "reason")
        page.item(sign, "text", "note")
    page.fact("label", "value")
    page.section("section", "note")
    page.quote(["words"], last="strong")
    page.change("was", "becomes")
    page.link("https://a.example/x")
    page.keys(("m", "mend"))
    page.bar(0.5, "4:12 left")
    page.button_like("W D J B")


class Scene(Stage):
    def compose(self) -> ComposeResult:
        yield TabBar([Tab("a", "Apps", "Apps"), Tab("b", "Servers", "Servers")], active="b")
        with Horizontal():
            with Vertical():
                yield FilterBar([View("all", "all"), View("up", "up")])
                yield ProgressLine()
                columns = (
                    Column("name", "Name", 16, match=True),
                    Column("state", "State", 22, spill=True),
                    Column("ms", "ms", 4),
                )
                rows = RowList(columns)
                yield RowHeader(rows)
                yield rows
                yield Peek()
            yield Detail(page)
        yield StatusLine()
        yield KeyBar([("m", "mend"), ("e", "explain")])

    def on_mount(self) -> None:
        self.query_one(TabBar).badges = {"a": 3, "b": 8}
        self.query_one(FilterBar).counts = {"all": 3, "up": 1}
        self.query_one(ProgressLine).show("Refetching", [Load("one", 1, 2), Load("two", 3, 3)])
        self.query_one(Peek).show([("name", "strong")], [("m", "key")], [("failed: ", "bad")])
        line = self.query_one(StatusLine)
        line.where, line.counts = (
            [("atlas", "strong")],
            [("works", 6, "up"), ("failed", 1, "failed")],
        )
        rows = self.query_one(RowList)
        rows.needle = "re"
        rows.set_rows(["group", *SIGNS], row, heads={"group"}, keep="needs")
        rows.focus()


class Form(Sheet[None]):
    def body(self) -> ComposeResult:
        yield Field("repo", "acme/atlas", hint="owner/name", id="repo")
        yield Field("due", placeholder="empty: left out")
        yield ChoiceField("priority", ["low", "high"])
        yield Tick([("preToolUse  ", "strong"), ("bash x.sh", "")], id="tick")

    def on_mount(self) -> None:
        self.query_one("#repo", Field).fault = "not a repository"


def unreadable(app: App[None], least: float) -> list[tuple[str, str, str, float]]:
    """Texts with less contrast than that; lines and blocks are no text."""
    found: list[tuple[str, str, str, float]] = []
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            text = "".join(c for c in segment.text if not 0x2500 <= ord(c) <= 0x259F).strip()
            style = segment.style
            if not text or text == "┊" or style is None or not style.color or not style.bgcolor:
                continue
            pair = [colour.get_truecolor().hex for colour in (style.color, style.bgcolor)]
            front, back = reversed(pair) if style.reverse else pair
            if (ratio := contrast(front, back)) < least:
                found.append((text, front, back, round(ratio, 2)))
    return found


@pytest.mark.parametrize("theme", LEAST)
@pytest.mark.parametrize("focus", ["rows", "detail", "filter"])
async def test_every_text_of_the_frame_can_be_read(theme: str, focus: str) -> None:
    app = Scene(theme=theme)
    async with app.run_test(size=(130, 44)) as pilot:
        if focus == "detail":
            app.query_one(Detail).focus()
        elif focus == "filter":
            app.query_one(FilterBar).focus_input()
        await pilot.pause()
        await pilot.pause()
        assert unreadable(app, LEAST[theme]) == []


@pytest.mark.parametrize("theme", LEAST)
@pytest.mark.parametrize("focus", ["#repo Input", "ChoiceLine", "#tick"])
async def test_every_text_of_a_form_can_be_read(theme: str, focus: str) -> None:
    app = Stage(theme=theme)
    async with app.run_test(size=(100, 34)) as pilot:
        app.push_screen(Form("Try a tool", "writes; no approval is asked"))
        await pilot.pause()
        app.screen.query_one(focus).focus()
        await pilot.pause()
        assert unreadable(app, LEAST[theme]) == []


@pytest.mark.parametrize("theme", LEAST)
async def test_every_text_of_a_question_can_be_read(theme: str) -> None:
    app = Stage(theme=theme)
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(Confirm("Q?", "Text", [Choice("x", "Remove", "remove", "gone")], undo="z"))
        await pilot.pause()
        await pilot.pause()
        assert unreadable(app, LEAST[theme]) == []


async def test_without_colour_every_text_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Scene()
    async with app.run_test(size=(130, 44)) as pilot:
        await pilot.pause()
        await pilot.pause()
        assert unreadable(app, 4.5) == []
        app.push_screen(Form("Try a tool"))
        await pilot.pause()
        await pilot.pause()
        app.screen.styles.background = "black"
        await pilot.pause()
        assert unreadable(app, 4.5) == []
