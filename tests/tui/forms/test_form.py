from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.forms.schemas import HOSTILE, JSON, SOUND
from tui.forms.checking import check
from tui.forms.form import NOT_SET, Field, Form, json_of
from tui.forms.schema import MOST_FIELDS, NoForm, Shape, shape_of
from tui.text import clean


def form(required: tuple[str, ...] = (), **properties: Any) -> Form:
    return Form(shape_of({"type": "object", "properties": properties, "required": list(required)}))


def field(made: Form, *path: str | int) -> Field:
    found = made.find(path)
    assert found is not None
    return found


def value(made: Form) -> Any:
    reading = made.read()
    assert reading.faults == {}
    return reading.value


ISSUE = {
    "type": "object",
    "required": ["repo", "title"],
    "properties": {
        "repo": {"type": "string", "description": "owner/name"},
        "title": {"type": "string", "maxLength": 256},
        "labels": {"type": "array", "items": {"type": "string"}},
        "priority": {"enum": ["low", "normal", "high"], "default": "normal"},
        "due": {"type": "string", "format": "date"},
        "notify": {"type": "object"},
    },
}


def test_an_issue_is_filled_in() -> None:
    made = Form(shape_of(ISSUE))
    assert made.read().faults == {("repo",): "required", ("title",): "required"}
    field(made, "repo").text = "acme/atlas"
    field(made, "title").text = "Search is slow"
    made.add(field(made, "labels")).text = "bug"
    field(made, "notify").text = '{"people": []}'
    assert value(made) == {
        "repo": "acme/atlas",
        "title": "Search is slow",
        "labels": ["bug"],
        "priority": "normal",
        "notify": {"people": []},
    }
    kinds = {one.label: (one.shape.kind, one.shape.hint) for one in made.walk()}
    assert kinds == {
        "repo": ("text", ""),
        "title": ("text", "≤ 256"),
        "labels": ("list", ""),
        "labels 1": ("text", ""),
        "priority": ("choice", ""),
        "due": ("text", "date"),
        "notify": ("raw", "JSON object"),
    }


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        ({"type": "integer"}, "12", 12),
        ({"type": "integer"}, "-7", -7),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "number"}, "3", 3),
        ({"type": "string"}, " x ", " x "),
        ({}, '{"a": [1, null]}', {"a": [1, None]}),
    ],
)
def test_what_is_typed_becomes_a_value(schema: Any, text: str, expected: Any) -> None:
    made = form(a=schema)
    field(made, "a").text = text
    found = value(made)["a"]
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    ("schema", "text", "fault"),
    [
        ({"type": "integer"}, "1.5", "must be a whole number"),
        ({"type": "integer"}, "9" * 5000, "must be a whole number"),
        ({"type": "number"}, "nan", "must be a number"),
        ({"type": "number"}, "1e999", "is too large a number"),
        ({}, "{a}", "not JSON: expecting property name enclosed in double quotes, column 2"),
        ({}, "NaN", "NaN is not JSON"),
        ({}, "[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_value_is_a_fault_of_its_field(schema: Any, text: str, fault: str) -> None:
    made = form(a=schema)
    field(made, "a").text = text
    assert made.read().faults == {("a",): fault}


def test_what_is_left_empty_is_left_out_and_null_where_that_is_allowed() -> None:
    made = form(
        ("b", "c"),
        a={"type": "string"},
        b={"type": ["string", "null"]},
        c={"anyOf": [{"type": "integer"}, {"type": "null"}]},
        d={"type": "boolean"},
    )
    assert value(made) == {"b": None, "c": None}
    field(made, "d").chosen = 1
    assert value(made)["d"] is False


def test_constants_and_null_are_offered() -> None:
    choice = {"anyOf": [{"const": "x"}, {"type": "null"}]}
    made = form(("a",), a={"const": 7}, b={"const": 8}, c=choice)
    assert value(made) == {"a": 7}
    assert [option.label for option in field(made, "c").options] == ["x", "null"]
    field(made, "b").chosen = 0
    assert value(made) == {"a": 7, "b": 8}


def test_an_object_that_nobody_needs_is_sent_once_something_is_in_it() -> None:
    inner = {
        "type": "object",
        "properties": {"x": {"type": "string"}, "y": {"type": "integer", "default": 3}},
        "required": ["x"],
    }
    made = form(a=inner)
    assert value(made) == {}
    field(made, "a", "y").text = "4"
    assert made.read().faults == {("a", "x"): "required"}
    field(made, "a", "x").text = "z"
    assert value(made) == {"a": {"x": "z", "y": 4}}


def test_items_come_and_go_and_keep_their_numbers() -> None:
    made = form(a={"type": "array", "items": {"type": "string"}, "maxItems": 3})
    many = field(made, "a")
    for text in ("one", "two", "three"):
        made.add(many).text = text
    assert made.full(many) == "at most 3"
    made.remove(field(made, "a", 1))
    assert value(made) == {"a": ["one", "three"]}
    assert [one.label for one in many.fields] == ["a 1", "a 2"]
    assert made.full(many) == ""


def test_titled_options_and_several_at_once() -> None:
    titled = [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]
    made = form(a={"oneOf": titled}, b={"type": "array", "items": {"anyOf": titled}})
    assert [option.label for option in field(made, "a").options] == ["Red", "Green"]
    field(made, "a").chosen = 1
    field(made, "b").ticked = {0, 1}
    assert value(made) == {"a": "g", "b": ["r", "g"]}


def test_local_references_are_followed_and_loops_end_as_json() -> None:
    schema = {
        "type": "object",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/node"}},
            }
        },
        "properties": {
            "node": {"$ref": "#/$defs/node"},
            "far": {"$ref": "https://elsewhere.example/schema"},
            "lost": {"$ref": "#/$defs/none"},
        },
    }
    made = Form(shape_of(schema))
    kinds = {one.path: one.shape.kind for one in made.walk()}
    assert kinds == {
        ("node",): "object",
        ("node", "name"): "text",
        ("node", "next"): "raw",
        ("far",): "raw",
        ("lost",): "raw",
    }


def test_secrets_are_typed_unseen() -> None:
    made = form(
        a={"type": "string", "format": "password"}, api_key={"type": "string"}, b={"type": "string"}
    )
    assert [one.shape.secret for one in made.walk()] == [True, True, False]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ([], "the schema is no object"),
        ({"type": "string"}, "the schema asks for no object"),
        ({"$ref": "http://x"}, "the schema refers to what is not there"),
        ({"oneOf": [{}]}, "the schema has no list of properties"),
        (
            {"properties": {f"p{n}": {"type": "string"} for n in range(500)}},
            f"more than {MOST_FIELDS} fields are too many for a form",
        ),
        (
            {"properties": {"a": {"enum": [str(n) for n in range(600_000)]}}},
            "the schema is too large for a form",
        ),
    ],
)
def test_what_no_form_can_ask_says_why(schema: Any, said: str) -> None:
    with pytest.raises(NoForm, match=said):
        shape_of(schema)


def test_a_deeply_nested_schema_is_no_trouble() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(5_000):
        schema = {"type": "object", "properties": {"a": schema}}
    assert [one.shape.kind for one in Form(shape_of(schema)).walk()][-1] == "raw"


def test_filling_says_when_the_form_cannot_hold_it() -> None:
    made = form(a={"type": "string"}, b={"type": "array", "items": {"type": "integer"}})
    assert made.fill({"a": "x\ny", "b": [1, 2]})
    assert field(made, "a").as_json and field(made, "a").text == '"x\\ny"'
    assert value(made) == {"a": "x\ny", "b": [1, 2]}
    assert not made.fill({"a": "x", "other": 1})
    assert not made.fill({"a": 5})
    assert not made.fill([1])


def test_filling_in_anew_forgets_what_was_there() -> None:
    made = form(a={"type": "string", "default": "d"}, b={"enum": ["x"]}, c={"const": 1})
    field(made, "b").chosen = 0
    assert made.fill({}) and value(made) == {}
    assert field(made, "b").chosen == NOT_SET


def test_an_empty_shape_makes_an_empty_object() -> None:
    assert value(Form(Shape(kind="object"))) == {}


def test_json_is_taken_strictly() -> None:
    assert json_of("[1]") == [1]
    with pytest.raises(ValueError, match="column 1"):
        json_of("x")


# ── any schema, anything typed ──


def type_at_random(data: st.DataObject, made: Form) -> None:
    for many in list(made.walk()):
        if many.shape.kind == "list":
            for _ in range(data.draw(st.integers(0, 2))):
                if not made.full(many):
                    made.add(many)
    for one in made.walk():
        one.text = data.draw(st.one_of(st.just(""), st.text(max_size=6), JSON.map(json.dumps)))
        one.chosen = data.draw(st.integers(-1, max(-1, len(one.options) - 1)))
        if one.options:
            one.ticked = data.draw(st.sets(st.integers(0, len(one.options) - 1)))


@given(SOUND, st.data())
def test_no_sound_schema_breaks_a_form_and_what_passes_is_valid(schema: Any, data: Any) -> None:
    made = Form(shape_of(schema))
    type_at_random(data, made)
    reading = made.read()
    json.dumps(reading.value, allow_nan=False)
    if reading.faults:
        assert all(made.find(path) is not None for path in reading.faults)
        return
    checked = check(schema, reading.value)
    if not checked.faults and not checked.unchecked:
        plain(schema, reading.value)


def plain(schema: Any, found: Any) -> None:
    """As the library says it, alone."""
    from jsonschema import Draft202012Validator
    from referencing.jsonschema import EMPTY_REGISTRY

    Draft202012Validator(schema, registry=EMPTY_REGISTRY).validate(found)


@given(HOSTILE, JSON)
def test_no_schema_at_all_breaks_a_form(schema: Any, found: Any) -> None:
    try:
        made = Form(shape_of(schema))
    except NoForm:
        made = Form(Shape(kind="object"))
    json.dumps(made.read().value)
    held = made.fill(found)
    reading = made.read()
    assert not held or reading.value == found
    for one in made.walk():
        assert one.as_json is False or clean(one.text) == one.text
    check(schema, reading.value)


@given(SOUND, JSON)
def test_what_a_form_holds_comes_out_as_it_went_in(schema: Any, found: Any) -> None:
    made = Form(shape_of(schema))
    if made.fill(found):
        assert made.read().value == found
