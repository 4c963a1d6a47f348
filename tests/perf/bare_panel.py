"""The floor of every start: a Textual app of one list, with nothing behind it."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import OptionList


class Bare(App[None]):
    """Forty rows."""

    def compose(self) -> ComposeResult:
        """The list."""
        yield OptionList(*[f"bare-row-{at:05}" for at in range(40)])


if __name__ == "__main__":
    Bare().run()
