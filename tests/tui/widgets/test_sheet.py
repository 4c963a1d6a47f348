from typing import ClassVar

import pytest
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Button, Input

from tests.tui.widgets.support import Stage, lines_of, screen_lines, seen
from tui.signs import Glyphs
from tui.widgets.confirm import Choice, Confirm
from tui.widgets.field import ChoiceField, ChoiceLine, Field, Tick
from tui.widgets.key_bar import KeyBar
from tui.widgets.page import Page
from tui.widgets.sheet import Sheet

pytestmark = pytest.mark.anyio


class Long(Sheet[str]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o,p", "answer('open')", "open"),
        Binding("g", "answer('greyed')", "greyed"),
        Binding("h", "answer('hidden')", "hidden", show=False),
        Binding("ctrl+x", "answer('cancel')", "cancel"),
    ]

    def __init__(self, lines: int = 60) -> None:
        super().__init__("Sign in to [bold]\x1b[2J", "stops at 6")
        self.count = lines

    def build(self, page: Page) -> None:
        for n in range(self.count):
            page.text(f"line {n}")

    def action_answer(self, answer: str) -> None:
        self.dismiss(answer)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return None if parameters == ("greyed",) else True


def keys(app: Stage) -> str:
    return " ".join(lines_of(app.screen.query_one(KeyBar))[0].split())


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (200, 50)])
async def test_title_and_key_line_stay_on_the_screen_however_long_the_body_is(
    size: tuple[int, int],
) -> None:
    app = Stage()
    async with app.run_test(size=size) as pilot:
        app.push_screen(Long())
        await pilot.pause()
        await pilot.pause()
        shown = screen_lines(app)
        assert any("Sign in to [bold]␛[2J" in line for line in shown)
        assert any("stops at 6" in line for line in shown)
        assert any("line 0" in line for line in shown)
        assert keys(app) == "o open ^x cancel esc close"
        bar = app.screen.query_one(KeyBar)
        assert bar.region.bottom < size[1]


async def test_a_short_body_makes_a_small_sheet_in_the_middle() -> None:
    app = Stage()
    async with app.run_test(size=(120, 40)) as pilot:
        app.push_screen(Long(2))
        await pilot.pause()
        box = app.screen.query_one("#box")
        assert (box.size.height, box.outer_size.width) == (5, 92)
        assert abs(box.region.y - (40 - box.region.bottom)) <= 1


async def test_on_a_low_screen_a_full_sheet_takes_all_of_it() -> None:
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(Long(2))
        await pilot.pause()
        assert app.screen.query_one("#box").region.size == (80, 24)


async def test_escape_closes_with_no_answer_and_keys_answer() -> None:
    answers: list[str | None] = []
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(Long(), answers.append)
        await pilot.press("escape")
        app.push_screen(Long(), answers.append)
        await pilot.press("h")
        assert answers == [None, "hidden"]


async def test_in_ascii_the_border_is_too() -> None:
    app = Stage(glyphs=Glyphs(ascii=True))
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(Confirm("Remove it?", "Text", [Choice("go", "Remove")]))
        await pilot.pause()
        assert all(line.isascii() for line in screen_lines(app))


# confirm

CHOICES = [
    Choice("keep", "Remove, keep plugins", "keep plugins", "they run on", "works"),
    Choice("both", "Remove both", "remove both", "their skills stop now"),
]


def question() -> Confirm:
    return Confirm(
        "Remove the marketplace data-workshop?",
        "Two of its plugins are installed.",
        CHOICES,
        writes="config.toml:33",
        undo="z brings the table back",
    )


async def test_a_question_says_what_happens_by_each_choice() -> None:
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(question())
        await pilot.pause()
        shown = "\n".join(" ".join(line.split()) for line in screen_lines(app))
        for words in (
            "● keep plugins they run on",
            "! remove both their skills stop now",
            "writes config.toml:33",
            "undo z brings the table back",
            "Cancel Remove, keep plugins Remove both",
            "esc cancel",
        ):
            assert words in shown


@pytest.mark.parametrize(
    ("pressed", "answer"),
    [
        (["enter"], None),
        (["escape"], None),
        (["right", "enter"], "keep"),
        (["tab", "tab", "enter"], "both"),
        (["right", "right", "left", "enter"], "keep"),
    ],
)
async def test_cancel_has_the_focus_and_arrows_go_to_the_acts(
    pressed: list[str], answer: str | None
) -> None:
    answers: list[str | None] = []
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(question(), answers.append)
        await pilot.pause()
        await pilot.press(*pressed)
        await pilot.pause()
        assert answers == [answer]


async def test_a_button_says_what_was_given_and_nothing_else() -> None:
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(Confirm("Q", "", [Choice("x", "[red]Turn off\x1b")]))
        await pilot.pause()
        labels = [str(button.label) for button in app.screen.query(Button)]
        assert labels == ["Cancel", "[red]Turn off␛"]


# forms


class Form(Sheet[None]):
    def body(self) -> ComposeResult:
        yield Field("repo", "acme/atlas", hint="owner/name", required=True, id="repo")
        yield Field("due", "", placeholder="empty: left out", id="due")
        yield ChoiceField("priority", ["low", "normal", "high"], 1, id="priority")
        yield Tick([("preToolUse  ", "strong"), ("bash hooks/guard.sh", "")], id="tick")


async def test_fields_are_one_line_each_and_faults_stand_below_theirs() -> None:
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(Form())
        await pilot.pause()
        repo, due = app.screen.query_one("#repo", Field), app.screen.query_one("#due", Field)
        assert lines_of(repo)[0].split() == ["repo", "*", "▌acme/atlas", "owner/name"]
        assert (repo.size.height, due.size.height) == (1, 1)
        due.fault = "month must be 1 to 12 [/]"
        await pilot.pause()
        assert [line.strip() for line in lines_of(due)][1] == "! month must be 1 to 12 [/]"
        due.fault = ""
        await pilot.pause()
        assert due.size.height == 1


async def test_a_field_is_typed_into_and_tells_like_an_input() -> None:
    messages: list[Message] = []
    app = Stage()
    async with app.run_test(size=(80, 24), message_hook=messages.append) as pilot:
        app.push_screen(Form())
        await pilot.pause()
        repo = app.screen.query_one("#repo", Field)
        await pilot.press("end", "s")
        assert repo.value == "acme/atlass"
        assert seen(messages, Input.Changed)
        repo.value = "a\x1bb"
        assert repo.value == "a␛b"


async def test_one_of_a_few_is_chosen_with_arrows_and_clicks() -> None:
    messages: list[Message] = []
    app = Stage()
    async with app.run_test(size=(80, 24), message_hook=messages.append) as pilot:
        app.push_screen(Form())
        await pilot.pause()
        field = app.screen.query_one("#priority", ChoiceField)
        assert field.value == "normal"
        assert lines_of(field)[0].split() == ["priority", "○", "low", "●", "normal", "○", "high"]
        field.choice.focus()
        await pilot.press("right", "right")
        assert field.value == "low"
        at = lines_of(field)[0].index("high")
        await pilot.click(field, offset=(at, 0))
        assert field.value == "high"
        values = [m.value for m in seen(messages, ChoiceLine.Changed)]  # type: ignore[attr-defined]
        assert values == ["high", "low", "high"]


async def test_a_tick_says_whether_it_is_ticked_without_colour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(Form())
        await pilot.pause()
        tick = app.screen.query_one("#tick", Tick)
        assert lines_of(tick) == ["[✓] preToolUse  bash hooks/guard.sh"]
        tick.focus()
        await pilot.press("space")
        assert not tick.ticked
        assert lines_of(tick) == ["[ ] preToolUse  bash hooks/guard.sh"]
        assert all(s.style and s.style.reverse for s in tick.render_line(0))
