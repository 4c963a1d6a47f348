"""Add or edit a server: a form, a test before saving, and exactly what will be written."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.timer import Timer
from textual.widgets import Input

from core.protocol.jackfield_servers import (
    ServerEntryParams,
    ServerLayer,
    ServerPreview,
    ServerTable,
    ServerTested,
    ServerTestParams,
)
from tui.server_controller import Refused, ServerController
from tui.store import ViewStore
from tui.theme import app_of
from tui.views.base import Place
from tui.views.server_draft import Draft, Kind
from tui.views.server_form_page import Trial, write_form_page
from tui.widgets.field import ChoiceField, ChoiceLine, Field
from tui.widgets.page import Page
from tui.widgets.page_view import Detail
from tui.widgets.sheet import Sheet

PAUSE = 0.15  # seconds of rest after which what is typed is judged
TICK = 0.2
KINDS: tuple[tuple[Kind, str], ...] = (("program", "a program"), ("address", "a web address"))
LAYERS: dict[ServerLayer, str] = {"user": "your configuration", "project": "this project"}
_HERE: dict[str, tuple[Kind, ...]] = {
    **dict.fromkeys(("command", "cwd", "env_vars", "env"), ("program",)),
    **dict.fromkeys(
        ("url", "bearer_token_env_var", "env_http_headers", "http_headers"), ("address",)
    ),
}


class ServerForm(Sheet[str | None]):
    """Answers with the name that was saved; None = closed, nothing written.

    Args:
        table: What the file has; of a new server an empty one.
    """

    SIZE = "large"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "form_submit", "save", id="form.submit", priority=True),
        Binding("ctrl+t", "form_test", "test", id="form.test", priority=True),
        Binding("ctrl+x", "form_cancel", "end the test", id="form.cancel", priority=True),
        Binding("tab", "app.focus_next", "next field", show=False, id="form.next"),
        Binding("up", "app.focus_previous", "the field before", show=False),
        Binding("down,enter", "app.focus_next", "the next field", show=False),
        Binding("escape", "close", "close", id="form.close", priority=True),
    ]
    DEFAULT_CSS = """
    ServerForm {
        & > #box { height: 90%; }
        & > #box > #body { height: 1fr; overflow: hidden; }
        & #parts { height: 1fr; layout: horizontal; }
        & #left { width: 1fr; height: 1fr; scrollbar-size-vertical: 1; padding-right: 1; }
        & #said { width: 1fr; height: 1fr; padding: 0 0 0 1; }
        & #left Field > Horizontal > .hint { width: 12; }
        & #left ChoiceField { margin-bottom: 1; }
        &.-narrow #parts { layout: vertical; }
        &.-narrow #left { width: 100%; height: auto; max-height: 55%; }
        &.-narrow #said { width: 100%; height: 1fr; margin-top: 1; }
    }
    """

    def __init__(
        self, table: ServerTable, servers: ServerController, store: ViewStore, place: Place
    ) -> None:
        self._was = table.name
        super().__init__(f"Edit {table.name}" if table.name else "Add an MCP server")
        self._servers, self._store, self._place = servers, store, place
        self._draft = Draft.of(table.name, table.table)
        self._layer: ServerLayer = table.layer
        self._preview = ServerPreview()
        self._trial = Trial()
        self._refused: Refused | None = None
        self._rest: Timer | None = None
        self._clock: Timer | None = None
        self._name = Field("name", table.name, required=True, id="name")
        chosen = [kind for kind, _ in KINDS].index(self._draft.kind)
        self._kind = ChoiceField("it is", [label for _, label in KINDS], chosen, id="kind")
        self._fields = self._made()
        # A field shows foreign text made safe; what nobody has touched is written as it was.
        self._lines = dict(self._draft.lines)
        self._shown = {key: field.value for key, field in self._fields.items()}
        layers = [LAYERS[layer] for layer in table.layers]
        self._layers: list[ServerLayer] = list(table.layers)
        self._where = ChoiceField("goes into", layers, id="where")
        self._where.display = len(layers) > 1 and not self._was
        self._left = VerticalScroll(
            self._name, self._kind, *self._fields.values(), self._where, id="left", can_focus=False
        )
        self._said = Detail(self._write, id="said")

    def _made(self) -> dict[str, Field]:
        lines = self._draft.lines

        def made(key: str, label: str, placeholder: str, hint: str = "") -> Field:
            return Field(label, lines[key], placeholder=placeholder, hint=hint, id=key)

        return {
            "command": made("command", "command *", "npx -y @acme/mcp-server"),
            "cwd": made("cwd", "runs in", "the folder of the workspace"),
            "env_vars": made("env_vars", "gets", "GITHUB_TOKEN", "names only"),
            "env": made("env", "with", "REGION=eu", "in clear"),
            "url": made("url", "URL *", "https://mcp.example/mcp"),
            "bearer_token_env_var": made("bearer_token_env_var", "token in", "none", "a variable"),
            "env_http_headers": made("env_http_headers", "headers in", "X-Key=VARIABLE"),
            "http_headers": made("http_headers", "headers", "X-Team=blue", "in clear"),
            "startup_timeout_sec": made("startup_timeout_sec", "start limit", "30", "seconds"),
            "tool_timeout_sec": made("tool_timeout_sec", "call limit", "300", "seconds"),
        }

    def body(self) -> ComposeResult:
        """The form, and what comes of it."""
        with Container(id="parts"):
            yield self._left
            yield self._said

    def on_mount(self) -> None:
        """Begin where something is to be typed."""
        self._show_kind()
        (self._fields[self._first] if self._was else self._name).input.focus()
        self._judge()

    @property
    def _first(self) -> str:
        return "command" if self._draft.kind == "program" else "url"

    # -- what is typed

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._changed()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.focus_next()

    @on(ChoiceLine.Changed)
    def _chosen(self, event: ChoiceLine.Changed) -> None:
        event.stop()
        self._draft.kind = KINDS[self._kind.choice.chosen][0]
        if self._where.display:
            self._layer = self._layers[self._where.choice.chosen]
        self._show_kind()
        self._changed()

    def _show_kind(self) -> None:
        for key, field in self._fields.items():
            field.display = self._draft.kind in _HERE.get(key, ("program", "address"))

    def _changed(self) -> None:
        self._refused = None
        self._trial.stale = True
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(PAUSE, self._judge)

    def _entry(self) -> ServerEntryParams | None:
        """What the form says; None while a line cannot be read."""
        draft = self._draft
        draft.name = self._name.value.strip()
        draft.lines = {
            key: self._lines[key] if field.value == self._shown[key] else field.value
            for key, field in self._fields.items()
        }
        table, faults = draft.table()
        for key, field in self._fields.items():
            field.fault = faults.get(key, "")
        if faults:
            return None
        was = self._was if self._was != draft.name else ""
        return ServerEntryParams(
            name=draft.name, table=table, layer=self._layer, was=was, new=not self._was
        )

    @work(group="judge", exclusive=True)
    async def _judge(self) -> None:
        self._rest = None
        if (entry := self._entry()) is None:
            self._preview = ServerPreview(fault="a line cannot be read")
        else:
            self._preview = await self._servers.preview(entry)
        self._name.fault = self._preview.fault if self._names_itself else ""
        self.redraw_said()

    @property
    def _names_itself(self) -> bool:
        """The fault is in the name, and the name has been begun."""
        return self._preview.fault_key == "name" and bool(self._draft.name)

    def redraw_said(self) -> None:
        """Write the right side again, and the keys."""
        self._said.redraw()
        self.refresh_bindings()

    def _write(self, page: Page) -> None:
        trial = self._trial
        operation = self._store.operations.get(self._draft.name or "new")
        trial.note = operation.note if operation is not None and operation.verb == "test" else ""
        fault = self._refused.message if self._refused is not None else ""
        write_form_page(
            page, self._preview, trial, self._draft, self._place, self._store.now(), fault
        )

    # -- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that do something now."""
        match action:
            case "form_cancel":
                return self._trial.running
            case "form_test":
                return not self._trial.running
            case "form_submit":
                return not self._place.read_only
            case _:
                return True

    @work(group="test", exclusive=True)
    async def action_form_test(self) -> None:
        """Start it once, on its own, and end it again."""
        entry = self._entry()
        if entry is None or self._trial.running:
            return
        trial = self._trial = Trial(id=uuid4().hex, began=self._store.now())
        self._clock = self.set_interval(TICK, self._said.redraw)
        self.redraw_said()
        params = ServerTestParams(
            id=trial.id,
            name=entry.name or "new",
            table=entry.table,
            layer=entry.layer,
            was=entry.was,
        )
        result = await self._servers.test(params)
        self._clock.stop()
        if isinstance(result, ServerTested):
            trial.result = result
        else:
            trial.refused = result.message
        self.redraw_said()

    @work(group="cancel")
    async def action_form_cancel(self) -> None:
        """End the test."""
        await self._servers.cancel_test(self._trial.id)

    @work(group="save", exclusive=True)
    async def action_form_submit(self) -> None:
        """Write it, tested or not."""
        entry = self._entry()
        if entry is None:
            return
        params = ServerEntryParams(
            name=entry.name,
            table=entry.table,
            layer=entry.layer,
            was=entry.was,
            new=entry.new,
            agree=True,
        )
        refused = await self._servers.write(params, self._trial.note_for_saving)
        if refused is None:
            self.dismiss(entry.name)
            return
        self._refused = refused
        self.redraw_said()

    def on_unmount(self) -> None:
        """A test does not outlive its form."""
        if self._trial.running:
            app_of(self).run_worker(self._servers.cancel_test(self._trial.id), group="cancel")
