"""Add a marketplace: how the source is read at once, git's progress, its last words on failure."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.signal import Signal
from textual.widgets import Input

from core.protocol.jackfield_install import SourceRead
from tui.plugin_controller import NotAdded, PluginController
from tui.store import Changed, ViewStore
from tui.theme import app_of
from tui.views.base import Place
from tui.views.times import clock
from tui.widgets.field import Field
from tui.widgets.page import Page
from tui.widgets.page_view import PageView
from tui.widgets.sheet import Sheet

SHOWN = 12  # last lines of what git said


class AddMarketplace(Sheet[str | None]):
    """Answers with the name of the marketplace that was added; None = closed.

    Closed while it runs, the work goes on; `ctrl+x` ends it.

    Args:
        source: To begin with.
    """

    SIZE = "large"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "submit", "add", id="form.submit", priority=True),
        Binding("m", "other", "mend it", id="row.mend"),
        Binding("tab", "app.focus_next", "next field", show=False, id="form.next"),
        Binding("ctrl+x", "cancel", "cancel", id="form.cancel", priority=True),
        Binding("escape", "close", "close", id="form.close", priority=True),
    ]
    DEFAULT_CSS = """
    AddMarketplace {
        & #box #body Field { margin: 0 1 0 0; }
        & #box #body #said { margin: 1 1 0 0; }
    }
    """

    def __init__(
        self,
        plugins: PluginController,
        store: ViewStore,
        place: Place,
        changes: Signal[set[Changed]],
        source: str = "",
    ) -> None:
        super().__init__("Add a marketplace")
        self._plugins, self._store, self._place, self._changes = plugins, store, place, changes
        self._source = Field("from", source, placeholder="folder, URL or owner/repo", id="source")
        self._ref = Field("branch", hint="tag, commit", placeholder="the default one", id="ref")
        self._folders = Field("only", hint="folders", placeholder="everything", id="only")
        self._read = SourceRead()
        self._said: NotAdded | None = None
        self._tried: list[tuple[float, str, str]] = []
        self._adding = ""

    def body(self) -> ComposeResult:
        """Three fields; below them what is meant, what runs, what went wrong."""
        yield self._source
        yield self._ref
        yield self._folders
        yield PageView(self._status, id="said")

    def on_mount(self) -> None:
        """Begin in the first field, and follow what runs."""
        self._changes.subscribe(self, self._on_changed)
        self._source.input.focus()
        self._look()

    def _on_changed(self, changed: set[Changed]) -> None:
        if "operations" in changed and self._adding:
            self.redraw()

    # -- what is typed

    @property
    def text(self) -> str:
        """The source."""
        return self._source.value.strip()

    @property
    def folders(self) -> list[str]:
        """Folders to check out; empty means everything."""
        return self._folders.value.replace(",", " ").split()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._said = None
        self._look()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_submit()

    @work(group="reading", exclusive=True)
    async def _look(self) -> None:
        self._read = SourceRead()
        if self.text:
            read = await self._plugins.source(self.text, self._ref.value.strip(), self.folders)
            self._read = read
        self.redraw()
        self.refresh_bindings()

    # -- the page

    def _status(self, page: Page) -> None:
        if self._adding:
            self._progress(page)
        elif self._said is not None:
            self._failure(page, self._said)
        elif not self.text:
            page.text(
                "A folder (~/src/plugins), a git URL (https://…, git@host:owner/repo.git) or "
                "owner/repo at GitHub. It is listed; nothing of it is installed.",
                "muted",
            )
        else:
            self._reading(page)

    def _reading(self, page: Page) -> None:
        read = self._read
        if read.place:
            shown = self._place.path(read.place) if read.kind == "local" else read.place
            sign = "problem" if read.fault else "works"
            page.item(sign, f"read as {shown}")
        if read.name:
            page.text(f"its marketplace is called {read.name}", "muted", indent=2)
        if read.fault:
            page.item("policy" if read.evidence.layer == "requirements" else "problem", read.fault)
            if where := self._place.of(read.evidence):
                page.text(f"decided in {where}", "muted", indent=2)
        if read.taken:
            self._taken(page, read.name, self._place.path(read.taken))

    def _taken(self, page: Page, name: str, source: str) -> None:
        page.item("needs", f"{name} is configured already, from {source}")
        page.text(
            "Adding it removes that one first and keeps its plugins. To have both, give one "
            "of them another `name` in its marketplace file.",
            "muted",
            indent=2,
        )

    def _progress(self, page: Page) -> None:
        operation = self._store.operations.get(self._adding)
        page.item("busy", f"adding {self._adding}")
        if operation is not None and operation.share is not None:
            page.bar(operation.share, f"{operation.share:.0%}", indent=2)
        note = operation.note if operation is not None else ""
        page.text(note or "asking", "muted", indent=2)

    def _failure(self, page: Page, said: NotAdded) -> None:
        if said.cancelled:
            page.item("unknown", "cancelled", "nothing left behind")
            return
        head, _, rest = said.message.partition("\nstdout:\n")
        page.state("failed", "not added", "" if rest else head)
        if rest:
            words = [line for line in rest.replace("stderr:\n", "").splitlines() if line.strip()]
            page.section("What git said")
            page.quote(words[-SHOWN:], last="bad")
        if said.hint:
            page.fact("mend", said.hint)
        if name := said.taken:
            page.text(
                f"m removes {name} first, keeps its plugins, and adds this one. To have both, "
                "give one of them another `name` in its marketplace file.",
                "muted",
            )
        elif self._read.other:
            page.gap()
            page.keys(("m", f"try {self._read.other}"))
        page.section("Tried", "nothing left behind")
        for at, source, outcome in self._tried:
            page.item("failed", source, f"{clock(at)}  {outcome}")

    # -- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that do something now."""
        match action:
            case "submit":
                return bool(self.text) and not self._adding
            case "cancel":
                return bool(self._adding)
            case "other":
                said = self._said
                if said is None or said.cancelled or self._adding:
                    return False
                return bool(said.taken or self._read.other)
            case _:
                return True

    def action_other(self) -> None:
        """Replace the one that has the name; else try ssh for an https URL, or the reverse."""
        name = self._said.taken if self._said is not None else ""
        if not name:
            with self.prevent(Input.Changed):
                self._source.value = self._read.other
        self._begin(name)

    def action_submit(self) -> None:
        """Add it."""
        if self.text and not self._adding:
            self._begin(self._read.name if self._read.taken else "")

    def _begin(self, instead_of: str) -> None:
        self._adding, self._said = self.text, None
        self.redraw()
        self.refresh_bindings()
        # Of the app: it goes on when the sheet is closed.
        add = partial(self._add, self.text, self._ref.value.strip(), self.folders, instead_of)
        app_of(self).run_worker(add, group="adding")

    async def _add(self, text: str, ref: str, folders: list[str], instead_of: str) -> None:
        if instead_of:
            await self._plugins.remove(instead_of, plugins=False)
        began = self._store.now()
        outcome = await self._plugins.add(text, ref, folders)
        self._adding = ""
        if isinstance(outcome, str):
            if self.is_current:
                self.dismiss(outcome)
            return
        if not self.is_attached:
            self._plugins.tell_not_added(text, outcome)
            return
        self._said = outcome
        seconds = self._store.now() - began
        self._tried.append((began, text, "cancelled" if outcome.cancelled else f"{seconds:.1f} s"))
        # Letters are commands once it has failed.
        self.set_focus(None)
        self.redraw()
        self.refresh_bindings()

    async def action_cancel(self) -> None:
        """End what runs; nothing is left behind."""
        if self._adding:
            await self._plugins.cancel(self._adding)
