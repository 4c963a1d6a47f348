from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.plugins.entries import Entry
from core.plugins.updates.ledger import CopyNote
from core.plugins.updates.standing import Standing, claims_of, next_of_codex, stand
from core.protocol.plugins import GitSource, LocalSource, NpmSource
from tests.core.plugins.world import put

OLD, NEW = "a" * 40, "b" * 40
Heard = dict[tuple[str, str], str]


def entry(source: Any, **metadata: Any) -> Entry:
    return Entry(0, "p", source, metadata=metadata)


def against(
    offer: Entry,
    *,
    offered: str | None = None,
    version: str | None = "1.0.0",
    root: Path = Path("/nowhere"),
    note: CopyNote | None = None,
    heard: Heard | None = None,
) -> Standing:
    return stand(offer, offered, (str(root), version), note, heard or {})


def noted(offer: Entry, commit: str = "") -> CopyNote:
    return CopyNote(version="1.0.0", commit=commit, claims=claims_of(offer))


@pytest.mark.parametrize(
    ("offered", "version", "newer"),
    [
        ("1.0.0", "1.0.0", False),
        ("2.0.0", "1.0.0", True),
        ("0.9.0", "1.0.0", True),
        ("1.0.0", None, True),
        (None, "1.0.0", False),
        (None, None, False),
    ],
)
def test_a_source_on_this_disk_is_compared_by_its_version(
    offered: str | None, version: str | None, newer: bool
):
    standing = against(entry(LocalSource("/p")), offered=offered, version=version)
    assert (standing.newer, standing.offered) == (newer, offered)


@pytest.mark.parametrize(
    ("source", "heard", "newer", "offered"),
    [
        (GitSource("u", sha=OLD), {}, False, OLD),
        (GitSource("u", sha=NEW), {}, True, NEW),
        (GitSource("u", ref_name=NEW), {}, True, NEW),
        (GitSource("u"), {}, False, ""),
        (GitSource("u"), {("u", ""): NEW}, True, NEW),
        (GitSource("u"), {("u", ""): OLD}, False, OLD),
        (GitSource("u", ref_name="main"), {("u", ""): NEW}, False, ""),
        (GitSource("u", ref_name="main"), {("u", "main"): NEW}, True, NEW),
    ],
)
def test_a_repository_is_compared_by_its_commit(
    source: GitSource, heard: Heard, newer: bool, offered: str
):
    offer = entry(source)
    standing = against(offer, note=noted(offer, OLD), heard=heard)
    assert (standing.newer, standing.offered_commit, standing.commit) == (newer, offered, OLD)


def test_the_commit_of_a_copy_that_others_made_is_read_from_its_clone(tmp_path: Path):
    put(tmp_path / ".git/HEAD", OLD)
    standing = against(entry(GitSource("u", sha=NEW)), root=tmp_path)
    assert (standing.newer, standing.commit) == (True, OLD)


def test_a_copy_of_which_nothing_is_known_is_compared_by_what_the_entry_claims():
    offer = entry(GitSource("u", sha=NEW), version="2.0.0")
    standing = against(offer)
    assert (standing.newer, standing.offered) == (True, "2.0.0")
    assert not against(entry(GitSource("u", sha=NEW))).newer
    assert not against(entry(GitSource("u"), version=2)).newer


def test_what_was_installed_from_this_very_offer_is_not_newer():
    offer = entry(GitSource("u"), version="2.0.0")
    assert not against(offer, note=noted(offer)).newer
    assert against(offer, note=noted(entry(GitSource("u"), version="1.0.0"))).newer


@pytest.mark.parametrize(
    "other", [GitSource("v"), GitSource("u", path="x"), GitSource("u", ref_name="next")]
)
def test_another_place_is_an_update(other: GitSource):
    standing = against(entry(other), note=noted(entry(GitSource("u"))))
    assert (standing.newer, standing.reason) == (True, "its source has moved")


@pytest.mark.parametrize(
    ("selector", "claimed", "newer", "offered"),
    [
        ("1.0.0", None, False, "1.0.0"),
        ("1.1.0", None, True, "1.1.0"),
        ("^1.0", None, False, None),
        ("latest", "1.1.0", True, "1.1.0"),
        (None, "1.0.0", False, "1.0.0"),
        (None, None, False, None),
    ],
)
def test_a_package_is_compared_by_the_version_that_is_asked_for(
    tmp_path: Path, selector: str | None, claimed: str | None, newer: bool, offered: str | None
):
    put(tmp_path / "package.json", {"version": "1.0.0"})
    offer = entry(NpmSource("p", selector), **({"version": claimed} if claimed else {}))
    standing = against(offer, root=tmp_path, version="9.9.9")
    assert (standing.newer, standing.offered) == (newer, offered)


@pytest.mark.parametrize(
    ("source", "standing", "checkout", "said"),
    [
        (LocalSource("/p"), Standing(), False, ""),
        (
            LocalSource("/p"),
            Standing(newer=True, offered="2.0.0"),
            False,
            "Codex will move this to 2.0.0 at its next list",
        ),
        (
            LocalSource("/p"),
            Standing(),
            True,
            "Codex may move this when it starts and its marketplace has news",
        ),
        (
            GitSource("u"),
            Standing(),
            False,
            "Codex fetches its source and may move it at its next list",
        ),
        (GitSource("u", sha=OLD), Standing(), False, ""),
        (NpmSource("p", "1.0.0"), Standing(), False, ""),
        (
            NpmSource("p", "^1.0.0"),
            Standing(),
            False,
            "Codex fetches its source and may move it at its next list",
        ),
    ],
)
def test_what_codex_does_with_a_copy_that_is_to_stay(
    source: Any, standing: Standing, checkout: bool, said: str
):
    assert next_of_codex(entry(source), standing, checkout=checkout) == said
