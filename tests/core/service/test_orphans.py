from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from core.errors import InvalidRequest
from core.ports import Deps
from tests.core.plugins.world import put, put_market, put_plugin
from tests.core.service.lifecycle import Life, life_of, local_marketplace

pytestmark = pytest.mark.anyio
CACHE = ".codex/plugins/cache"


@pytest.fixture
async def life(deps: Deps, home: Path) -> AsyncGenerator[Life]:
    async with life_of(deps, home) as made:
        yield made


def configured_only(life: Life) -> None:
    life.configure('[plugins."p@gone"]\nenabled = true')


def cached_only(life: Life) -> None:
    put_plugin(life.home / CACHE / "gone/p/1.0.0", name="p", version="1.0.0")


def both(life: Life) -> None:
    configured_only(life)
    cached_only(life)


def no_longer_offered(life: Life) -> None:
    put_market(life.home, "other", name="gone")
    both(life)


def moved(life: Life) -> None:
    put_market(life.home, "p", name="new")
    both(life)


def bad_key(life: Life) -> None:
    life.configure('[plugins."p"]\nenabled = true')


@pytest.mark.parametrize(
    ("arrange", "id", "kind", "reason", "action"),
    [
        (
            configured_only,
            "p@gone",
            "marketplaceGone",
            "configured, its marketplace is gone",
            "remove its entry",
        ),
        (
            cached_only,
            "p@gone",
            "unconfigured",
            "cached, its marketplace is gone",
            "remove its copy",
        ),
        (
            both,
            "p@gone",
            "marketplaceGone",
            "configured and cached, its marketplace is gone",
            "remove its entry and its copy",
        ),
        (
            no_longer_offered,
            "p@gone",
            "notOffered",
            "configured and cached, no longer offered",
            "remove its entry and its copy",
        ),
        (
            moved,
            "p@gone",
            "moved",
            "configured and cached, now in new",
            "remove its entry and its copy",
        ),
        (bad_key, "p", "badKey", "its key is no PLUGIN@MARKETPLACE", "remove its entry"),
    ],
)
async def test_each_kind_is_a_row_with_one_action_that_can_be_undone(
    life: Life,
    arrange: Callable[[Life], None],
    id: str,
    kind: str,
    reason: str,
    action: str,
):
    life.configure("# mine\n")
    arrange(life)
    before = life.config()
    copies = sorted(str(path) for path in (life.home / CACHE).rglob("*") if path.is_file())
    orphan = (await life.orphans())[id]
    assert (orphan.kind, orphan.reason, orphan.action) == (kind, reason, action)
    row = await life.row(id)
    assert (row.state, row.left_over) == ("leftOver", kind)
    done = await life.clean(id)
    assert id not in await life.orphans()
    assert id not in life.config()
    assert life.config().startswith("# mine\n")
    assert not list((life.home / CACHE).glob("gone/*"))
    await life.undo(done.undo)
    assert life.config() == before
    after = sorted(str(path) for path in (life.home / CACHE).rglob("*") if path.is_file())
    assert after == copies
    assert (await life.orphans())[id].kind == kind


async def test_a_copy_that_nothing_configures_is_left_over_though_it_is_offered(life: Life):
    await life.installed("p")
    path = life.home / ".codex/config.toml"
    path.write_text("")
    orphan = (await life.orphans())["p@m"]
    assert (orphan.kind, orphan.action) == ("unconfigured", "remove its copy")
    row = await life.row()
    assert (row.state, row.reason) == ("available", "an unused copy of 1.0.0 is cached")
    await life.clean("p@m")
    assert (life.versions(), (await life.row()).reason) == ([], "")


async def test_a_checkout_that_nothing_configures_is_left_over(life: Life):
    root = life.home / ".codex/.tmp/marketplaces/gm"
    put_market(root, "p", name="gm")
    orphan = (await life.orphans())["checkout:gm"]
    assert (orphan.kind, orphan.removes, orphan.undo) == ("checkout", (str(root),), False)
    assert (await life.rows("marketplaces"))["checkout:gm"].listed == "leftOver"
    done = await life.clean("checkout:gm")
    assert done.undo is None
    assert not root.exists()
    assert await life.orphans() == {}


async def test_plugins_of_a_marketplace_that_cannot_be_read_are_not_cleaned_up(life: Life):
    market = life.home / "mk"
    put_market(market, "p", name="loc")
    put_plugin(market / "plugins/p", version="1.0.0")
    life.configure(local_marketplace("loc", market))
    await life.install("p", market=market / ".agents/plugins/marketplace.json")
    put(market / ".agents/plugins/marketplace.json", "{")
    orphan = (await life.orphans())["p@loc"]
    assert (orphan.kind, orphan.action) == ("unreadable", "")
    with pytest.raises(InvalidRequest, match="mend or remove the marketplace first"):
        await life.clean("p@loc")
    shutil.rmtree(market)
    assert (await life.orphans())["p@loc"].kind == "unreadable"
    assert life.versions(market="loc") == ["1.0.0"]


async def test_what_a_project_configures_is_not_taken_from_the_user(life: Life, deps: Deps):
    put(deps.cwd / ".git/HEAD", "x")
    put(deps.cwd / ".codex/config.toml", '[plugins."p@gone"]\nenabled = true\n')
    life.configure(f'[projects."{deps.cwd}"]\ntrust_level = "trusted"')
    orphan = (await life.orphans())["p@gone"]
    assert orphan.action == ""
    assert orphan.reason.endswith("project configuration names it")


async def test_what_is_not_left_over_is_not_cleaned_up(life: Life):
    await life.installed("p")
    with pytest.raises(InvalidRequest, match="p@m is not left over"):
        await life.clean("p@m")
    assert life.versions() == ["1.0.0"]


async def test_an_undo_does_not_replace_what_has_been_installed_since(life: Life):
    cached_only(life)
    done = await life.clean("p@gone")
    cached_only(life)
    with pytest.raises(InvalidRequest, match="p@gone has been installed again since"):
        await life.undo(done.undo)


async def test_nothing_is_pruned_by_itself(life: Life):
    both(life)
    for _ in range(2):
        await life.orphans()
        await life.updates()
    assert "p@gone" in life.config()
    assert life.versions(market="gone") == ["1.0.0"]
