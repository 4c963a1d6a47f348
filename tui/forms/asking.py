"""A value asked for by its schema: as a form, or as raw JSON where that is wanted or needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import anyio
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import TextArea

from tui.forms.checking import Checked, check
from tui.forms.form import Field, Form, json_of, json_text
from tui.forms.schema import NoForm, shape_of
from tui.forms.view import FormView, write_about
from tui.widgets.page import Page
from tui.widgets.page_view import PageView

SHOWN_FAULTS = 8


class Asking(Vertical):
    """A form, raw JSON instead of it, and below them what the schema says of the field.

    Args:
        titled: Fields are called by their titles, not by the names of their members.

    Attributes:
        no_form: Why there is no form, or "".
        unchecked: What could not be checked of the last value, or "".
    """

    DEFAULT_CSS = """
    Asking {
        height: auto;
        & > TextArea {
            display: none;
            height: 10;
            border: none;
            padding: 0 0 0 1;
            background: $panel;
            &:focus { background: $row-cursor; background-tint: 0%; }
            &:nocolor:focus, &:ansi:focus { border-left: solid $accent; }
        }
        &.-raw > TextArea { display: block; }
        &.-raw > FormView { display: none; }
        & > #about { padding-top: 1; }
        & > #said { display: none; padding-top: 1; }
        &.-said > #said { display: block; }
    }
    """

    def __init__(self, schema: Any, *, titled: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._schema = schema
        self._said: list[str] = []
        self._field: Field | None = None
        self.no_form = self.unchecked = ""
        try:
            self.form = Form(shape_of(schema), titled=titled)
        except NoForm as why:
            self.form, self.no_form = None, str(why)
        self.raw = self.form is None
        self._view = FormView(self.form) if self.form is not None else None
        self._text = TextArea("{}" if self.raw else "", show_line_numbers=False)
        self._text.cursor_blink = False

    def compose(self) -> ComposeResult:
        """The form, the text, what is wrong with the whole, what a field is for."""
        if self._view is not None:
            yield self._view
        yield self._text
        yield PageView(self._write_said, id="said")
        yield PageView(self._write_about, id="about")

    def on_mount(self) -> None:
        """Raw from the beginning, where there is no form."""
        self.set_class(self.raw, "-raw")
        if self.no_form:
            self._say([f"{self.no_form}: raw JSON"])

    def begin(self) -> bool:
        """Put the cursor where something is to be filled in; False when nothing is."""
        if self.raw:
            self._text.focus()
            return True
        return self._view is not None and self._view.focus_first()

    @property
    def view(self) -> FormView | None:
        """The form that is shown; None while it is raw JSON."""
        return None if self.raw else self._view

    # -- the value

    async def value(self) -> dict[str, Any] | None:
        """What is filled in, checked; None when something is wrong, which is then shown."""
        if self.raw:
            return await self._raw_value()
        assert self.form is not None and self._view is not None
        reading = self.form.read()
        faults = dict(reading.faults)
        if not faults:
            checked = await self._check(reading.value)
            faults = {fault.path: fault.text for fault in checked.faults}
        self._say(self._view.show_faults(faults))
        return None if faults else reading.value

    async def _raw_value(self) -> dict[str, Any] | None:
        try:
            value = json_of(self._text.text or "{}")
        except ValueError as fault:
            self._say([str(fault)])
            return None
        if not isinstance(value, dict):
            self._say(["it must be an object, { … }"])
            return None
        checked = await self._check(value)
        self._say([_placed(fault.path, fault.text) for fault in checked.faults])
        return None if checked.faults else cast("dict[str, Any]", value)

    async def _check(self, value: Any) -> Checked:
        checked = await anyio.to_thread.run_sync(check, self._schema, value)
        self.unchecked = checked.unchecked
        return checked

    async def fill(self, value: Mapping[str, Any]) -> None:
        """Put a value in; it becomes raw JSON where the form cannot hold it."""
        self._say([])
        if self.form is None or self._view is None:
            self._text.text = json_text(dict(value))
            return
        held = self.form.fill(dict(value))
        await self._view.rebuild()
        if held:
            self._turn(raw=False)
        else:
            self._text.text = json_text(dict(value))
            self._turn(raw=True)

    async def toggle(self) -> None:
        """From the form to raw JSON, and back where the form can hold it."""
        if self.form is None or self._view is None:
            self._say([f"{self.no_form}: raw JSON only"])
            return
        if not self.raw:
            self._text.text = json_text(self.form.read().value)
            self._say([])
            self._turn(raw=True)
            return
        try:
            value = json_of(self._text.text or "{}")
        except ValueError as fault:
            self._say([str(fault)])
            return
        if not self.form.fill(value):
            self._say(["the form cannot hold this; it stays raw JSON"])
            return
        await self._view.rebuild()
        self._say([])
        self._turn(raw=False)

    def _turn(self, *, raw: bool) -> None:
        self.raw = raw
        self.set_class(raw, "-raw")
        self.query_one("#about").display = not raw
        self.begin()

    # -- what is said

    def _say(self, lines: list[str]) -> None:
        self._said = lines[:SHOWN_FAULTS]
        if len(lines) > SHOWN_FAULTS:
            self._said.append(f"and {len(lines) - SHOWN_FAULTS} more")
        self.set_class(bool(lines), "-said")
        self.query_one("#said", PageView).redraw()

    def _write_said(self, page: Page) -> None:
        for line in self._said:
            page.state("problem", line)

    def _write_about(self, page: Page) -> None:
        write_about(page, self._field)

    @on(FormView.Focused)
    def _focused(self, event: FormView.Focused) -> None:
        event.stop()
        self._field = event.field
        self.query_one("#about", PageView).redraw()

    @on(FormView.Changed)
    def _changed(self, event: FormView.Changed) -> None:
        event.stop()
        if self._said:
            self._say([])


def _placed(path: tuple[str | int, ...], text: str) -> str:
    place = ".".join(str(part) for part in path)
    return f"{place}: {text}" if place else text
