from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from core.protocol import events
from core.protocol.events import STATE_EVENTS, CoreEvent, Occurrence, RefreshEvent, state_changed
from core.protocol.facts import Evidence, Problem
from core.protocol.rows import DOMAINS, ROW_TYPES, Row, detail_of

EVENTS = get_args(CoreEvent)


def a_row(kind: type[Row]) -> Row:
    """A row with something in every member that has to be there."""
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        if field.required:
            values[field.name] = (
                "x" if field.type is str else Problem(id="p", domain="d", message="m")
            )
    return kind(**values)


def test_every_domain_has_a_row_type_and_an_event():
    assert set(DOMAINS) == set(ROW_TYPES) == set(STATE_EVENTS)


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_state_event_comes_through_json_as_it_was(domain: Any):
    row = a_row(ROW_TYPES[domain])
    event = state_changed(
        domain, revision=3, phase="final", upserted=(row,), removed=("gone",), order=("x",)
    )
    assert msgspec.json.decode(msgspec.json.encode(event), type=CoreEvent) == event
    assert detail_of(row) == msgspec.json.decode(msgspec.json.encode(row))


def test_event_names_are_distinct_and_all_are_in_the_union():
    tags = [event.__struct_config__.tag for event in EVENTS]
    assert len(set(tags)) == len(tags)
    defined = {
        value
        for value in vars(events).values()
        if isinstance(value, type)
        and issubclass(value, events.Event)
        and value not in (events.Event, events.StateChanged, Occurrence, RefreshEvent)
    }
    assert defined == set(EVENTS)


def test_an_empty_place_takes_no_room():
    assert msgspec.json.encode(Evidence()) == b"{}"
    assert msgspec.to_builtins(Evidence(line=0, file="/x")) == {"file": "/x", "line": 0}
