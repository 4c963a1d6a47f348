"""From JSON text to what a method's result is in the same process."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cache
from typing import Any, cast, get_type_hints

import msgspec

from core.errors import InternalError
from core.methods import Method
from core.protocol.events import STATE_EVENTS, CoreEvent
from core.protocol.jackfield import RecentResult, RowsParams, RowsResult
from core.protocol.rows import Domain

log = logging.getLogger(__name__)

_UNREADABLE = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, ValueError)
_EVENT: msgspec.json.Decoder[CoreEvent] = msgspec.json.Decoder(CoreEvent)


class _Events(msgspec.Struct):
    events: tuple[msgspec.Raw, ...]


@cache
def _rows_of(domain: Domain) -> type[RowsResult]:
    """`RowsResult` whose rows are those of `domain`."""
    rows = get_type_hints(STATE_EVENTS[domain])["upserted"]
    made = msgspec.defstruct(
        "RowsResult", [("rows", rows)], bases=(RowsResult,), rename="camel", kw_only=True
    )
    return cast("type[RowsResult]", made)


def result_of(method: Method[Any, Any], params: Any, body: bytes) -> Any:
    """The result in `body`.

    Raises:
        InternalError: It is not what this version knows.
    """
    try:
        if isinstance(params, RowsParams):
            return msgspec.json.decode(body, type=_rows_of(params.domain))
        kind = method.result
        if kind is RecentResult:
            return RecentResult(events=events_in(body))
        if issubclass(kind, msgspec.Struct):
            return msgspec.json.decode(body, type=kind)
        return kind.model_validate_json(body)
    except _UNREADABLE as error:
        log.warning("%s: the answer cannot be read: %s", method.name, type(error).__name__)
        raise InternalError(
            f"{method.name}: the answer cannot be read",
            hint="are both sides of the same version?",
        ) from None


def events_in(body: bytes) -> tuple[CoreEvent, ...]:
    """The events in a `jackfield/event` or in `RecentResult`; those of another version left out.

    Raises:
        msgspec.MsgspecError, RecursionError, UnicodeDecodeError: It is no list of events.
    """
    return tuple(_known(msgspec.json.decode(body, type=_Events).events))


def _known(raws: Sequence[msgspec.Raw]) -> list[CoreEvent]:
    events: list[CoreEvent] = []
    for raw in raws:
        try:
            events.append(_EVENT.decode(raw))
        except _UNREADABLE as error:
            log.warning("an event cannot be read: %s", error)
    return events
