from __future__ import annotations

import pytest
from pydantic import Field, ValidationError

from core.protocol.base import AbsolutePath, Empty, NoParams, Params, Wire


class Told(Wire):
    first_name: str
    not_known: str | None = None
    left_out: str | None = Field(default=None, exclude_if=lambda value: value is None)


class Asked(Params):
    page_size: int = 1
    where: AbsolutePath | None = None


def test_results_are_camel_case_with_every_null_but_the_named_ones():
    assert Told(first_name="x").model_dump_json() == '{"firstName":"x","notKnown":null}'
    assert Told(first_name="x", left_out="y").model_dump()["leftOut"] == "y"
    assert Empty().model_dump_json() == "{}"


def test_parameters_are_taken_as_they_are_or_not_at_all():
    assert Asked.model_validate({"pageSize": 2, "unknown": [1]}).page_size == 2
    assert Asked(page_size=3).page_size == 3
    for value in ("2", 2.0, True, None):
        with pytest.raises(ValidationError):
            Asked.model_validate({"pageSize": value})
    assert NoParams.model_validate({"x": 1}) == NoParams()


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("/a/../b/", "/b"),
        ("/", "/"),
        ("//a", "/a"),
        ("///a/.//b", "/a/b"),
        ("/..", "/"),
        ("/a b\n", "/a b\n"),
    ],
)
def test_absolute_paths_lose_what_means_nothing(given: str, taken: str):
    assert Asked(where=given).where == taken


@pytest.mark.parametrize("given", ["", "a", "./a", "~/a", "~", "C:\\a"])
def test_other_paths_are_refused(given: str):
    with pytest.raises(ValidationError, match="deserialized without a base path"):
        Asked(where=given)


def test_values_cannot_be_changed():
    with pytest.raises(ValidationError):
        Told(first_name="x").first_name = "y"  # pyright: ignore[reportAttributeAccessIssue]
