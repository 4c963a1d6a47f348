"""Updates of plugins and marketplaces that lie in git repositories."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from core import method_table as methods
from core.errors import InvalidRequest
from core.ports import Deps
from core.protocol.jackfield_plugins import MarketplacePinParams, UpdatesParams
from core.protocol.marketplaces import MarketplaceAddParams, MarketplaceUpgradeParams
from tests.core.plugins.install.world import URL, git
from tests.core.plugins.world import put, put_market
from tests.core.service.lifecycle import SKILL, Life, life_of

pytestmark = [pytest.mark.anyio, pytest.mark.needs("git")]
FILE = ".agents/plugins/marketplace.json"
MANIFEST = ".codex-plugin/plugin.json"


@dataclass
class Forge:
    """Repositories of the test's own, that git finds at `https://git.test/`."""

    life: Life
    folder: Path

    def commit(self, name: str, files: dict[str, Any]) -> str:
        """Add files in a commit; its id."""
        path = self.folder / name
        if not path.exists():
            path.mkdir(parents=True)
            git(path, "init", "-q", "-b", "main")
        for place, content in files.items():
            put(path / place, content)
        git(path, "add", "-A")
        git(path, "commit", "-q", "-m", "x", "--allow-empty")
        return git(path, "rev-parse", "HEAD")

    def plugin(self, content: str, version: str = "1.0.0", name: str = "p.git") -> str:
        skill = f"---\nname: s\ndescription: d\n---\n{content}"
        return self.commit(name, {MANIFEST: {"name": "p", "version": version}, SKILL: skill})

    def market(self, **entry: Any) -> None:
        """The marketplace at the home offers the plugin's repository."""
        source = {"source": "url", "url": f"{URL}p.git", **entry.pop("source", {})}
        put_market(self.life.home, {"name": "p", "source": source, **entry})

    def git_market(self, content: str, version: str = "1.0.0") -> str:
        """A marketplace in a repository, with a plugin of its own."""
        skill = f"---\nname: s\ndescription: d\n---\n{content}"
        return self.commit(
            "mk.git",
            {
                FILE: {"name": "gm", "plugins": [{"name": "p", "source": "./plugins/p"}]},
                f"plugins/p/{MANIFEST}": {"name": "p", "version": version},
                f"plugins/p/{SKILL}": skill,
            },
        )

    async def add_git_market(self) -> None:
        params = MarketplaceAddParams(source=f"{URL}mk.git")
        await self.life.ask(methods.MARKETPLACE_ADD, params)
        await self.life.install("p", market=self.checkout / FILE)

    @property
    def checkout(self) -> Path:
        return self.life.home / ".codex/.tmp/marketplaces/gm"


@pytest.fixture
async def forge(deps: Deps, home: Path, tmp_path: Path) -> AsyncGenerator[Forge]:
    folder, settings = tmp_path / "repositories", tmp_path / "gitconfig"
    settings.write_text(f"[url {json.dumps(f'file://{folder}/')}]\n\tinsteadOf = {URL}\n")
    environ = {**deps.environ, "GIT_CONFIG_GLOBAL": str(settings), "GIT_CONFIG_NOSYSTEM": "1"}
    async with life_of(replace(deps, environ=environ), home) as life:
        yield Forge(life, folder)


# --- a plugin in a repository


async def test_a_commit_that_the_marketplace_names_is_compared_without_fetching(forge: Forge):
    first = forge.plugin("1")
    forge.market(source={"sha": first})
    await forge.life.install("p")
    assert await forge.life.updates() == {}
    second = forge.plugin("2")
    assert await forge.life.updates() == {}
    forge.market(source={"sha": second})
    update = (await forge.life.updates())["p@m"]
    assert (update.commit, update.offered_commit) == (first, second)
    assert update.reason == f"→ {second[:7]}"
    assert (await forge.life.update())["p@m"].message == "copied anew"
    assert forge.life.content() == "2"
    assert await forge.life.updates() == {}


async def test_a_branch_is_only_compared_when_its_server_is_asked(forge: Forge):
    forge.plugin("1")
    forge.market(source={"ref": "main"})
    await forge.life.install("p")
    second = forge.plugin("2")
    assert await forge.life.updates() == {}
    update = (await forge.life.updates(fetch=True))["p@m"]
    assert update.offered_commit == second
    await forge.life.update()
    assert forge.life.content() == "2"
    assert await forge.life.updates(fetch=True) == {}


async def test_a_plugin_below_a_repository_is_known_by_its_commit_too(forge: Forge):
    skill = f"sub/p/{SKILL}"
    text = "---\nname: s\ndescription: d\n---\n1"
    manifest = {f"sub/p/{MANIFEST}": {"name": "p", "version": "1"}}
    first = forge.commit("p.git", {**manifest, skill: text})
    forge.market(source={"source": "git-subdir", "path": "sub/p"})
    await forge.life.install("p")
    assert await forge.life.updates() == {}
    assert (await forge.life.row()).commit == first
    forge.commit("p.git", {skill: text.replace("1", "2")})
    assert list(await forge.life.updates(fetch=True)) == ["p@m"]


async def test_a_newer_commit_with_the_same_content_is_settled_by_an_update(forge: Forge):
    forge.plugin("1")
    forge.market()
    await forge.life.install("p")
    forge.commit("p.git", {})
    assert list(await forge.life.updates(fetch=True)) == ["p@m"]
    forge_outcome = (await forge.life.update("p@m"))["p@m"]
    assert forge_outcome.outcome == "unchanged"
    assert await forge.life.updates(fetch=True) == {}


async def test_the_version_that_the_entry_tells_is_an_offer_until_it_has_been_installed(
    forge: Forge,
):
    forge.plugin("1", "1.0.0")
    forge.market(version="1.0.0")
    await forge.life.install("p")
    forge.market(version="2.0.0")
    update = (await forge.life.updates())["p@m"]
    assert (update.version, update.offered) == ("1.0.0", "2.0.0")
    # The entry promises more than the repository has: that is not told for ever.
    await forge.life.update()
    assert await forge.life.updates() == {}


async def test_a_source_that_has_moved_is_an_update(forge: Forge):
    forge.plugin("1")
    forge.market()
    await forge.life.install("p")
    forge.plugin("2", name="q.git")
    forge.market(source={"url": f"{URL}q.git"})
    assert (await forge.life.updates())["p@m"].reason == "its source has moved"
    await forge.life.update()
    assert forge.life.content() == "2"
    assert await forge.life.updates() == {}


async def test_a_server_that_does_not_answer_is_told_and_holds_up_nobody(forge: Forge):
    forge.market()
    forge.plugin("1")
    await forge.life.install("p")
    (forge.folder / "p.git").rename(forge.folder / "gone.git")
    result = await forge.life.ask(methods.JACKFIELD_PLUGIN_UPDATES, UpdatesParams(fetch=True))
    ((url, why),) = result.faults
    assert url == f"{URL}p.git"
    assert "does not appear to be a git repository" in why
    outcome = (await forge.life.update("p@m"))["p@m"]
    assert outcome.outcome == "failed"
    assert forge.life.content() == "1"


# --- a marketplace in a repository


async def test_an_update_brings_the_marketplace_up_to_date_first(forge: Forge):
    forge.git_market("1")
    await forge.add_git_market()
    forge.git_market("2", "2.0.0")
    assert await forge.life.updates() == {}
    result = await forge.life.ask(methods.JACKFIELD_PLUGIN_UPDATES, UpdatesParams(fetch=True))
    assert result.behind == ("gm",)
    outcome = (await forge.life.update("p@gm", fetch=True))["p@gm"]
    assert outcome.message == "1.0.0 → 2.0.0"
    assert forge.life.content(market="gm") == "2"
    result = await forge.life.ask(methods.JACKFIELD_PLUGIN_UPDATES, UpdatesParams(fetch=True))
    assert (result.behind, result.updates) == ((), ())


async def test_a_source_path_that_moves_in_the_marketplace_is_one_update(forge: Forge):
    forge.git_market("1")
    await forge.add_git_market()
    text = "---\nname: s\ndescription: d\n---\n2"
    forge.commit(
        "mk.git",
        {
            FILE: {"name": "gm", "plugins": [{"name": "p", "source": "./"}]},
            MANIFEST: {"name": "p", "version": "1.0.0"},
            SKILL: text,
        },
    )
    outcome = (await forge.life.update("p@gm", fetch=True))["p@gm"]
    assert outcome.outcome == "updated"
    assert forge.life.content(market="gm") == "2"


async def test_an_upgrade_leaves_pinned_plugins_and_keeps_the_others_former_versions(
    forge: Forge,
):
    forge.git_market("1")
    await forge.add_git_market()
    await forge.life.pin("p@gm")
    row = await forge.life.row("p@gm")
    assert row.codex == "Codex may move this when it starts and its marketplace has news"
    forge.git_market("2", "2.0.0")
    await forge.life.ask(methods.MARKETPLACE_UPGRADE, MarketplaceUpgradeParams())
    assert forge.life.content(market="gm") == "1"
    await forge.life.pin("p@gm", pinned=False)
    forge.git_market("3", "3.0.0")
    await forge.life.ask(methods.MARKETPLACE_UPGRADE, MarketplaceUpgradeParams())
    assert forge.life.content(market="gm") == "3"
    await forge.life.roll_back("p@gm")
    assert forge.life.content(market="gm") == "1"


async def pin_market(forge: Forge, *, pinned: bool) -> Any:
    params = MarketplacePinParams(name="gm", pinned=pinned)
    return await forge.life.ask(methods.JACKFIELD_MARKETPLACE_PIN, params)


async def test_a_marketplace_is_pinned_by_its_ref_which_codex_obeys_too(forge: Forge):
    first = forge.git_market("1")
    await forge.add_git_market()
    before = forge.life.config()
    pinned = await pin_market(forge, pinned=True)
    assert pinned.at == first
    assert f'ref = "{first}"' in forge.life.config()
    row = next(row for row in (await forge.life.rows("marketplaces")).values() if row.name == "gm")
    assert row.pinned
    forge.git_market("2", "2.0.0")
    await forge.life.ask(methods.MARKETPLACE_UPGRADE, MarketplaceUpgradeParams())
    assert await forge.life.updates(fetch=True) == {}
    assert forge.life.content(market="gm") == "1"
    loose = await pin_market(forge, pinned=False)
    assert loose.message == "gm follows its server's default branch again"
    assert forge.life.config() == before
    await forge.life.update(fetch=True)
    assert list(await forge.life.updates()) == []


async def test_only_what_was_pinned_here_is_unpinned(forge: Forge):
    forge.git_market("1")
    await forge.add_git_market()
    with pytest.raises(InvalidRequest, match="marketplace `gm` has not been pinned here"):
        await pin_market(forge, pinned=False)
    params = MarketplacePinParams(name="m", pinned=True)
    with pytest.raises(InvalidRequest, match="not configured as a Git marketplace"):
        await forge.life.ask(methods.JACKFIELD_MARKETPLACE_PIN, params)
