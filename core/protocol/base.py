"""Base of the pydantic wire types: snake_case in Python, camelCase on the wire."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


@dataclass(frozen=True)
class Expected:
    """Annotation: what the error text of a wrong type says was expected, e.g. `path string`."""

    what: str


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise ValueError("AbsolutePathBuf deserialized without a base path")
    normal = os.path.normpath(path)
    return normal[1:] if normal.startswith("//") else normal


U32 = Annotated[int, Field(ge=0, le=2**32 - 1)]
I64 = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]
AbsolutePath = Annotated[str, Expected("path string"), AfterValidator(_absolute)]
"""Relative paths, `~` and "" are refused; `.`, `..` and trailing slashes are resolved lexically."""


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
