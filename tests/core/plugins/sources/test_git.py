from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from core.plugins.sources.git import Git, GitFailed, drop_escaping_links, without_secrets
from tests.core.plugins.install.conftest import shop
from tests.core.plugins.install.world import URL, Workshop, git
from tests.core.plugins.world import put

pytestmark = [pytest.mark.anyio, pytest.mark.needs("git")]
__all__ = ["shop"]


def target(shop: Workshop) -> Path:
    return shop.repositories.parent / "clone"


def read(path: Path) -> str:
    return path.read_text()


@pytest.mark.parametrize(
    ("wanted", "content"),
    [
        ({}, "3"),
        ({"ref": "main"}, "3"),
        ({"ref": "v1"}, "1"),
        ({"ref": "feature/x"}, "branch"),
        ({"sha": "FIRST"}, "1"),
        ({"ref": "FIRST"}, "1"),
        ({"sha": "FIRST", "ref": "main"}, "1"),
    ],
)
async def test_the_commit_that_was_asked_for_is_checked_out(
    shop: Workshop, wanted: dict[str, str], content: str
):
    path = shop.repository("r.git", {"f": "1"}, {"f": "2"}, {"f": "3"}, tag="v1")
    first = git(path, "rev-parse", "v1")
    git(path, "checkout", "-q", "-b", "feature/x")
    shop.repository("r.git", {"f": "branch"})
    git(path, "checkout", "-q", "main")
    asked = {key: value.replace("FIRST", first) for key, value in wanted.items()}
    await shop.git.clone(f"{URL}r.git", str(target(shop)), **asked)
    assert read(target(shop) / "f") == content


async def test_a_branch_that_is_named_like_a_commit_is_not_taken_for_it(shop: Workshop):
    path = shop.repository("r.git", {"f": "1"}, {"f": "2"}, tag="v1")
    first = git(path, "rev-parse", "v1")
    git(path, "branch", first, "main")
    await shop.git.clone(f"{URL}r.git", str(target(shop)), sha=first)
    assert read(target(shop) / "f") == "1"


@pytest.mark.parametrize("ref", ["nope", "1234", "f", " ", "0" * 40])
async def test_a_ref_that_is_not_there_is_told_in_the_words_of_codex(shop: Workshop, ref: str):
    shop.repository("r.git", {"f": "1"})
    with pytest.raises(GitFailed) as caught:
        await shop.git.clone(f"{URL}r.git", str(target(shop)), ref=ref)
    assert str(caught.value) == (
        f"git checkout {ref} failed with status exit status: 1\nstdout:\n\nstderr:\n"
        f"error: pathspec '{ref}' did not match any file(s) known to git"
    )


async def test_only_the_paths_that_were_asked_for_are_checked_out(shop: Workshop):
    shop.repository("r.git", {"a/x": "1", "b/y": "1", "top": "1"})
    await shop.git.clone(f"{URL}r.git", str(target(shop)), sparse=["a"])
    assert sorted(os.listdir(target(shop))) == [".git", "a"]


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("--upload-pack=touch owned", {}),
        (f"{URL}r.git", {"ref": "--help"}),
        (f"{URL}r.git", {"sha": "-f"}),
        (f"{URL}r.git", {"sparse": ["--stdin"]}),
    ],
)
async def test_nothing_that_looks_like_an_option_reaches_git(
    shop: Workshop, url: str, options: dict[str, str | list[str]]
):
    shop.repository("r.git", {"f": "1"})
    with pytest.raises(GitFailed, match="begins with `-`"):
        await shop.git.clone(url, str(target(shop)), **options)  # type: ignore[arg-type]
    assert not target(shop).exists()


@pytest.mark.parametrize("url", ["ext::sh -c touch% {owned}", "fd::17/x"])
async def test_transports_that_run_programs_or_hang_are_refused(shop: Workshop, url: str):
    owned = shop.repositories.parent / "owned"
    settings = shop.repositories.parent / "gitconfig"
    put(settings, '[protocol "ext"]\n\tallow = always\n')
    with anyio.fail_after(10), pytest.raises(GitFailed, match="not allowed"):
        await shop.git.clone(url.format(owned=owned), str(target(shop)))
    assert not owned.exists()


async def test_hooks_of_the_persons_template_and_filesystem_monitors_do_not_run(shop: Workshop):
    owned = shop.repositories.parent / "owned"
    template = shop.repositories.parent / "template"
    hook = put(template / "hooks/post-checkout", f"#!/bin/sh\ntouch {owned}\n")
    hook.chmod(0o755)
    settings = shop.repositories.parent / "gitconfig"
    with settings.open("a") as stream:
        stream.write(f"[init]\n\ttemplateDir = {template}\n[core]\n\tfsmonitor = {hook}\n")
    shop.repository("r.git", {"f": "1"})
    await shop.git.clone(f"{URL}r.git", str(target(shop)))
    assert (target(shop) / "f").exists()
    assert not owned.exists()


async def test_what_steers_git_through_the_environment_is_dropped(shop: Workshop):
    shop.repository("r.git", {"f": "1"})
    environ = {**shop.deps.environ, "GIT_DIR": "/nowhere", "GIT_ASKPASS": "/bin/false"}
    other = replace(shop, deps=replace(shop.deps, environ=environ))
    await other.git.clone(f"{URL}r.git", str(target(shop)))
    assert (target(shop) / "f").exists()


async def test_links_out_of_the_clone_are_dropped_and_others_kept(shop: Workshop):
    path = shop.repository("r.git", {"d/f": "1"})
    links = {"out": "/etc/passwd", "up": "../..", "in": "d/f", "d/back": "..", "git": ".git"}
    for name, goal in links.items():
        (path / name).symlink_to(goal)
    git(path, "add", "-A")
    git(path, "commit", "-qm", "links")
    await shop.git.clone(f"{URL}r.git", str(target(shop)))
    assert sorted(os.listdir(target(shop))) == [".git", "d", "in"]
    assert sorted(os.listdir(target(shop) / "d")) == ["back", "f"]


async def test_a_link_that_climbs_out_by_way_of_another_one_is_dropped(tmp_path: Path):
    base = tmp_path / "clone"
    (base / "a/b").mkdir(parents=True)
    (base / "a/b/top").symlink_to("../..")
    (base / "a/b/sly").symlink_to("top/../secret")
    put(tmp_path / "secret", "x")
    assert drop_escaping_links(str(base)) == ["a/b/sly"]


async def test_progress_rises_and_is_told_in_words(shop: Workshop):
    shop.repository("r.git", {f"f{number}": str(number) for number in range(50)})
    await shop.git.clone(f"{URL}r.git", str(target(shop)), progress=shop.progress)
    shares = [share for share, _ in shop.told if share is not None]
    assert shares
    assert shares == sorted(shares)
    assert any(note.startswith("receiving objects") for _, note in shop.told)


async def test_a_clone_that_takes_too_long_is_ended(shop: Workshop):
    shop.repository("r.git", {"f": "1"})
    with pytest.raises(GitFailed, match="did not end within 0s"):
        await shop.git.clone(f"{URL}r.git", str(target(shop)), deadline=0)
    assert not shop.processes.running


async def test_a_clone_that_is_cancelled_ends_git(shop: Workshop):
    shop.repository("r.git", {"f": "1"})
    with anyio.CancelScope() as scope:
        await shop.git.clone(
            f"{URL}r.git", str(target(shop)), progress=lambda share, note: scope.cancel()
        )
    assert scope.cancelled_caught
    assert not shop.processes.running


async def test_the_revision_of_a_repository_is_asked_without_fetching(shop: Workshop):
    path = shop.repository("r.git", {"f": "1"}, {"f": "2"}, tag="v1")
    head, first = git(path, "rev-parse", "HEAD"), git(path, "rev-parse", "v1")
    assert await shop.git.revision(f"{URL}r.git", None) == head
    assert await shop.git.revision(f"{URL}r.git", "v1") == first
    assert await shop.git.revision(f"{URL}none.git", first) == first
    with pytest.raises(GitFailed, match="returned no revision for `nope`"):
        await shop.git.revision(f"{URL}r.git", "nope")
    with pytest.raises(GitFailed) as caught:
        await shop.git.revision(f"{URL}none.git", None)
    assert str(caught.value).startswith(
        "git ls-remote marketplace source failed with status exit status: 128: fatal: "
    )


async def test_passwords_of_urls_are_not_told(shop: Workshop):
    with pytest.raises(GitFailed) as caught:
        await shop.git.clone("file://user:hunter2@/nowhere", str(target(shop)))
    assert "hunter2" not in str(caught.value)
    assert without_secrets("fatal: 'https://u:p@h/r' x") == "fatal: 'https://***@h/r' x"


async def test_a_machine_without_git_says_so(shop: Workshop):
    git_less = Git(shop.processes, {**shop.deps.environ, "PATH": "/nowhere"})
    with pytest.raises(GitFailed, match="failed to run git clone: No such file"):
        await git_less.clone(f"{URL}r.git", str(target(shop)))
