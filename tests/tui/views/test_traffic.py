"""Traffic of a server in words."""

from __future__ import annotations

import json
from typing import Any

from core.protocol.jackfield_servers import TrafficLine, TrafficResult
from tests.tui import world
from tests.tui.views.support import cell
from tui.views.traffic import KEPT, TrafficText, traffic_page, traffic_row
from tui.widgets.page import Page


def line(number: int, kind: str = "in", **more: Any) -> TrafficLine:
    return TrafficLine(number=number, at=world.NOW, kind=kind, **more)  # type: ignore[arg-type]


ERROR = '{"error":{"code":-32601,"message":"Method not found"}}'
LINES = (
    line(1, "state", method="starting"),
    line(2, "out", method="initialize", text="{}", bytes=2),
    line(3, "in", method="initialize", text='{"a":[1]}', ms=12.4, bytes=9),
    line(4, "stderr", text="hello \x1b[2J", bytes=10),
    line(5, "in", method="notifications/message", text="{}", bytes=2),
    line(6, "in", method="prompts/list", text=ERROR, ms=1.0, bytes=60),
    line(7, "state", method="failed", text="exited 3"),
)


def filled() -> TrafficText:
    text = TrafficText()
    text.take(TrafficResult(lines=LINES, lost=4))
    return text


def test_each_line_says_who_did_what() -> None:
    rows = [traffic_row(each) for each in LINES]
    assert [cell(row, "way") for row in rows] == [
        "is", "sends", "answers", "stderr", "tells", "answers", "is",
    ]  # fmt: skip
    assert [row.sign for row in rows] == ["none"] * 5 + ["failed"] * 2
    assert cell(rows[2], "ms") == "12"


def test_views_and_words_choose_lines() -> None:
    text = filled()
    assert text.counts() == {"all": 7, "messages": 4, "stderr": 1, "states": 2, "bad": 2}
    assert text.ids("messages", "") == ["2", "3", "5", "6"]
    assert text.ids("all", "INIT in") == ["2", "3"]
    assert text.ids("bad", "", until=6) == ["6"]


def test_only_so_many_lines_are_kept_and_the_rest_is_counted() -> None:
    text = filled()
    more = tuple(line(n, "stderr", text="x") for n in range(8, KEPT + 10))
    assert text.take(TrafficResult(lines=more))
    assert not text.take(TrafficResult())
    assert len(text.lines) == KEPT and text.lost == 4 + 9 and text.last == KEPT + 9


def test_a_line_whole_is_indented_json_or_what_was_said() -> None:
    page = Page(60)
    traffic_page(page, LINES[2])
    assert '│   "a": [' in page.text_lines and "9 B, 12 ms" in page.text_lines[0]
    page = Page(60)
    traffic_page(page, LINES[3])
    assert "│ hello ␛[2J" in page.text_lines
    page = Page(60)
    traffic_page(page, line(1, "in", method="m", text='{"cut', bytes=70_000))
    assert "70,000 bytes" in page.text_lines[-1]


def test_a_file_of_it_is_json_lines() -> None:
    lines = [json.loads(each) for each in filled().as_text(["2", "4"]).splitlines()]
    assert lines[0]["body"] == {} and lines[0]["method"] == "initialize"
    assert lines[1]["text"] == "hello \x1b[2J" and lines[1]["kind"] == "stderr"
