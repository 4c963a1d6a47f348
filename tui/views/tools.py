"""The Installed tools tab: found, enabled, connected and callable, each from its own layer.

Rows of apps come from the committed snapshot only, rows of servers from the live inventory only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from core.protocol.rows import Domain, InstalledRow, Row, ServerRow, ToolRow
from tui.commands import Offer
from tui.signs import UNICODE, Glyphs
from tui.store import ViewStore
from tui.switching import SwitchTarget
from tui.text import Part, Tone
from tui.views.base import (
    Cached,
    ListView,
    PeekLines,
    Place,
    State,
    plural,
    switch_offer,
)
from tui.views.servers import server_state
from tui.views.times import clock, moment
from tui.views.tool_page import tool_page
from tui.widgets.columns import Column
from tui.widgets.filter_bar import View
from tui.widgets.page import Page
from tui.widgets.row_view import RowView

WORD = 10  # cells of the state's word
EFFECT_TONES: dict[str, Tone] = {"reads": "muted", "writes": "", "destroys": "care"}
_POLICY_WORDS = ("policy", "requirements", "administrator")


class ToolFacts(NamedTuple):
    """Four facts about a tool, and what they come to."""

    found: State
    enabled: State
    connected: State
    callable: State


def tool_facts(
    tool: ToolRow, server: ServerRow | None, app: InstalledRow | None, now: float, place: Place
) -> ToolFacts:
    """The facts of a tool; `server` or `app` is its owner's row, in the owner's own layer."""
    enabled = _enabled(tool, app)
    if tool.source == "app":
        found = State("works", "snapshot", "in the committed snapshot")
        connected = State("none", "snapshot", "a snapshot says nothing of connections")
        return ToolFacts(found, enabled, connected, _callable(tool, enabled))
    found = State("works", clock(tool.seen_at)[:5] if tool.seen_at else "yes", "tools/list")
    if server is None:
        connected = State("unknown", "not known", "its server is not listed")
        return ToolFacts(found, enabled, connected, _callable(tool, enabled, connected))
    state = server_state(server, now, place)
    if server.status == "connected":
        return ToolFacts(found, enabled, State("works", "yes"), _callable(tool, enabled))
    connected = State(state.sign, "no", f"{state.word} {state.reason}".strip())
    return ToolFacts(found, enabled, connected, _callable(tool, enabled, state))


def _enabled(tool: ToolRow, app: InstalledRow | None) -> State:
    told = _told(tool)
    if told.sign in ("off", "policy"):
        return told
    if tool.filtered:
        return State("off", "off", tool.reason or "left out by enabled_tools or disabled_tools")
    if app is not None and not app.enabled:
        return State("off", "off", app.reason or "its app is turned off")
    return State("works", "on")


def _callable(tool: ToolRow, enabled: State, stop: State | None = None) -> State:
    """Whether the model may call it; `stop` is what its server is in while it is not connected."""
    if tool.callable and stop is None:
        return State("works", "yes")
    if enabled.sign != "works":
        return enabled
    if stop is not None:
        return stop
    if not tool.visible:
        return State("none", "hidden", tool.reason or "the server keeps it from the model")
    return _told(tool)


def _told(tool: ToolRow) -> State:
    """What the reason that its owner gives comes to."""
    reason = tool.reason
    if reason.startswith("off"):
        return State("off", "off", reason[3:].lstrip(",: "))
    if "are off" in reason:
        return State("off", "off", reason)
    if any(word in reason.casefold() for word in _POLICY_WORDS):
        return State("policy", "blocked", reason)
    return State("problem", "unusable", reason.removeprefix("unusable: "))


class ToolsView(ListView):
    """Keys are ids of the inventory: `SERVER/TOOL`."""

    TAB = "tools"
    NOUN = "tool"
    MAIN = "inventory"
    REFRESHED = ("inventory", "installed")
    REFETCHES = ("inventory", "installed")
    DOMAINS = frozenset({"inventory", "servers", "installed", "apps"})
    COLUMNS = (
        Column("name", "Tool", 19, grow=1, most=40, match=True),
        Column("found", "Found", 8, keep=5),
        Column("enabled", "Enabled", 7),
        Column("connected", "Connected", 9),
        Column("state", "Callable", 13, grow=3, most=44, spill=True),
        Column("server", "From", 11, grow=1, most=22, keep=2),
        Column("effect", "Effect", 8, keep=3),
        Column("tokens", "Tokens", 6, keep=4, right=True),
        Column("about", "About", 30, grow=3, keep=6),
    )
    VIEWS: ClassVar = (
        View("all", "all"),
        View("works", "callable"),
        View("off", "off"),
        View("stopped", "stopped"),
    )

    def __init__(self, store: ViewStore, place: Place, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(store, place, glyphs)
        self._facts = Cached(self._make_facts)

    @property
    def facts(self) -> dict[str, ToolFacts]:
        """The facts of every tool, by owner, then name."""
        store = self.store
        stamp = (store.inventory.version, store.servers.version, store.installed.version)
        facts: dict[str, ToolFacts] = self._facts.get((*stamp, store.apps.version))
        return facts

    def _make_facts(self) -> dict[str, ToolFacts]:
        tools = [row for row in self.store.inventory.rows.values() if row.kind == "tool"]
        tools.sort(key=lambda row: (self.owner(row).casefold(), row.owner, row.name.casefold()))
        return {row.id: self._facts_of(row) for row in tools}

    def _facts_of(self, row: ToolRow) -> ToolFacts:
        from_app = row.source == "app"
        server = None if from_app else self.store.servers.rows.get(row.owner)
        app = self.store.installed.rows.get(row.owner) if from_app else None
        return tool_facts(row, server, app, self.store.now(), self.place)

    def owner(self, row: ToolRow) -> str:
        """The server's name, or the app's."""
        if row.source != "app":
            return row.owner
        app = self.store.apps.rows.get(row.owner) or self.store.installed.rows.get(row.owner)
        return app.name if app else row.owner

    def keys(self, view: str) -> Iterable[str]:
        return [key for key, facts in self.facts.items() if _in_view(facts, view)]

    def count(self) -> dict[str, int]:
        facts = self.facts.values()
        return {view.id: sum(_in_view(fact, view.id) for fact in facts) for view in self.VIEWS}

    def name(self, key: str) -> str:
        row = self.store.inventory.rows.get(key)
        return row.name if row else key

    def text(self, key: str) -> str:
        row = self.store.inventory.rows.get(key)
        if row is None:
            return ""
        return f"{self.owner(row)} {row.owner} {row.title} {row.description} {row.effect}"

    def source(self, key: str) -> object:
        return self.store.inventory.rows.get(key)

    def searched(self) -> str:
        return f"names, owners and texts of {plural(len(self.facts), 'tool')}"

    def row(self, key: str) -> RowView:
        row, facts = self.store.inventory.rows.get(key), self.facts.get(key)
        if row is None or facts is None:
            return RowView("unknown", {"name": key})
        state = facts.callable
        callable_cell: list[Part] = (
            [("yes", "muted")] if state.sign == "works" else state.parts(WORD)
        )
        cells: dict[str, list[Part] | str] = {
            "name": self.named(key, (row.name, "")),
            "found": [(facts.found.word, "muted")],
            "enabled": [(facts.enabled.word, "muted")],
            "connected": [(facts.connected.word, "" if facts.connected.word == "no" else "muted")],
            "state": callable_cell,
            "server": [(self.owner(row), "muted")],
            "effect": [(row.effect, EFFECT_TONES.get(row.effect, "muted"))],
            "tokens": [(str(row.tokens) if row.tokens else "", "muted")],
            "about": [(row.title or row.description, "muted")],
        }
        return RowView(state.sign, cells, fresh=self.mark("inventory", key))

    # ── the selected row ──

    def subject(self, key: str) -> Row | None:
        return self.store.inventory.rows.get(key)

    def switch_target(self, key: str) -> SwitchTarget | None:
        row = self.store.inventory.rows.get(key)
        return SwitchTarget("tool", row.id, row.name, not row.filtered) if row else None

    def refresh_ids(self, key: str) -> tuple[Domain, tuple[str, ...]] | None:
        row = self.store.inventory.rows.get(key)
        if row is None:
            return None
        return ("installed" if row.source == "app" else "inventory"), (row.owner,)

    def wants_details(self, key: str) -> tuple[str, str] | None:
        return ("tool", key)

    def peek(self, key: str) -> PeekLines:
        row, facts = self.store.inventory.rows.get(key), self.facts.get(key)
        if row is None or facts is None:
            return PeekLines([], [], [])
        top: list[Part] = [(row.name, "strong"), (f"  {self.owner(row)}", "muted")]
        tokens = f"{row.tokens} tokens in every request" if row.tokens else ""
        right: list[Part] = [(", ".join(filter(None, (row.effect, tokens))), "muted")]
        if facts.callable.sign == "works":
            return PeekLines(top, right, [(row.description or row.title, "")])
        below: list[Part] = [(f"{facts.callable.word}: ", "strong"), (facts.callable.reason, "")]
        return PeekLines(top, right, below)

    def page(self, key: str, page: Page) -> None:
        row, facts = self.store.inventory.rows.get(key), self.facts.get(key)
        if row is None or facts is None:
            return
        seen = moment(row.seen_at, self.store.now()) if row.seen_at else ""
        tool_page(page, row, self.owner(row), facts, self.details.get(key, {}), seen)

    def offers(self, key: str) -> list[Offer]:
        row, facts = self.store.inventory.rows.get(key), self.facts.get(key)
        if row is None or facts is None:
            return []
        label = "turn on" if row.filtered else "turn off"
        why = ""
        if facts.callable.sign == "policy":
            why = row.reason or "blocked by policy"
        offers = [switch_offer(self.place, label, why=why), Offer("row.details")]
        server = self.store.servers.rows.get(row.owner) if row.source == "server" else None
        if server is not None and server.status == "authenticationRequired":
            offers.insert(0, Offer("row.mend", "sign in", does="servers.sign-in"))
        if row.source == "server":
            offers.append(Offer("servers.traffic", about=row.owner))
            offers.append(Offer("tools.approval", about=row.name, why=self.place.read_only))
        return offers

    def empty(self, page: Page) -> None:
        page.title("No tool yet")
        page.gap()
        page.text(
            "Tools of servers stand here as soon as a server has connected and listed them; "
            "tools of apps as soon as a snapshot has been committed."
        )


def _in_view(facts: ToolFacts, view: str) -> bool:
    match view:
        case "works":
            return facts.callable.sign == "works"
        case "off":
            return facts.enabled.sign == "off"
        case "stopped":
            return facts.callable.sign not in ("works", "off")
        case _:
            return True
