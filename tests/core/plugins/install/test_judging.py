from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import CoreError, InvalidRequest
from core.plugins.entries import Entry
from core.plugins.install.judging import installable_entry, judge
from core.plugins.marketplace_file import Marketplace, load
from core.protocol.plugins import LocalSource
from tests.core.plugins.world import put, put_market, put_plugin

AGENT = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"


def entry_for(root: Path, category: str | None = None, **metadata: Any) -> Entry:
    source = LocalSource(str(root))
    return Entry(0, root.name, source, category=category, metadata=metadata)


def refusal(root: Path, **metadata: Any) -> str:
    with pytest.raises(CoreError) as caught:
        judge(entry_for(root, **metadata), str(root))
    assert isinstance(caught.value, InvalidRequest)
    return caught.value.message


@pytest.mark.parametrize(
    ("manifest", "version"),
    [
        ('{"name": "p"}', "local"),
        ('{"name": "p", "version": null}', "local"),
        ('{"name": "p", "version": " 1.5 "}', "1.5"),
        ('{"name": "p", "version": "2026.1+build_3-x"}', "2026.1+build_3-x"),
        ("{}", "local"),
        ("[]", "local"),
    ],
)
def test_the_version_names_the_directory(tmp_path: Path, manifest: str, version: str):
    put(tmp_path / "p/.codex-plugin/plugin.json", manifest)
    judged = judge(entry_for(tmp_path / "p"), str(tmp_path / "p"))
    assert (judged.version, judged.substitute) == (version, None)


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ("{bad", "failed to parse plugin.json: key must be a string at line 1 column 2"),
        ("", "failed to parse plugin.json: EOF while parsing a value at line 1 column 0"),
        (
            "1",
            "failed to parse plugin.json: invalid type: integer `1`, "
            "expected struct RawPluginManifestVersion at line 1 column 1",
        ),
        (
            '{"name": "other"}',
            "plugin.json name `other` does not match marketplace plugin name `p`",
        ),
        (
            '{"name": "a b"}',
            "invalid plugin name: only ASCII letters, digits, `.`, `_`, and `-` are allowed",
        ),
        ('{"name": 1}', "missing or invalid plugin.json"),
        ('{"name": "p", "keywords": "x"}', "missing or invalid plugin.json"),
        ('{"name": 1, "version": 1}', "invalid plugin version in plugin.json: expected string"),
        ('{"version": " "}', "invalid plugin version in plugin.json: must not be blank"),
        ('{"version": ".."}', "invalid plugin version: path traversal is not allowed"),
        (
            '{"version": "1/2"}',
            "invalid plugin version: only ASCII letters, digits, `.`, `+`, `_`, and `-` are allowed",
        ),
    ],
)
def test_a_manifest_that_cannot_be_installed_says_what_codex_says(
    tmp_path: Path, manifest: str, message: str
):
    put(tmp_path / "p/.codex-plugin/plugin.json", manifest)
    assert refusal(tmp_path / "p") == message


def test_a_missing_directory_and_one_without_manifest_are_told_alike(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    put(tmp_path / "file", "x")
    for name in ("gone", "empty", "file"):
        assert refusal(tmp_path / name) == "missing plugin.json"


def test_a_manifest_behind_a_link_does_not_count(tmp_path: Path):
    put(tmp_path / "p/real.json", '{"name": "p"}')
    (tmp_path / "p/.codex-plugin").mkdir()
    (tmp_path / "p/.codex-plugin/plugin.json").symlink_to("../real.json")
    assert refusal(tmp_path / "p") == "missing plugin.json"
    assert judge(entry_for(tmp_path / "p", version="3"), str(tmp_path / "p")).version == "3"


def test_the_entry_stands_in_for_a_manifest_that_is_not_there(tmp_path: Path):
    (tmp_path / "p").mkdir()
    entry = entry_for(tmp_path / "p", category="C", version="3", author={"name": "A"})
    judged = judge(entry, str(tmp_path / "p"))
    assert judged.version == "3"
    assert judged.substitute is not None
    assert json.loads(judged.substitute) == {
        "version": "3",
        "author": {"name": "A"},
        "name": "p",
        "category": "C",
        "interface": {"developerName": "A", "category": "C"},
    }


def test_an_entry_that_makes_no_manifest_is_refused_with_the_place_in_what_it_makes(
    tmp_path: Path,
):
    (tmp_path / "p").mkdir()
    assert refusal(tmp_path / "p", keywords="x") == (
        'failed to parse plugin.json: invalid type: string "x", expected a sequence '
        "at line 2 column 17"
    )
    gone = f"plugin source path is not a directory: {tmp_path / 'gone'}"
    assert refusal(tmp_path / "gone", version="1") == gone


@pytest.mark.parametrize(
    ("version", "directory"),
    [("5", "5"), (None, "1.0.0"), ("1/2 x", "agent-plugins-0a15f343ed68e08e5e3d00ba")],
)
def test_versions_of_the_agent_plugins_format(tmp_path: Path, version: str | None, directory: str):
    said = {"version": version} if version is not None else {}
    put_plugin(tmp_path / "p", place="plugin.json", **{"$schema": AGENT}, **said)
    assert judge(entry_for(tmp_path / "p"), str(tmp_path / "p")).version == directory


def test_a_bad_manifest_of_the_agent_plugins_format_is_invalid(tmp_path: Path):
    put_plugin(tmp_path / "p", place="plugin.json", **{"$schema": AGENT}, version=None)
    assert refusal(tmp_path / "p") == "missing or invalid plugin.json"


def test_a_version_that_was_decided_already_wins(tmp_path: Path):
    put_plugin(tmp_path / "p", version="..")
    assert judge(entry_for(tmp_path / "p"), str(tmp_path / "p"), "0123abcd").version == "0123abcd"


def market_of(root: Path, *entries: Any, name: str = "m") -> Marketplace:
    path = put_market(root, *entries, name=name)
    return load(str(path), str(root), home=str(root))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nope", "plugin `nope` was not found in marketplace `m`"),
        ("svn", "plugin `svn` was not found in marketplace `m`"),
        ("na", "plugin `na` is not available for install in marketplace `m`"),
        ("chat", "plugin `chat` is not available for install in marketplace `m`"),
        (
            "a b",
            "invalid plugin name: only ASCII letters, digits, `.`, `_`, and `-` are allowed",
        ),
    ],
)
def test_entries_that_may_not_be_installed(tmp_path: Path, name: str, message: str):
    market = market_of(
        tmp_path,
        {"name": "svn", "source": {"source": "svn", "url": "x"}},
        {"name": "na", "source": "./p", "policy": {"installation": "NOT_AVAILABLE"}},
        {"name": "chat", "source": "./p", "policy": {"products": ["CHATGPT"]}},
        {"name": "a b", "source": "./p"},
    )
    with pytest.raises(InvalidRequest) as caught:
        installable_entry(market, name)
    assert caught.value.message == message


def test_policy_is_looked_at_before_the_name_of_the_marketplace(tmp_path: Path):
    market = market_of(
        tmp_path,
        "p",
        {"name": "na", "source": "./p", "policy": {"installation": "NOT_AVAILABLE"}},
        name="openai-curated",
    )
    with pytest.raises(InvalidRequest, match="not available"):
        installable_entry(market, "na")
    with pytest.raises(InvalidRequest) as caught:
        installable_entry(market, "p")
    assert caught.value.message == (
        f"invalid marketplace file `{market.path}`: marketplace `openai-curated` is reserved "
        "and cannot be loaded from this source"
    )
