from __future__ import annotations

import msgspec
import pytest
from pydantic import BaseModel, TypeAdapter

from core.method_table import METHODS


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_types_that_can_be_read_and_written(name: str):
    method = METHODS[name]
    for kind in (method.params, method.result):
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            msgspec.json.schema(kind)
        else:
            TypeAdapter(kind).json_schema(by_alias=True)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_that_may_go_without_parameters_has_parameters_without_values(name: str):
    method = METHODS[name]
    if method.params_optional:
        assert method.params() is not None


@pytest.mark.parametrize("name", METHODS)
def test_wire_names_are_camel_case(name: str):
    kind = METHODS[name].params
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        names = [field.encode_name for field in msgspec.structs.fields(kind)]
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        names = [field.alias or name for name, field in kind.model_fields.items()]
    else:
        pytest.skip("a union: its members are looked at by their own methods")
    assert all(name.strip("_").isidentifier() and "_" not in name.strip("_") for name in names)


def test_each_name_is_there_once_and_ours_are_told_apart():
    assert list(METHODS) == list(dict.fromkeys(METHODS))
    assert any(name.startswith("jackfield/") for name in METHODS)
    assert all(method.name == name for name, method in METHODS.items())
