"""Decoded JSON for the look, through the readers that everything else uses."""

from __future__ import annotations

from typing import Any

from core.plugins import json_fast
from core.plugins.json_shape import ANY, read_exactly
from core.plugins.json_tokens import JsonFault
from core.plugins.layout import BOM


def any_value(data: bytes) -> Any:
    """The value, also behind a byte order mark; None when it is no JSON."""
    data = data.removeprefix(BOM)
    value = json_fast.decode(data)
    if value is not json_fast.SUSPECT:
        return value
    try:
        return read_exactly(data, ANY)
    except (JsonFault, UnicodeDecodeError):
        return None


def json_fault(data: bytes) -> JsonFault | None:
    """Why the text is no JSON to Codex, or None when it is."""
    if json_fast.decode(data) is not json_fast.SUSPECT:
        return None
    try:
        data.decode()
        read_exactly(data, ANY)
    except JsonFault as fault:
        return fault
    except UnicodeDecodeError:
        return JsonFault("it is not UTF-8", 0, 0)
    return None
