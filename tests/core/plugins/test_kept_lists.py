"""Lists that are kept: the same answer for less, and never an old one."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from core.plugins import kept_lists, listing
from core.plugins.listing import Found
from tests.core.plugins.world import World, put, put_market, put_plugin

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _files_are_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a test are younger than what is kept otherwise."""
    monkeypatch.setattr(kept_lists, "OLD_ENOUGH", -1_000_000_000)


@pytest.fixture
def market(world: World) -> Path:
    root = world.user / "market"
    put_market(root, "one", "two")
    for name in ("one", "two"):
        put_plugin(root / "plugins" / name, version="1.0.0")
    world.add_market(root, "m")
    return root


async def listed(world: World) -> tuple[Found, dict[str, Any]]:
    """As the service lists, and keeps what it has listed."""
    with anyio.fail_after(10):
        found = await world.lists.read(None, kept=True)
    answer = json.loads(found.encoded({}))
    world.lists.keep(found)
    return found, answer


def anew(world: World) -> World:
    """The same home in another process."""
    return World(world.deps)


def was_kept(found: Found) -> bool:
    return [read.later is not None for read in found.reads] == [True]


def plugins(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in answer["marketplaces"][0]["plugins"]}


async def test_the_next_process_gives_the_same_answer_without_reading(
    world: World, market: Path, monkeypatch: pytest.MonkeyPatch
):
    _, first = await listed(world)
    other = anew(world)

    def read(*args: Any, **more: Any) -> None:
        raise AssertionError("a file was read")

    monkeypatch.setattr(listing, "load", read)
    found, second = await listed(other)
    assert was_kept(found)
    assert second == first


def _edit(market: Path) -> None:
    put_plugin(market / "plugins" / "one", version="2.0.0")


def _edit_as_if_old(market: Path) -> None:
    path = market / "plugins" / "one" / ".codex-plugin" / "plugin.json"
    before = path.stat()
    path.write_text(path.read_text().replace("1.0.0", "2.0.0"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _remove(market: Path) -> None:
    shutil.rmtree(market / "plugins" / "one")


def _hide_by_an_earlier_one(market: Path) -> None:
    schema = "https://agent-plugins.org/schemas/1/plugin.json"
    put(market / "plugins" / "one" / "plugin.json", {"$schema": schema, "name": "x"})


def _edit_the_market(market: Path) -> None:
    put_market(market, "two")


def _rename_the_folder(market: Path) -> None:
    folder = market / "plugins" / "one"
    (folder / ".codex-plugin").rename(folder / ".cursor-plugin")


@pytest.mark.parametrize(
    "change",
    [
        _edit,
        _edit_as_if_old,
        _remove,
        _hide_by_an_earlier_one,
        _edit_the_market,
        _rename_the_folder,
    ],
)
async def test_a_change_of_any_file_is_seen(
    world: World, market: Path, change: Callable[[Path], None]
):
    await listed(world)
    change(market)
    for asked in (world, anew(world)):
        found, answer = await listed(asked)
        assert answer == json.loads((await anew(world).lists.read(None)).encoded({}))
        assert not was_kept(found) or asked is not world


async def test_a_switch_is_seen(world: World, market: Path):
    await listed(world)
    world.install("one@m")
    world.switch("one@m")
    found, answer = await listed(anew(world))
    assert not was_kept(found)
    assert plugins(answer)["one"]["installed"]
    assert plugins(answer)["one"]["enabled"]


async def test_a_file_that_changes_while_it_is_read_is_not_kept(
    world: World, market: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(kept_lists, "OLD_ENOUGH", 50_000_000)
    with anyio.fail_after(10):
        found = await world.lists.read(None, kept=True)
    found.encoded({})
    found.reads[0].began -= 3_600_000_000_000  # before the files were made
    world.lists.keep(found)
    again, _ = await listed(world)
    assert not was_kept(again)


async def test_a_damaged_file_is_deleted_and_means_nothing(world: World, market: Path):
    _, first = await listed(world)
    (file,) = (world.deps.cache_dir / "lists").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_bytes(b"\x93\x01")
    other = anew(world)
    with anyio.fail_after(10):
        found = await other.lists.read(None, kept=True)
    assert not file.exists()
    assert json.loads(found.encoded({})) == first


async def test_a_list_of_another_version_means_nothing(
    world: World, market: Path, monkeypatch: pytest.MonkeyPatch
):
    await listed(world)
    monkeypatch.setattr(kept_lists, "VERSION", "0.0.0-other")
    found, _ = await listed(anew(world))
    assert not was_kept(found)


async def test_offers_of_a_kept_list_are_read_when_they_are_asked_for(world: World, market: Path):
    await listed(world)
    found, _ = await listed(anew(world))
    assert was_kept(found)
    assert [offer.entry.name for offer in found.reads[0].offers] == ["one", "two"]


async def test_nothing_is_put_into_the_codex_home(world: World, market: Path):
    before = sorted(world.home.codex_home.rglob("*"))
    await listed(world)
    assert sorted(world.home.codex_home.rglob("*")) == before
