from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import InvalidRequest
from core.plugins.marketplaces.source_text import (
    BAD_FORMAT,
    GitPlace,
    LocalPlace,
    marketplace_source,
)

GITHUB = "https://github.com/owner/repo.git"


def read(source: str, root: Path, ref: str | None = None, sparse: tuple[str, ...] = ()):
    return marketplace_source(source, ref, sparse, cwd=str(root / "work"), home=str(root / "home"))


def refusal(source: str, root: Path, ref: str | None = None, sparse: tuple[str, ...] = ()) -> str:
    with pytest.raises(InvalidRequest) as caught:
        read(source, root, ref, sparse)
    return caught.value.message


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("work/rel", "home/here", "has@at", "sp ace", "has#hash"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("sp ace")
    return tmp_path


@pytest.mark.parametrize(
    ("source", "url", "ref"),
    [
        ("owner/repo", GITHUB, None),
        ("owner/repo.git", GITHUB, None),
        ("owner/repo@v1", GITHUB, "v1"),
        ("owner/repo#v1", GITHUB, "v1"),
        (" https://github.com/owner/repo/ ", GITHUB, None),
        ("https://h/r.git#main", "https://h/r.git", "main"),
        ("https://h/r.git#", "https://h/r.git", None),
        ("http://h/r", "http://h/r", None),
        ("ssh://git@h/r", "ssh://git@h/r", None),
        ("git@h:o/r.git#x", "git@h:o/r.git", "x"),
    ],
)
def test_repositories(root: Path, source: str, url: str, ref: str | None):
    assert read(source, root) == GitPlace(url, ref)


def test_a_ref_that_is_given_apart_wins(root: Path):
    assert read("owner/repo#a", root, "b", ("x",)) == GitPlace(GITHUB, "b", ("x",))


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("{root}/has@at", "has@at"),
        (" {root}/sp ace/ ", "sp ace"),
        ("{root}/link", "sp ace"),
        ("./rel", "work/rel"),
        ("../home", "home"),
        (".", "work"),
        ("..", ""),
        ("~/here", "home/here"),
    ],
)
def test_directories(root: Path, source: str, place: str):
    found = read(source.format(root=root), root)
    assert found == LocalPlace(str(root / place))


@pytest.mark.parametrize(
    "source",
    [
        "one",
        "a/b/c",
        "file:///x",
        "git://h/x",
        "~",
        "-x",
        "a/../b",
        "git@host",
        "https://",
        "o/.git",
    ],
)
def test_what_is_neither_is_refused(root: Path, source: str):
    assert refusal(source, root) == BAD_FORMAT


@pytest.mark.parametrize("source", ["", "  ", "\n"])
def test_nothing_is_refused(root: Path, source: str):
    assert refusal(source, root) == "marketplace source must not be empty"


def test_directories_that_cannot_be_used(root: Path):
    assert refusal(f"{root}/file", root) == (
        "local marketplace source must be a directory, not a file"
    )
    assert refusal(f"{root}/gone", root) == (
        "failed to resolve local marketplace source path: No such file or directory (os error 2)"
    )
    ref = "--ref is only supported for git marketplace sources"
    assert refusal(f"{root}/has#hash", root) == ref
    assert refusal("./rel", root, "main") == ref
    sparse = "--sparse is only supported for git marketplace sources"
    assert refusal("./rel", root, None, ("x",)) == sparse
