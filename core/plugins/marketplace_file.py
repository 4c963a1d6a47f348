"""Marketplace files: read leniently, with what Codex makes of every fault beside it.

One fault of type or syntax makes Codex refuse the whole file; what can be read of it all the same
is kept here, so that it can be shown. Unusable entries it leaves out without a word; they are kept
as `Skipped`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import msgspec

from core.plugins import json_fast
from core.plugins.json_fast import member
from core.plugins.json_shape import ANY, TEXT, Items, Maybe, Record, Word, read_exactly
from core.plugins.json_tokens import JsonFault
from core.plugins.layout import BOM, os_reason, read_file
from core.plugins.names import RESERVED, marketplace_name_fault, plugin_name_fault
from core.plugins.sources.parse import Refused, Source, parse_source, source_text

INSTALLATIONS = ("NOT_AVAILABLE", "AVAILABLE", "INSTALLED_BY_DEFAULT")
AUTHENTICATIONS = ("ON_INSTALL", "ON_USE")
PRODUCTS = ("CHATGPT", "chatgpt", "CODEX", "codex", "ATLAS", "atlas")
_OURS = frozenset({"CODEX", "codex"})

ENTRY = Record(
    "RawMarketplaceManifestPlugin",
    {
        "name": TEXT,
        "source": ANY,
        "policy": Record(
            "MarketplacePluginPolicy",
            {
                "installation": Word(INSTALLATIONS),
                "authentication": Word(AUTHENTICATIONS),
                "products": Maybe(Items(Word(PRODUCTS))),
            },
        ),
        "category": Maybe(TEXT),
    },
    ("name", "source"),
    keeps_others=True,
)
MARKETPLACE = Record(
    "RawMarketplaceManifest",
    {
        "name": TEXT,
        "interface": Maybe(Record("RawMarketplaceManifestInterface", {"displayName": Maybe(TEXT)})),
        "plugins": Items(ENTRY),
    },
    ("name", "plugins"),
)
"""What the real reader wants of a marketplace file (observed in Codex 0.171.0)."""

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


class Refusal(msgspec.Struct, frozen=True):
    """Why Codex refuses the whole file.

    Attributes:
        rule: `read`, `encoding`, `json`.
        message: Exactly what `marketplaceLoadErrors` says.
        reason: The same without path and place.
        line, column: 1-based, column in bytes; 0 when there is no place.
        errno: Of a file that cannot be read.
    """

    rule: str
    message: str
    reason: str
    line: int = 0
    column: int = 0
    errno: int = 0


class Marketplace(msgspec.Struct, frozen=True, kw_only=True):
    """A marketplace file as it was read.

    Attributes:
        root: Directory whose plugins it lists; "" for a file outside the four places.
        name: "" when it has none.
        display_name: Of `interface`; None when absent, "" when empty.
        total: Entries in the file, skipped ones included.
        refusal: Set when Codex refuses the file; the entries are what could be read anyway.
        name_fault: Why Codex does not list it by its name; "" when it does.
    """

    path: str
    root: str = ""
    format: str = ""
    name: str = ""
    display_name: str | None = None
    entries: tuple[Entry, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    total: int = 0
    refusal: Refusal | None = None
    name_fault: str = ""

    @property
    def listed(self) -> tuple[Entry, ...]:
        """What Codex lists of it."""
        return () if self.refusal or self.name_fault else self.entries


def load(
    path: str,
    root: str,
    *,
    home: str,
    format: str = "",
    managed: str = "",
    tick: Callable[[], None] | None = None,
) -> Marketplace:
    """Read a marketplace file. Never raises for what is wrong with it.

    Args:
        root: Its root, or "" for a file outside the four places.
        home: What a leading `~` stands for.
        managed: The name that a directory of the product's own must carry, or "".
        tick: Called now and then.
    """
    try:
        data = read_file(path)
    except OSError as error:
        reason = os_reason(error)
        refusal = Refusal(
            "read", f"failed to read marketplace file: {reason}", reason, errno=error.errno or 0
        )
        return Marketplace(path=path, root=root, format=format, refusal=refusal)
    value, refusal = _decode(data, path)
    if not isinstance(value, dict):
        return Marketplace(path=path, root=root, format=format, refusal=refusal)
    top = cast("dict[str, Any]", value)
    name = top.get("name")
    name = name if isinstance(name, str) else ""
    shown = member(top.get("interface"), "displayName")
    plugins: Any = top.get("plugins")
    reader = _Entries(root, home, tick)
    entries = cast("list[Any]", plugins) if isinstance(plugins, list) else []
    reader.read(entries, checked=refusal is None)
    return Marketplace(
        path=path,
        root=root,
        format=format,
        name=name,
        display_name=shown if isinstance(shown, str) else None,
        entries=tuple(reader.entries),
        skipped=tuple(reader.skipped),
        total=reader.total,
        refusal=refusal,
        name_fault=name_fault(name, managed),
    )


def name_fault(name: str, managed: str) -> str:
    """Why a marketplace of this name is not listed, or ""; not told by Codex in a list."""
    if fault := marketplace_name_fault(name):
        return fault
    if managed and name != managed:
        return f"marketplace manifest name `{name}` does not match managed marketplace `{managed}`"
    if not managed and name in RESERVED:
        return f"marketplace `{name}` is reserved and cannot be loaded from this source"
    return ""


def _decode(data: bytes, path: str) -> tuple[Any, Refusal | None]:
    """The value, and what Codex says against it; the value is what can be read all the same."""
    try:
        data.decode()
    except UnicodeDecodeError:
        reason = "stream did not contain valid UTF-8"
        refusal = Refusal("encoding", f"failed to read marketplace file: {reason}", reason)
        return _salvage(data), refusal
    value = json_fast.decode(data)
    if value is not json_fast.SUSPECT and _fits(value):
        return value, None
    try:
        return read_exactly(data, MARKETPLACE), None
    except JsonFault as fault:
        rule = "encoding" if data.startswith(BOM) else "json"
        message = f"invalid marketplace file `{path}`: {fault}"
        refusal = Refusal(rule, message, fault.reason, fault.line, fault.column)
        return _salvage(data), refusal


def _salvage(data: bytes) -> Any:
    """The value of a text that Codex refuses for its byte order mark, encoding or types."""
    data = data.removeprefix(BOM)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = data.decode("utf-16", "replace").encode()
    try:
        return read_exactly(data.decode("utf-8", "replace").encode(), ANY)
    except JsonFault:
        return None


def _fits(value: Any) -> bool:
    """Whether a decoded file has the types that the real reader wants."""
    if type(value) is not dict:
        return False
    top = cast("dict[str, Any]", value)
    interface: Any = top.get("interface")
    if interface is not None:
        if type(interface) is not dict:
            return False
        shown = member(interface, "displayName")
        if shown is not None and type(shown) is not str:
            return False
    plugins: Any = top.get("plugins")
    if type(top.get("name")) is not str or type(plugins) is not list:
        return False
    return all(_entry_fits(entry) for entry in cast("list[Any]", plugins))


def _entry_fits(entry: Any) -> bool:
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


class _Entries:
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
            if checked or _entry_fits(raw):
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
