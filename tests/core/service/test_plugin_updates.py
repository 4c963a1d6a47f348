from __future__ import annotations

import json
import stat
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from core import method_table as methods
from core.errors import CoreError, InvalidRequest
from core.plugins.install import putting
from core.ports import Deps
from core.protocol.events import OperationProgress
from core.protocol.jackfield import IdParams
from core.protocol.jackfield_plugins import UpdateParams
from tests.core.plugins.world import put_market, put_plugin
from tests.core.service.lifecycle import SKILL, Life, life_of

pytestmark = pytest.mark.anyio


@pytest.fixture
async def life(deps: Deps, home: Path) -> AsyncGenerator[Life]:
    async with life_of(deps, home) as made:
        yield made


# --- what could be updated


async def test_another_version_is_an_update(life: Life):
    await life.installed("p", "q")
    assert await life.updates() == {}
    life.source("p", version="1.1.0")
    update = (await life.updates())["p@m"]
    assert (update.version, update.offered, update.changed) == ("1.0.0", "1.1.0", False)
    row = await life.row()
    assert (row.state, row.version, row.offered, row.newer) == ("update", "1.0.0", "1.1.0", True)


async def test_other_content_under_the_same_version_is_told_with_its_files(life: Life):
    await life.installed("p")
    life.source("p", "2", version="1.0.0")
    update = (await life.updates())["p@m"]
    assert (update.version, update.offered, update.changed) == ("1.0.0", "1.0.0", True)
    assert update.files == (SKILL,)
    row = await life.row()
    assert (row.state, row.changed, row.newer) == ("update", True, False)
    life.source("p", "1", version="1.0.0")
    assert await life.updates() == {}
    assert (await life.row()).state == "enabled"


async def test_files_that_a_copy_in_use_has_grown_are_no_change(life: Life):
    await life.installed("p")
    copy = life.home / ".codex/plugins/cache/m/p/1.0.0"
    put_plugin(copy / "node_modules/x")
    (copy / "__pycache__").mkdir()
    (copy / "__pycache__/a.pyc").write_bytes(b"x")
    assert await life.updates() == {}


async def test_a_disabled_plugin_has_updates_too(life: Life):
    await life.installed("p")
    path = life.home / ".codex/config.toml"
    path.write_text(path.read_text().replace("true", "false"))
    life.source("p", version="2.0.0")
    assert list(await life.updates()) == ["p@m"]
    row = await life.row()
    assert (row.state, row.newer, row.offered) == ("disabled", True, "2.0.0")
    await life.update()
    assert life.versions() == ["2.0.0"]
    assert "enabled = false" in life.config()


# --- updating


async def test_all_are_updated_and_one_that_fails_does_not_stop_the_others(life: Life):
    await life.installed("a", "b", "c", "d")
    for name in ("a", "c"):
        life.source(name, "2", version="2.0.0")
    life.source("b", "2", version="bad version")
    outcomes = await life.update()
    assert {id: one.outcome for id, one in outcomes.items()} == {
        "a@m": "updated",
        "b@m": "failed",
        "c@m": "updated",
    }
    assert outcomes["a@m"].message == "1.0.0 → 2.0.0"
    assert outcomes["b@m"].message.startswith("invalid plugin version")
    assert [life.versions(name) for name in "abcd"] == [["2.0.0"], ["1.0.0"], ["2.0.0"], ["1.0.0"]]


async def test_changed_content_is_copied_anew_under_its_version(life: Life):
    await life.installed("p")
    life.source("p", "2", version="1.0.0")
    assert (await life.update("p@m"))["p@m"].message == "copied anew"
    assert life.content() == "2"
    assert (await life.row()).state == "enabled"


async def test_what_is_the_newest_already_is_left_alone(life: Life):
    await life.installed("p")
    copy = life.home / ".codex/plugins/cache/m/p/1.0.0"
    before = copy.stat().st_ino
    outcomes = await life.update("p@m", "nope@m")
    assert {id: one.outcome for id, one in outcomes.items()} == {
        "p@m": "unchanged",
        "nope@m": "failed",
    }
    assert copy.stat().st_ino == before
    assert (await life.row()).before is None


async def test_progress_is_told_for_each_plugin(life: Life):
    await life.installed("p")
    life.source("p", version="2.0.0")
    told: list[tuple[str, str, str]] = []
    async with life.client.subscribe() as events:
        await life.update()
        with anyio.fail_after(5):
            async for event in events:
                if isinstance(event, OperationProgress):
                    told.append((event.verb, event.subject, event.state))
                    if event.state == "done":
                        break
    assert set(told) == {("update", "p@m", "running"), ("update", "p@m", "done")}


async def test_a_cancelled_update_leaves_the_old_copy(life: Life, monkeypatch: pytest.MonkeyPatch):
    await life.installed("p", "q")
    for name in ("p", "q"):
        life.source(name, "2", version="2.0.0")
    real, begun = putting.copy_tree, anyio.Event()

    def slow(source: str, target: str, **more: object) -> None:
        if "/p/" in target:
            anyio.from_thread.run_sync(begun.set)
            while True:
                anyio.from_thread.check_cancelled()
        real(source, target, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(putting, "copy_tree", slow)
    async with anyio.create_task_group() as tasks:
        with anyio.fail_after(5):
            outcomes: list[object] = []

            async def run() -> None:
                result = await life.ask(methods.JACKFIELD_PLUGIN_UPDATE, UpdateParams())
                outcomes.extend(one.outcome for one in result.outcomes)

            tasks.start_soon(run)
            await begun.wait()
            await life.ask(methods.JACKFIELD_OPERATION_CANCEL, IdParams(id="p@m"))
    assert outcomes == ["cancelled", "updated"]
    assert (life.versions("p"), life.versions("q")) == (["1.0.0"], ["2.0.0"])
    assert not list((life.home / ".codex/plugins/cache/m").glob("plugin-install-*"))


async def test_nothing_runs_on_what_is_to_be_cancelled(life: Life):
    with pytest.raises(InvalidRequest, match="nothing runs on p@m"):
        await life.ask(methods.JACKFIELD_OPERATION_CANCEL, IdParams(id="p@m"))


# --- pins


async def test_a_pinned_plugin_is_left_out_and_its_row_says_what_codex_does(life: Life):
    await life.installed("p", "q")
    for name in ("p", "q"):
        life.source(name, version="2.0.0")
    pinned = await life.pin()
    move = "Codex will move this to 2.0.0 at its next list"
    assert (pinned.pinned, pinned.at, pinned.codex) == (True, "1.0.0", move)
    row = await life.row()
    assert (row.state, row.reason, row.pinned, row.codex) == ("enabled", "pinned", "1.0.0", move)
    outcomes = await life.update()
    assert (outcomes["p@m"].outcome, outcomes["p@m"].message) == ("skipped", "pinned at 1.0.0")
    assert (await life.update("p@m"))["p@m"].outcome == "skipped"
    assert (life.versions("p"), life.versions("q")) == (["1.0.0"], ["2.0.0"])
    await life.pin(pinned=False)
    assert (await life.update())["p@m"].outcome == "updated"


async def test_pins_are_kept_in_a_private_file_of_our_own(life: Life, deps: Deps):
    await life.installed("p")
    await life.pin()
    (file,) = deps.state_dir.glob("plugins-*.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    book = json.loads(file.read_text())
    assert book["schemaVersion"] == 1
    assert book["pins"]["p@m"]["version"] == "1.0.0"
    assert "pin" not in life.config()


async def test_what_is_not_installed_cannot_be_pinned(life: Life):
    put_market(life.home, "p")
    with pytest.raises(InvalidRequest, match="p@m is not installed"):
        await life.pin()


# --- the way back


async def test_a_rollback_restores_the_former_copy_and_pins_it(life: Life):
    await life.installed("p")
    life.source("p", "2", version="2.0.0")
    await life.update()
    assert (await life.row()).before == "1.0.0"
    back = await life.roll_back()
    assert (back.version, back.before) == ("1.0.0", "2.0.0")
    assert back.message == (
        "p is 1.0.0 again, and pinned; Codex will move this to 2.0.0 at its next list"
    )
    assert (life.versions(), life.content()) == (["1.0.0"], "1")
    row = await life.row()
    assert (row.state, row.pinned, row.before) == ("enabled", "1.0.0", "2.0.0")
    await life.roll_back()
    assert (life.versions(), life.content()) == (["2.0.0"], "2")


async def test_a_rollback_under_the_same_version_brings_the_old_content_back(life: Life):
    await life.installed("p")
    life.source("p", "2", version="1.0.0")
    await life.update()
    await life.roll_back()
    assert (life.versions(), life.content()) == (["1.0.0"], "1")


async def test_the_last_three_former_versions_are_kept(life: Life, deps: Deps):
    await life.installed("p")
    for number in range(2, 7):
        life.source("p", str(number), version=f"{number}.0.0")
        await life.update()
    kept = sorted(path.name.partition("-")[2] for path in deps.state_dir.glob("*/*/m/p/*"))
    assert kept == ["3.0.0", "4.0.0", "5.0.0"]
    await life.roll_back(version="3.0.0")
    assert life.content() == "3"
    with pytest.raises(InvalidRequest, match=r"no version 1\.0\.0 of p@m is kept"):
        await life.roll_back(version="1.0.0")


async def test_an_install_over_an_installed_plugin_can_be_rolled_back_too(life: Life):
    await life.installed("p")
    life.source("p", "2", version="2.0.0")
    await life.install("p")
    await life.roll_back()
    assert life.content() == "1"


async def test_there_is_no_way_back_without_a_former_version(life: Life):
    await life.installed("p")
    with pytest.raises(InvalidRequest, match="no former version of p@m is kept"):
        await life.roll_back()
    with pytest.raises(InvalidRequest, match="q@m is not installed"):
        await life.roll_back("q@m")


async def test_a_read_only_core_updates_nothing(deps: Deps, home: Path):
    async with life_of(replace(deps, read_only=True), home) as life:
        for call in (life.update(), life.roll_back(), life.clean("p@m")):
            with pytest.raises(CoreError, match="Jackfield runs read-only"):
                await call
