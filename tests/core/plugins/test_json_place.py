"""Lines of members and items in JSON texts."""

from __future__ import annotations

from core.plugins.json_place import items_of, line_of, offset_of

TEXT = """{
  "name": "m",
  "plugins": [
    {"name": "a", "text": "]}, \\" {["},
    {
      "name": "b"
    },
    3
  ]
}"""


def test_items_of_a_list_have_their_lines():
    found = items_of(TEXT, ("plugins",), [0, 1, 2, 9])
    assert {index: line_of(TEXT, offset) for index, offset in found.items()} == {0: 4, 1: 5, 2: 8}


def test_a_member_has_the_line_of_its_key_or_none():
    assert offset_of(TEXT, ("plugins", "x")) is None
    offset = offset_of(TEXT, ("plugins",))
    assert offset is not None
    assert line_of(TEXT, offset) == 3


def test_broken_texts_give_no_places_and_no_failure():
    for cut in range(len(TEXT)):
        offset_of(TEXT[:cut], ("plugins",))
        items_of(TEXT[:cut], ("plugins",), [0, 1, 2])


def test_a_path_may_lead_through_lists():
    for path, line in ((("plugins", 0, "text"), 4), (("plugins", 1, "name"), 6)):
        offset = offset_of(TEXT, path)
        assert offset is not None
        assert line_of(TEXT, offset) == line
    assert offset_of(TEXT, ("plugins", 3)) is None
    assert offset_of(TEXT, ("name", "x")) is None
