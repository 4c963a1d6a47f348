"""Explain on `e` for the selected row, and from the palette for any name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from core import method_table as methods
from core.protocol.jackfield_explain import ExplainParams, Kind
from core.protocol.rows import AppRow, InstalledRow, PluginRow, Row, ServerRow, ToolRow
from tui.commands import Offer
from tui.family import Family
from tui.registry import NameHit

if TYPE_CHECKING:
    from tui.app import JackfieldApp

PLACES = {
    "plugins": ("marketplaces", "plugin:"),
    "marketplaces": ("marketplaces", "group:"),
    "apps": ("apps", ""),
    "servers": ("servers", ""),
    "inventory": ("tools", ""),
}
"""Tab, and what stands before the id in a row's key, by domain."""
_SEPARATOR = "\x1f"
_STOPPED = frozenset(
    {"failed", "waiting", "authenticationRequired", "blocked", "invalid", "untrusted"}
)
_UNUSED = frozenset({"notInstalled", "skipped", "empty", "broken", "blocked", "leftOver"})


class ExplainDeeds(Family):
    """`row.explain`."""

    DEEDS: ClassVar = {"row.explain": "explain"}

    def offers(self) -> list[Offer]:
        return [Offer("row.explain")] if self._target() is not None and not self._lacks() else []

    def why_not(self, id: str) -> str:
        if why := self._lacks():
            return why
        if self.pane.selected is None:
            return "no row is selected"
        return "its plugins can be explained, one by one"

    def _lacks(self) -> str:
        controller = self.app.controller
        if controller is None:
            return "the core is still being opened"
        return controller.client.capabilities.lacks(methods.JACKFIELD_EXPLAIN)

    def _target(self) -> tuple[Kind, str] | None:
        key = self.pane.selected
        row = self.pane.view.subject(key) if key is not None else None
        kind = kind_of(row)
        return (kind, row.id) if kind is not None and row is not None else None

    def explain(self) -> None:
        """Open the path of the selected row."""
        if (target := self._target()) is not None:
            kind, id = target
            asked = ExplainParams(target=id, kind=kind)
            self.app.open_dialog(partial(explain_it, asked=asked))


class TroubleDeeds(ExplainDeeds):
    """The same where the row says that something is wrong: there it is one of the first keys."""

    def offers(self) -> list[Offer]:
        key = self.pane.selected
        row = self.pane.view.subject(key) if key is not None else None
        return super().offers() if _in_trouble(row) else []


def _in_trouble(row: Row | None) -> bool:
    match row:
        case ServerRow():
            return row.status in _STOPPED
        case PluginRow():
            return row.state in _UNUSED
        case ToolRow():
            return row.kind == "tool" and not row.callable
        case InstalledRow():
            return not row.callable
        case _:
            return False


def kind_of(row: Row | None) -> Kind | None:
    """What a row is to Explain; None for marketplaces and events."""
    match row:
        case PluginRow():
            return "plugin"
        case AppRow() | InstalledRow():
            return "app"
        case ServerRow():
            return "server"
        case ToolRow():
            return "tool"
        case _:
            return None


async def explain_it(app: JackfieldApp, asked: ExplainParams) -> None:
    """Show the path; then do what was chosen, on its row."""
    from tui.screens.explain import ExplainSheet

    if app.controller is None:
        return
    sheet = ExplainSheet(app.controller.client, app.registry.key, app.place, asked)
    action = await app.push_screen_wait(sheet)
    if action is None:
        return
    if found := PLACES.get(action.domain):
        tab, prefix = found
        await app.open_tab(tab)
        if action.subject and not app.pane.go_to(prefix + action.subject):
            app.tell(f"{action.subject} has no row here", fault=True)
            return
    await app.deeds.run(action.id)


# -- names, for the palette


def names(app: JackfieldApp, query: str, limit: int) -> list[NameHit]:
    """Plugins, apps, servers and tools whose names hold the query, the earliest hit first."""
    wanted = query.casefold().strip()
    if not wanted:
        return []
    ranked: list[tuple[int, int, NameHit]] = []
    for kind, id, name in _everything(app):
        at = name.casefold().find(wanted)
        if at >= 0:
            hit = NameHit(f"{kind}{_SEPARATOR}{id}", name, _note(kind, id, name))
            ranked.append((at, len(name), hit))
    ranked.sort(key=lambda each: each[:2])
    return [hit for _, _, hit in ranked[:limit]]


def target_of(id: str) -> ExplainParams:
    """What a hit of `names` stands for; any other text as a person typed it."""
    kind, separator, rest = id.partition(_SEPARATOR)
    for known in ("plugin", "app", "server", "tool"):
        if separator and kind == known:
            return ExplainParams(target=rest, kind=known)
    return ExplainParams(target=id)


def _everything(app: JackfieldApp) -> Iterator[tuple[Kind, str, str]]:
    store = app.store
    for server in store.servers.rows.values():
        yield "server", server.id, server.name
    for plugin in store.plugins.rows.values():
        yield "plugin", plugin.id, plugin.name
    for app_row in store.apps.rows.values():
        yield "app", app_row.id, app_row.name
    for tool in store.inventory.rows.values():
        yield "tool", tool.id, tool.name


def _note(kind: Kind, id: str, name: str) -> str:
    return f"explain this {kind}" if id == name else f"explain this {kind}, {id}"
