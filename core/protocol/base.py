"""Base of the pydantic wire types: snake_case in Python, camelCase on the wire."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Wire(BaseModel):
    """A result or notification: every declared member is written, null included.

    Members that the real app-server omits when absent are declared with
    `Field(default=None, exclude_if=lambda v: v is None)`. Unknown members are ignored.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        extra="ignore",
        frozen=True,
        defer_build=True,
    )


class Params(BaseModel):
    """Parameters of a request: strict types, unknown members ignored, as the real one does."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        extra="ignore",
        frozen=True,
        strict=True,
        defer_build=True,
    )


class Empty(Wire):
    """A result without members: `{}`."""


class NoParams(Params):
    """Parameters of a method that takes none."""
