"""JSON as MCP peers really send it."""

from __future__ import annotations

import json
from typing import Any

import msgspec

_SECOND_LOOK = 1 << 20


class NotJson(ValueError):
    """Text that is no JSON, or is nested too deeply for us."""


def parse(data: bytes) -> Any:
    """The value of a JSON text.

    Fast for what is proper. Small texts get a second look: a byte order mark, invalid UTF-8
    (replaced), lone surrogates and NaN are let pass, as most peers do.

    Raises:
        NotJson: Also for what exceeds the recursion or integer limits.
    """
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        raise NotJson("nested too deeply") from None
    except ValueError as error:
        if len(data) > _SECOND_LOOK:
            raise NotJson(str(error)) from None
    try:
        return json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def encode(value: Any) -> bytes:
    """One line of JSON in UTF-8, without a line end."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # a lone surrogate can only travel escaped
        return json.dumps(value, separators=(",", ":")).encode()
