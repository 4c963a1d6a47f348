"""What may stand as the source of a marketplace entry (observed in Codex 0.171.0)."""

from __future__ import annotations

from typing import Any

import pytest

from core.plugins.sources.parse import (
    Refused,
    Source,
    describe_source,
    parse_source,
    source_text,
)
from core.protocol.plugins import GitSource, LocalSource, NpmSource

ROOT, HOME = "/market", "/home/me"


def parse(raw: Any) -> Source | Refused:
    return parse_source(raw, ROOT, HOME)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("./plugins/a", "/market/plugins/a"),
        ("./plugins//a/", "/market/plugins/a"),
        ("./a/./b", "/market/a/b"),
        ("./", "/market"),
        (".", "/market"),
        ("./~/a", "/home/me/a"),
        ("./~me", "/market/~me"),
    ],
)
def test_a_local_path_is_taken_from_the_root(path: str, found: str):
    assert parse(path) == LocalSource(found)
    assert parse({"source": "local", "path": path}) == LocalSource(found)


@pytest.mark.parametrize(
    "path", ["plugins/a", "/etc", "../a", "./../a", "./a/../b", "./.", ".//a", "", "~/a", "./a/.."]
)
def test_a_local_path_that_leaves_the_root_is_refused(path: str):
    refused = parse(path)
    assert isinstance(refused, Refused)
    assert refused.rule == "source-path"


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://github.com/a/b", "https://github.com/a/b.git"),
        ("https://github.com/a/b.git", "https://github.com/a/b.git"),
        ("https://gitlab.com/a/b", "https://gitlab.com/a/b"),
        ("a/b", "https://github.com/a/b.git"),
        ("a/b.git", "https://github.com/a/b.git"),
        (" ssh://git@host/a ", "ssh://git@host/a"),
        ("git@host:a/b", "git@host:a/b"),
        ("file:///srv/a", "file:///srv/a"),
        ("/srv/a", "/srv/a"),
        ("./repo", "/market/repo"),
    ],
)
def test_a_git_url_is_spelled_as_git_takes_it(url: str, found: str):
    assert parse({"source": "url", "url": url}) == GitSource(found)


@pytest.mark.parametrize(
    "url", ["git@host", "a/b/c", "a", "../a", "./../a", "ftp://h/a", "", "a/.git"]
)
def test_what_is_no_git_url_is_refused(url: str):
    refused = parse({"source": "url", "url": url})
    assert isinstance(refused, Refused)
    assert refused.rule == "source-url"


def test_a_git_subdirectory_carries_path_ref_and_commit():
    raw = {"source": "git-subdir", "url": "a/b", "path": "./x/y", "ref": " main ", "sha": " "}
    assert parse(raw) == GitSource("https://github.com/a/b.git", "x/y", "main", None)


@pytest.mark.parametrize("path", ["", "./", "/x", "../x", "x/..", "./."])
def test_a_git_subdirectory_stays_inside_the_repository(path: str):
    refused = parse({"source": "git-subdir", "url": "a/b", "path": path})
    assert isinstance(refused, Refused)
    assert refused.rule == "source-path"


def test_an_npm_package_carries_version_and_registry():
    raw = {
        "source": "npm",
        "package": " @a/b ",
        "version": "^1",
        "registry": "https://r.example/npm/",
    }
    assert parse(raw) == NpmSource("@a/b", "^1", "https://r.example/npm/")


@pytest.mark.parametrize(
    "members",
    [
        {"package": ""},
        {"package": ".a"},
        {"package": "a/b"},
        {"package": "@a"},
        {"package": "a", "version": ""},
        {"package": "a", "version": "../x"},
        {"package": "a", "registry": "http://r.example"},
        {"package": "a", "registry": "https://u:p@r.example"},
        {"package": "a", "registry": "https://r.example/?q"},
    ],
)
def test_an_npm_source_that_npm_could_misread_is_refused(members: dict[str, str]):
    refused = parse({"source": "npm", **members})
    assert isinstance(refused, Refused)
    assert refused.kind == "npm"


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (7, "source-shape"),
        (None, "source-shape"),
        ({}, "source-shape"),
        ({"source": "github", "repo": "a/b"}, "source-kind"),
        ({"source": "pip", "package": "a"}, "source-kind"),
        ({"source": "url"}, "source-shape"),
        ({"source": "git-subdir", "url": "a/b"}, "source-shape"),
        ({"source": "url", "url": 7}, "source-shape"),
        ({"source": "local", "path": 7}, "source-shape"),
        (["local"], "source-shape"),
    ],
)
def test_a_source_of_another_shape_is_refused_with_its_rule(raw: Any, rule: str):
    refused = parse(raw)
    assert isinstance(refused, Refused)
    assert refused.rule == rule


def test_the_kind_that_was_meant_is_kept_for_what_codex_does_not_know():
    refused = parse({"source": "github", "repo": "a/b"})
    assert refused == Refused("source-kind", "source kind `github` is not known", "github")


def test_the_array_form_is_taken_as_the_real_reader_takes_it():
    assert parse(["local", "./a"]) == LocalSource("/market/a")
    assert parse(["npm", "a", None, None]) == NpmSource("a")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (LocalSource("/market/plugins/a"), "./plugins/a"),
        (LocalSource("/market"), "./"),
        (LocalSource("/elsewhere/a"), "/elsewhere/a"),
        (GitSource("https://h/a.git", "x", "main"), "https://h/a.git@main x"),
        (GitSource("https://h/a.git", None, "main", "abc"), "https://h/a.git@abc"),
        (NpmSource("a", "^1"), "a@^1"),
        (NpmSource("a"), "a"),
    ],
)
def test_a_source_is_told_to_people_in_one_line(source: Source, text: str):
    assert describe_source(source, ROOT) == text


def test_an_unusable_source_is_told_as_it_was_written():
    assert source_text({"source": "github", "repo": "a/b"}) == "github a/b"
    assert source_text("../a") == "../a"
    assert source_text(7) == "7"
    assert len(source_text("x" * 5000)) == 200
