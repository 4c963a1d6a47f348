from __future__ import annotations

import pytest

from core.cli.text import safe, table


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 😀", "plain é 😀"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\u202eright", "\\u202eright"),
        ("\udc80", "\\udc80"),
        ("\x9b2J", "\\x9b2J"),
    ],
)
def test_nothing_that_a_terminal_obeys_gets_through(text: str, shown: str):
    assert safe(text) == shown


def test_columns_stand_side_by_side():
    assert table(("A", "LONG", "B"), [("aaaa", "b", "c"), ("", "\n", "dddd")]) == (
        "A     LONG  B\naaaa  b     c\n      \\n    dddd"
    )
