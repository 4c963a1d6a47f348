"""Keys on the Marketplaces tab, over a real core and a real home."""

from __future__ import annotations

import json
import socket
import tomllib
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.lowlevel
import pytest

from core.compose import open_core
from core.ports import Deps
from tests.core.plugins.install.world import URL, workshop
from tests.core.plugins.world import put, put_market, put_plugin
from tests.tui.panel import NARROW, WIDE, Panel
from tui.app import JackfieldApp
from tui.screens.add_marketplace import AddMarketplace
from tui.screens.kinds import KindsSheet
from tui.screens.trust import TrustSheet
from tui.widgets.confirm import Confirm
from tui.widgets.page_view import PageView

pytestmark = pytest.mark.anyio
HOSTILE = "\x1b[2J\u202egnp.exe"
SKILL = {"skills/look/SKILL.md": "---\nname: look\ndescription: Looks twice\n---\n"}
STOP = {"Stop": [{"hooks": [{"type": "command", "command": f"echo {HOSTILE}"}]}]}


class Patient(Panel):
    """Real processes and disks answer when they can."""

    async def until(self, condition: Callable[[], Any]) -> None:
        with anyio.fail_after(20):
            while not condition():
                await self.pilot.pause()
                await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def at_home(
    deps: Deps, *, size: tuple[int, int] = WIDE, **options: Any
) -> AsyncGenerator[Panel]:
    async with open_core(deps) as core:
        client = core.client()

        async def connect() -> Any:
            return client

        app = JackfieldApp(connect, **options)
        app.animation_level = "none"
        async with app.run_test(size=size, notifications=True) as pilot:
            panel = Patient(app, pilot, cast("Any", client))
            await panel.until(lambda: app.controller is not None and app.store.plugins.settled)
            yield panel


@pytest.fixture
def user(deps: Deps) -> Path:
    """A home with a marketplace `m` of three plugins: one with programs, two with a skill."""
    root = Path(deps.environ["HOME"])
    market = root / "mk"
    put_market(market, "guard", "one", "two")
    files = {
        **SKILL,
        "hooks/hooks.json": {"hooks": STOP},
        ".mcp.json": {"srv": {"command": "/bin/true", "env": {"TOKEN": "s3cret"}}},
        "agents/a.md": "x",
    }
    put_plugin(market / "plugins/guard", files, version="2.1.0")
    for name in ("one", "two"):
        put_plugin(market / f"plugins/{name}", dict(SKILL), version="1.0.0")
    table = f'[marketplaces.m]\nsource_type = "local"\nsource = {json.dumps(str(market))}\n'
    put(root / ".codex/config.toml", table)
    return root


def tables(user: Path) -> dict[str, Any]:
    return tomllib.loads((user / ".codex/config.toml").read_text())


async def on(p: Panel, key: str) -> None:
    await p.until(lambda: p.pane.list.move_to(key))
    await p.pilot.pause()


async def sheet(p: Panel, kind: type[Any]) -> Any:
    await p.until(lambda: isinstance(p.app.screen, kind) and p.app.screen.is_mounted)
    await p.pilot.pause()
    return p.app.screen


def said(screen: Any) -> str:
    lines: list[str] = []
    for view in screen.query(PageView):
        lines += view.page.text_lines
    return "\n".join(line.rstrip() for line in lines)


async def test_a_plugin_is_installed_after_its_programs_were_shown(deps: Deps, user: Path):
    async with at_home(deps) as p:
        await on(p, "plugin:guard@m")
        assert "i install" in p.keys
        await p.press("i")
        page = await sheet(p, TrustSheet)
        text = said(page)
        assert "echo ␛[2J⟨U+202E⟩gnp.exe" in text
        assert "\x1b" not in text and "\u202e" not in text
        assert "/bin/true" in text
        assert "gets TOKEN" in text and "s3cret" not in text
        assert "1 agent: a" in text
        assert not (user / ".codex/plugins").exists()
        await p.press("right", "enter")
        await p.toast("guard 2.1.0 is installed")
        await p.until(lambda: "enabled" in p.line("guard") or "review" in p.line("guard"))
        assert p.pane.selected == "plugin:guard@m"
    assert tables(user)["plugins"] == {"guard@m": {"enabled": True}}


async def test_cancel_has_the_focus_and_leaves_everything_as_it_was(deps: Deps, user: Path):
    before = (user / ".codex/config.toml").read_bytes()
    async with at_home(deps, size=NARROW) as p:
        await on(p, "plugin:guard@m")
        await p.press("i")
        await sheet(p, TrustSheet)
        await p.press("enter")
        await p.until(lambda: len(p.app.screen_stack) == 1)
    assert (user / ".codex/config.toml").read_bytes() == before
    assert not (user / ".codex/plugins").exists()


async def test_what_is_not_ticked_is_installed_and_switched_off(deps: Deps, user: Path):
    async with at_home(deps) as p:
        await on(p, "plugin:guard@m")
        await p.press("i")
        page = await sheet(p, TrustSheet)
        for tick in page.query("Tick"):
            tick.action_tick()
        await p.press("right", "enter")
        await p.toast("guard 2.1.0 is installed")
    written = tables(user)
    assert written["plugins"]["guard@m"]["mcp_servers"] == {"srv": {"enabled": False}}
    assert list(written["hooks"]["state"].values()) == [{"enabled": False}]


async def test_marked_rows_are_installed_and_removed_in_one_go(deps: Deps, user: Path):
    async with at_home(deps) as p:
        await on(p, "plugin:one@m")
        await p.press("b", "b")
        assert "✓ one" in p.line("one") and "✓ two" in p.line("two")
        assert "i install 2" in p.keys
        await p.press("i")
        page = await sheet(p, TrustSheet)
        assert "nothing of it runs by itself" in said(page)
        await p.press("right", "enter")
        await p.toast("2 plugins installed")
        await p.until(lambda: "enabled" in p.line("one") and "enabled" in p.line("two"))
        assert not p.pane.view.marked  # type: ignore[attr-defined]
        await on(p, "plugin:one@m")
        await p.press("b", "b", "x")
        await sheet(p, Confirm)
        await p.press("right", "enter")
        await p.toast("2 plugins uninstalled")
        await p.until(lambda: "available" in p.line("one"))
        assert "plugins" not in tables(user)
        await p.press("z")
        await p.toast("Undone: two@m")
    assert tables(user)["plugins"] == {"two@m": {"enabled": True}}


async def test_escape_takes_the_marks_away_first(deps: Deps, user: Path):
    async with at_home(deps) as p:
        await on(p, "plugin:one@m")
        await p.press("b", "escape")
        assert "✓" not in p.line("one")


async def test_an_uninstall_says_what_is_written_and_can_be_undone(deps: Deps, user: Path):
    async with at_home(deps) as p:
        await on(p, "plugin:one@m")
        await p.press("i")
        await sheet(p, TrustSheet)
        await p.press("right", "enter")
        await p.until(lambda: "enabled" in p.line("one"))
        await p.press("x")
        page = await sheet(p, Confirm)
        text = " ".join(said(page).split())
        assert '[plugins."one@m"] goes from ~/.codex/config.toml' in text
        await p.press("right", "enter")
        await p.toast("one is uninstalled")
        await p.until(lambda: "available" in p.line("one"))
        await p.press("z")
        await p.until(lambda: "enabled" in p.line("one"))
    assert (user / ".codex/plugins/cache/m/one/1.0.0").is_dir()


async def test_space_shows_new_programs_before_it_turns_a_plugin_on(deps: Deps, user: Path):
    copy = user / ".codex/plugins/cache/m/guard/2.1.0"
    put_plugin(copy, {".mcp.json": {"srv": {"command": "/bin/true"}}}, name="guard")
    with (user / ".codex/config.toml").open("a") as file:
        file.write('[plugins."guard@m"]\nenabled = false\n')
    async with at_home(deps) as p:
        await on(p, "plugin:guard@m")
        await p.press("space")
        page = await sheet(p, TrustSheet)
        assert "/bin/true" in said(page)
        await p.press("right", "enter")
        await p.toast("guard@m is on")
        await p.until(lambda: "disabled" not in p.line("guard"))
        await p.press("space")
        await p.until(lambda: not tables(user)["plugins"]["guard@m"]["enabled"])


async def test_a_folder_is_added_and_gets_the_cursor(deps: Deps, user: Path):
    put_market(user / "more", "x", name="more")
    put_plugin(user / "more/plugins/x")
    async with at_home(deps) as p:
        await p.press("a")
        page = await sheet(p, AddMarketplace)
        await p.press(*"~/more")
        await p.until(lambda: "its marketplace is called more" in said(page))
        assert "● read as ~/more" in said(page)
        await p.press("ctrl+s")
        await p.toast("more is added")
        await p.until(lambda: len(p.app.screen_stack) == 1)
        await p.until(lambda: p.line("more"))
    assert tables(user)["marketplaces"]["more"]["source"] == str(user / "more")


async def test_a_name_that_is_taken_is_replaced_only_when_asked(deps: Deps, user: Path):
    put_market(user / "other", name="m")
    async with at_home(deps) as p:
        await p.press("a")
        page = await sheet(p, AddMarketplace)
        await p.press(*"~/other")
        await p.until(lambda: "m is configured already, from ~/mk" in said(page))
        await p.press("ctrl+s")
        await p.toast("m is added")
    assert tables(user)["marketplaces"]["m"]["source"] == str(user / "other")


@pytest.mark.needs("git")
async def test_git_failing_says_its_last_words_and_what_else_to_try(deps: Deps, user: Path):
    async with at_home(deps) as p:
        await p.press("a")
        page = await sheet(p, AddMarketplace)
        await p.press(*"http://127.0.0.1:9/o/r.git")
        await p.until(lambda: "read as http://127.0.0.1:9/o/r.git" in said(page))
        await p.press("ctrl+s")
        await p.until(lambda: "not added" in said(page))
        text = said(page)
        assert "fatal: unable to access" in text
        assert "nothing left behind" in text
        assert "try git@127.0.0.1:o/r.git" in text
        await p.press("escape")
        await p.until(lambda: len(p.app.screen_stack) == 1)
    assert "127.0.0.1" not in (user / ".codex/config.toml").read_text()


@pytest.mark.needs("git")
async def test_a_repository_is_added_upgraded_and_removed(deps: Deps, tmp_path: Path):
    async with workshop(deps, tmp_path) as shop:
        market = {"name": "g", "plugins": [{"name": "p", "source": "./p"}]}
        plugin = {"p/.codex-plugin/plugin.json": {"name": "p", "version": "1.0.0"}}
        shop.repository("mk.git", {".agents/plugins/marketplace.json": market, **plugin})
        async with at_home(shop.deps) as p:
            await p.press("a")
            await sheet(p, AddMarketplace)
            await p.press(*f"{URL}mk.git")
            await p.press("ctrl+s")
            await p.toast("g is added")
            await p.until(lambda: p.line("git.test"))
            view = cast("Any", p.pane.view)
            key = view.key_of_market("g")
            await on(p, key)
            assert "r upgrade" in p.keys
            more = {"p/.codex-plugin/plugin.json": {"name": "p", "version": "1.1.0"}}
            shop.repository("mk.git", more)
            await p.press("r")
            await p.toast("g has new content")
            await p.press("x")
            page = await sheet(p, Confirm)
            assert "is deleted" in said(page)
            await p.press("right", "enter")
            await p.toast("g is removed")
            await p.until(lambda: not p.line("git.test"))
        assert not (shop.home.marketplaces_dir / "g").exists()


async def test_the_kinds_say_which_condition_fails(deps: Deps, user: Path):
    async with at_home(deps) as p:
        await p.press("K")
        page = await sheet(p, KindsSheet)
        assert "not signed in with ChatGPT" in said(page)


async def test_read_only_offers_nothing_that_writes(deps: Deps, user: Path):
    async with at_home(replace(deps, read_only=True), read_only=True) as p:
        await on(p, "plugin:one@m")
        for key in ("i", "a"):
            await p.press(key)
            assert len(p.app.screen_stack) == 1
            assert p.toasts == ["Nothing is written: it was started read-only"]
            p.app.clear_notifications()


async def test_a_blocked_marketplace_names_the_rule_and_offers_no_install(deps: Deps, user: Path):
    put(
        deps.system_dir / "requirements.toml",
        "[marketplaces]\nrestrict_to_allowed_sources = true\n",
    )
    async with at_home(deps) as p:
        await p.until(lambda: "⊘" in p.line("one"))
        assert "by policy, requirements.toml:2" in p.line("one")
        await on(p, "plugin:one@m")
        assert "i install" not in p.keys
        await p.press("i")
        await p.toast("by policy, requirements.toml:2")
        await on(p, cast("Any", p.pane.view).key_of_market("m"))
        assert "requirements.toml:2" in p.details


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port where somebody listens and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.needs("git")
async def test_an_add_that_hangs_is_ended_and_leaves_nothing(
    deps: Deps, user: Path, silent_port: int
):
    url = f"http://127.0.0.1:{silent_port}/x.git"
    async with at_home(deps) as p:
        await p.press("a")
        page = await sheet(p, AddMarketplace)
        await p.press(*url)
        await p.press("ctrl+s")
        await p.until(lambda: url in p.app.store.operations)
        assert f"adding {url}" in said(page)
        await p.press("ctrl+x")
        await p.until(lambda: "cancelled" in said(page))
        assert not p.app.store.operations
    staged = user / ".codex/.tmp/marketplaces/.staging"
    assert list(staged.iterdir()) == []
    assert "127.0.0.1" not in (user / ".codex/config.toml").read_text()


@pytest.mark.needs("git")
async def test_a_running_install_is_seen_in_its_row_and_ended_there(
    deps: Deps, user: Path, silent_port: int
):
    url = f"http://127.0.0.1:{silent_port}/x.git"
    far = {"name": "far", "source": {"source": "url", "url": url}}
    put_market(user / "mk", "one", far)
    async with at_home(deps) as p:
        await on(p, "plugin:far@m")
        await p.press("i")
        page = await sheet(p, TrustSheet)
        assert "known after download" in said(page) and url in said(page)
        await p.press("right", "enter")
        await p.until(lambda: "◐ far" in p.line("far"))
        assert "^x cancel it" in p.keys
        await p.press("ctrl+x")
        await p.toast("far: not installed: cancelled; it is as it was")
        await p.until(lambda: "available" in p.line("far"))
    assert "plugins" not in tables(user)
    assert not (user / ".codex/plugins/cache/m/far").exists()


@pytest.mark.needs("git")
async def test_what_came_with_a_download_is_shown_before_it_may_run(deps: Deps, tmp_path: Path):
    async with workshop(deps, tmp_path) as shop:
        repository = {
            ".codex-plugin/plugin.json": {"name": "far", "version": "1.0.0"},
            ".mcp.json": {"srv": {"command": "/bin/true"}},
        }
        shop.repository("far.git", repository)
        home = shop.home.home
        put_market(home, {"name": "far", "source": {"source": "url", "url": f"{URL}far.git"}})
        async with at_home(shop.deps) as p:
            await on(p, "plugin:far@m")
            await p.press("i")
            first = await sheet(p, TrustSheet)
            await p.press("right", "enter")
            await p.until(
                lambda: isinstance(p.app.screen, TrustSheet) and p.app.screen is not first
            )
            second = await sheet(p, TrustSheet)
            assert "/bin/true" in said(second)
            await p.press("right", "enter")
            await p.until(lambda: len(p.app.screen_stack) == 1)
            await p.until(lambda: p.app.store.servers.rows["srv"].status != "review")
