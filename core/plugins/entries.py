"""The entries of marketplace files: which can be used, and why the others cannot.

One unusable entry takes no other down. Rules as observed in Codex 0.171.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import msgspec

from core.plugins.names import plugin_name_fault
from core.plugins.sources.parse import Refused, Source, parse_source, source_text

INSTALLATIONS = ("NOT_AVAILABLE", "AVAILABLE", "INSTALLED_BY_DEFAULT")
AUTHENTICATIONS = ("ON_INSTALL", "ON_USE")
PRODUCTS = ("CHATGPT", "chatgpt", "CODEX", "codex", "ATLAS", "atlas")
_OURS = frozenset({"CODEX", "codex"})
_KNOWN = frozenset({"name", "source", "policy", "category"})
_NOTHING: dict[str, Any] = {}


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A plugin that a marketplace offers.

    Attributes:
        index: Its place in `plugins`, from 0.
        metadata: Other members of the entry, which may stand in for a missing manifest.
    """

    index: int
    name: str
    source: Source
    installation: str = "AVAILABLE"
    authentication: str = "ON_INSTALL"
    category: str | None = None
    metadata: dict[str, Any] = {}


class Skipped(msgspec.Struct, frozen=True, gc=False):
    """An entry that Codex leaves out, saying nothing.

    Attributes:
        name: As written, or "" when it has none.
        rule: `plugin-name`, `duplicate`, `product`, `entry-type`, or one of `sources.parse`.
        message: What is wrong, without a final stop.
        source: What its source says, for people.
        kind: The source kind that was meant, or "".
    """

    index: int
    name: str
    rule: str
    message: str
    source: str = ""
    kind: str = ""


def entry_fits(entry: Any) -> bool:
    """Whether an entry has the types that the real reader wants."""
    if type(entry) is not dict or "source" not in entry:
        return False
    members = cast("dict[str, Any]", entry)
    if type(members.get("name")) is not str:
        return False
    category: Any = members.get("category")
    if category is not None and type(category) is not str:
        return False
    return "policy" not in members or not policy_fault(members["policy"])


def policy_fault(policy: Any) -> str:
    """Why Codex refuses a policy, or ""."""
    if type(policy) is not dict:
        return "`policy` is no object"
    members = cast("dict[str, Any]", policy)
    for name, words in (("installation", INSTALLATIONS), ("authentication", AUTHENTICATIONS)):
        if name in members and members[name] not in words:
            return f"`policy.{name}` is none of {', '.join(words)}"
    products: Any = members.get("products")
    if products is None:
        return ""
    if type(products) is not list or not all(p in PRODUCTS for p in cast("list[Any]", products)):
        return f"`policy.products` is no list of {', '.join(PRODUCTS)}"
    return ""


class EntrySorter:
    """Sorts entries into usable and skipped, in file order."""

    def __init__(self, root: str, home: str, tick: Callable[[], None] | None) -> None:
        self.entries: list[Entry] = []
        self.skipped: list[Skipped] = []
        self.total = 0
        self._root = root
        self._home = home
        self._tick = tick
        self._taken: set[str] = set()

    def read(self, plugins: list[Any], *, checked: bool) -> None:
        """Sort all entries. `checked`: every one has the types that Codex wants."""
        self.total = len(plugins)
        for index, raw in enumerate(plugins):
            if self._tick is not None and not index % 32:
                self._tick()
            if checked or entry_fits(raw):
                self._usable(index, raw)
            else:
                self._unfit(index, raw)

    def _usable(self, index: int, raw: dict[str, Any]) -> None:
        name: str = raw["name"]
        written: Any = raw["source"]
        source = parse_source(written, self._root, self._home)
        if not self._root and not isinstance(source, Refused) and _needs_root(written):
            message = "a file outside the four places has no root for local paths"
            source = Refused("source-path", message, "local")
        if isinstance(source, Refused):
            self._skip(index, raw, source.rule, source.message, source.kind)
            return
        if fault := plugin_name_fault(name):
            self._skip(index, raw, "plugin-name", fault)
            return
        if name in self._taken:
            self._skip(index, raw, "duplicate", f"an earlier entry is called `{name}` already")
            return
        self._taken.add(name)
        policy: dict[str, Any] = raw.get("policy") or _NOTHING
        if (products := policy.get("products")) is not None and _OURS.isdisjoint(products):
            self._skip(index, raw, "product", "policy.products does not name CODEX")
            return
        others = raw.keys() - _KNOWN
        self.entries.append(
            Entry(
                index,
                name,
                source,
                policy.get("installation", "AVAILABLE"),
                policy.get("authentication", "ON_INSTALL"),
                raw.get("category"),
                {key: raw[key] for key in raw if key in others} if others else _NOTHING,
            )
        )

    def _skip(
        self, index: int, raw: dict[str, Any], rule: str, message: str, kind: str = ""
    ) -> None:
        written = source_text(raw.get("source"))
        self.skipped.append(Skipped(index, raw["name"], rule, message, written, kind))

    def _unfit(self, index: int, raw: Any) -> None:
        """An entry whose types make Codex refuse the file."""
        members = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
        name = members.get("name")
        if not isinstance(raw, dict):
            message = "the entry is no object"
        elif not isinstance(name, str):
            message = "the entry has no `name`" if name is None else "`name` is no string"
        elif "source" not in members:
            message = "the entry has no `source`"
        elif "policy" in members and (fault := policy_fault(members["policy"])):
            message = fault
        else:
            message = "`category` is no string"
        written = source_text(members["source"]) if "source" in members else ""
        shown = name if isinstance(name, str) else ""
        self.skipped.append(Skipped(index, shown, "entry-type", message, written))


def _needs_root(written: Any) -> bool:
    text: Any = written
    if isinstance(written, dict):
        table = cast("dict[str, Any]", written)
        text = table.get("path" if table.get("source") == "local" else "url")
    elif isinstance(written, list):
        text = cast("list[Any]", written)[1:2]
        text = text[0] if text else ""
    return isinstance(text, str) and text.startswith(".")
