"""The link of a sign-in: alone on the screen, or in a file."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.screens.save_file import SaveSheet
from tui.terminal import MOUSE_OFF, MOUSE_ON
from tui.text import chop, clean
from tui.theme import app_of
from tui.views.base import Place
from tui.widgets.key_bar import KeyBar
from tui.widgets.page import Page
from tui.widgets.toast import toast

_WHOLE = 1_000_000


class WholeLink(ModalScreen[None]):
    """Nothing but the link, from edge to edge: what the terminal selects is the link and no more.

    The mouse is the terminal's meanwhile.
    """

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", "copy", id="row.copy"),
        Binding("escape,q,u", "back", "back", id="form.close"),
    ]
    DEFAULT_CSS = """
    WholeLink {
        background: $background;
        align: left top;
        & > #link { width: 100%; height: 1fr; background: $background; overflow-y: auto; }
        & > KeyBar { dock: bottom; }
    }
    """

    def __init__(self, link: str) -> None:
        super().__init__()
        self._link = link

    def compose(self) -> ComposeResult:
        """The link, and what brings one back."""
        yield Static(id="link")
        yield KeyBar((("c", "copy"), ("escape", "back")), tail=())

    def on_mount(self) -> None:
        """The terminal gets its mouse back."""
        self._mouse(MOUSE_OFF)

    def on_unmount(self) -> None:
        """The panel has the mouse again."""
        self._mouse(MOUSE_ON)

    def _mouse(self, sequence: str) -> None:
        driver = getattr(app_of(self), "_driver", None)
        if driver is not None and not driver.is_headless:
            driver.write(sequence)
            driver.flush()

    def on_resize(self) -> None:
        """Break it where the screen ends, and nowhere else."""
        self.query_one("#link", Static).update(Content(self.shown))

    @property
    def shown(self) -> str:
        """The link as it stands on the screen."""
        width = max(1, self.size.width)
        return "\n".join(chop(clean(self._link, exact=True, limit=_WHOLE), width))

    def action_copy(self) -> None:
        """Copy it (OSC 52)."""
        app_of(self).copy_to_clipboard(self._link)
        toast(app_of(self), "Copied: the link")

    def action_back(self) -> None:
        """Back to the sheet."""
        self.dismiss(None)


class SaveLink(SaveSheet):
    """Writes the link to a file."""

    def __init__(self, name: str, place: Place, link: str) -> None:
        super().__init__(f"the link that signs in to {name}", "sign-in.txt", place, lambda: link)
        self._server, self._folder = name, place

    def build(self, page: Page) -> None:
        page.text(
            f"Writes the link that signs in to {self._server}; only you can read the file. Whoever "
            "opens it signs in for this panel."
        )
        page.fact("from", self._folder.path(self._folder.cwd) or "the folder Jackfield runs in")
        page.gap()
