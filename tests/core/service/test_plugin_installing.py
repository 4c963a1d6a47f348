"""Installing with consent, uninstalling with a way back, marketplaces that come and go."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from core import method_table as methods
from core.errors import CoreError
from core.ports import Deps
from core.protocol.events import OperationProgress
from core.protocol.jackfield import IdParams, NoParams, UndoParams
from core.protocol.jackfield_install import (
    Compatibility,
    CompatibilityParams,
    KindState,
    MarketplaceRemoveParams,
    PluginInstalled,
    PluginInstallParams,
    PluginTrustParams,
    SourceParams,
    SourceRead,
    UsedPart,
)
from core.service.late import PLUGIN_METHODS
from core.service.market_changes import MarketChanges, other_form
from core.service.plugin_installing import PluginInstalling
from core.service.plugin_trust import PluginTrust
from tests.core.plugins.install.world import URL, workshop
from tests.core.plugins.world import put, put_market, put_plugin
from tests.core.service.opened import Opened, opened

pytestmark = pytest.mark.anyio
LINE = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "bash guard.sh"}]}]}}


def write_plugin(root: Path, *, script: str = "echo", argument: str = "1") -> None:
    files: dict[str, Any] = {
        "hooks/hooks.json": LINE,
        "guard.sh": script,
        ".mcp.json": {
            "local": {"command": "/bin/true", "args": [argument]},
            "far": {"url": "https://mcp.example/mcp"},
        },
    }
    put_plugin(root, files, version="1.0.0")


class Desk:
    """A panel's core over a home with a marketplace `m` that has a plugin `p`."""

    def __init__(self, deps: Deps, core: Opened) -> None:
        self.core, self.deps = core, deps
        self.home = Path(deps.environ["HOME"])
        self.market = self.home / "mk/.agents/plugins/marketplace.json"
        self.config = self.home / ".codex/config.toml"

    def tables(self) -> dict[str, Any]:
        return tomllib.loads(self.config.read_text())

    async def look(self) -> Compatibility:
        params = CompatibilityParams(marketplace_path=str(self.market), plugin_name="p")
        return await self.core.client.call(methods.JACKFIELD_PLUGIN_COMPATIBILITY, params)

    async def install(self, agreed: list[UsedPart], declined: list[UsedPart]) -> PluginInstalled:
        params = PluginInstallParams(
            marketplace_path=str(self.market),
            plugin_name="p",
            agreed=tuple(part.id for part in agreed),
            declined=tuple(part.id for part in declined),
        )
        return await self.core.client.call(methods.JACKFIELD_PLUGIN_INSTALL, params)

    async def undo(self, token: str | None) -> str:
        assert token is not None
        result = await self.core.client.call(methods.JACKFIELD_UNDO, UndoParams(token=token))
        return result.message

    async def servers(self) -> dict[str, str]:
        rows = await self.core.by_id("servers")
        return {name: row.status for name, row in rows.items()}


@pytest.fixture
def user(deps: Deps) -> Path:
    root = Path(deps.environ["HOME"])
    put_market(root / "mk", "p")
    write_plugin(root / "mk/plugins/p")
    table = f'[marketplaces.m]\nsource_type = "local"\nsource = {json.dumps(str(root / "mk"))}\n'
    put(root / ".codex/config.toml", f"# mine\n{table}")
    return root


def named(seen: Compatibility) -> dict[str, UsedPart]:
    return {part.name.split()[0]: part for part in seen.programs}


async def test_nothing_is_agreed_to_before_anybody_was_asked(deps: Deps, user: Path):
    async with opened(deps) as core:
        seen = await Desk(deps, core).look()
    assert {part.standing for part in seen.programs} == {"new"}
    assert not (deps.state_dir / "consents.json").exists()


async def test_what_was_agreed_to_starts_and_what_was_declined_is_switched_off(
    deps: Deps, user: Path
):
    async with opened(deps) as core:
        await core.start()
        desk = Desk(deps, core)
        parts = named(await desk.look())
        done = await desk.install([parts["stop"], parts["local"]], [parts["far"]])
        statuses = await desk.servers()
        again = named(await desk.look())
    assert done.unseen == ()
    assert done.message == "p 1.0.0 is installed"
    assert statuses["far"] == "disabled"
    assert statuses["local"] != "review"
    table = desk.tables()["plugins"]["p@m"]
    assert table == {"enabled": True, "mcp_servers": {"far": {"enabled": False}}}
    assert desk.config.read_text().startswith("# mine\n")
    assert {name: part.standing for name, part in again.items()} == {
        "stop": "agreed",
        "local": "agreed",
        "far": "declined",
    }


async def test_a_declined_hook_is_switched_off_by_its_key(deps: Deps, user: Path):
    async with opened(deps) as core:
        desk = Desk(deps, core)
        parts = named(await desk.look())
        await desk.install([], [parts["stop"]])
    state = desk.tables()["hooks"]["state"]
    assert state == {"p@m:hooks/hooks.json:stop:0:0": {"enabled": False}}


async def test_a_program_that_nobody_has_seen_waits(deps: Deps, user: Path):
    async with opened(deps) as core:
        await core.start()
        desk = Desk(deps, core)
        parts = named(await desk.look())
        write_plugin(user / "mk/plugins/p", argument="2")
        done = await desk.install([parts["local"], parts["far"]], [])
        statuses = await desk.servers()
    assert done.unseen == ("stop hooks/hooks.json:stop:0:0", "local")
    assert "local waits for your review" in done.message
    assert statuses["local"] == "review"


async def test_a_script_that_changes_makes_its_hook_changed(deps: Deps, user: Path):
    async with opened(deps) as core:
        desk = Desk(deps, core)
        parts = named(await desk.look())
        await desk.install(list(parts.values()), [])
        put(user / ".codex/plugins/cache/m/p/1.0.0/guard.sh", "rm -rf /")
        changed = named(await desk.look())
    assert changed["stop"].standing == "changed"
    (was,) = changed["stop"].was
    assert was.startswith("file guard.sh sha256 ")
    assert changed["stop"].since > 0
    assert changed["local"].standing == "agreed"


async def test_agreeing_later_takes_the_switch_away_again(deps: Deps, user: Path):
    async with opened(deps) as core:
        desk = Desk(deps, core)
        parts = named(await desk.look())
        await desk.install([], list(parts.values()))
        agreed = tuple(part.id for part in parts.values())
        params = PluginTrustParams(plugin_id="p@m", agreed=agreed)
        await core.client.call(methods.JACKFIELD_PLUGIN_TRUST, params)
        again = await desk.look()
    servers = desk.tables()["plugins"]["p@m"].get("mcp_servers", {})
    assert not any("enabled" in table for table in servers.values())
    assert {part.standing for part in again.programs} == {"agreed"}


async def test_an_uninstall_can_be_undone_byte_for_byte(deps: Deps, user: Path):
    async with opened(deps) as core:
        desk = Desk(deps, core)
        await desk.install([], [])
        before, copy = desk.config.read_text(), user / ".codex/plugins/cache/m/p/1.0.0"
        files = sorted(path.relative_to(copy) for path in copy.rglob("*"))
        removed = await core.client.call(methods.JACKFIELD_PLUGIN_UNINSTALL, IdParams(id="p@m"))
        assert not copy.exists()
        assert "plugins" not in desk.tables()
        assert removed.message == "p is uninstalled"
        assert await desk.undo(removed.undo) == "p@m is installed again, as it was"
    assert sorted(path.relative_to(copy) for path in copy.rglob("*")) == files
    assert tomllib.loads(before) == desk.tables()


async def test_read_only_refuses_before_anything_happens(deps: Deps, user: Path):
    from dataclasses import replace

    async with opened(replace(deps, read_only=True)) as core:
        desk = Desk(deps, core)
        with pytest.raises(CoreError, match="read-only"):
            await desk.install([], [])
        assert core.of(OperationProgress) == []


async def test_removing_a_marketplace_may_keep_or_take_its_plugins(deps: Deps, user: Path):
    async with opened(deps) as core:
        await core.start()
        desk = Desk(deps, core)
        await desk.install([], [])
        await core.refresh("plugins")
        call = core.client.call
        kept = await call(methods.JACKFIELD_MARKETPLACE_REMOVE, MarketplaceRemoveParams(name="m"))
        assert (kept.message, kept.lasting) == ("m is removed", "")
        assert "p@m" in desk.tables()["plugins"]
        assert await desk.undo(kept.undo) == "m is there again, as it was"
        await core.refresh("plugins")
        gone = await call(
            methods.JACKFIELD_MARKETPLACE_REMOVE, MarketplaceRemoveParams(name="m", plugins=True)
        )
        assert gone.message == "m is removed, with 1 of its plugins"
        assert not {"plugins", "marketplaces"} & desk.tables().keys()
        await desk.undo(gone.undo)
    assert "p@m" in desk.tables()["plugins"]
    assert (user / ".codex/plugins/cache/m/p/1.0.0").is_dir()


async def test_a_marketplace_that_nobody_names_cannot_be_removed(deps: Deps, user: Path):
    async with opened(deps) as core:
        params = MarketplaceRemoveParams(name="zz")
        with pytest.raises(CoreError, match="`zz` is not configured"):
            await core.client.call(methods.JACKFIELD_MARKETPLACE_REMOVE, params)


async def source(core: Opened, text: str, ref: str | None = None) -> SourceRead:
    params = SourceParams(source=text, ref_name=ref)
    return await core.client.call(methods.JACKFIELD_MARKETPLACE_SOURCE, params)


async def test_what_is_typed_is_read_at_once(deps: Deps, user: Path):
    put_market(user / "other", name="m")
    async with opened(deps) as core:
        short = await source(core, "acme/tools", "main")
        assert (short.kind, short.place) == ("git", "https://github.com/acme/tools.git#main")
        assert short.other == "git@github.com:acme/tools.git"
        secret = await source(core, "https://me:pa55@git.example/x.git")
        assert "pa55" not in secret.place
        folder = await source(core, "~/mk")
        assert (folder.kind, folder.place, folder.name) == ("local", str(user / "mk"), "m")
        assert (folder.fault, folder.taken) == ("", "")
        assert (await source(core, "~/other")).taken == str(user / "mk")
        nothing = await source(core, "~")
        assert nothing.fault.startswith("invalid marketplace source format")
        empty = await source(core, str(user / ".codex"))
        assert "does not contain a supported manifest" in empty.fault


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("https://h.test/a/b.git", "git@h.test:a/b.git"),
        ("https://u:p@h.test:8443/a/b", "git@h.test:a/b"),
        ("git@h.test:a/b.git", "https://h.test/a/b.git"),
        ("ssh://git@h.test:22/a/b.git", "https://h.test/a/b.git"),
        ("file:///srv/x", ""),
    ],
)
def test_git_has_another_form(url: str, other: str):
    assert other_form(url) == other


async def kinds_of(core: Opened) -> dict[str, KindState]:
    result = await core.client.call(methods.JACKFIELD_MARKETPLACE_KINDS, NoParams())
    return {one.kind: one for one in result.kinds}


async def test_each_kind_says_the_first_condition_that_fails(deps: Deps, user: Path):
    async with opened(deps) as core:
        kinds = await kinds_of(core)
        assert kinds["local"].shown
        assert kinds["workspace-directory"].why == "not signed in with ChatGPT"
        assert kinds["vertical"].why == "the remote catalogue takes its place"
        with (user / ".codex/config.toml").open("a") as file:
            file.write("[features]\nremote_plugin = false\n")
        kinds = await kinds_of(core)
    off = kinds["remote"]
    assert off.why == "the feature remote_plugin is off"
    assert off.evidence.file == str(user / ".codex/config.toml")
    assert off.evidence.line == 6
    assert kinds["vertical"].why == "not signed in with ChatGPT"


@pytest.mark.needs("git")
async def test_a_git_marketplace_comes_back_with_its_checkout(deps: Deps, tmp_path: Path):
    async with workshop(deps, tmp_path) as shop:
        shop.repository(
            "mk.git", {".agents/plugins/marketplace.json": {"name": "g", "plugins": []}}
        )
        await shop.adder.add(f"{URL}mk.git")
        await shop.deps.clock.sleep(1)
        checkout = shop.home.marketplaces_dir / "g"
        async with opened(shop.deps) as core:
            removed = await core.client.call(
                methods.JACKFIELD_MARKETPLACE_REMOVE, MarketplaceRemoveParams(name="g")
            )
            assert removed.lasting.startswith("its checkout is deleted")
            assert not checkout.exists()
            await Desk(shop.deps, core).undo(removed.undo)
        assert (checkout / ".agents/plugins/marketplace.json").is_file()


def test_the_methods_named_as_late_are_all_of_these_services():
    services = (PluginTrust, PluginInstalling, MarketChanges)
    found = {name for kind in services for name in kind.handlers(kind.__new__(kind))}
    assert found == set(PLUGIN_METHODS)
