"""What servers send, made fit to be shown: secrets masked, cut where it is too much.

Everything here is plain work on JSON values; long answers are best shown in a thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from core.mcp.masking import MASK, Secrets, is_secret_name

TEXT_CHARS = 1 << 20
DATA_CHARS = 24 << 20
STRUCTURED_BYTES = 1 << 20
META_BYTES = 64 << 10
MOST_BLOCKS = 1000
_BASE64 = ("data", "blob")


@dataclass
class Shown:
    """Blocks that may be shown, and what was left out.

    Attributes:
        bytes: Of everything as JSON, as it came.
        cuts: In words; empty when nothing was left out.
    """

    blocks: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    bytes: int = 0
    cuts: list[str] = field(default_factory=list[str])

    @property
    def cut(self) -> str:
        """All that was left out, in one line."""
        return "; ".join(self.cuts)


def size_of(value: Any) -> int:
    """Bytes of a value as JSON; 0 for what cannot be written."""
    try:
        return len(msgspec.json.encode(value))
    except (TypeError, ValueError, RecursionError):
        return 0


def masked(value: Any, secrets: Secrets) -> Any:
    """A JSON value with the secrets in its texts masked, base64 data left alone."""
    match value:
        case str():
            return secrets.mask(value)
        case list():
            return [masked(item, secrets) for item in cast("list[Any]", value)]
        case dict():
            members = cast("dict[str, Any]", value)
            return {key: _member(key, item, secrets) for key, item in members.items()}
        case _:
            return value


def _member(key: str, item: Any, secrets: Secrets) -> Any:
    if isinstance(item, str):
        if key in _BASE64 and len(item) > 64:
            return item
        if item and is_secret_name(key):
            return MASK
    return masked(item, secrets)


def shown_blocks(blocks: Iterable[dict[str, Any]], secrets: Secrets) -> Shown:
    """Content blocks, or contents of a resource, within bounds."""
    whole = list(blocks)
    shown = Shown(bytes=size_of(whole))
    if len(whole) > MOST_BLOCKS:
        shown.cuts.append(f"{len(whole) - MOST_BLOCKS} more parts are left out")
    text_left, data_left = TEXT_CHARS, DATA_CHARS
    for block in whole[:MOST_BLOCKS]:
        try:
            one = masked(block, secrets)
        except RecursionError:
            shown.cuts.append("a part that is nested too deeply is left out")
            one = {"type": "text", "text": ""}
        for holder in _holders(one):
            text_left -= _cut_text(holder, text_left, shown)
            data_left -= _drop_data(holder, data_left, shown)
        shown.blocks.append(one)
    return shown


def _holders(block: dict[str, Any]) -> list[dict[str, Any]]:
    inner = block.get("resource")
    return [block, cast("dict[str, Any]", inner)] if isinstance(inner, dict) else [block]


def _cut_text(holder: dict[str, Any], left: int, shown: Shown) -> int:
    text = holder.get("text")
    if not isinstance(text, str):
        return 0
    if len(text) > left:
        shown.cuts.append(f"{_count(len(text) - max(0, left))} characters of text are left out")
        holder["text"] = text[: max(0, left)]
    return len(text)


def _drop_data(holder: dict[str, Any], left: int, shown: Shown) -> int:
    used = 0
    for key in _BASE64:
        data = holder.get(key)
        if isinstance(data, str):
            used += len(data)
            if used > left:
                holder[key] = ""
                shown.cuts.append(f"data of {_count(len(data) * 3 // 4)} bytes is left out")
    return used


def _count(number: int) -> str:
    return f"{number:,}"


def shown_value(value: Any, secrets: Secrets, *, limit: int, what: str, shown: Shown) -> Any:
    """A JSON value beside the blocks, masked; None with a word in `shown` when it is too much."""
    size = size_of(value)
    shown.bytes += size
    if size > limit or (size == 0 and value is not None):
        how = f"of {_count(size)} bytes" if size else "that is nested too deeply"
        shown.cuts.append(f"{what} {how} is left out")
        return None
    try:
        return masked(value, secrets)
    except RecursionError:
        shown.cuts.append(f"{what} that is nested too deeply is left out")
        return None
