from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from core.compat.refresh_on_list import RefreshOnList
from core.plugins.listing import PluginLists
from core.scope import Caller, RequestScope
from core.threads.policy import CODEX
from tests.core.plugins.install.world import URL, Workshop
from tests.core.plugins.world import put, put_market, put_plugin

pytestmark = pytest.mark.anyio
SCOPE = RequestScope(caller=Caller(policy=CODEX))


class Refreshing:
    """A refresh over what is listed at the home, and the causes that it told."""

    def __init__(self, shop: Workshop) -> None:
        self.shop = shop
        self.causes: list[str] = []
        self.spawned: list[Any] = []
        self.lists = PluginLists(shop.home, shop.configs, lambda: "none")
        self.refresh = RefreshOnList(shop.installer, self._changed, self._spawn)

    async def _changed(self, cause: str, scope: RequestScope) -> None:
        self.causes.append(cause)

    def _spawn(self, run: Any, *arguments: Any) -> None:
        self.spawned.append((run, arguments))

    async def run(self, *cwds: Path) -> int:
        found = await self.lists.read([str(cwd) for cwd in cwds] or None)
        return await self.refresh.run(found, SCOPE)

    def source(self, version: str, name: str = "p") -> None:
        put_plugin(self.shop.home.home / "plugins" / name, version=version)

    def versions(self, name: str = "p") -> list[str]:
        folder = self.shop.home.plugins_cache / "m" / name
        return sorted(os.listdir(folder)) if folder.exists() else []

    def configure(self, text: str) -> None:
        put(self.shop.home.config_file, text)


@pytest.fixture
def refreshing(shop: Workshop) -> Refreshing:
    put_market(shop.home.home, "p")
    made = Refreshing(shop)
    made.configure('[plugins."p@m"]\n')
    made.source("1.0.0")
    return made


async def test_what_is_configured_and_not_there_is_installed(refreshing: Refreshing):
    assert await refreshing.run() == 1
    assert refreshing.versions() == ["1.0.0"]
    assert refreshing.causes == ["refresh"]


async def test_another_version_replaces_the_copy_also_an_older_one(refreshing: Refreshing):
    await refreshing.run()
    for version in ("1.1.0", "1.0.5"):
        refreshing.source(version)
        assert await refreshing.run() == 1
        assert refreshing.versions() == [version]
    assert refreshing.causes == ["refresh"] * 3


async def test_the_same_version_is_not_copied_again_and_nobody_is_told(refreshing: Refreshing):
    await refreshing.run()
    put(refreshing.shop.home.home / "plugins/p/more", "x")
    assert await refreshing.run() == 0
    assert "m/p/1.0.0/more" not in refreshing.shop.cached()
    assert refreshing.causes == ["refresh"]


async def test_disabled_and_unavailable_plugins_are_installed_too(refreshing: Refreshing):
    policy = {"installation": "NOT_AVAILABLE"}
    na = {"name": "na", "source": "./plugins/na", "policy": policy}
    put_market(refreshing.shop.home.home, "p", na)
    refreshing.configure('[plugins."p@m"]\nenabled = false\n[plugins."na@m"]\n')
    refreshing.source("2", "na")
    assert await refreshing.run() == 2
    assert (refreshing.versions(), refreshing.versions("na")) == (["1.0.0"], ["2"])
    assert refreshing.causes == ["refresh"]


async def test_what_is_not_configured_is_left_alone(refreshing: Refreshing):
    refreshing.configure("")
    assert await refreshing.run() == 0
    assert refreshing.versions() == []


async def test_a_source_that_cannot_be_installed_keeps_the_copy_and_stops_no_other(
    refreshing: Refreshing,
):
    await refreshing.run()
    put(refreshing.shop.home.home / "plugins/p/.codex-plugin/plugin.json", "{bad")
    put_market(refreshing.shop.home.home, "p", "q")
    refreshing.source("1", "q")
    refreshing.configure('[plugins."p@m"]\n[plugins."q@m"]\n')
    assert await refreshing.run() == 1
    assert (refreshing.versions(), refreshing.versions("q")) == (["1.0.0"], ["1"])


async def test_of_two_marketplaces_of_one_name_the_first_one_counts(
    refreshing: Refreshing, tmp_path: Path
):
    repository = tmp_path / "repo"
    put(repository / ".git/HEAD", "x")
    put_market(repository, "p")
    put_plugin(repository / "plugins/p", version="9")
    await refreshing.run(repository)
    assert refreshing.versions() == ["1.0.0"]


@pytest.mark.needs("git")
async def test_a_repository_is_fetched_for_every_list_and_copied_when_its_version_differs(
    refreshing: Refreshing,
):
    shop = refreshing.shop
    shop.repository("p.git", {".codex-plugin/plugin.json": {"name": "p", "version": "5"}})
    put_market(shop.home.home, {"name": "p", "source": {"source": "url", "url": f"{URL}p.git"}})
    assert await refreshing.run() == 1
    shop.repository("p.git", {"more": "x"})
    assert await refreshing.run() == 0
    shop.repository("p.git", {".codex-plugin/plugin.json": {"name": "p", "version": "6"}})
    assert await refreshing.run() == 1
    assert refreshing.versions() == ["6"]


async def test_the_background_is_asked_for_one_run(refreshing: Refreshing):
    found = await refreshing.lists.read(None)
    refreshing.refresh.start(found, SCOPE)
    ((run, arguments),) = refreshing.spawned
    assert await run(*arguments) == 1
