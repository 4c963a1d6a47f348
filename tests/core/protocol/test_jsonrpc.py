from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.protocol.base import Empty
from core.protocol.facts import Evidence
from core.protocol.jsonrpc import (
    Answer,
    Notification,
    Refusal,
    Request,
    answer_line,
    encode_value,
    notification_line,
    parse_line,
    refusal_line,
    request_line,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text() | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
IDS = st.integers(-(2**63), 2**63 - 1) | st.text()


@given(IDS, st.text(), JSON)
def test_a_request_comes_through_as_it_was_sent(id: int | str, method: str, params: Any):
    line = json.dumps({"id": id, "method": method, "params": params}).encode()
    request = parse_line(line)
    assert isinstance(request, Request)
    assert (request.id, request.method) == (id, method)
    assert json.loads(request.params) == params


@given(st.binary(max_size=200))
def test_nothing_that_arrives_makes_it_fail(line: bytes):
    parse_line(line)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"method": "m"}', Notification("m", b"")),
        (b'{"method": "m", "params": null}', Notification("m", b"null")),
        (b'{"id": 1, "method": "m"}', Request(1, "m", b"")),
        (b'{"id": 1, "method": "m", "result": 2, "error": 3}', Request(1, "m", b"")),
        (b'{"id": "a", "result": null}', Answer("a", b"null")),
        (b'{"id": 0, "error": {}}', Refusal(0, b"{}")),
        (b'{"id": 0}', None),
        (b'{"result": 1}', None),
        (b"null", None),
    ],
)
def test_messages_are_told_apart(line: bytes, message: Any):
    assert parse_line(line) == message


@given(IDS, JSON)
def test_lines_are_json_of_one_line_in_the_real_ones_member_order(id: int | str, value: Any):
    body = encode_value(value)
    lines = {
        answer_line(id, body): ["id", "result"],
        refusal_line(id, -32600, "m", value): ["error", "id"],
        notification_line("n", body, 5): ["method", "params", "emittedAtMs"],
        request_line(7, "r", body): ["method", "id", "params"],
    }
    for line, members in lines.items():
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        assert list(json.loads(line)) == members


def test_an_error_names_its_data_only_when_there_is_some():
    assert json.loads(refusal_line(1, -1, "m"))["error"] == {"code": -1, "message": "m"}
    with_data = json.loads(refusal_line(1, -1, "m", {"a": Evidence(line=3)}))["error"]
    assert list(with_data) == ["code", "data", "message"]
    assert with_data["data"] == {"a": {"line": 3}}


def test_models_structs_and_plain_values_are_written_wherever_they_stand():
    value = {"model": Empty(), "struct": [Evidence(file="/x")], "plain": "é"}
    assert encode_value(value) == '{"model":{},"struct":[{"file":"/x"}],"plain":"é"}'.encode()
    assert encode_value(Empty()) == b"{}"
    with pytest.raises((TypeError, msgspec.MsgspecError)):
        encode_value(object())
