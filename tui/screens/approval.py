"""Which approval a server's or a tool's calls need: one of five."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from core.protocol.jackfield_servers import ApprovalMode
from tui.views.approvals import MODES
from tui.widgets.columns import Column
from tui.widgets.page import Page
from tui.widgets.page_view import PageView
from tui.widgets.row_list import RowList
from tui.widgets.row_view import RowView
from tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from textual.app import App


class Chosen(NamedTuple):
    """The mode; None = nothing is to be said in the file."""

    mode: ApprovalMode | None


class ApprovalSheet(Sheet[Chosen | None]):
    """Answers with what was chosen; None = closed.

    Args:
        name: Of the tool or the server.
        now: What the file says, or "".
        default: What its server says, for a tool.
    """

    SIZE = "small"
    FULL = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "choose"),
        Binding("escape", "close", "cancel", id="form.close"),
    ]
    DEFAULT_CSS = "ApprovalSheet RowList { height: 5; margin-top: 1; }"
    COLUMNS = (Column("word", "", 10), Column("about", "", 20, grow=1))

    def __init__(self, name: str, now: str, *, default: str = "") -> None:
        super().__init__(f"Approval of {name}")
        self._now, self._default = now, default
        self._modes: dict[str, tuple[ApprovalMode | None, str]] = {
            word: (mode, about) for mode, word, about in MODES
        }
        self._rows = RowList(self.COLUMNS)

    def body(self) -> ComposeResult:
        """What it is for, then the five."""
        yield PageView(self.build)
        yield self._rows

    def build(self, page: Page) -> None:
        page.text("What the model's calls need; calls that you make yourself ask nobody.")
        if self._default:
            page.fact("its server", self._default)

    def on_mount(self) -> None:
        """The cursor stands on what holds now."""
        self._rows.set_rows(list(self._modes), self._row, keep=self._now or "not said")
        self._rows.focus()

    def _row(self, key: str) -> RowView:
        here = key == (self._now or "not said")
        about = self._modes[key][1]
        return RowView("works" if here else "none", {"word": key, "about": [(about, "muted")]})

    @on(RowList.Activated)
    def action_choose(self) -> None:
        """Take it."""
        mode, _ = self._modes[self._rows.cursor_id or "not said"]
        self.dismiss(Chosen(mode))


async def ask_approval(app: App[Any], name: str, now: str, *, default: str = "") -> Chosen | None:
    """Ask for one of the modes; None when it is to stay as it is."""
    chosen = await app.push_screen_wait(ApprovalSheet(name, now, default=default))
    return None if chosen is None or (chosen.mode or "") == now else chosen
