"""Where marketplaces are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.plugins.discovery import Candidate, candidates, git_root, resolve
from tests.core.plugins.world import API_PLACE, CLAUDE_PLACE, CODEX_PLACE, World, put, put_market

PLACES = (
    (CODEX_PLACE, "codex"),
    (API_PLACE, "codex-api"),
    (CLAUDE_PLACE, "claude"),
    (".cursor-plugin/marketplace.json", "cursor"),
)


def found(world: World, cwd: Path | None = None, account: str = "none") -> list[Candidate]:
    loaded = world.configs.load(cwd)
    return list(candidates(world.home, loaded, str(cwd) if cwd else None, account=account))


def of_kind(found: list[Candidate], kind: str) -> list[Candidate]:
    return [candidate for candidate in found if candidate.kind == kind]


def local(root: Path) -> Candidate:
    return Candidate(kind="local", root=str(root), key="m")


@pytest.mark.parametrize("first", range(4))
def test_one_file_of_a_root_counts_the_first_of_four(tmp_path: Path, first: int):
    for place, _ in PLACES[first:]:
        put_market(tmp_path, place=place)
    place = resolve(local(tmp_path))
    assert place is not None
    assert (place.path, place.format) == (f"{tmp_path}/{PLACES[first][0]}", PLACES[first][1])


def test_a_root_without_a_file_is_no_place(tmp_path: Path):
    assert resolve(local(tmp_path)) is None
    assert resolve(local(tmp_path / "gone")) is None


def test_a_directory_in_place_of_the_file_does_not_count(tmp_path: Path):
    (tmp_path / CODEX_PLACE).mkdir(parents=True)
    put_market(tmp_path, place=CLAUDE_PLACE)
    place = resolve(local(tmp_path))
    assert place is not None
    assert place.format == "claude"


def test_the_workspace_is_the_directory_or_its_repository(tmp_path: Path):
    repository = tmp_path / "repo"
    put(repository / ".git/HEAD", "ref: refs/heads/main")
    inner = repository / "a/b"
    inner.mkdir(parents=True)
    put_market(repository)
    candidate = Candidate(kind="workspace", root=str(inner))
    place = resolve(candidate)
    assert place is not None
    assert place.root == str(repository)
    put_market(inner)
    place = resolve(candidate)
    assert place is not None
    assert place.root == str(inner)


def test_a_repository_is_a_git_file_or_a_git_directory_with_a_head(tmp_path: Path):
    put(tmp_path / "a/.git/HEAD", "x")
    (tmp_path / "a/b/.git").mkdir(parents=True)
    put(tmp_path / "a/b/c/.git", "gitdir: elsewhere")
    assert git_root(str(tmp_path / "a/b")) == str(tmp_path / "a")
    assert git_root(str(tmp_path / "a/b/c/d")) == str(tmp_path / "a/b/c")


def test_home_configured_and_workspace_are_looked_at(world: World, tmp_path: Path):
    world.add_market(tmp_path / "m", "tools")
    world.configure('[marketplaces.team]\nsource_type = "git"\nsource = "https://x.test/r.git"')
    listed = found(world, tmp_path)
    assert [candidate.kind for candidate in listed] == [
        "home",
        "local",
        "git",
        "curated",
        "workspace",
    ]
    (git,) = of_kind(listed, "git")
    assert git.root == str(world.home.marketplaces_dir / "team")
    assert git.origin == "https://x.test/r.git"
    (configured,) = of_kind(listed, "local")
    assert (configured.evidence.file, configured.evidence.line) == (
        str(world.home.config_file),
        1,
    )


def test_without_a_directory_there_is_no_workspace(world: World):
    assert of_kind(found(world), "workspace") == []


@pytest.mark.parametrize(
    ("account", "managed"), [("none", "openai-api-curated"), ("apiKey", "openai-api-curated")]
)
def test_the_curated_snapshot_is_that_of_the_account(world: World, account: str, managed: str):
    (curated,) = of_kind(found(world, account=account), "curated")
    assert curated.managed == managed


def test_with_a_chatgpt_sign_in_the_catalog_takes_the_snapshots_place(world: World):
    assert of_kind(found(world, account="chatgpt"), "curated") == []
    world.configure("[features]\nremote_plugin = false")
    (curated,) = of_kind(found(world, account="chatgpt"), "curated")
    assert curated.managed == "openai-curated"


def test_the_curated_snapshot_is_one_file_by_account(world: World):
    put_market(world.home.curated_dir, place=API_PLACE, name="openai-api-curated")
    (curated,) = of_kind(found(world), "curated")
    place = resolve(curated)
    assert place is not None
    assert place.format == "codex-api"
    world.configure("[features]\nremote_plugin = false")
    (curated,) = of_kind(found(world, account="chatgpt"), "curated")
    assert resolve(curated) is None


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ('source_type = "local"', "it has no `source`"),
        ('source = "/x"', "it has no `source_type`"),
        ('source_type = "local"\nsource = "x"', "`source` is no absolute path: x"),
    ],
)
def test_a_configured_marketplace_that_codex_ignores_says_why(
    world: World, table: str, reason: str
):
    world.configure(f"[marketplaces.tools]\n{table}")
    listed = [candidate for candidate in found(world) if candidate.key == "tools"]
    assert [candidate.ignored for candidate in listed] == [reason]
    assert resolve(listed[0]) is None


def test_reserved_names_cannot_be_configured(world: World, tmp_path: Path):
    put_market(tmp_path)
    world.add_market(tmp_path, "openai-curated")
    (candidate,) = of_kind(found(world), "local")
    assert candidate.ignored == "marketplace name `openai-curated` is reserved"
