"""Rows of what can be written: under which name, against what is there, and as which TOML."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from core.config.edit_text import TextEditor
from core.config.toml.read import read_toml
from core.config.toml.render import Unwritable, render_keys
from core.importer.converting import NAME, convert
from core.importer.found import Contents, FoundMarketplace, FoundPlugin, FoundServer
from core.importer.masks import MASK, Masks
from core.importer.places import APPS, Place
from core.protocol.facts import Evidence
from core.protocol.jackfield_import import ImportRow, RowKind, RowState

SERVERS, MARKETS, PLUGINS = "mcp_servers", "marketplaces", "plugins"
_SECRET_TABLES = ("env", "http_headers")


@dataclass(frozen=True)
class Plan:
    """A row and what stands behind it.

    Attributes:
        path: Of the table.
        table: Written unless secrets are to be copied.
        copied: Written when they are.
        bare: It can only be written with its secrets.
    """

    row: ImportRow
    path: tuple[str, str]
    table: Mapping[str, Any] = field(repr=False)
    copied: Mapping[str, Any] = field(repr=False)
    bare: bool = False


class Planner:
    """Makes the rows of several files, in order; an earlier one has the first claim to a name.

    Args:
        present: The user's own configuration, and what other layers add to it.
    """

    def __init__(self, present: Mapping[str, Any], masks: Masks) -> None:
        self._present, self._masks = present, masks
        self._claimed: dict[tuple[str, str], tuple[str, Mapping[str, Any]]] = {}
        self.plans: list[Plan] = []

    def add(self, place: Place, contents: Contents) -> int:
        """Rows of one file; how many."""
        before = len(self.plans)
        for server in contents.servers:
            self._server(place, server)
        for market in contents.marketplaces:
            self._marketplace(place, market)
        for plugin in contents.plugins:
            self._plugin(place, plugin)
        return len(self.plans) - before

    def _server(self, place: Place, found: FoundServer) -> None:
        made = convert(found, self._masks)
        notes = list(made.notes)
        if not made.fault and not NAME.fullmatch(found.name):
            notes.append("Codex starts no server of this name: write it under another one")
            made.care = True
        if place.scope == "project":
            notes.append("it belongs to this project only; here it would run everywhere")
        quiet = not (made.care or made.secrets) and found.enabled and place.scope == "user"
        self._plan(
            place,
            "server",
            found.name,
            (SERVERS, found.name),
            made.table,
            made.copied,
            origin=found.origin,
            fault=made.fault,
            target=made.target,
            notes=[*notes, *([] if found.enabled else [f"it is off in {APPS[place.app]}"])],
            secrets=made.secrets,
            wants=made.wants,
            proposed=quiet,
            bare=made.bare,
        )

    def _marketplace(self, place: Place, found: FoundMarketplace) -> None:
        ref = f"@{found.table['ref']}" if "ref" in found.table else ""
        self._plan(
            place,
            "marketplace",
            found.name,
            (MARKETS, found.name),
            found.table,
            found.table,
            origin=found.origin,
            fault=found.fault or _market_fault(found.name),
            target=self._masks.url(found.table.get("source", "")) + ref,
            notes=list(found.notes),
            proposed=place.scope == "user",
        )

    def _plugin(self, place: Place, found: FoundPlugin) -> None:
        if not found.enabled:
            return
        plugin, _, market = found.id.rpartition("@")
        known = {name for (kind, name) in self._claimed if kind == MARKETS}
        known |= set(_table(self._present, MARKETS))
        notes = ["this turns it on; `i` on its row installs it and shows what it brings"]
        if market not in known:
            notes.append(f"Codex does not know its marketplace `{market}`")
        table = {"enabled": True}
        self._plan(
            place,
            "plugin",
            found.id,
            (PLUGINS, found.id),
            table,
            table,
            origin=found.origin,
            fault="" if plugin and market else "it is no PLUGIN@MARKETPLACE",
            target=found.id,
            notes=notes,
            proposed=False,
        )

    def _plan(
        self,
        place: Place,
        kind: RowKind,
        name: str,
        path: tuple[str, str],
        table: Mapping[str, Any],
        copied: Mapping[str, Any],
        *,
        origin: Evidence,
        fault: str,
        target: str,
        notes: list[str],
        proposed: bool,
        secrets: Sequence[str] = (),
        wants: Sequence[str] = (),
        bare: bool = False,
    ) -> None:
        state, reason = self._judge(path, table, copied, fault)
        present = _table(self._present, *path)
        toml, was = self.text(path, table), self.text(path, present) if present else ""
        key = f"{place.id}/{kind}/{name}"
        same = sum(plan.row.id.partition("#")[0] == key for plan in self.plans)
        row = ImportRow(
            id=f"{key}#{same + 1}" if same else key,
            kind=kind,
            name=name,
            source=place.id,
            state=state,
            origin=origin,
            reason=reason,
            target=target,
            table=render_keys(path),
            toml=toml,
            present=was,
            diff=difference(was, toml),
            notes=tuple(dict.fromkeys(notes)),
            secrets=tuple(secrets),
            wants=tuple(wants),
            proposed=proposed and state == "new",
            free_name=self._free(path, place) if state == "clash" and kind != "plugin" else "",
            digest=_digest(path, table, copied),
        )
        self.plans.append(Plan(row, path, table, copied, bare))
        if state in ("new", "same"):
            self._claimed.setdefault(path, (place.id, copied))

    def _judge(
        self,
        path: tuple[str, str],
        table: Mapping[str, Any],
        copied: Mapping[str, Any],
        fault: str,
    ) -> tuple[RowState, str]:
        if fault:
            return "blocked", fault
        present = _table(self._present, *path)
        if present:
            if present in (table, copied) or (path[0] == PLUGINS and _is_on(present)):
                return "same", "the configuration says so already"
            return "clash", f"`{path[1]}` is something else here"
        if path in self._claimed:
            source, claimed = self._claimed[path]
            if claimed == copied:
                return "same", f"the same as in {_named(source)}"
            return "clash", f"`{path[1]}` of {_named(source)} is something else"
        return "new", ""

    def _free(self, path: tuple[str, str], place: Place) -> str:
        kind, name = path
        for number in range(1, 1000):
            more = place.app if number == 1 else f"{place.app}-{number}"
            tried = f"{name}-{more}"
            if not _table(self._present, kind, tried) and (kind, tried) not in self._claimed:
                return tried
        return ""

    def text(self, path: tuple[str, str], table: Mapping[str, Any]) -> str:
        """A table as it is written, secrets masked."""
        editor = TextEditor(read_toml(""))
        try:
            editor.set(path, masked(table, self._masks))
        except (Unwritable, LookupError) as error:
            return f"# it cannot be written: {error}"
        return editor.text.strip("\n")


def masked(table: Mapping[str, Any], masks: Masks) -> dict[str, Any]:
    """A server's table as it may be shown."""
    shown = dict(table)
    for key in _SECRET_TABLES:
        members = shown.get(key)
        if isinstance(members, dict):
            shown[key] = {
                name: MASK if masks.holds_secret(name, str(value)) else value
                for name, value in cast("dict[str, Any]", members).items()
            }
    if isinstance(url := shown.get("url"), str):
        shown["url"] = masks.url(url)
    args = shown.get("args")
    if isinstance(args, list):
        words = [str(word) for word in cast("list[Any]", args)]
        shown["args"] = list(masks.arguments([str(shown.get("command", "")), *words]))[1:]
    oauth = shown.get("oauth")
    if isinstance(oauth, dict) and "client_secret" in oauth:
        shown["oauth"] = {**cast("dict[str, Any]", oauth), "client_secret": MASK}
    for key in ("bearer_token", "http_headers_helper"):
        if isinstance(value := shown.get(key), str):
            shown[key] = MASK if key == "bearer_token" else masks.text(value)
    return shown


def difference(was: str, becomes: str) -> tuple[str, ...]:
    """Lines with `-`, `+` or a blank before them."""
    old, new = was.splitlines(), becomes.splitlines()
    lines = difflib.ndiff(old, new) if old else (f"+ {line}" for line in new)
    return tuple(f"{line[0]}{line[2:]}" for line in lines if line[0] in " +-")


def _digest(path: tuple[str, str], table: Mapping[str, Any], copied: Mapping[str, Any]) -> str:
    return hashlib.sha256(repr((path, dict(table), dict(copied))).encode()).hexdigest()[:24]


def _table(tree: Mapping[str, Any], *path: str) -> dict[str, Any]:
    value: Any = tree
    for step in path:
        value = cast("Mapping[str, Any]", value).get(step) if isinstance(value, Mapping) else None
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}


def _is_on(table: Mapping[str, Any]) -> bool:
    return table.get("enabled", True) is True


def _named(source: str) -> str:
    return APPS[source.partition(":")[0]]


def _market_fault(name: str) -> str:
    """Codex ignores keys with other letters."""
    fits = name.replace("-", "").replace("_", "")
    if name and fits.isalnum() and fits.isascii():
        return ""
    return "Codex takes only letters, digits, `_` and `-` in the name of a marketplace"


def rows_of(plans: Iterable[Plan]) -> tuple[ImportRow, ...]:
    """The rows alone."""
    return tuple(plan.row for plan in plans)
