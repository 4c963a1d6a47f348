from __future__ import annotations

from typing import Any

import pytest

from core.mcp.elicitation import Answer, Approvals, NotAskable, Question, parse
from core.mcp.shapes import Malformed


def form(**field: Any) -> dict[str, Any]:
    return {
        "message": "m",
        "requestedSchema": {"type": "object", "properties": {"p": field}},
    }


def field_of(**field: Any) -> Any:
    schema = parse(form(**field)).schema
    assert schema is not None
    return schema["properties"]["p"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (
            {"type": "string", "format": "email", "minLength": 1, "pattern": "^a"},
            {"type": "string", "minLength": 1, "format": "email"},
        ),
        (
            {"type": "string", "enum": ["a"], "enumNames": ["A"], "title": "T", "default": "a"},
            {"type": "string", "title": "T", "enum": ["a"], "enumNames": ["A"], "default": "a"},
        ),
        (
            {"type": "string", "oneOf": [{"const": "a", "title": "A", "x": 1}]},
            {"type": "string", "oneOf": [{"const": "a", "title": "A"}]},
        ),
        ({"type": "string", "oneOf": [{"const": "a"}]}, {"type": "string"}),
        ({"type": "string", "enum": [1]}, {"type": "string"}),
        (
            {"type": "array", "items": {"oneOf": [{"const": "a", "title": "A"}]}, "minItems": 1},
            {"type": "array", "minItems": 1, "items": {"anyOf": [{"const": "a", "title": "A"}]}},
        ),
        (
            {"type": "array", "items": {"type": "string", "enum": ["x"]}, "default": ["x"]},
            {"type": "array", "items": {"type": "string", "enum": ["x"]}, "default": ["x"]},
        ),
        (
            {"type": "integer", "minimum": -2, "exclusiveMinimum": 1},
            {"type": "integer", "minimum": -2},
        ),
        ({"type": "boolean", "default": True}, {"type": "boolean", "default": True}),
        ({"type": "string", "title": None}, {"type": "string"}),
    ],
)
def test_a_form_is_written_out_again_from_what_was_understood(given: Any, kept: Any) -> None:
    assert field_of(**given) == kept


def test_limits_of_a_number_are_written_with_a_fraction() -> None:
    assert isinstance(field_of(type="number", minimum=1)["minimum"], float)
    assert isinstance(field_of(type="integer", minimum=1)["minimum"], int)


@pytest.mark.parametrize(
    "field",
    [
        {"type": "object"},
        {"title": "x"},
        {"type": ["string", "null"]},
        {"type": "string", "format": "uuid"},
        {"type": "string", "default": 5},
        {"type": "string", "minLength": -1},
        {"type": "integer", "minimum": 1.5},
        {"type": "boolean", "default": "yes"},
        {"type": "array", "items": {"type": "string"}},
        {"type": "array", "items": {"enum": ["a"]}},
    ],
)
def test_a_field_that_no_form_has_is_refused(field: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        parse(form(**field))


@pytest.mark.parametrize(
    "params",
    [
        {"requestedSchema": {"type": "object", "properties": {}}},
        {"message": "m"},
        {"message": "m", "requestedSchema": {"properties": {}}},
        {"message": "m", "requestedSchema": {"type": "object"}},
        {"message": "m", "requestedSchema": {"type": "object", "properties": {}, "required": "x"}},
        {"mode": "url", "message": "m", "url": "https://e"},
    ],
)
def test_a_question_without_its_parts_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        parse(params)


def test_a_form_with_a_title_of_its_own_cannot_be_asked() -> None:
    params = form(type="string")
    params["requestedSchema"]["title"] = "T"
    with pytest.raises(NotAskable):
        parse(params)


def test_an_unknown_mode_means_form_and_the_progress_token_stays_with_us() -> None:
    question = parse({**form(type="string"), "mode": "bogus", "_meta": {"progressToken": 1}})
    assert (question.mode, question.meta) == ("form", None)
    assert parse({**form(type="string"), "_meta": {"progressToken": 1, "k": 2}}).meta == {"k": 2}


def test_a_page_keeps_its_address_and_id() -> None:
    question = parse({"mode": "url", "message": "Go", "url": "https://e/x", "elicitationId": "e1"})
    assert (question.mode, question.url, question.elicitation_id) == ("url", "https://e/x", "e1")


FORM = Question(message="m", schema={"type": "object", "properties": {"p": {"type": "string"}}})
PERMISSION = Question(message="m", schema={"type": "object", "properties": {}})
PAGE = Question(message="m", url="https://e", elicitation_id="1")


@pytest.mark.parametrize("question", [FORM, PERMISSION, PAGE])
def test_who_may_be_asked_is_asked(question: Question) -> None:
    assert Approvals().settled(question) is None
    assert Approvals(full_access=True).settled(question) is None


@pytest.mark.parametrize("question", [FORM, PERMISSION, PAGE])
def test_without_asking_everything_is_declined(question: Question) -> None:
    assert Approvals(ask=False).settled(question) == Answer(action="decline")


def test_full_access_gives_mere_permissions_only() -> None:
    approvals = Approvals(ask=False, full_access=True)
    assert approvals.settled(PERMISSION) == Answer(action="accept")
    assert approvals.settled(FORM) == Answer(action="decline")
    assert approvals.settled(PAGE) == Answer(action="decline")


def test_the_server_gets_content_for_acceptance_only() -> None:
    assert Answer(action="accept").result() == {"action": "accept", "content": {}}
    assert Answer(action="accept", content=[1], meta={"z": 1}).result() == {
        "action": "accept",
        "content": [1],
        "_meta": {"z": 1},
    }
    assert Answer(action="decline", content={"a": 1}).result() == {"action": "decline"}
