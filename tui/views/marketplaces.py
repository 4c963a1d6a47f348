"""The Marketplaces tab: plugins under the marketplace that lists them, faults at their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from core.protocol.events import OperationProgress
from core.protocol.rows import Domain, MarketplaceRow, PluginRow, Row, ServerRow
from tui.commands import Offer
from tui.signs import UNICODE, Glyphs, SignName, bar_parts
from tui.store import ViewStore
from tui.switching import SwitchTarget
from tui.text import Part, blank
from tui.views.base import (
    Cached,
    Listing,
    ListView,
    PeekLines,
    Place,
    State,
    plural,
    switch_offer,
)
from tui.views.marketplace_pages import market_page, plugin_page
from tui.views.plugin_states import (
    PROBLEM_STATES,
    SERVER_WAITS,
    brings,
    first_problem,
    is_faulty,
    market_state,
    plugin_state,
    says_more,
    wants_update,
)
from tui.views.search import Searchable, plugin_searchable
from tui.views.times import age
from tui.widgets.columns import Column
from tui.widgets.filter_bar import View
from tui.widgets.page import Page
from tui.widgets.row_view import RowView

LEFT_OVER = "group:left-over"
BAR = 16  # cells


@dataclass
class Index:
    """Plugins under their marketplaces, in list order.

    Attributes:
        behind: Those of `updates` by marketplace.
        whole: All rows, once they have been asked for.
    """

    groups: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    installed: set[str] = field(default_factory=set[str])
    updates: set[str] = field(default_factory=set[str])
    problems: set[str] = field(default_factory=set[str])
    behind: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    whole: Listing | None = None
    _signs: dict[str, dict[str, SignName]] = field(default_factory=dict[str, dict[str, SignName]])

    def signs(self, group: str, rows: Mapping[str, PluginRow]) -> Counter[SignName]:
        """How many plugins of a group have which sign; only what changes is looked at again."""
        signs = self._signs.get(group)
        if signs is None:
            signs = self._signs[group] = dict[str, SignName]()
            for key in self.groups.get(group, ()):
                signs[key] = plugin_state(rows[key[7:]]).sign
        return Counter(signs.values())

    def sort_in(self, key: str, row: PluginRow) -> None:
        """Put a plugin under what its row says now."""
        for signs in self._signs.values():
            if key in signs:
                signs[key] = plugin_state(row).sign
        behind = self.behind.setdefault(row.marketplace, set())
        for kept, wanted in (
            (self.installed, row.installed),
            (self.updates, wants_update(row)),
            (behind, wants_update(row)),
            (self.problems, row.state in PROBLEM_STATES),
        ):
            if wanted:
                kept.add(key)
            else:
                kept.discard(key)


def _stays(was: PluginRow, row: PluginRow) -> bool:
    """Whether a plugin keeps its place in the list."""
    place = (row.marketplace, row.name, row.state == "leftOver")
    return place == (was.marketplace, was.name, was.state == "leftOver")


class MarketplacesView(ListView):
    """Keys are `group:ID` for marketplaces and `plugin:ID` for plugins."""

    TAB = "marketplaces"
    NOUN = "marketplace"
    MAIN = "plugins"
    REFRESHED = ("marketplaces", "plugins")
    REFETCHES = ("plugins",)
    DOMAINS = frozenset({"marketplaces", "plugins", "operations", "config", "servers"})
    COLUMNS = (
        Column("name", "Plugin", 20, grow=2, most=44, match=True),
        Column("state", "State", 24, grow=1, most=52, spill=True),
        Column("brings", "Brings", 18, grow=2, most=28, keep=3),
        Column("market", "Marketplace", 14, grow=1, most=24, keep=2),
        Column("category", "Category", 15, keep=4),
        Column("about", "About", 30, grow=3, keep=5),
    )
    VIEWS: ClassVar = (
        View("all", "all"),
        View("installed", "installed"),
        View("updates", "updates"),
        View("problems", "problems"),
    )

    def __init__(self, store: ViewStore, place: Place, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(store, place, glyphs)
        self._index = Index()
        self._indexed = (-1, -1)
        self._waiting = Cached(self._find_waiting)
        self.marked: set[str] = set()

    # ── the list ──

    @property
    def index(self) -> Index:
        """Grouping and counts; sorted anew when rows came, left or moved."""
        stamp = self.store.marketplaces.version, self.store.plugins.version
        if stamp != self._indexed:
            if stamp[0] != self._indexed[0] or not self._follow(self._indexed[1]):
                self._index = self._make_index()
            self._indexed = stamp
        return self._index

    def _follow(self, version: int) -> bool:
        """Sort in what has changed since; False when places may have changed too."""
        plugins = self.store.plugins
        changed = plugins.since(version)
        if changed is None or not all(_stays(was, plugins.rows[id]) for id, was in changed.items()):
            return False
        for id in changed:
            self._index.sort_in(f"plugin:{id}", plugins.rows[id])
        return True

    def _make_index(self) -> Index:
        # Tens of thousands of rows: tuples that sort by themselves, and little else per row.
        markets = self.store.marketplaces.rows
        sorted_in: dict[str, list[tuple[str, str, str]]] = {key: [] for key in markets}
        left: list[tuple[str, str, str]] = []
        index = Index()
        for row in self.store.plugins.rows.values():
            id, state = row.id, row.state
            key = f"plugin:{id}"
            group = left if state == "leftOver" else sorted_in.get(row.marketplace, left)
            group.append((row.name.casefold(), id, key))
            if state != "available" or row.installed:
                index.sort_in(key, row)
        groups = {f"group:{key}": members for key, members in sorted_in.items()}
        if left:
            groups[LEFT_OVER] = left
        for key, members in groups.items():
            members.sort()
            index.groups[key] = [plugin for _, _, plugin in members]
        index.problems |= {f"group:{key}" for key, row in markets.items() if is_faulty(row)}
        return index

    def _wanted(self, view: str) -> set[str] | None:
        index = self.index
        return {
            "installed": index.installed,
            "updates": index.updates,
            "problems": index.problems,
        }.get(view)

    def listing(self, view: str) -> Listing:
        index, wanted = self.index, self._wanted(view)
        if wanted is None and index.whole is not None:
            return index.whole
        ids: list[str] = []
        heads: set[str] = set()
        for group, members in index.groups.items():
            kept = members if wanted is None else [key for key in members if key in wanted]
            if kept or wanted is None or group in wanted:
                ids.append(group)
                ids.extend(kept)
                heads.add(group)
        listing = Listing(ids, frozenset(heads))
        if wanted is None:
            index.whole = listing
        return listing

    def keys(self, view: str) -> Iterable[str]:
        wanted = self._wanted(view)
        for members in self.index.groups.values():
            yield from (key for key in members if wanted is None or key in wanted)

    def count(self) -> dict[str, int]:
        index = self.index
        return {
            "all": len(self.store.plugins.rows),
            "installed": len(index.installed),
            "updates": len(index.updates),
            "problems": len(index.problems),
        }

    def attention(self) -> int:
        return len(self.index.problems)

    def _searchable(self, key: str) -> Searchable[str]:
        # As the base does it, for tens of thousands of rows.
        row = self.store.plugins.rows[key[7:]]
        known = self._folded.get(key)
        if known is not None and known[0] is row:
            return known[1]
        made = plugin_searchable(key, row)
        self._folded[key] = (row, made)
        return made

    def columns(self, searching: bool) -> tuple[Column, ...]:
        dropped = "brings" if searching else "market"
        return tuple(column for column in self.COLUMNS if column.key != dropped)

    def searched(self) -> str:
        plugins, markets = len(self.store.plugins.rows), len(self.store.marketplaces.rows)
        return (
            f"names, texts, keywords and skills of {plural(plugins, 'plugin')} "
            f"in {plural(markets, 'marketplace')}"
        )

    def plugin(self, key: str) -> PluginRow | None:
        """The plugin behind a key."""
        return self.store.plugins.rows.get(key[7:]) if key.startswith("plugin:") else None

    def market(self, key: str) -> MarketplaceRow | None:
        """The marketplace behind a key."""
        return self.store.marketplaces.rows.get(key[6:]) if key.startswith("group:") else None

    def _market_of(self, row: PluginRow) -> MarketplaceRow | None:
        return self.store.marketplaces.rows.get(row.marketplace)

    def key_of_market(self, name: str) -> str | None:
        """The group of a marketplace by name."""
        rows = self.store.marketplaces.rows.items()
        return next((f"group:{key}" for key, row in rows if row.name == name), None)

    def installed_from(self, market: MarketplaceRow) -> list[PluginRow]:
        """Installed plugins of a marketplace, by name."""
        members = self.index.groups.get(f"group:{market.id}", ())
        rows = [self.store.plugins.rows[key[7:]] for key in members]
        return [row for row in rows if row.installed]

    def waiting_server(self, row: PluginRow) -> ServerRow | None:
        """A server that an enabled plugin brings and that waits for a sign-in or a review."""
        if not row.enabled:
            return None
        waiting: dict[str, ServerRow] = self._waiting.get((self.store.servers.version,))
        return waiting.get(row.plugin_id)

    def _find_waiting(self) -> dict[str, ServerRow]:
        return {
            server.plugin_id: server
            for server in self.store.servers.rows.values()
            if server.plugin_id is not None and server.status in SERVER_WAITS
        }

    def operation(self, row: PluginRow) -> OperationProgress | None:
        """What runs on a plugin now."""
        return self.store.operations.get(row.plugin_id)

    def name(self, key: str) -> str:
        row = self.plugin(key)
        return row.name if row else key

    def text(self, key: str) -> str:
        row = self.plugin(key)
        return self._searchable(key).text if row else ""

    def row(self, key: str) -> RowView:
        if key.startswith("group:"):
            return self._group(key)
        row = self.plugin(key)
        if row is None:
            return RowView("unknown", {"name": key[7:]})
        name: list[Part] = [(row.name, "")]
        if key in self.marked:
            name.insert(0, (f"{self.glyphs.line('tick')} ", "accent"))
        if (
            row.display_name
            and row.display_name.casefold().replace(" ", "-") != row.name.casefold()
        ):
            name.append((f" {row.display_name}", "muted"))
        operation = self.operation(row)
        state = plugin_state(row, operation, self.waiting_server(row))
        market = self._market_of(row)
        quiet = state.sign in ("problem", "leftover", "busy", "failed")
        cells: dict[str, list[Part] | str] = {
            "name": self.named(key, *name),
            "state": self._state_cell(state, operation),
            "brings": [] if quiet else [(brings(row), "muted")] if brings(row) else [],
            "market": [(market.name if market else "", "muted")],
            "category": [(row.category, "muted")],
            "about": [(row.description, "muted")],
        }
        return RowView(state.sign, cells, fresh=self.mark("plugins", row.id))

    def _state_cell(self, state: State, operation: OperationProgress | None) -> list[Part]:
        if operation is None or operation.share is None:
            return state.parts()
        word: Part = (f"{state.word:<11}", "accent")
        share: Part = (f"{operation.share:.0%} ", "")
        return [word, share, *bar_parts(self.glyphs, operation.share, BAR)]

    def _group(self, key: str) -> RowView:
        count = len(self.index.groups.get(key, ()))
        row = self.market(key)
        if row is None:
            note: list[Part] = [(f"{count} ", "muted")]
            left: list[Part] = [("Left over", "strong"), ("  no marketplace lists these", "muted")]
            return RowView("leftover", {"name": left}, note=note)
        state = market_state(row)
        name: list[Part] = [(row.name, "strong")]
        if says_more(row.display_name, row.name):
            name.append((f" {row.display_name}", "muted"))
        if state.sign == "failed":
            why: Part = (state.reason, "")
            name += [blank(2), self.glyphs.part(state.sign), why]
            return RowView(state.sign, {"name": name}, fresh=self.mark("marketplaces", row.id))
        where = self.place.path(row.origin or row.root).removeprefix("https://")
        name.append((f"  {where}{f' {row.ref}' if row.ref else ''}", "muted"))
        note = [(f"{count}  ", "muted"), *self._age(row, state)]
        return RowView(
            state.sign, {"name": name}, note=note, fresh=self.mark("marketplaces", row.id)
        )

    def _age(self, row: MarketplaceRow, state: State) -> list[Part]:
        operation = self.store.operations.get(row.name)
        if operation is not None:
            share = "" if operation.share is None else f" {operation.share:.0%}"
            return [self.glyphs.part("busy"), (f"{operation.verb}{share}", "accent")]
        if row.offered_commit and row.offered_commit != row.commit:
            return [self.glyphs.part("update"), (f"{row.offered_commit[:7]} is there", "accent")]
        if state.sign in ("problem", "policy", "leftover"):
            return [self.glyphs.part(state.sign), (state.reason, "")]
        read = age(row.checked_at, self.store.now())
        return [(f"checked {read}", "muted")] if read else []

    # ── the selected row ──

    def subject(self, key: str) -> Row | None:
        return self.plugin(key) or self.market(key)

    def copy_id(self, key: str) -> str:
        plugin, market = self.plugin(key), self.market(key)
        return plugin.plugin_id if plugin else market.name if market else ""

    def switch_target(self, key: str) -> SwitchTarget | None:
        row = self.plugin(key)
        if row is None:
            return None
        return SwitchTarget("plugin", row.plugin_id, row.name, row.enabled)

    def refresh_ids(self, key: str) -> tuple[Domain, tuple[str, ...]] | None:
        plugin, market = self.plugin(key), self.market(key)
        if plugin is not None:
            return "plugins", (plugin.id,)
        return ("plugins", (market.id,)) if market else None

    def wants_details(self, key: str) -> tuple[str, str] | None:
        row = self.plugin(key)
        return ("plugin", row.id) if row else None

    def peek(self, key: str) -> PeekLines:
        row = self.plugin(key)
        if row is None:
            return self._peek_group(key)
        state = plugin_state(row, self.operation(row), self.waiting_server(row))
        market = self._market_of(row)
        where: list[Part] = [(f"@{market.name}" if market else "", "muted")]
        problem = first_problem(row.problems)
        said = problem.message if problem else row.description or state.reason
        below: list[Part] = [(said, "")]
        if state.sign not in ("works", "off", "none"):
            below = [
                (f"{state.word}: ", "strong"),
                (problem.message if problem else state.reason, ""),
            ]
        right: list[Part] = [(brings(row), "muted")]
        if problem and problem.evidence.file:
            right = [(self.place.short(problem.evidence), "muted")]
        return PeekLines([(row.name, "strong"), *where], right, below)

    def _peek_group(self, key: str) -> PeekLines:
        row = self.market(key)
        if row is None:
            said = "configured or cached, though no marketplace lists it any more"
            return PeekLines([("Left over", "strong")], [], [(said, "")])
        state = market_state(row)
        where = self.place.path(row.origin or row.root)
        below = state.reason or f"{state.word}, {age(row.checked_at, self.store.now())}"
        return PeekLines(
            [(row.name, "strong"), (f"  {where}", "muted")],
            [(self.place.short(row.evidence), "muted")],
            [(below, "")],
        )

    def page(self, key: str, page: Page) -> None:
        row = self.plugin(key)
        if row is not None:
            state = plugin_state(row, self.operation(row), self.waiting_server(row))
            plugin_page(
                page, row, state, self._market_of(row), self.details.get(key, {}), self.place
            )
            return
        market = self.market(key)
        signs = self.index.signs(key, self.store.plugins.rows)
        market_page(page, market, market_state(market) if market else None, signs, self.place)

    def offers(self, key: str) -> list[Offer]:
        row = self.plugin(key)
        common = [Offer("row.details")]
        if row is None:
            return common
        match row.state:
            case "enabled" | "update" | "notInstalled":
                switch = switch_offer(self.place, "disable")
            case "disabled":
                switch = switch_offer(self.place, "enable")
            case "leftOver" | "empty" | "broken" if row.configured:
                label = "disable" if row.enabled else "enable"
                switch = switch_offer(self.place, label)
            case "blocked" | "notOffered":
                switch = switch_offer(self.place, "enable", why=row.reason or "blocked by policy")
            case _:
                switch = switch_offer(self.place, "enable", why="not installed")
        return [switch, *common]

    def empty(self, page: Page) -> None:
        page.title("No marketplace yet")
        page.gap()
        page.text(
            "A marketplace is a folder or a git repository that lists plugins. "
            f"{self.place.path(self.place.config_file) or 'The configuration'} names none, "
            "and this project has none."
        )
