"""Where to write what is on the screen: one field, and what will be in the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import anyio
import anyio.to_thread
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from tui.files import Taken, save, target_of
from tui.views.base import Place
from tui.widgets.field import Field
from tui.widgets.page import Page
from tui.widgets.page_view import PageView
from tui.widgets.sheet import Sheet


class SaveSheet(Sheet[Path | None]):
    """Writes a file and answers with it; None = not written.

    Args:
        what: What is written, `15 servers as JSON`.
        name: The name to begin with.
        text: Makes the file's text or bytes; called when it is written.
    """

    SIZE = "small"
    FULL = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "form_submit", "write", id="form.submit", priority=True),
        Binding("escape", "close", "cancel", id="form.close"),
    ]

    def __init__(self, what: str, name: str, place: Place, text: Callable[[], str | bytes]) -> None:
        super().__init__("Write to a file")
        self._what, self._place, self._text = what, place, text
        self._field = Field("file", name, required=True, id="path")
        self._agreed = ""

    def body(self) -> ComposeResult:
        yield PageView(self.build)
        yield self._field

    def build(self, page: Page) -> None:
        page.text(f"Writes {self._what}; secrets are masked, and only you can read the file.")
        page.fact("from", self._place.path(self._place.cwd) or "the folder Jackfield runs in")
        page.gap()

    def on_mount(self) -> None:
        """The name is what is typed most."""
        self._field.input.focus()

    @on(Input.Changed)
    def _changed(self) -> None:
        self._field.fault = ""
        self._agreed = ""

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_form_submit()

    @work(exclusive=True, group="save")
    async def _write(self, typed: str, replace: bool) -> None:
        place = self._place
        path = target_of(typed, place.cwd, place.home)
        try:
            await anyio.to_thread.run_sync(
                lambda: save(path, self._text(), replace=replace), abandon_on_cancel=False
            )
        except Taken:
            self._field.fault, self._agreed = "it exists; enter once more replaces it", typed
        except OSError as error:
            self._field.fault = error.strerror or str(error)
        else:
            self.dismiss(path)

    def action_form_submit(self) -> None:
        """Write it, or say why not."""
        typed = self._field.value.strip()
        if not typed:
            self._field.fault = "a name is needed"
            return
        self._write(typed, replace=self._agreed == typed)
