from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from core.errors import CoreError, InternalError, InvalidRequest
from core.plugins.marketplaces.upgrading import RECORD
from tests.core.plugins.install.world import URL, Workshop, git
from tests.core.plugins.world import put, put_market, put_plugin

pytestmark = pytest.mark.anyio
FILE = ".agents/plugins/marketplace.json"
MANIFEST = "plugins/p/.codex-plugin/plugin.json"
needs_git = pytest.mark.needs("git")


def market(name: str = "gm", *plugins: str) -> dict[str, Any]:
    entries = [{"name": plugin, "source": f"./plugins/{plugin}"} for plugin in plugins]
    return {"name": name, "plugins": entries}


def checkout(shop: Workshop, name: str = "gm") -> Path:
    return shop.home.marketplaces_dir / name


def load_json(path: Path) -> Any:
    return json.loads(path.read_text())


async def refused(call: Any) -> CoreError:
    with pytest.raises(CoreError) as caught:
        await call
    return caught.value


# --- directories ---


async def test_a_directory_is_recorded_and_nothing_copied(shop: Workshop):
    root = shop.home.home / "mk"
    put_market(root, name="loc")
    added = await shop.adder.add(str(root))
    assert (added.name, added.root, added.already) == ("loc", str(root), False)
    assert shop.home.config_file.read_text() == (
        f'[marketplaces.loc]\nsource_type = "local"\nsource = "{root}"\n'
    )
    assert list(shop.home.marketplaces_dir.iterdir()) == []


async def test_the_same_directory_again_changes_nothing(shop: Workshop):
    root = shop.home.home / "mk"
    put_market(root, name="loc")
    await shop.adder.add(str(root))
    before = shop.home.config_file.read_bytes()
    (shop.home.home / "link").symlink_to("mk")
    for source in (f"{root}/", "~/mk", "~/link"):
        assert (await shop.adder.add(source)).already
    assert shop.home.config_file.read_bytes() == before


async def test_another_directory_of_the_same_name_is_refused(shop: Workshop):
    for name in ("one", "two"):
        put_market(shop.home.home / name, name="loc")
    await shop.adder.add("~/one")
    error = await refused(shop.adder.add("~/two"))
    assert error.message == (
        "marketplace 'loc' is already added from a different source; "
        "remove it before adding this source"
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "openai-curated",
            "marketplace `openai-curated` is reserved and cannot be added from this source",
        ),
        (
            "a.b",
            "invalid marketplace name: only ASCII letters, digits, `_`, and `-` are allowed",
        ),
    ],
)
async def test_names_that_may_not_be_added(shop: Workshop, name: str, message: str):
    put_market(shop.home.home / "mk", name=name)
    assert (await refused(shop.adder.add("~/mk"))).message == message
    assert not shop.home.config_file.exists()


async def test_a_directory_that_is_no_marketplace_is_refused(shop: Workshop):
    root = shop.home.home / "mk"
    root.mkdir()
    error = await refused(shop.adder.add(str(root)))
    assert error.message == (
        f"invalid marketplace file `{root}`: marketplace root does not contain a supported manifest"
    )
    put(root / FILE, "{bad")
    error = await refused(shop.adder.add(str(root)))
    assert error.message == (
        f"invalid marketplace file `{root}/{FILE}`: key must be a string at line 1 column 2"
    )


async def test_the_products_own_directory_may_carry_its_name(shop: Workshop):
    root = shop.home.bundled_marketplaces_dir / "openai-bundled"
    put_market(root, name="openai-bundled")
    assert (await shop.adder.add(str(root))).name == "openai-bundled"


async def test_a_removed_directory_is_forgotten_and_its_plugins_stay(shop: Workshop):
    root = shop.home.home / "mk"
    put_plugin(root / "plugins/p")
    read = shop.market(root, "p", name="loc")
    await shop.adder.add(str(root))
    await shop.installer.install("loc", read.entries[0])
    assert await shop.remover.remove("loc") is None
    assert shop.tables() == {"plugins": {"p@loc": {"enabled": True}}}
    assert shop.cached() == ["loc/p/local/.codex-plugin/plugin.json"]
    assert (root / FILE).exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("LOC", "marketplace `LOC` does not match configured marketplace `Loc` exactly"),
        ("nope", "marketplace `nope` is not configured or installed"),
        ("", "invalid marketplace name: must not be empty"),
        ("../x", "invalid marketplace name: only ASCII letters, digits, `_`, and `-` are allowed"),
    ],
)
async def test_names_that_cannot_be_removed(shop: Workshop, name: str, message: str):
    put_market(shop.home.home / "mk", name="Loc")
    await shop.adder.add("~/mk")
    error = await refused(shop.remover.remove(name))
    assert isinstance(error, InvalidRequest)
    assert error.message == message


async def test_a_checkout_that_no_configuration_names_can_be_removed(shop: Workshop):
    put_market(checkout(shop, "root"), name="root")
    assert await shop.remover.remove("root") == str(checkout(shop, "root"))
    assert list(shop.home.marketplaces_dir.iterdir()) == []


# --- repositories ---


@needs_git
async def test_a_repository_is_cloned_and_recorded(shop: Workshop):
    shop.repository("mk.git", {FILE: market()}, tag="v1")
    added = await shop.adder.add(f"{URL}mk.git#v1", progress=shop.progress)
    assert (added.name, added.root, added.already) == ("gm", str(checkout(shop)), False)
    source = {"source_type": "git", "source": f"{URL}mk.git", "ref": "v1"}
    assert shop.tables() == {"marketplaces": {"gm": source}}
    assert (checkout(shop) / FILE).exists()
    assert (await shop.adder.add(f"{URL}mk.git/", "v1")).already
    assert shop.leftovers() == []
    assert await shop.remover.remove("gm") == str(checkout(shop))
    assert not checkout(shop).exists()
    assert shop.tables() == {}


@needs_git
async def test_only_some_paths_of_a_repository(shop: Workshop):
    shop.repository("mk.git", {FILE: market(), "other/x": "x"})
    await shop.adder.add(f"{URL}mk.git", None, [".agents"])
    assert sorted(os.listdir(checkout(shop))) == [".agents", ".git"]
    assert shop.tables()["marketplaces"]["gm"]["sparse_paths"] == [".agents"]


@needs_git
async def test_what_is_in_the_place_of_a_checkout_is_not_touched(shop: Workshop):
    shop.repository("mk.git", {FILE: market()})
    put(checkout(shop) / "mine", "x")
    error = await refused(shop.adder.add(f"{URL}mk.git"))
    assert error.message.startswith("marketplace 'gm' is already added from a different source")
    assert os.listdir(checkout(shop)) == ["mine"]
    assert shop.tables() == {}


@needs_git
async def test_failures_of_git_are_internal_errors_here(shop: Workshop):
    error = await refused(shop.adder.add(f"{URL}none.git"))
    assert isinstance(error, InternalError)
    assert error.message.startswith(
        f"git clone {URL}none.git {shop.home.marketplaces_dir}/.staging"
    )
    assert shop.leftovers() == []


@needs_git
async def test_a_clone_that_is_cancelled_leaves_nothing(shop: Workshop):
    shop.repository("mk.git", {FILE: market()})
    with anyio.CancelScope() as scope:
        await shop.adder.add(f"{URL}mk.git", progress=lambda share, note: scope.cancel())
    assert scope.cancelled_caught
    assert shop.leftovers() == []
    assert not checkout(shop).exists()
    assert shop.tables() == {}


@needs_git
async def test_a_configuration_that_cannot_be_written_takes_the_checkout_back(shop: Workshop):
    shop.repository("mk.git", {FILE: market()})
    shop.home.config_file.mkdir(parents=True)
    with pytest.raises(CoreError):
        await shop.adder.add(f"{URL}mk.git")
    assert not checkout(shop).exists()


@needs_git
async def test_an_upgrade_brings_new_content_and_the_installed_plugins_with_it(shop: Workshop):
    files = {FILE: market("gm", "p", "q"), MANIFEST: {"name": "p", "version": "1"}}
    path = shop.repository("mk.git", files)
    await shop.adder.add(f"{URL}mk.git")
    read = shop.market(checkout(shop), "p", "q", name="gm")
    await shop.installer.install("gm", read.entries[0])
    shop.repository("mk.git", {MANIFEST: {"name": "p", "version": "2"}})
    upgraded = await shop.upgrader.upgrade(None)
    assert upgraded.selected == ("gm",)
    assert upgraded.roots == [str(checkout(shop))]
    assert upgraded.errors == []
    assert shop.cached() == [f"gm/p/2/{MANIFEST.removeprefix('plugins/p/')}"]
    assert load_json(checkout(shop) / RECORD) == {
        "source_type": "git",
        "source": f"{URL}mk.git",
        "ref_name": None,
        "sparse_paths": [],
        "revision": git(path, "rev-parse", "HEAD"),
    }
    again = await shop.upgrader.upgrade("gm")
    assert (again.selected, again.roots) == (("gm",), [])
    assert shop.leftovers() == []


@needs_git
async def test_an_upgrade_that_fails_keeps_the_old_checkout(shop: Workshop):
    shop.repository("mk.git", {FILE: market()})
    await shop.adder.add(f"{URL}mk.git")
    shop.repository("mk.git", {FILE: market("other")})
    upgraded = await shop.upgrader.upgrade("gm")
    name = "upgraded marketplace name `other` does not match configured marketplace `gm`"
    assert (upgraded.roots, upgraded.errors) == ([], [("gm", name)])
    shop.repository("mk.git", {FILE: "{bad"})
    upgraded = await shop.upgrader.upgrade("gm")
    assert upgraded.errors[0][1].startswith(
        "failed to validate upgraded marketplace root: invalid marketplace file "
    )
    assert load_json(checkout(shop) / FILE) == market()
    assert shop.leftovers() == []


@needs_git
async def test_one_marketplace_that_fails_does_not_keep_the_next_from_its_upgrade(shop: Workshop):
    for name in ("a", "b"):
        shop.repository(f"{name}.git", {FILE: market(name)})
        await shop.adder.add(f"{URL}{name}.git")
    (shop.repositories / "a.git").rename(shop.repositories / "gone")
    upgraded = await shop.upgrader.upgrade(None)
    assert upgraded.selected == ("a", "b")
    assert [name for name, _ in upgraded.errors] == ["a"]
    assert upgraded.roots == [str(checkout(shop, "b"))]


@needs_git
async def test_a_missing_checkout_is_cloned_by_an_upgrade(shop: Workshop):
    shop.repository("mk.git", {FILE: market()})
    put(
        shop.home.config_file,
        f'[marketplaces.gm]\nsource_type = "git"\nsource = "{shop.repositories}/mk.git"\n',
    )
    upgraded = await shop.upgrader.upgrade("gm")
    assert upgraded.roots == [str(checkout(shop))]
    assert upgraded.errors == []


@pytest.mark.parametrize("name", ["nope", "loc", "a b"])
async def test_what_is_no_git_marketplace_cannot_be_upgraded(shop: Workshop, name: str):
    put_market(shop.home.home / "mk", name="loc")
    await shop.adder.add("~/mk")
    error = await refused(shop.upgrader.upgrade(name))
    assert error.message == f"marketplace `{name}` is not configured as a Git marketplace"
    assert (await shop.upgrader.upgrade(None)).selected == ()


@pytest.mark.needs("git")
async def test_an_upgrade_tells_how_far_the_clone_is(shop: Workshop):
    shop.repository("mk.git", {FILE: {"name": "gm", "plugins": []}})
    await shop.adder.add(f"{URL}mk.git")
    shop.repository("mk.git", {f"more/{number}": str(number) for number in range(50)})
    await shop.upgrader.upgrade("gm", shop.progress)
    shares = [share for share, _ in shop.told if share]
    assert shares and shares == sorted(shares)
    assert any("receiving objects" in note for _, note in shop.told)
