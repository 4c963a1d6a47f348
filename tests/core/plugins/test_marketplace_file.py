"""Reading marketplace files: what is listed, what is left out and why, what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from core.plugins.marketplace_file import Marketplace, load
from core.protocol.plugins import LocalSource
from tests.core.plugins.world import CODEX_PLACE, put, put_market


def read(path: Path, root: Path | None = None, **more: Any) -> Marketplace:
    return load(str(path), str(root) if root else "", home="/home/me", format="codex", **more)


def read_text(tmp_path: Path, text: str | bytes) -> Marketplace:
    return read(put(tmp_path / CODEX_PLACE, text), tmp_path)


REFUSED = [
    ("", "EOF while parsing a value at line 1 column 0"),
    ("[]", "invalid length 0, expected struct RawMarketplaceManifest with 3 elements at line 1"),
    ('"x"', 'invalid type: string "x", expected struct RawMarketplaceManifest at line 1 column 3'),
    ('{"name":"m"}', "missing field `plugins` at line 1 column 12"),
    ('{"plugins":[]}', "missing field `name` at line 1 column 14"),
    ('{"name":7,"plugins":[]}', "invalid type: integer `7`, expected a string at line 1 column 9"),
    ('{"name":"m","plugins":{}}', "invalid type: map, expected a sequence at line 1 column 22"),
    ('{"name":"m","plugins":null}', "invalid type: null, expected a sequence at line 1 column 26"),
    ('{"name":"m","name":"m","plugins":[]}', "duplicate field `name` at line 1 column 18"),
    ('{"name":"m","plugins":[{"name":"a"}]}', "missing field `source` at line 1 column 35"),
    (
        '{"name":"m","plugins":[7]}',
        "invalid type: integer `7`, expected struct RawMarketplaceManifestPlugin at line 1",
    ),
    (
        '{"name":"m","plugins":[{"name":"a","source":"./a","category":1}]}',
        "invalid type: integer `1`, expected a string at line 1 column 62",
    ),
    (
        '{"name":"m","plugins":[{"name":"a","source":"./a","policy":{"installation":"MAYBE"}}]}',
        "unknown variant `MAYBE`, expected one of `NOT_AVAILABLE`, `AVAILABLE`, "
        "`INSTALLED_BY_DEFAULT` at line 1 column 82",
    ),
    (
        '{"name":"m","interface":{"displayName":1},"plugins":[]}',
        "invalid type: integer `1`, expected a string at line 1 column 40",
    ),
    (
        '{"name":"m","plugins":[{"name":"a","source":"./a","x":"\\ud800"}]}',
        "unexpected end of hex escape at line 1 column 62",
    ),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_a_file_is_refused_in_the_real_words(tmp_path: Path, text: str, reason: str):
    market = read_text(tmp_path, text)
    assert market.refusal is not None
    prefix = f"invalid marketplace file `{tmp_path / CODEX_PLACE}`: {reason}"
    assert market.refusal.message.startswith(prefix)
    assert market.listed == ()


@pytest.mark.parametrize(
    "text",
    [
        '["m", null, []]',
        '{"x":"\\ud800","name":"m","plugins":[]}',
        '{"x":' + "[" * 500 + "]" * 500 + ',"name":"m","plugins":[]}',
        '{"name":"m","plugins":[],"metadata":{"a":1,"a":2}}',
        '{"name":"m","plugins":[],"interface":null,"owner":7}',
    ],
)
def test_oddities_that_the_real_reader_takes_are_taken(tmp_path: Path, text: str):
    market = read_text(tmp_path, text)
    assert market.refusal is None


def test_a_refused_file_still_tells_what_could_be_read(tmp_path: Path):
    text = json.dumps({"name": "m", "plugins": [{"name": "a", "source": "./a"}, 7, {"name": "b"}]})
    market = read_text(tmp_path, text)
    assert market.refusal is not None
    assert [entry.name for entry in market.entries] == ["a"]
    assert [(skip.index, skip.name, skip.message) for skip in market.skipped] == [
        (1, "", "the entry is no object"),
        (2, "b", "the entry has no `source`"),
    ]
    assert market.total == 3
    assert market.listed == ()


def test_a_byte_order_mark_is_refused_and_read_past(tmp_path: Path):
    text = json.dumps({"name": "m", "plugins": [{"name": "a", "source": "./a"}]})
    market = read_text(tmp_path, b"\xef\xbb\xbf" + text.encode())
    assert market.refusal is not None
    assert market.refusal.rule == "encoding"
    assert market.refusal.message.endswith("expected value at line 1 column 1")
    assert [entry.name for entry in market.entries] == ["a"]


def test_other_encodings_are_refused_and_read_all_the_same(tmp_path: Path):
    text = json.dumps({"name": "m", "plugins": [{"name": "a", "source": "./a"}]})
    market = read_text(tmp_path, text.encode("utf-16"))
    assert market.refusal is not None
    wanted = "failed to read marketplace file: stream did not contain valid UTF-8"
    assert market.refusal.message == wanted
    assert [entry.name for entry in market.entries] == ["a"]


def test_a_file_that_is_not_there_says_what_the_system_says(tmp_path: Path):
    market = read(tmp_path / "no.json")
    assert market.refusal is not None
    wanted = "failed to read marketplace file: No such file or directory (os error 2)"
    assert market.refusal.message == wanted


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path):
    path = put_market(tmp_path)
    path.chmod(0)
    market = read(path, tmp_path)
    assert market.refusal is not None
    assert "Permission denied (os error 13)" in market.refusal.message


SKIPPED: list[tuple[dict[str, Any], str]] = [
    ({"name": "a", "source": "../a"}, "source-path"),
    ({"name": "a", "source": {"source": "github", "repo": "x/y"}}, "source-kind"),
    ({"name": "a", "source": 7}, "source-shape"),
    ({"name": "a", "source": {"source": "url", "url": "nowhere"}}, "source-url"),
    ({"name": "a", "source": {"source": "npm", "package": "."}}, "source-package"),
    ({"name": "a b", "source": "./a"}, "plugin-name"),
    ({"name": "", "source": "./a"}, "plugin-name"),
    ({"name": "..", "source": "./a"}, "plugin-name"),
    ({"name": "a", "source": "./a", "policy": {"products": ["ATLAS"]}}, "product"),
    ({"name": "a", "source": "./a", "policy": {"products": []}}, "product"),
    ({"name": "good", "source": "./again"}, "duplicate"),
]


@pytest.mark.parametrize(("entry", "rule"), SKIPPED)
def test_an_unusable_entry_is_kept_with_its_rule_and_takes_no_other_down(
    tmp_path: Path, entry: dict[str, Any], rule: str
):
    market = read(put_market(tmp_path, "good", entry, "later"), tmp_path)
    assert market.refusal is None
    assert [one.name for one in market.listed] == ["good", "later"]
    assert [(skip.index, skip.rule) for skip in market.skipped] == [(1, rule)]
    assert market.skipped[0].message
    assert market.total == 3


def test_an_entry_for_other_products_takes_its_name_all_the_same(tmp_path: Path):
    other = {"name": "a", "source": "./a", "policy": {"products": ["CHATGPT"]}}
    market = read(put_market(tmp_path, other, "a"), tmp_path)
    assert [skip.rule for skip in market.skipped] == ["product", "duplicate"]


def test_policies_and_other_members_are_kept(tmp_path: Path):
    entry = {
        "name": "a",
        "source": "./a",
        "category": "",
        "description": "what it does",
        "policy": {"installation": "NOT_AVAILABLE", "authentication": "ON_USE"},
    }
    (found,) = read(put_market(tmp_path, entry), tmp_path).listed
    assert (found.installation, found.authentication) == ("NOT_AVAILABLE", "ON_USE")
    assert found.category == ""
    assert found.metadata == {"description": "what it does"}
    assert found.source == LocalSource(str(tmp_path / "a"))


@pytest.mark.parametrize(
    ("name", "managed", "fault"),
    [
        ("m", "", ""),
        ("", "", "invalid marketplace name: must not be empty"),
        ("a b", "", "invalid marketplace name: only ASCII letters"),
        ("openai-curated", "", "marketplace `openai-curated` is reserved"),
        ("openai-curated", "openai-curated", ""),
        ("m", "openai-curated", "does not match managed marketplace `openai-curated`"),
    ],
)
def test_a_name_that_is_not_listed_says_why(tmp_path: Path, name: str, managed: str, fault: str):
    market = read(put_market(tmp_path, "a", name=name), tmp_path, managed=managed)
    assert bool(market.name_fault) == bool(fault)
    assert fault in market.name_fault
    assert len(market.listed) == (0 if fault else 1)


def test_an_empty_display_name_is_kept_apart_from_none(tmp_path: Path):
    def shown(interface: Any) -> str | None:
        return read(put_market(tmp_path, interface=interface), tmp_path).display_name

    assert shown({"displayName": ""}) == ""
    assert shown({"displayName": None}) is None
    assert shown(None) is None


def test_a_file_outside_the_four_places_has_no_root_for_local_paths(tmp_path: Path):
    path = put(tmp_path / "list.json", {"name": "m", "plugins": [{"name": "a", "source": "./a"}]})
    (skip,) = read(path).skipped
    assert skip.rule == "source-path"


def test_long_files_let_others_work_in_between(tmp_path: Path):
    ticks: list[int] = []
    path = put_market(tmp_path, *(f"p{number}" for number in range(200)))
    read(path, tmp_path, tick=lambda: ticks.append(1))
    assert len(ticks) > 3
