from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.world import HOSTILE
from tui.forms.asking import Asking
from tui.forms.form import Form
from tui.forms.lines import SelectLine
from tui.theme import register_themes, theme_defaults
from tui.widgets.field import Tick

pytestmark = pytest.mark.anyio


class Here(App[None]):
    def __init__(self, properties: dict[str, Any], required: list[str]) -> None:
        super().__init__()
        schema = {"type": "object", "properties": properties, "required": required}
        self.asking = Asking(schema)
        register_themes(self)
        self.theme = "dusk"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_defaults()

    def compose(self) -> ComposeResult:
        yield self.asking

    @property
    def form(self) -> Form:
        assert self.asking.form is not None
        return self.asking.form

    def value(self) -> Any:
        return self.form.read().value


@asynccontextmanager
async def shown(
    *required: str, **properties: Any
) -> AsyncGenerator[tuple[Here, Pilot[None], SelectLine | None]]:
    app = Here(properties, list(required))
    async with app.run_test(size=(80, 24)) as pilot:
        lines = app.query(SelectLine)
        yield app, pilot, lines.first() if lines else None


def text(line: SelectLine) -> str:
    return "".join(part for part, _ in line.parts(line.content_size.width))


async def test_a_choice_that_may_be_left_out_can_be_unset_again() -> None:
    async with shown(a={"enum": ["low", "high"]}) as (app, pilot, line):
        assert line is not None and text(line) == "● not set  ○ low  ○ high"
        await pilot.press("right", "right")
        assert app.value() == {"a": "high"}
        await pilot.press("right")
        assert app.value() == {} and text(line).startswith("● not set")
        await pilot.press("left")
        assert app.value() == {"a": "high"}
        await pilot.press("l")
        assert app.value() == {"a": "low"}


async def test_a_choice_that_is_needed_has_no_unset() -> None:
    async with shown("a", a={"type": "boolean"}) as (app, pilot, line):
        assert line is not None and text(line) == "○ yes  ○ no"
        assert app.form.read().faults == {("a",): "required"}
        await pilot.press("space")
        assert app.value() == {"a": True}
        await pilot.press("end")
        assert app.value() == {"a": False}


async def test_many_options_show_the_chosen_one_and_its_number() -> None:
    many = [f"{letter}-option-number-{n}" for letter in "abc" for n in range(40)]
    async with shown(a={"enum": many}) as (app, pilot, line):
        assert line is not None and text(line).strip() == "not set  ← →  - of 120"
        await pilot.press("c")
        assert text(line).strip() == "● c-option-number-0  ← →  81 of 120"
        assert app.value() == {"a": "c-option-number-0"}


async def test_several_are_ticked() -> None:
    items = {"type": "array", "items": {"enum": ["x", "y", "z"]}}
    async with shown(a=items, b=items) as (app, pilot, _):
        ticks = app.query(Tick)
        assert len(ticks) == 6
        ticks[1].focus()
        await pilot.press("space")
        ticks[5].focus()
        await pilot.press("space")
        await pilot.pause()
        assert app.value() == {"a": ["y"], "b": ["z"]}


async def test_a_secret_is_typed_unseen_and_null_is_what_an_empty_field_means() -> None:
    nullable = {"type": ["string", "null"]}
    async with shown("b", a={"type": "string", "format": "password"}, b=nullable) as (app, _, _no):
        secret, other = app.query(Input)
        assert secret.password and not other.password
        assert other.placeholder == "null" and app.value() == {"b": None}


async def test_what_is_foreign_is_only_text() -> None:
    schema = {"type": "string", "title": HOSTILE, "description": HOSTILE, "format": HOSTILE}
    choice = {"enum": [HOSTILE, HOSTILE + "2"]}
    async with shown(**{HOSTILE: schema, "c": choice, "d": {"const": HOSTILE}}) as (app, pilot, _):
        await pilot.press("tab")
        svg = app.export_screenshot()
        assert "\x1b" not in svg and "\u202e" not in svg and "owned" in svg


async def test_items_of_objects_are_filled_in_below_one_another() -> None:
    item = {
        "type": "object",
        "properties": {
            "x": {"type": "string"},
            "y": {"type": "array", "items": {"type": "string"}},
        },
    }
    async with shown(a={"type": "array", "items": item}, z={"type": "string"}) as (app, pilot, _):
        view = app.asking.view
        assert view is not None
        many = app.form.root.fields[0]
        await view.add_item(many)
        await pilot.press("1")
        inner = many.fields[0].fields[1]
        await view.add_item(inner)
        await pilot.press("2")
        await view.add_item(many)
        await pilot.press("3")
        assert app.value() == {"a": [{"x": "1", "y": ["2"]}, {"x": "3"}]}
        order = [view._of[cast("Any", one)].path for one in app.query(Input)]
        fields = [one.path for one in app.form.walk() if one.shape.kind == "text"]
        assert order == fields
        await view.remove_item(many.fields[0])
        await pilot.pause()
        assert app.value() == {"a": [{"x": "3"}]}
        assert [one.value for one in app.query(Input)] == ["3", ""]
