"""Help and palette: both are made from the live table."""

from collections.abc import Callable, Sequence

import anyio
import pytest
from textual.command import CommandInput, CommandList
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.widgets.support import Stage, screen_lines
from tui.commands import Offer
from tui.registry import NameHit, Registry
from tui.screens.help import HelpSheet, balance
from tui.screens.palette import CommandProvider, Palette
from tui.signs import SIGNS, UNICODE, Glyphs
from tui.widgets.page import Page
from tui.widgets.row_list import RowList

pytestmark = pytest.mark.anyio


class Host(Stage):
    """A `CommandHost` with one selected row, a failed server that a plugin brings."""

    def __init__(self, registry: Registry | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(RowList(()), glyphs=glyphs)
        self.registry = registry or Registry()
        self.done: list[str] = []

    @property
    def tab(self) -> tuple[str, str]:
        return "servers", "MCP servers"

    def offers(self) -> Sequence[Offer]:
        return [
            Offer("row.mend", "reconnect", about="metrics"),
            Offer("row.switch", "disable", about="metrics"),
            Offer("row.remove", "remove", why="comes with [bold]a plugin\x1b[2J"),
        ]

    def command_offer(self, id: str) -> Offer | None:
        return Offer(id, why="no change to take back") if id == "app.undo" else None

    def run_command(self, id: str) -> None:
        self.done.append(id)

    def explain_names(self, query: str, limit: int) -> Sequence[NameHit]:
        names = [NameHit("s1", "metrics", "server, failed"), NameHit("p1", "[/]数据库", "plugin")]
        return [hit for hit in names if query in hit.text][:limit]

    def explain_name(self, id: str) -> None:
        self.done.append(f"explain {id}")


def prompts(app: Host) -> list[str]:
    options = app.screen.query_one(CommandList).options
    return [" ".join(str(o.prompt).split()) for o in options if isinstance(o.prompt, Content)]


async def until(pilot: Pilot[None], condition: Callable[[], object]) -> None:
    with anyio.fail_after(5):
        while not condition():
            await pilot.pause()


async def opened(app: Host, pilot: Pilot[None]) -> None:
    app.push_screen(Palette())
    await until(pilot, lambda: app.screen.has_class("-ready") and len(prompts(app)) > 20)


# palette


async def test_the_palette_begins_with_what_the_row_needs_and_ends_with_what_does_not_apply() -> (
    None
):
    app = Host()
    async with app.run_test(size=(100, 40)) as pilot:
        await opened(app, pilot)
        shown = prompts(app)
        assert shown[:2] == ["Reconnect metrics m", "Disable metrics space"]
        assert shown[-2:] == [
            "Remove comes with [bold]a plugin␛[2J x",
            "Undo no change to take back z",
        ]
        assert any(line.startswith("Sign in") for line in shown)
        assert not any(line.startswith("Install") for line in shown)
        starts = [line.split()[0] for line in shown]
        assert starts.index("Go") > starts.index("Quit") > starts.index("Sign")


async def test_what_does_not_apply_is_muted_and_says_why_when_it_is_chosen() -> None:
    app = Host()
    async with app.run_test(size=(100, 40), notifications=True) as pilot:
        await opened(app, pilot)
        option = app.screen.query_one(CommandList).options[-1]
        assert isinstance(option.prompt, Content)
        assert {str(span.style) for span in option.prompt.spans} == {"$text-muted", "bold $accent"}
        await pilot.press(*"undo")
        await until(pilot, lambda: len(prompts(app)) == 1)
        await pilot.press("enter")
        await until(pilot, lambda: len(app._notifications))
        assert app.done == []
        assert [n.message for n in app._notifications] == ["undo: no change to take back"]


async def test_typing_finds_a_command_and_enter_does_it() -> None:
    app = Host()
    async with app.run_test(size=(100, 40)) as pilot:
        await opened(app, pilot)
        await pilot.press(*"reco")
        await until(pilot, lambda: len(prompts(app)) < 5)
        assert prompts(app)[0] == "Reconnect metrics m"
        await pilot.press("enter")
        await until(pilot, lambda: app.done)
        assert app.done == ["row.mend"]
        assert not isinstance(app.screen, Palette)


async def test_names_can_be_explained_whatever_they_are_made_of() -> None:
    app = Host()
    async with app.run_test(size=(100, 40)) as pilot:
        await opened(app, pilot)
        app.screen.query_one(CommandInput).value = "数"
        await until(pilot, lambda: len(prompts(app)) == 1)
        assert prompts(app) == ["Explain [/]数据库 plugin"]
        await pilot.press("enter")
        await until(pilot, lambda: app.done)
        assert app.done == ["explain p1"]


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
async def test_every_line_of_the_palette_fits(size: tuple[int, int]) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot)
        commands = app.screen.query_one(CommandList)
        assert commands.virtual_size.height == commands.option_count
        assert commands.region.bottom <= size[1] - 1
        assert "Reconnect" in "\n".join(screen_lines(app))


async def test_the_palette_shows_the_keys_that_are_really_bound() -> None:
    app = Host(Registry(keymap={"row.mend": "M"}))
    async with app.run_test(size=(100, 40)) as pilot:
        await opened(app, pilot)
        assert prompts(app)[0] == "Reconnect metrics M"
        provider = CommandProvider(app.screen)
        assert {e.key for e in provider.entries() if e.text == "Reconnect"} == {"M"}


# help


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (200, 50)])
async def test_the_help_shows_every_key_and_sign_at_every_size(size: tuple[int, int]) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        app.push_screen(HelpSheet(app.registry, app.tab))
        await pilot.pause()
        await pilot.pause()
        sheet = app.screen
        assert isinstance(sheet, HelpSheet)
        seen: set[str] = set()
        await pilot.press("pagedown", "pageup")
        for _ in range(12):
            seen.update(screen_lines(app))
            sheet.scroll_body(8)
            await pilot.pause()
        text = "\n".join(seen)
        for group in app.registry.help(*app.tab):
            assert group.title in text
            for row in group.rows:
                assert row.text in text, row
        for sign in SIGNS.values():
            assert sign.meaning in text


async def test_the_help_can_be_searched_and_closed_in_two_steps() -> None:
    app = Host()
    async with app.run_test(size=(120, 40)) as pilot:
        app.push_screen(HelpSheet(app.registry, app.tab))
        await pilot.pause()
        await pilot.press("slash")
        await pilot.press(*"undo")
        await pilot.pause()
        text = "\n".join(screen_lines(app))
        assert "undo the last change" in text
        assert "explain" not in text
        app.screen.query_one(Input).value = "no such word"
        await pilot.pause()
        assert "No key and no sign says “no such word”." in "\n".join(screen_lines(app))
        await pilot.press("escape")
        await pilot.pause()
        assert "explain: what stops it?" in "\n".join(screen_lines(app))
        await pilot.press("escape")
        assert not isinstance(app.screen, HelpSheet)


async def test_the_help_shows_a_users_own_keys() -> None:
    app = Host(Registry(keymap={"row.mend": "f5"}))
    async with app.run_test(size=(120, 40)) as pilot:
        app.push_screen(HelpSheet(app.registry, app.tab))
        await pilot.pause()
        line = next(line for line in screen_lines(app) if "mend what the row says" in line)
        assert "f5 " in line


async def test_in_ascii_the_help_is_too() -> None:
    app = Host(glyphs=Glyphs(ascii=True))
    async with app.run_test(size=(120, 40)) as pilot:
        app.push_screen(HelpSheet(app.registry, app.tab))
        await pilot.pause()
        assert all(line.isascii() for line in screen_lines(app))


def block(height: int) -> Page:
    page = Page(20)
    page.lines = [Content(str(height))] * height
    return page


@pytest.mark.parametrize(
    ("heights", "count", "shares"),
    [
        ([18, 9, 4, 6, 15], 3, [[18], [9, 4, 6], [15]]),
        ([5, 5], 3, [[5], [5]]),
        ([5, 5], 1, [[5, 5]]),
        ([], 2, [[]]),
    ],
)
def test_blocks_stay_in_order_and_columns_are_even(
    heights: list[int], count: int, shares: list[list[int]]
) -> None:
    columns = balance([block(height) for height in heights], count)
    assert [[len(page.lines) for page in column] for column in columns] == shares
