"""The registry of methods: name, parameter and result types, and how strictly they are taken.

Types are named by import string, so that listing the methods loads no domain module.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Generic, TypeVar, cast

P = TypeVar("P")
R = TypeVar("R")


@cache
def _load(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


@dataclass(frozen=True)
class Method(Generic[P, R]):
    """One method of the core.

    Attributes:
        name: As on the wire. Those that begin with `jackfield/` are ours.
        params_type, result_type: `module:Class`.
        params_optional: A missing or null `params` is taken as no parameters.
        experimental: Refused to clients that did not announce `experimentalApi`.
    """

    name: str
    params_type: str
    result_type: str
    params_optional: bool = False
    experimental: bool = False

    @property
    def params(self) -> type[P]:
        """The parameter type; loads its module."""
        return cast("type[P]", _load(self.params_type))

    @property
    def result(self) -> type[R]:
        """The result type; loads its module."""
        return cast("type[R]", _load(self.result_type))
