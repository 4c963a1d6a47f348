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
from core.plugins.entries import (
    AUTHENTICATIONS,
    INSTALLATIONS,
    PRODUCTS,
    Entry,
    EntrySorter,
    Skipped,
    entry_fits,
)
from core.plugins.json_fast import member
from core.plugins.json_shape import ANY, TEXT, Items, Maybe, Record, Word, read_exactly
from core.plugins.json_tokens import JsonFault
from core.plugins.layout import BOM, os_reason, read_file
from core.plugins.names import RESERVED, marketplace_name_fault

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
    reader = EntrySorter(root, home, tick)
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
    return all(entry_fits(entry) for entry in cast("list[Any]", plugins))
