from __future__ import annotations

import sys
from typing import Annotated, Any, Literal

import msgspec
import pytest
from pydantic import Field

from core.appserver.params import NotJson, parse_params
from core.errors import InvalidRequest
from core.methods import Method
from core.protocol.base import I64, U32, AbsolutePath, Params


class Inner(Params):
    key_path: str
    merge_strategy: Literal["replace", "upsert"]
    value: Any


class ListParams(Params):
    cwds: list[AbsolutePath] | None = None
    kinds: list[Literal["local", "vertical", "remote"]] | None = None
    force: bool = False
    limit: U32 | None = None
    seconds: I64 | None = None
    name: str | None = None
    edits: list[Inner] = []
    one_path: AbsolutePath | None = None
    names: list[str] | None = None
    extra: dict[str, Any] | None = None


class Required(Params):
    thread_id: str
    tool: str
    force: bool = False


class ByKey(Params):
    type: Literal["apiKey"]
    api_key: str


class ByBrowser(Params):
    type: Literal["chatgpt"]


Login = Annotated[ByKey | ByBrowser, Field(discriminator="type")]


class Three(Params):
    cwds: list[AbsolutePath] | None = None
    kinds: list[str] | None = None
    force: bool = False


class Empty(Params):
    pass


class Ours(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    domain: Literal["plugins", "servers"]
    page_size: int = 3
    words: list[str] = []
    inner: Nested | None = None


class Nested(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    is_on: bool


def method(name: str, *, optional: bool = False) -> Method[Any, Any]:
    here = f"{__name__}:{name}"
    assert hasattr(sys.modules[__name__], name)
    return Method("test/method", here, here, params_optional=optional)


def refusal(name: str, text: str, *, optional: bool = False) -> str:
    with pytest.raises(InvalidRequest) as caught:
        parse_params(method(name, optional=optional), text.encode())
    assert caught.value.code == -32600
    assert caught.value.message.startswith("Invalid request: ")
    return caught.value.message.removeprefix("Invalid request: ")


# The words were observed in Codex 0.171.0.
@pytest.mark.parametrize(
    ("params", "words"),
    [
        ('{"cwds": ["relative"]}', "AbsolutePathBuf deserialized without a base path"),
        ('{"cwds": ["~/x"]}', "AbsolutePathBuf deserialized without a base path"),
        ('{"cwds": [""]}', "AbsolutePathBuf deserialized without a base path"),
        ('{"onePath": "x"}', "AbsolutePathBuf deserialized without a base path"),
        ('{"cwds": "x"}', 'invalid type: string "x", expected a sequence'),
        ('{"cwds": {}}', "invalid type: map, expected a sequence"),
        ('{"cwds": [1]}', "invalid type: integer `1`, expected path string"),
        ('{"cwds": [null]}', "invalid type: null, expected path string"),
        ('{"cwds": [true]}', "invalid type: boolean `true`, expected path string"),
        ('{"cwds": [["/x"]]}', "invalid type: sequence, expected path string"),
        ('{"onePath": 2}', "invalid type: integer `2`, expected path string"),
        (
            '{"kinds": ["nope"]}',
            "unknown variant `nope`, expected one of `local`, `vertical`, `remote`",
        ),
        ('{"kinds": [1]}', "invalid type: integer `1`, expected string or map"),
        ('{"force": "yes"}', 'invalid type: string "yes", expected a boolean'),
        ('{"force": null}', "invalid type: null, expected a boolean"),
        ('{"force": 1}', "invalid type: integer `1`, expected a boolean"),
        ('{"limit": -1}', "invalid value: integer `-1`, expected u32"),
        ('{"limit": 4294967296}', "invalid value: integer `4294967296`, expected u32"),
        ('{"limit": "1"}', 'invalid type: string "1", expected u32'),
        ('{"limit": 1.0}', "invalid type: floating point `1.0`, expected u32"),
        (
            '{"limit": 18446744073709551616}',
            "invalid type: integer `18446744073709551616` as u128, expected any value",
        ),
        ('{"seconds": "1"}', 'invalid type: string "1", expected i64'),
        ('{"seconds": 1.5}', "invalid type: floating point `1.5`, expected i64"),
        ('{"name": 1}', "invalid type: integer `1`, expected a string"),
        ('{"name": [1]}', "invalid type: sequence, expected a string"),
        ('{"name": {"a": 1}}', "invalid type: map, expected a string"),
        ('{"name": true}', "invalid type: boolean `true`, expected a string"),
        ('{"name": 1e20}', "invalid type: floating point `1e+20`, expected a string"),
        ('{"names": [1]}', "invalid type: integer `1`, expected a string"),
        ('{"names": "a"}', 'invalid type: string "a", expected a sequence'),
        ('{"extra": 5}', "invalid type: integer `5`, expected a map"),
        ('{"edits": null}', "invalid type: null, expected a sequence"),
        ('{"edits": [1]}', "invalid type: integer `1`, expected struct Inner"),
        ('{"edits": [{}]}', "missing field `keyPath`"),
        ('{"edits": [{"keyPath": "a"}]}', "missing field `mergeStrategy`"),
        (
            '{"edits": [{"keyPath": "a", "value": 1, "mergeStrategy": "x"}]}',
            "unknown variant `x`, expected `replace` or `upsert`",
        ),
        ("5", "invalid type: integer `5`, expected struct ListParams"),
        ('"x"', 'invalid type: string "x", expected struct ListParams'),
        ("1.5", "invalid type: floating point `1.5`, expected struct ListParams"),
        ("true", "invalid type: boolean `true`, expected struct ListParams"),
    ],
)
def test_wrong_parameters_are_refused_in_the_real_ones_words(params: str, words: str):
    assert refusal("ListParams", params) == words


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ('{"kinds": ["x"], "name": 1, "cwds": 1}', "unknown variant `x`"),
        ('{"name": 1, "kinds": ["x"], "cwds": 1}', "invalid type: integer `1`, expected a string"),
        ('{"edits": [{"keyPath": "a"}], "name": 1}', "missing field `mergeStrategy`"),
        ('{"edits": [{"mergeStrategy": "x", "keyPath": 1}]}', "unknown variant `x`"),
    ],
)
def test_the_first_fault_of_the_document_is_the_one_that_is_told(params: str, words: str):
    assert refusal("ListParams", params).startswith(words)


def test_what_is_missing_is_told_after_what_is_wrong():
    assert refusal("Required", "{}") == "missing field `threadId`"
    assert refusal("Required", '{"threadId": "x"}') == "missing field `tool`"
    wrong = '{"tool": 1, "force": 2}'
    assert refusal("Required", wrong) == "invalid type: integer `1`, expected a string"


def test_missing_and_null_parameters_are_the_same():
    assert refusal("ListParams", "") == "missing field `params`"
    assert refusal("ListParams", "null") == "missing field `params`"


def test_unknown_members_are_ignored_and_names_are_the_wires_only():
    params = parse_params(method("ListParams"), b'{"what": [1], "one_path": "relative"}')
    assert params == ListParams()


def test_absolute_paths_are_normalised():
    params = parse_params(method("ListParams"), b'{"cwds": ["/a/../b/", "//x/./y"]}')
    assert params.cwds == ["/b", "/x/y"]


def test_an_array_long_enough_is_taken_in_place_of_an_object():
    assert parse_params(method("Three"), b'[["/x"], null]').cwds == ["/x"]
    assert parse_params(method("Three"), b"[null, null, true]").force is True
    assert refusal("Three", "[]") == "invalid length 0, expected struct Three with 3 elements"
    assert refusal("Three", "[null]") == "invalid length 1, expected struct Three with 3 elements"
    too_long = refusal("Three", "[null, null, false, 1]")
    assert too_long == "invalid length 4, expected 3 elements in sequence"
    assert refusal("Three", "[5, null]") == "invalid type: integer `5`, expected a sequence"


def test_a_method_without_parameters_takes_none_null_and_an_empty_object():
    for text in (b"", b"null", b"{}", b" { } "):
        assert parse_params(method("Empty", optional=True), text) == Empty()
    for text, named in {
        '{"x": 1}': "map",
        "[]": "sequence",
        "5": "integer `5`",
        '"x"': 'string "x"',
        "false": "boolean `false`",
    }.items():
        told = refusal("Empty", text, optional=True)
        assert told == f"invalid type: {named}, expected unit"


def test_a_union_is_chosen_by_its_tag():
    params = parse_params(method("Login"), b'{"type": "apiKey", "apiKey": "k"}')
    assert params == ByKey(type="apiKey", api_key="k")
    assert refusal("Login", "{}") == "missing field `type`"
    bogus = refusal("Login", '{"apiKey": "x", "type": "bogus"}')
    assert bogus == "unknown variant `bogus`, expected `apiKey` or `chatgpt`"
    assert refusal("Login", '{"type": "apiKey"}') == "missing field `apiKey`"
    wrong = refusal("Login", '{"type": "apiKey", "apiKey": 1}')
    assert wrong == "invalid type: integer `1`, expected a string"


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ("{}", "missing field `domain`"),
        ('{"domain": "x"}', "unknown variant `x`, expected `plugins` or `servers`"),
        ('{"domain": 1}', "invalid type: integer `1`, expected a string"),
        ('{"domain": "plugins", "pageSize": "1"}', 'invalid type: string "1", expected i64'),
        ('{"domain": "plugins", "words": [1]}', "invalid type: integer `1`, expected a string"),
        ('{"domain": "plugins", "words": 1}', "invalid type: integer `1`, expected a sequence"),
        ('{"domain": "plugins", "inner": 1}', "invalid type: integer `1`, expected struct Nested"),
        ('{"domain": "plugins", "inner": {}}', "missing field `isOn`"),
        (
            '{"domain": "plugins", "inner": {"isOn": 1}}',
            "invalid type: integer `1`, expected a boolean",
        ),
        ("[]", "invalid length 0, expected struct Ours with 4 elements"),
    ],
)
def test_our_own_structs_are_refused_in_the_same_words(params: str, words: str):
    assert refusal("Ours", params) == words


def test_strings_are_told_with_their_escapes():
    told = refusal("ListParams", '{"force": "a\\"b\\\\c\\n\\u0000\\u001b\\u00e9"}')
    assert told == 'invalid type: string "a\\"b\\\\c\\n\\0\\u{1b}é", expected a boolean'


@pytest.mark.parametrize(
    "text",
    [b'{"name": "\xff"}', b"[" * 5_000, b'{"x": ' + b"[" * 900],
    ids=["utf8", "deep", "open"],
)
def test_what_is_no_json_is_told_apart(text: bytes):
    with pytest.raises(NotJson):
        parse_params(method("ListParams"), text)
