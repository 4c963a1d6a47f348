"""Plugins and marketplaces from real git servers, with the person's own credentials."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from core import method_table as methods
from core.errors import CoreError
from core.ports import Deps
from core.protocol.jackfield import IdParams
from core.protocol.marketplaces import MarketplaceAddParams
from tests.core.plugins.install.world import git
from tests.core.plugins.world import put, put_market
from tests.core.service.lifecycle import SKILL, Life, life_of
from tests.integration.git_forge import PASSWORD, USER, GitServer, http_server, ssh_server

pytestmark = [pytest.mark.anyio, pytest.mark.needs("git")]
needs_sshd = pytest.mark.needs("sshd", "ssh")


@dataclass
class Place:
    """A repository `p.git` that servers serve, and a home that installs from it."""

    life: Life
    server: GitServer
    work: Path
    settings: Path

    def commit(self, content: str, version: str, files: dict[str, Any] | None = None) -> str:
        skill = f"---\nname: s\ndescription: d\n---\n{content}"
        put(self.work / ".codex-plugin/plugin.json", {"name": "p", "version": version})
        put(self.work / SKILL, skill)
        for path, text in (files or {}).items():
            put(self.work / path, text)
        git(self.work, "add", "-A")
        git(self.work, "commit", "-q", "-m", version)
        git(self.work, "push", "-q", str(self.bare), "HEAD:refs/heads/main")
        return git(self.work, "rev-parse", "HEAD")

    @property
    def bare(self) -> Path:
        return self.server.root / "p.git"

    def offer(self, url: str, **source: Any) -> None:
        put_market(self.life.home, {"name": "p", "source": {"source": "url", "url": url, **source}})

    def configure_git(self, text: str) -> None:
        with self.settings.open("a") as stream:
            stream.write(text)

    def left(self) -> list[str]:
        """What lies about after something has failed."""
        codex = self.life.home / ".codex"
        staging = (codex / "plugins/.marketplace-plugin-source-staging").glob("*")
        copies = (codex / "plugins/cache").glob("*/*")
        return [str(path) for path in (*staging, *copies)]


@pytest.fixture
async def place(deps: Deps, home: Path, tmp_path: Path) -> AsyncGenerator[Place]:
    settings = tmp_path / "gitconfig"
    settings.write_text("")
    root = tmp_path / "srv"
    work = tmp_path / "written"
    for folder in (root / "p.git", work):
        folder.mkdir(parents=True)
    git(root / "p.git", "init", "-q", "--bare", "-b", "main")
    git(root / "p.git", "config", "uploadpack.allowAnySHA1InWant", "true")
    git(work, "init", "-q", "-b", "main")
    environ = {
        **deps.environ,
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": str(settings),
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    with http_server(root) as server:
        async with life_of(replace(deps, environ=environ), home) as life:
            yield Place(life, server, work, settings)


async def test_over_http_a_plugin_is_installed_updated_and_rolled_back(place: Place):
    place.commit("1", "1.0.0")
    place.offer(place.server.url("p.git"))
    await place.life.install("p")
    assert place.life.content() == "1"
    second = place.commit("2", "2.0.0")
    update = (await place.life.updates(fetch=True))["p@m"]
    assert update.offered_commit == second
    assert (await place.life.update())["p@m"].message == "1.0.0 → 2.0.0"
    assert place.life.content() == "2"
    await place.life.roll_back()
    assert place.life.content() == "1"


async def test_over_http_the_exact_commit_comes_whatever_the_branch_has(place: Place):
    first = place.commit("1", "1.0.0")
    place.commit("2", "2.0.0")
    git(place.work, "push", "-q", str(place.bare), f"HEAD:refs/heads/{first}")
    place.offer(place.server.url("p.git"), sha=first)
    await place.life.install("p")
    assert place.life.content() == "1"


async def test_the_persons_credential_helper_opens_a_private_repository(
    place: Place, tmp_path: Path
):
    place.commit("1", "1.0.0")
    helper = put(
        tmp_path / "helper", f"#!/bin/sh\necho username={USER}\necho password={PASSWORD}\n"
    )
    helper.chmod(0o755)
    place.configure_git(f"[credential]\n\thelper = {helper}\n")
    place.offer(place.server.private("p.git"))
    await place.life.install("p")
    assert place.life.content() == "1"


async def test_without_credentials_nobody_is_asked_and_gits_own_words_are_told(
    place: Place, tmp_path: Path
):
    place.commit("1", "1.0.0")
    asked = tmp_path / "asked"
    program = put(tmp_path / "askpass", f"#!/bin/sh\ntouch {asked}\necho x\n")
    program.chmod(0o755)
    place.configure_git(f"[core]\n\taskPass = {program}\n")
    place.offer(place.server.private("p.git"))
    with anyio.fail_after(20), pytest.raises(CoreError, match="could not read Username"):
        await place.life.install("p")
    assert not asked.exists()
    assert place.left() == []


async def test_a_password_in_the_url_is_told_to_nobody(place: Place):
    url = place.server.private("gone.git").replace("//", f"//{USER}:{PASSWORD}@", 1)
    place.offer(url)
    with pytest.raises(CoreError) as caught:
        await place.life.install("p")
    assert f":{PASSWORD}" not in caught.value.message
    assert "not found" in caught.value.message


async def test_a_server_that_never_answers_can_be_cancelled_and_leaves_nothing(place: Place):
    place.commit("1", "1.0.0")
    place.offer(place.server.url("p.git"))
    place.server.hangs.set()
    failed: list[str] = []

    async def install() -> None:
        try:
            await place.life.install("p")
        except CoreError as error:
            failed.append(error.message)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(install)
            await anyio.to_thread.run_sync(place.server.heard.wait)
            await place.life.ask(methods.JACKFIELD_OPERATION_CANCEL, IdParams(id="p@m"))
    assert failed == ["install p@m: cancelled"]
    assert place.left() == []
    assert not (place.life.home / ".codex/config.toml").exists()


async def test_submodules_hooks_and_large_files_bring_nothing(place: Place, tmp_path: Path):
    owned = tmp_path / "owned"
    place.commit(
        "1",
        "1.0.0",
        {
            ".gitmodules": f'[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch {owned}"\n',
            ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
            "big.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
        },
    )
    smudge = f'"touch {owned}; cat"'
    place.configure_git(f'[filter "lfs"]\n\tsmudge = {smudge}\n\trequired = false\n')
    place.offer(place.server.url("p.git"))
    await place.life.install("p")
    copy = place.life.home / ".codex/plugins/cache/m/p/1.0.0"
    assert not (copy / "x").exists()
    assert (copy / "big.bin").read_text().startswith("version https://git-lfs")
    assert not (copy / ".git/modules").exists()


async def test_links_out_of_the_repository_are_not_followed(place: Place):
    place.commit("1", "1.0.0")
    (place.work / "secret").symlink_to("/etc/passwd")
    (place.work / "skills/out").symlink_to("/etc")
    place.commit("1", "1.0.1")
    place.offer(place.server.url("p.git"))
    await place.life.install("p")
    copy = place.life.home / ".codex/plugins/cache/m/p/1.0.1"
    links = [path for path in copy.rglob("*") if path.is_symlink() and ".git" not in path.parts]
    assert links == []


async def test_a_marketplace_is_added_from_http(place: Place):
    place.commit(
        "1",
        "1.0.0",
        {
            ".agents/plugins/marketplace.json": json.dumps(
                {"name": "gm", "plugins": [{"name": "p", "source": "./"}]}
            )
        },
    )
    params = MarketplaceAddParams(source=place.server.url("p.git"))
    added = await place.life.ask(methods.MARKETPLACE_ADD, params)
    assert added.marketplace_name == "gm"
    root = Path(added.installed_root)
    await place.life.install("p", market=root / ".agents/plugins/marketplace.json")
    assert place.life.content(market="gm") == "1"


@needs_sshd
async def test_over_ssh_a_plugin_comes_with_the_persons_own_key(
    deps: Deps, home: Path, tmp_path: Path, place: Place
):
    first = place.commit("1", "1.0.0")
    with ssh_server(tmp_path / "ssh") as server:
        environ = {
            **deps.environ,
            "PATH": os.environ["PATH"],
            "GIT_SSH_COMMAND": server.command,
            "GIT_CONFIG_GLOBAL": str(place.settings),
        }
        async with life_of(replace(deps, environ=environ), home) as life:
            place.offer(server.url(place.bare))
            await life.install("p")
            assert life.content() == "1"
            place.commit("2", "2.0.0")
            assert (await life.updates(fetch=True))["p@m"].commit == first
            await life.update()
            assert life.content() == "2"


@needs_sshd
async def test_an_unknown_host_is_refused_without_a_question(
    deps: Deps, home: Path, tmp_path: Path, place: Place
):
    place.commit("1", "1.0.0")
    with ssh_server(tmp_path / "ssh") as server:
        unknown = tmp_path / "nobody"
        command = server.command.replace(str(tmp_path / "ssh/known_hosts"), str(unknown))
        environ = {**deps.environ, "PATH": os.environ["PATH"], "GIT_SSH_COMMAND": command}
        async with life_of(replace(deps, environ=environ), home) as life:
            place.offer(server.url(place.bare))
            with anyio.fail_after(20), pytest.raises(CoreError, match="Host key verification"):
                await life.install("p")
            assert place.left() == []
