"""A question before something that `undo` cannot take back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from tui.signs import SignName
from tui.widgets.page import Page
from tui.widgets.sheet import ButtonRow, Sheet

_CANCEL = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to go on.

    Attributes:
        id: The answer.
        button: The act in words, `Remove, keep plugins`; never `yes` or `OK`.
        label: The line above that says what happens; "" = none.
        note: Its right end.
        sign: Who has to act afterwards.
    """

    id: str
    button: str
    label: str = ""
    note: str = ""
    sign: SignName = "problem"


class Confirm(Sheet[str]):
    """Answers with a choice's id, or None. Cancel stands first and has the focus.

    Args:
        question: With the thing's name.
        text: What it means.
        choices: The ways to go on.
        writes: What is written where.
        undo: What brings it back, if anything.
    """

    SIZE = "small"
    FULL = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "cancel", id="form.close"),
    ]

    def __init__(
        self,
        question: str,
        text: str,
        choices: Sequence[Choice],
        *,
        writes: str = "",
        undo: str = "",
    ) -> None:
        super().__init__(question)
        self._text, self._choices = text, tuple(choices)
        self._writes, self._undo = writes, undo

    def build(self, page: Page) -> None:
        """What happens, by each choice."""
        if self._text:
            page.text(self._text)
        page.gap()
        for choice in self._choices:
            if choice.label:
                page.item(choice.sign, choice.label, choice.note)
        page.gap()
        if self._writes:
            page.fact("writes", self._writes)
        if self._undo:
            page.fact("undo", self._undo)

    def below(self) -> ComposeResult:
        """Cancel, then the acts."""
        acts = [(choice.id, choice.button) for choice in self._choices]
        yield ButtonRow([(_CANCEL, "Cancel"), *acts])

    @on(ButtonRow.Chosen)
    def _chosen(self, event: ButtonRow.Chosen) -> None:
        event.stop()
        self.dismiss(event.id or None)
