"""What a server offers: its lists, read page by page within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import anyio
import anyio.lowlevel
import msgspec

from core.errors import CoreError, PeerError
from core.mcp import shapes
from core.mcp.client.session import DeadlinePassed
from core.mcp.shapes import Check, Malformed

MAX_ITEMS = 10_000
MAX_PAGES = 500
MAX_BYTES = 32 << 20
_BREATH = 50  # items checked between two looks at the event loop


class Request(Protocol):
    """`Session.request`, or something that wraps it."""

    async def __call__(
        self, method: str, params: dict[str, Any] | None, *, deadline: float
    ) -> dict[str, Any]: ...


class UnexpectedResponse(CoreError):
    """The answer is not what the method answers; `where` says what is wrong with it."""

    def __init__(self, where: str) -> None:
        super().__init__("Unexpected response type")
        self.where = where


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Something odd in a list that did not spoil the rest.

    Attributes:
        rule: `shape`, `twice`, `loop`, `limit`.
        name: Of the item, as far as it has one.
    """

    rule: str
    message: str
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Listing:
    """One list of a server.

    Attributes:
        items: By name (tools, prompts), URI or URI template, in the server's order; the first
            of two alike counts.
        meta: `_meta` of the first page.
        sizes: Bytes of each item's declaration.
        at: When it was read, seconds since the epoch; 0 when nobody noted it.
    """

    items: Mapping[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    meta: dict[str, Any] | None = None
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    faults: tuple[Fault, ...] = ()
    at: float = 0.0


@dataclass(frozen=True)
class Kind:
    """How one kind of thing is listed."""

    method: str
    member: str
    key: str
    check: Check


TOOLS = Kind("tools/list", "tools", "name", shapes.tool)
RESOURCES = Kind("resources/list", "resources", "uri", shapes.resource)
TEMPLATES = Kind("resources/templates/list", "resourceTemplates", "uriTemplate", shapes.template)
PROMPTS = Kind("prompts/list", "prompts", "name", shapes.prompt)


class _Reader:
    def __init__(self, kind: Kind, tolerant: bool) -> None:
        self._kind, self._tolerant = kind, tolerant
        self.items: dict[str, dict[str, Any]] = {}
        self.sizes: dict[str, int] = {}
        self.faults: list[Fault] = []
        self._bytes = 0

    @property
    def full(self) -> bool:
        """One of the bounds is reached; says so once."""
        for reached, words in (
            (len(self.items) >= MAX_ITEMS, f"more than {MAX_ITEMS:,} entries"),
            (self._bytes >= MAX_BYTES, f"more than {MAX_BYTES >> 20} MB of entries"),
        ):
            if reached:
                self.faults.append(Fault(rule="limit", message=f"{words}; the rest is left out"))
                return True
        return False

    def went_round(self, cursor: str) -> None:
        """The server gave a cursor again: what it then listed twice is no fault of its own."""
        self.faults = [fault for fault in self.faults if fault.rule != "twice"]
        self.faults.append(
            Fault(rule="loop", message=f"page {cursor!r} comes again and again; stopped there")
        )

    async def take(self, page: dict[str, Any]) -> None:
        """Check the entries of a page. Raises UnexpectedResponse."""
        entries = page.get(self._kind.member)
        if not isinstance(entries, list):
            raise UnexpectedResponse(f"{self._kind.member} is no list")
        for index, entry in enumerate(cast("list[Any]", entries)):
            if index % _BREATH == _BREATH - 1:
                await anyio.lowlevel.checkpoint()
            if len(self.items) >= MAX_ITEMS or self._bytes >= MAX_BYTES:
                return
            self._one(entry)

    def _one(self, entry: Any) -> None:
        try:
            item = self._kind.check(entry)
        except Malformed as fault:
            name = _text_of(entry, self._kind.key) or "?"
            if not self._tolerant:
                raise UnexpectedResponse(f"{name}: {fault.message}") from None
            self.faults.append(Fault(rule="shape", name=name, message=fault.message))
            return
        name = item[self._kind.key]
        if name in self.items:
            self.faults.append(Fault(rule="twice", name=name, message="listed twice"))
            return
        self.items[name] = item
        self.sizes[name] = size = len(msgspec.json.encode(item))
        self._bytes += size


def _text_of(entry: Any, key: str) -> str | None:
    found: Any = cast("dict[str, Any]", entry).get(key) if isinstance(entry, dict) else None
    return found if isinstance(found, str) and found else None


async def read_list(
    request: Request, kind: Kind, *, deadline: float, tolerant: bool, refusable: bool = False
) -> Listing:
    """All pages of one list.

    Args:
        request: `Session.request`, or the like.
        deadline: Seconds for all pages together.
        tolerant: A malformed entry is left out and told as a fault, instead of failing.
        refusable: "Method not found" means an empty list.

    Raises:
        UnexpectedResponse, and what `Session.request` raises.
    """
    reader = _Reader(kind, tolerant)
    meta: dict[str, Any] | None = None
    cursor: str | None = None
    seen: set[str] = set()
    ends = anyio.current_time() + deadline
    for page_number in range(MAX_PAGES):
        params = None if cursor is None else {"cursor": cursor}
        left = max(0.0, ends - anyio.current_time())
        try:
            page = await request(kind.method, params, deadline=left)
        except DeadlinePassed:
            raise DeadlinePassed(kind.method, deadline) from None
        except PeerError as error:
            if refusable and error.code == -32601:
                break
            raise
        await reader.take(page)
        if page_number == 0:
            meta = _meta_of(page)
        cursor = _text_of(page, "nextCursor")
        if cursor is None or reader.full:
            break
        if cursor in seen:
            reader.went_round(cursor)
            break
        seen.add(cursor)
    else:
        reader.faults.append(
            Fault(rule="limit", message=f"more than {MAX_PAGES} pages; the rest is left out")
        )
    return Listing(items=reader.items, meta=meta, sizes=reader.sizes, faults=tuple(reader.faults))


def _meta_of(page: dict[str, Any]) -> dict[str, Any] | None:
    meta: Any = page.get("_meta")
    return cast("dict[str, Any]", meta) if isinstance(meta, dict) else None
