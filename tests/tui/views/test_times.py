from __future__ import annotations

import pytest

from tests.tui.world import NOW
from tui.views.times import age, clock, moment, running, span


def test_a_clock_is_local_and_to_the_second():
    assert clock(NOW) == "12:41:30"


@pytest.mark.parametrize(
    ("before", "shown"),
    [(28, "12:41:02"), (3 * 3600 + 29 * 60, "09:12"), (2 * 86400, "28 Nov")],
)
def test_a_moment_gets_coarser_with_its_age(before: float, shown: str):
    assert moment(NOW - before, NOW) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.42, "0.4 s"), (12, "12 s"), (130, "2 min"), (7200, "2 h"), (3 * 86400, "3 days")],
)
def test_a_span_has_one_unit(seconds: float, shown: str):
    assert span(seconds) == shown


def test_an_age_is_said_in_words_and_never_negative():
    assert age(NOW - 3, NOW) == "just now"
    assert age(NOW + 60, NOW) == "just now"
    assert age(NOW - 130, NOW) == "2 min ago"
    assert age(0, NOW) == ""


def test_a_running_clock_counts_whole_seconds_against_its_limit():
    assert running(NOW - 12.9, NOW, 60.0) == "12 s of 60"
    assert running(NOW - 12.9, NOW, 2.5) == "12 s of 2.5"
    assert running(NOW - 3, NOW, None) == "3 s"
    assert running(0, NOW, 60.0) == "0 s of 60"
