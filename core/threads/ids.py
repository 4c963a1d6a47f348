"""Thread ids: UUIDs of version 7, and what is said about text that is none."""

from __future__ import annotations

import re
import secrets
import uuid

from core.errors import InvalidRequest

_GROUPS = (8, 4, 4, 4, 12)
_STARTS = (0, 9, 14, 19, 24)
_URN = "urn:uuid:"
_PLAIN = re.compile(r"[0-9a-f]{32}", re.IGNORECASE | re.ASCII)
_HYPHENS = re.compile("-".join(f"[0-9a-f]{{{n}}}" for n in _GROUPS), re.IGNORECASE | re.ASCII)


def new_id(now: float) -> str:
    """A fresh id that sorts by time (RFC 9562 §5.7). `now`: seconds since the epoch."""
    value = int(now * 1000) & (1 << 48) - 1
    value = value << 80 | 0x7 << 76 | secrets.randbits(12) << 64
    value |= 0b10 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=value))


def thread_id_of(text: str) -> str:
    """The canonical spelling of a thread id.

    Plain, hyphenated, `{…}` and `urn:uuid:…` are taken.

    Raises:
        InvalidRequest: `invalid thread id: …`, with the words that Codex 0.171.0 answers.
    """
    inner, offset = _unwrapped(text)
    if _HYPHENS.fullmatch(inner) or (not offset and _PLAIN.fullmatch(inner)):
        return str(uuid.UUID(inner))
    raise InvalidRequest(f"invalid thread id: {_fault(inner, offset)}")


def _unwrapped(text: str) -> tuple[str, int]:
    if text.startswith("{") and text.endswith("}") and len(text) > 1:
        return text[1:-1], 1
    if text.startswith(_URN):
        return text[len(_URN) :], len(_URN)
    return text, 0


def _fault(text: str, offset: int) -> str:
    place = offset
    for character in text:
        if not re.fullmatch("[-0-9a-fA-F]", character):
            return (
                "invalid character: expected an optional prefix of `urn:uuid:` followed by "
                f"[0-9a-fA-F-], found `{character}` at {place + 1}"
            )
        place += len(character.encode())
    hyphens = [index for index, character in enumerate(text) if character == "-"]
    if not hyphens and not offset:
        return f"invalid length: expected length 32 for simple format, found {len(text)}"
    if len(hyphens) != 4:
        return f"invalid group count: expected 5, found {len(hyphens) + 1}"
    for group, place in enumerate(hyphens):
        if place != _STARTS[group] + _GROUPS[group]:
            return _group(group, place - _STARTS[group])
    return _group(4, len(text) + offset - _STARTS[4])


def _group(group: int, found: int) -> str:
    return f"invalid group length in group {group}: expected {_GROUPS[group]}, found {found}"
