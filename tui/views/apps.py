"""The Apps tab: what an app is, whether it is on, and whether its tools can be called.

Three facts of three layers stand beside each other, and each is taken from its own table.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from core.protocol.rows import AppRow, InstalledRow, Row, ToolRow
from tui.commands import Offer
from tui.signs import UNICODE, Glyphs, SignName
from tui.store import ViewStore
from tui.switching import SwitchTarget
from tui.text import Part
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
    write_fact,
)
from tui.views.details import JsonObject, object_of, text_of
from tui.views.times import age
from tui.widgets.columns import Column
from tui.widgets.filter_bar import View
from tui.widgets.page import Page
from tui.widgets.row_view import RowView

TOOLS_SHOWN = 60


class AppFacts(NamedTuple):
    """The row's sign, and the three facts that it sums up."""

    sign: SignName
    access: State
    enabled: State
    callable: State


def facts_of(
    app: AppRow | None, installed: InstalledRow | None, *, known: bool, whole: bool = True
) -> AppFacts:
    """The facts of an app.

    Args:
        app: Its metadata; None when only the snapshot knows it.
        installed: Its row of the committed snapshot.
        known: There is a snapshot, so that absence from it means something.
        whole: The list of apps has been whole once, so that "not linked" means something.
    """
    access = _access(app, whole)
    enabled = _enabled(app, installed)
    may = _callable(installed, access, enabled, known=known)
    return AppFacts(_sum(access, enabled, may), access, enabled, may)


def _access(app: AppRow | None, whole: bool) -> State:
    if app is None:
        return State("unknown", "not known", "only the snapshot names it")
    if app.accessible:
        return State("works", "linked", "to this account")
    if not whole:
        return State("unknown", "not known", "the account's own tools are still being read")
    return State("none", "not linked", "only its page can link it" if app.install_url else "")


def _enabled(app: AppRow | None, installed: InstalledRow | None) -> State:
    on = app.enabled if app else installed.enabled if installed else True
    if on:
        return State("works", "on")
    if app and app.enabled_at.layer in POLICY_LAYERS:
        return State("policy", "policy")
    return State("off", "off")


def _callable(
    installed: InstalledRow | None, access: State, enabled: State, *, known: bool
) -> State:
    if installed is not None and installed.callable and installed.callable_tools:
        return State("works", f"{installed.callable_tools} of {installed.tools}", "tools")
    if installed is None and access.sign == "none":
        return State("none", "–", "needs access first")
    if not known:
        return State("unknown", "not known", "no snapshot has been committed")
    if enabled.sign != "works":
        return State("none", "no", "it is turned off")
    if installed is None and access.sign == "unknown":
        return State("unknown", "not known", "")
    reason = installed.reason if installed else "the snapshot does not name it"
    return State("failed", "no tool", reason.removeprefix("no tool: "))


def _sum(access: State, enabled: State, may: State) -> SignName:
    if enabled.sign != "works" and access.sign != "none":
        return enabled.sign
    return may.sign if may.sign != "none" else access.sign


class AppsView(ListView):
    """Keys are app ids."""

    TAB = "apps"
    NOUN = "app"
    MAIN = "apps"
    REFRESHED = ("apps", "installed")
    REFETCHES = ("apps", "installed")
    DOMAINS = frozenset({"apps", "installed", "inventory", "account"})
    COLUMNS = (
        Column("name", "App", 16, grow=2, most=30, match=True),
        Column("access", "Access", 11),
        Column("enabled", "Enabled", 8),
        Column("callable", "Callable", 10),
        Column("plugins", "Brought by", 13, grow=1, most=24, keep=3),
        Column("category", "Category", 10, keep=4),
        Column("about", "About", 30, grow=3, keep=5),
    )
    VIEWS: ClassVar = (
        View("all", "all"),
        View("linked", "linked"),
        View("callable", "callable"),
        View("waiting", "need you"),
    )

    def __init__(self, store: ViewStore, place: Place, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(store, place, glyphs)
        self._facts = Cached(self._make_facts)

    @property
    def facts(self) -> dict[str, AppFacts]:
        """The facts of every app, linked ones first, then by name."""
        facts: dict[str, AppFacts] = self._facts.get(
            (self.store.apps.version, self.store.installed.version)
        )
        return facts

    def _make_facts(self) -> dict[str, AppFacts]:
        apps, installed = self.store.apps.rows, self.store.installed.rows
        known, whole = self.store.installed.settled, self.store.apps.settled
        facts = {
            key: facts_of(apps.get(key), installed.get(key), known=known, whole=whole)
            for key in [*apps, *(key for key in installed if key not in apps)]
        }
        return dict(
            sorted(
                facts.items(),
                key=lambda item: (item[1].access.sign == "none", self.name(item[0]).casefold()),
            )
        )

    def keys(self, view: str) -> Iterable[str]:
        return [key for key, facts in self.facts.items() if _in_view(facts, view)]

    def count(self) -> dict[str, int]:
        facts = self.facts.values()
        return {view.id: sum(_in_view(fact, view.id) for fact in facts) for view in self.VIEWS}

    def attention(self) -> int:
        return self.counts()["waiting"]

    def name(self, key: str) -> str:
        row = self.store.apps.rows.get(key) or self.store.installed.rows.get(key)
        return row.name if row else key

    def text(self, key: str) -> str:
        app = self.store.apps.rows.get(key)
        if app is None:
            return key
        return " ".join((key, app.description, app.category, *app.brought_by, *app.labels))

    def late(self, key: str) -> bool:
        facts = self.facts.get(key)
        return facts is None or facts.access.sign == "none"

    def source(self, key: str) -> object:
        return self.store.apps.rows.get(key)

    def searched(self) -> str:
        return f"names and texts of {plural(len(self.facts), 'app')}"

    def row(self, key: str) -> RowView:
        facts = self.facts.get(key)
        if facts is None:
            return RowView("unknown", {"name": key})
        app = self.store.apps.rows.get(key)
        cells: dict[str, list[Part] | str] = {
            "name": self.named(key, (self.name(key), "")),
            "access": self._fact(facts.access),
            "enabled": self._fact(facts.enabled, quiet=True),
            "callable": self._fact(facts.callable),
            "plugins": [(", ".join(app.brought_by), "muted")] if app else [],
            "category": [(app.category, "muted")] if app else [],
            "about": [(app.description, "muted")] if app else [],
        }
        return RowView(facts.sign, cells, fresh=self.mark("apps", key))

    def _fact(self, state: State, *, quiet: bool = False) -> list[Part]:
        if state.sign in ("works", "none"):
            return [(state.word, "muted" if quiet or state.sign == "none" else "")]
        tone = "muted" if state.sign in ("off", "unknown") else ""
        return [self.glyphs.part(state.sign), (state.word, tone)]

    # ── the selected row ──

    def subject(self, key: str) -> Row | None:
        return self.store.apps.rows.get(key) or self.store.installed.rows.get(key)

    def switch_target(self, key: str) -> SwitchTarget | None:
        row = self.store.apps.rows.get(key)
        return SwitchTarget("app", row.id, row.name, row.enabled) if row else None

    def wants_details(self, key: str) -> tuple[str, str] | None:
        return ("app", key)

    def peek(self, key: str) -> PeekLines:
        app, facts = self.store.apps.rows.get(key), self.facts.get(key)
        top: list[Part] = [(self.name(key), "strong")]
        if app and app.category:
            top.append((f"  {app.category}", "muted"))
        if facts is None or facts.sign in ("works", "none"):
            return PeekLines(top, [], [(app.description if app else "", "")])
        return PeekLines(top, [], [(self._stops(key, facts), "")])

    def _stops(self, key: str, facts: AppFacts) -> str:
        """The first of the facts that keeps it from being callable, in words."""
        if facts.enabled.sign != "works":
            return f"turned off: {self._decided(key)}"
        return f"{facts.callable.word}: {facts.callable.reason}".removesuffix(": ")

    def _decided(self, key: str) -> str:
        app = self.store.apps.rows.get(key)
        return decided(app.enabled_at, self.place) if app else "in the snapshot"

    def page(self, key: str, page: Page) -> None:
        app, facts = self.store.apps.rows.get(key), self.facts.get(key)
        page.title(self.name(key), app.category if app else "")
        if app and app.description:
            page.text(app.description, limit=6)
        page.gap()
        if facts is not None:
            write_fact(page, "access", facts.access)
            write_fact(page, "enabled", facts.enabled._replace(reason=self._decided(key)))
            write_fact(page, "callable", facts.callable)
        page.gap()
        page.fact("id", key)
        page.fact("brought by", ", ".join(app.brought_by if app else ()) or "the directory")
        if app and app.install_url:
            page.fact("page", app.install_url, path=True)
        directory = object_of(self.details.get(key, {}).get("directory"))
        for label, value in _directory_facts(directory):
            page.fact(label, value)
        if app and app.labels:
            page.fact("labels", ", ".join(app.labels))
        if (installed := self.store.installed.rows.get(key)) and installed.committed_at:
            page.fact("snapshot", f"committed {age(installed.committed_at, self.store.now())}")
        if read := object_of(self.details.get(key, {}).get("snapshotRead")):
            page.fact("last read", last_read(read, self.store.now()))
        self._tools(page, key)

    def _tools(self, page: Page, key: str) -> None:
        tools = [
            tool
            for tool in self.store.inventory.rows.values()
            if tool.source == "app" and tool.owner == key and tool.kind == "tool"
        ]
        if not tools:
            return
        page.section("Tools", f"{sum(tool.callable for tool in tools)} of {len(tools)}")
        for tool in tools[:TOOLS_SHOWN]:
            page.item(_tool_sign(tool), tool.name, f"{tool.effect:<8} {tool.tokens:>4} tk")
        if len(tools) > TOOLS_SHOWN:
            page.text(f"  and {len(tools) - TOOLS_SHOWN} more", "muted")

    def offers(self, key: str) -> list[Offer]:
        facts, app = self.facts.get(key), self.store.apps.rows.get(key)
        offers: list[Offer] = []
        if facts is not None and app is not None:
            label = "turn on" if not app.enabled else "turn off"
            why = f"decided {self._decided(key)}" if facts.enabled.sign == "policy" else ""
            offers.append(switch_offer(self.place, label, why=why))
            if app.install_url:
                offers.append(Offer("row.open", "link page"))
        return [*offers, Offer("row.details")]

    def empty(self, page: Page) -> None:
        account = next(iter(self.store.account.rows.values()), None)
        if account is not None and account.kind in ("none", "apiKey"):
            key = account.kind == "apiKey"
            who = "You are signed in with an API key; with it" if key else "Nobody is signed in;"
            page.title("Apps need a ChatGPT sign-in")
            page.gap()
            page.text(f"{who} Codex has no apps. Plugins and servers work as they are.")
            page.gap()
            page.keys(("A", "account: sign in"))
            return
        page.title("No app")
        page.gap()
        page.text("The app directory lists none for this account, and no plugin names one.")


def _directory_facts(directory: JsonObject) -> list[tuple[str, str]]:
    """Who makes it and which version, where the directory says so."""
    branding, metadata = (
        object_of(directory.get("branding")),
        object_of(directory.get("appMetadata")),
    )
    facts = (
        ("made by", text_of(branding, "developer") or text_of(metadata, "developer")),
        ("website", text_of(branding, "website")),
        ("version", text_of(metadata, "version")),
    )
    return [(label, value) for label, value in facts if value]


def _in_view(facts: AppFacts, view: str) -> bool:
    match view:
        case "linked":
            return facts.access.sign == "works"
        case "callable":
            return facts.sign == "works"
        case "waiting":
            return facts.sign in ("needs", "failed")
        case _:
            return True


def _tool_sign(tool: ToolRow) -> SignName:
    return "works" if tool.callable else "off" if tool.filtered else "policy"


_DISPOSITIONS = {
    "notRequested": "as it is stored",
    "notStarted": "nobody could be asked: no ChatGPT sign-in",
    "success": "refreshed",
    "error": "the refresh failed",
    "skippedAppsDisabled": "not refreshed: apps are off",
}


def last_read(read: JsonObject, now: float) -> str:
    """How the last read of the snapshot went: `refreshed, 12 tools in 0.4 s, 2 min ago`."""
    disposition = str(read.get("disposition", ""))
    words = _DISPOSITIONS.get(disposition, disposition)
    if disposition in ("success", "error"):
        words += f" in {read.get('seconds', 0.0):.1f} s"
    if read.get("retained") and disposition != "notRequested":
        words += ", the one before is kept"
    tools = int(read.get("tools", 0))
    return f"{words}, {plural(tools, 'tool')}, {age(float(read.get('at', 0.0)), now)}"
