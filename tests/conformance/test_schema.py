"""Our parameter types against the schema that the real app-server prints of itself."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pydantic import BaseModel

from core.method_table import METHODS

pytestmark = pytest.mark.needs("codex")

WIRE = [name for name in METHODS if not name.startswith("jackfield/")]


@dataclass(frozen=True)
class Schema:
    """`ClientRequest.json`: requests by method, and the types that they name."""

    requests: dict[str, dict[str, Any]]
    definitions: dict[str, dict[str, Any]]

    def params(self, method: str) -> dict[str, bool] | None:
        """Members of a method's parameters, each with whether it must be given; None = none."""
        request = self.requests[method]
        if "params" not in request.get("required", []):
            return None
        name = request["properties"]["params"]["$ref"].rsplit("/", 1)[1]
        definition = self.definitions[name]
        # A union by `type`: a member must be given when every one of its forms needs it.
        forms = definition.get("oneOf", [definition])
        names = {member: None for form in forms for member in form.get("properties", ())}
        return {
            member: all(member in form.get("required", ()) for form in forms) for member in names
        }


def printed(folder: Path, *options: str) -> Schema:
    environ = {**os.environ, "HOME": str(folder), "CODEX_HOME": str(folder)}
    subprocess.run(
        ["codex", "app-server", "generate-json-schema", *options, "--out", "out"],
        cwd=folder,
        env=environ,
        check=True,
        capture_output=True,
        timeout=60,
    )
    found = json.loads((folder / "out" / "ClientRequest.json").read_text())
    by_method = {one["properties"]["method"]["enum"][0]: one for one in found["oneOf"]}
    return Schema(by_method, found["definitions"])


@pytest.fixture(scope="session")
def stable(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    return printed(tmp_path_factory.mktemp("stable"))


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    return printed(tmp_path_factory.mktemp("everything"), "--experimental")


def members(kind: Any) -> dict[str, bool]:
    """Wire names of a parameter type of ours, each with whether it must be given."""
    if issubclass(kind, msgspec.Struct):
        return {field.encode_name: field.required for field in msgspec.structs.fields(kind)}
    assert issubclass(kind, BaseModel)
    return {field.alias or name: field.is_required() for name, field in kind.model_fields.items()}


@pytest.mark.parametrize("name", WIRE)
def test_our_parameters_are_the_real_ones(name: str, stable: Schema, everything: Schema):
    ours = members(METHODS[name].params)
    known = everything.params(name)
    if known is None:
        assert METHODS[name].params_optional
        assert ours == {}
        return
    assert not METHODS[name].params_optional
    needed = known if METHODS[name].experimental else stable.params(name)
    assert needed is not None
    assert ours.items() <= known.items()
    assert needed.keys() <= ours.keys()


def test_methods_that_are_experimental_there_are_experimental_here(stable: Schema):
    assert {name: METHODS[name].experimental for name in WIRE} == {
        name: name not in stable.requests for name in WIRE
    }
