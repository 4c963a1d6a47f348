"""The MCP servers tab: one row per server of the panel's thread, its reason beside its state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from core.protocol.facts import Evidence
from core.protocol.rows import Row, ServerRow
from tui.commands import Offer
from tui.signs import UNICODE, Glyphs, SignName
from tui.store import ViewStore
from tui.switching import SwitchTarget
from tui.text import Part
from tui.views import sign_in
from tui.views.base import (
    POLICY_LAYERS,
    Cached,
    ListView,
    PeekLines,
    Place,
    State,
    decided,
    plural,
    switch_offer,
)
from tui.views.server_offers import longer, of_table
from tui.views.server_page import server_page
from tui.views.times import running
from tui.widgets.columns import Column
from tui.widgets.filter_bar import View
from tui.widgets.page import Page
from tui.widgets.row_view import RowView

_STATES: dict[str, tuple[SignName, str]] = {
    "notStarted": ("unknown", "not started"),
    "starting": ("busy", "starting"),
    "connected": ("works", "connected"),
    "authenticationRequired": ("needs", "sign-in"),
    "failed": ("failed", "failed"),
    "cancelled": ("unknown", "cancelled"),
    "disabled": ("off", "disabled"),
    "waiting": ("busy", "waiting"),
    "untrusted": ("needs", "untrusted"),
    "review": ("needs", "review"),
    "blocked": ("policy", "blocked"),
    "invalid": ("problem", "invalid"),
}
_REASONS = {
    "untrusted": "its project folder is not trusted",
    "review": "its command waits for your yes",
    "blocked": "by policy",
    "failed": "it did not say why",
}
_VIEWS: dict[str, frozenset[str]] = {
    "up": frozenset({"works"}),
    "you": frozenset({"needs"}),
    "bad": frozenset({"failed", "problem"}),
}


def server_state(row: ServerRow, now: float, place: Place) -> State:
    """Sign, word and reason; a start counts its seconds."""
    sign, word = _STATES.get(row.status, ("unknown", str(row.status)))
    reason = row.reason
    if row.status == "starting":
        clock = running(row.since, now, row.limit)
        said = reason or (row.stderr_tail[-1] if row.stderr_tail else "")
        reason = f"{clock} — {said}" if said else clock
    elif row.status == "disabled":
        reason = reason or _by_whom(row.enabled_at, place)
    elif row.status == "invalid" and not reason and row.problems:
        problem = row.problems[0]
        reason = f"{place.short(problem.evidence)} — {problem.message}"
    elif row.status == "authenticationRequired":
        reason = sign_in.wanted(row, now)
    elif row.status == "connected" and not row.configured:
        return State("leftover", "left over", "runs, but is in no file any more")
    return State(sign, word, reason or _REASONS.get(row.status, ""))


def _by_whom(evidence: Evidence, place: Place) -> str:
    if evidence.layer in POLICY_LAYERS:
        return decided(evidence, place)
    return "by you" if evidence.layer in (None, "user") else f"by {place.short(evidence)}"


def tools_text(row: ServerRow) -> str:
    """`38/41`, `0`, or "" before the inventory has come back."""
    if row.tools is None:
        return ""
    total = row.tools if row.tools_total is None else row.tools_total
    return f"{row.tools}/{total}" if total else "0"


class ServersView(ListView):
    """Keys are server names."""

    TAB = "servers"
    NOUN = "server"
    MAIN = "servers"
    REFRESHED = ("servers", "inventory")
    REFETCHES = ("servers",)
    DOMAINS = frozenset({"servers", "inventory"})
    COLUMNS = (
        Column("name", "Server", 11, grow=1, most=24, match=True),
        Column("state", "State", 28, grow=3, most=64, spill=True),
        Column("tools", "Tools", 5, right=True),
        Column("auth", "Signed in", 11, keep=3),
        Column("ms", "ms", 4, keep=2, right=True),
        Column("origin", "From", 20, grow=1, keep=4, path=True),
    )
    VIEWS: ClassVar = (
        View("all", "all"),
        View("up", "up"),
        View("you", "need you"),
        View("bad", "failed"),
    )

    def __init__(self, store: ViewStore, place: Place, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(store, place, glyphs)
        self._order = Cached(self._make_order)

    def _make_order(self) -> list[str]:
        rows = self.store.servers.rows
        return sorted(rows, key=lambda key: (rows[key].name.casefold(), key))

    def _sign(self, row: ServerRow) -> SignName:
        return server_state(row, 0.0, self.place).sign

    def keys(self, view: str) -> Iterable[str]:
        rows = self.store.servers.rows
        order: list[str] = self._order.get((self.store.servers.version,))
        wanted = _VIEWS.get(view)
        return [key for key in order if wanted is None or self._sign(rows[key]) in wanted]

    def count(self) -> dict[str, int]:
        signs = [self._sign(row) for row in self.store.servers.rows.values()]
        counts = {view: sum(sign in wanted for sign in signs) for view, wanted in _VIEWS.items()}
        return {"all": len(signs), **counts}

    def attention(self) -> int:
        counts = self.counts()
        return counts["you"] + counts["bad"]

    def name(self, key: str) -> str:
        row = self.store.servers.rows.get(key)
        return row.name if row else key

    def text(self, key: str) -> str:
        row = self.store.servers.rows.get(key)
        if row is None:
            return ""
        origin = self.place.of(row.origin)
        return f"{row.status} {row.reason} {row.target} {origin} {row.plugin_id or ''}"

    def source(self, key: str) -> object:
        return self.store.servers.rows.get(key)

    def searched(self) -> str:
        count = plural(len(self.store.servers.rows), "server")
        return f"names, reasons, commands and places of {count}"

    def row(self, key: str) -> RowView:
        row = self.store.servers.rows.get(key)
        if row is None:
            return RowView("unknown", {"name": key})
        state = self._state(row)
        up = row.status == "connected"
        latency = f"{row.latency_ms:.0f}" if up and row.latency_ms is not None else ""
        cells: dict[str, list[Part] | str] = {
            "name": self.named(key, (row.name, "")),
            "state": state.parts(),
            "tools": self._tools_cell(row) if up else [],
            "auth": sign_in.cell(row, self.store.now(), self.glyphs.sign("problem")) if up else [],
            "ms": [(latency, "muted")] if latency else [],
            "origin": [(self._from(row), "muted")],
        }
        return RowView(state.sign, cells, fresh=self.mark("servers", key))

    def _state(self, row: ServerRow) -> State:
        """As it is, or that a sign-in to it waits for somebody."""
        now = self.store.now()
        state, waiting = server_state(row, now, self.place), self.store.sign_ins.get(row.name)
        if waiting is None:
            return state
        said = sign_in.waits(waiting, now)
        if row.status == "connected":
            return State(state.sign, state.word, f"sign-in is {said}")
        return State("needs", "sign-in", said)

    def _tools_cell(self, row: ServerRow) -> list[Part]:
        text = tools_text(row)
        if not text:
            return []
        return [self.glyphs.fresh("cached"), (text, "")] if row.cached else [(text, "")]

    def _from(self, row: ServerRow) -> str:
        return row.plugin_id or self.place.of(row.origin)

    def ticking(self) -> list[str]:
        return [
            key
            for key, row in self.store.servers.rows.items()
            if row.status in ("starting", "waiting") or row.name in self.store.sign_ins
        ]

    # ── the selected row ──

    def subject(self, key: str) -> Row | None:
        return self.store.servers.rows.get(key)

    def switch_target(self, key: str) -> SwitchTarget | None:
        row = self.store.servers.rows.get(key)
        return SwitchTarget("server", row.name, row.name, row.enabled) if row else None

    def wants_details(self, key: str) -> tuple[str, str] | None:
        return ("server", key)

    def peek(self, key: str) -> PeekLines:
        row = self.store.servers.rows.get(key)
        if row is None:
            return PeekLines([], [], [])
        state = self._state(row)
        where = row.plugin_id or self.place.short(row.origin)
        top: list[Part] = [(row.name, "strong"), (f"  {where}", "muted")]
        if state.reason:
            return PeekLines(top, [], [(f"{state.word}: ", "strong"), (state.reason, "")])
        tools = f"{tools_text(row)} tools on" if tools_text(row) else row.target
        return PeekLines(top, [], [(tools, "")])

    def page(self, key: str, page: Page) -> None:
        row = self.store.servers.rows.get(key)
        if row is None:
            return
        state = self._state(row)
        tools = [
            tool
            for tool in self.store.inventory.rows.values()
            if tool.source == "server" and tool.owner == row.name
        ]
        server_page(
            page, row, state, tools, self.details.get(key, {}), self.place, self.store.now()
        )

    def offers(self, key: str) -> list[Offer]:
        row = self.store.servers.rows.get(key)
        if row is None:
            return []
        return [*self._of_state(row), *of_table(row, self.place)]

    def _of_state(self, row: ServerRow) -> list[Offer]:
        switch = self._switch(row)
        details = Offer("row.details")
        again = Offer("row.refresh", "reconnect")
        match row.status:
            case "failed" | "cancelled":
                return [Offer("row.mend", "reconnect"), switch, details, again]
            case "notStarted":
                return [Offer("row.mend", "start"), switch, details, again]
            case "starting" | "waiting":
                return [
                    Offer("row.cancel", "cancel"),
                    *longer(row, self.place),
                    switch,
                    details,
                    again,
                ]
            case "connected" if not row.configured:
                return [Offer("row.mend", "end it", does="servers.end"), details]
            case "connected":
                return [again, switch, details]
            case "authenticationRequired":
                label = "back to sign-in" if row.name in self.store.sign_ins else "sign in"
                mend = Offer("row.mend", label, does="servers.sign-in")
                return [mend, switch, details, again]
            case "review":
                mend = Offer("row.mend", "review the command")
                return [mend, switch, details, _not_to_be_started(row)]
            case _:
                return [switch, details, _not_to_be_started(row)]

    def _switch(self, row: ServerRow) -> Offer:
        why = ""
        if row.status == "blocked" or row.enabled_at.layer in POLICY_LAYERS:
            why = row.reason or "blocked by policy"
        elif row.status == "invalid":
            why = "its table cannot be used"
        return switch_offer(self.place, "disable" if row.enabled else "enable", why=why)

    def empty(self, page: Page) -> None:
        page.title("No MCP server yet")
        page.gap()
        page.text(
            f"{self.place.path(self.place.config_file) or 'The configuration'} has no "
            "[mcp_servers.NAME] table, and no enabled plugin brings a server."
        )
        page.gap()
        page.keys(("a", "add a server"))
        page.keys(("ctrl+p", "import from agents: Claude, Cursor, VS Code, Gemini"))


def _not_to_be_started(row: ServerRow) -> Offer:
    return Offer("row.refresh", "reconnect", why=row.reason or f"it is {row.status}")
