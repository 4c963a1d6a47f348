"""Lines, events and JSON cut out of byte streams."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.mcp.client.events import EventParser, EventTooLarge
from core.mcp.client.jsontext import NotJson, encode, parse
from core.mcp.client.lines import LineSplitter, LineTooLong


def pieces_of(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts})
    edges = [0, *places, len(data)]
    return [data[start:end] for start, end in zip(edges, edges[1:], strict=False)]


@given(st.lists(st.integers(0, 200)))
def test_lines_are_the_same_however_the_stream_is_cut(cuts: list[int]) -> None:
    data = b'{"a":1}\r\n\r\n\n{"b":2}\n  {"c":3}  \nrest'
    splitter = LineSplitter(100)
    lines = [line for piece in pieces_of(data, cuts) for line in splitter.feed(piece)]
    assert lines == [b'{"a":1}', b'{"b":2}', b'{"c":3}']
    assert splitter.rest() == b"rest"
    assert splitter.rest() == b""


def test_line_above_the_limit_is_refused_while_it_still_grows() -> None:
    splitter = LineSplitter(10)
    assert splitter.feed(b"0123456789\n01234") == [b"0123456789"]
    with pytest.raises(LineTooLong):
        splitter.feed(b"567890")


def test_long_line_in_small_pieces_takes_linear_time() -> None:
    def seconds(mebibytes: int) -> float:
        splitter, piece = LineSplitter(1 << 30), b"x" * 4096
        began = time.process_time()
        for _ in range(mebibytes * 256):
            splitter.feed(piece)
        assert len(splitter.feed(b"\n")[0]) == mebibytes << 20
        return time.process_time() - began

    # Quadratic work would be 64 times as much for 8 times the size.
    assert seconds(32) < 30 * max(seconds(4), 0.002)


STREAM = (
    b"\xef\xbb\xbf: comment\r\n"
    b"event: endpoint\rdata: /post\r\r"
    b"id: 7\nretry: 250\ndata:\n\n"
    b"data: one\ndata:two\n\n"
    b"id\n\n"
    b"event: lost\n\n"
    b"retry: soon\nunknown: x\n\n"
    b"data: \xff end\r\n\r\n"
    b"data: never ended\n"
)


@given(st.lists(st.integers(0, 400)))
def test_events_are_the_same_however_the_stream_is_cut(cuts: list[int]) -> None:
    parser = EventParser(1000)
    events = [event for piece in pieces_of(STREAM, cuts) for event in parser.feed(piece)]
    assert [(e.type, e.data, e.id, e.retry) for e in events] == [
        ("endpoint", b"/post", None, None),
        ("message", b"", "7", 0.25),
        ("message", b"one\ntwo", None, None),
        ("message", b"", "", None),
        ("message", b"\xff end", None, None),
    ]


def test_event_above_the_limit_is_refused_while_it_still_grows() -> None:
    parser = EventParser(20)
    assert len(parser.feed(b"data: 0123456789\n\ndata: 0123456789\n\n")) == 2
    with pytest.raises(EventTooLarge):
        parser.feed(b"data: 01234\ndata: 0123456789")


def test_retry_of_absurd_length_is_cut_to_an_hour() -> None:
    (event,) = EventParser(1000).feed(b"retry: " + b"9" * 200 + b"\n\n")
    assert event.retry == 3600


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a": [1, 2.5, "x"]}', {"a": [1, 2.5, "x"]}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'{"a": "\xff"}', {"a": "\ufffd"}),
        (b'{"a": "\\ud800"}', {"a": "\ud800"}),
        (b'{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
        (b'{"a": 1e400}', {"a": float("inf")}),
    ],
)
def test_json_is_read_as_peers_send_it(text: bytes, value: object) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    "text",
    [b"", b"hello", b"{", b'{"a": 1} x', b"[" * 100_000, b'{"a":' * 100_000, b"1" * 10_000],
    ids=["empty", "word", "half", "more", "deep-list", "deep-object", "digits"],
)
def test_what_is_no_json_or_beyond_the_limits_is_told(text: bytes) -> None:
    with pytest.raises(NotJson):
        parse(text)


def test_messages_are_written_in_utf8_on_one_line_and_lone_surrogates_escaped() -> None:
    assert encode({"a": "grüße\n"}) == '{"a":"grüße\\n"}'.encode()
    assert encode({"a": "\ud800"}) == b'{"a":"\\ud800"}'
