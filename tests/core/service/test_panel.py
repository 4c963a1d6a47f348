"""The panel's session over a whole core: every list told from beginning to end, faults kept apart."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from core import method_table as methods
from core.errors import CoreError
from core.ports import Deps
from core.protocol import jackfield as wire
from core.protocol.apps import AppListParams, AppReadParams
from core.protocol.events import (
    RefreshFailed,
    RefreshFinished,
    RefreshStarted,
    StateChanged,
)
from core.protocol.rows import DOMAINS, Domain
from tests.core.service.opened import CountingHttp, opened
from tests.fakes.chatgpt_backend import auth_json, write_auth
from tests.fakes.mcp_stdio import argv

pytestmark = pytest.mark.anyio


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def server(name: str, mode: str = "ok") -> str:
    command, *words = argv(mode)
    return f"[mcp_servers.{name}]\ncommand = {json.dumps(command)}\nargs = {json.dumps(words)}\n"


@pytest.fixture
def config(home: Path) -> Path:
    return home / ".codex" / "config.toml"


# --- refreshes


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("forced", [False, True])
async def test_a_refresh_of_any_list_is_told_from_its_beginning_to_its_end(
    deps: Deps, config: Path, domain: Domain, forced: bool
) -> None:
    put(config, server("one"))
    async with opened(deps) as core:
        await core.start(consent_all=True)
        number = await core.refresh(domain, forced=forced)
        (started,) = core.of(RefreshStarted, id=number)
        (finished,) = core.of(RefreshFinished, id=number)
        assert started.domain == finished.domain == domain
        assert core.events.index(started) < core.events.index(finished)
        assert finished.outcome == "ok"


async def test_every_list_of_an_empty_home_becomes_final(deps: Deps) -> None:
    async with opened(deps) as core:
        await core.start()
        await core.until(
            lambda: {event.domain for event in core.of(StateChanged, phase="final")} >= set(DOMAINS)
        )
        for domain in DOMAINS:
            read = await core.rows(domain)
            assert (read.phase, read.revision > 0) == ("final", True), domain


async def test_a_plugin_list_that_cannot_be_read_ends_its_refresh_and_keeps_its_rows(
    deps: Deps, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.plugins import catalog

    put(
        home / ".agents/plugins/marketplace.json",
        json.dumps({"name": "m", "plugins": [{"name": "p", "source": "./p"}]}),
    )
    async with opened(deps) as core:
        await core.start()
        await core.until(lambda: core.of(RefreshFinished, domain="plugins"))

        def broken(*args: object, **more: object) -> None:
            raise CoreError("the disk is gone")

        monkeypatch.setattr(catalog, "candidates", broken)
        number = await core.refresh("plugins", forced=True)
        (failed,) = core.of(RefreshFailed, id=number)
        (finished,) = core.of(RefreshFinished, id=number)
        assert failed.message == "the disk is gone"
        assert (finished.outcome, finished.kept_previous) == ("failed", True)
        assert "p@m" in await core.by_id("plugins")
        assert core.of(RefreshFinished, domain="marketplaces", outcome="failed")


# --- a configuration that cannot be read


BROKEN = {
    "TOML": 'chatgpt_base_url = "http://127.0.0.1:9/mine"\n[oops\n',
    "no text": "chatgpt_base_url = 3\n",
}


@pytest.mark.parametrize("fault", [*BROKEN, "a folder", "requirements"])
async def test_no_token_leaves_while_the_file_that_names_the_backend_cannot_be_read(
    deps: Deps, home: Path, config: Path, fault: str
) -> None:
    write_auth(home / ".codex", auth_json())
    if fault == "a folder":
        put(config / "child", "")
    elif fault == "requirements":
        put(deps.system_dir / "requirements.toml", "[oops\n")
    else:
        put(config, BROKEN[fault])
    http = CountingHttp()
    async with opened(replace(deps, http=http)) as core:
        await core.start(consent_all=True)
        await core.until(lambda: core.of(RefreshFinished, domain="apps"))
        await core.refresh("apps", forced=True)
        await core.refresh("installed", forced=True)
        await core.refresh("servers", forced=True)
        for method, params in (
            (methods.APP_LIST, AppListParams(force_refetch=True)),
            (methods.APP_READ, AppReadParams(app_ids=["a"], include_tools=False)),
        ):
            try:
                await core.client.call(method, params)
            except CoreError as refused:
                assert "token" not in refused.message
        assert http.tried == []
        failed = core.of(RefreshFailed, domain="apps")[0]
        assert "cannot be read, so" in failed.message
        assert failed.evidence.file is not None
        assert "token-1" not in repr(core.events)
        assert "codex_apps" not in await core.by_id("servers")


async def test_with_a_repaired_file_the_apps_are_asked_for_at_the_backend_that_it_names(
    deps: Deps, home: Path, config: Path
) -> None:
    write_auth(home / ".codex", auth_json())
    put(config, BROKEN["TOML"])
    http = CountingHttp()
    async with opened(replace(deps, http=http)) as core:
        await core.start(consent_all=True)
        await core.until(lambda: core.of(RefreshFailed, domain="apps"))
        put(config, 'chatgpt_base_url = "http://127.0.0.1:9/mine"\n')
        with anyio.fail_after(10):
            while not http.requests:
                await anyio.wait_all_tasks_blocked()
        assert {url.partition("/mine")[0] for url in http.tried} == {"http://127.0.0.1:9"}


async def test_what_a_good_file_named_holds_while_it_is_broken(
    deps: Deps, home: Path, config: Path
) -> None:
    write_auth(home / ".codex", auth_json())
    put(config, 'chatgpt_base_url = "http://127.0.0.1:9/mine"\n')
    http = CountingHttp()
    async with opened(replace(deps, http=http)) as core:
        await core.start(consent_all=True)
        await core.until(lambda: core.of(RefreshFinished, domain="apps"))
        put(config, "[oops\n")
        await core.refresh("config")
        await core.refresh("apps", forced=True)
        assert {url.partition("/mine")[0] for url in http.tried} == {"http://127.0.0.1:9"}


# --- requirements that cannot be read


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[oops\n", "requirements.toml:1"),
        ('[features]\nplugins = "maybe"\n', "requirements.toml:2"),
        (None, "requirements.toml"),
    ],
)
async def test_with_requirements_that_cannot_be_read_nothing_starts_and_each_row_says_why(
    deps: Deps, config: Path, text: str | None, where: str
) -> None:
    put(config, server("one") + server("two"))
    file = deps.system_dir / "requirements.toml"
    if text is None:
        put(file / "child", "")
    else:
        put(file, text)
    async with opened(deps) as core:
        await core.start(consent_all=True)
        await core.refresh("servers", forced=True)
        rows = await core.by_id("servers")
        assert {row.status for row in rows.values()} == {"blocked"}
        for row in rows.values():
            assert row.reason == f"{where} cannot be read, so nothing is started"
        with pytest.raises(CoreError, match="cannot be read"):
            await core.client.call(
                methods.JACKFIELD_SERVER_RECONNECT, wire.NamesParams(names=("one",))
            )
        (problem,) = [
            row.problem
            for row in (await core.by_id("problems")).values()
            if row.problem.id == "config:requirements"
        ]
        assert problem.evidence.file == str(file)
        assert problem.hint == "nothing is started until they can be read"
        config_rows = await core.by_id("config")
        assert config_rows[str(file)].state == "broken"


async def test_requirements_that_break_while_it_runs_end_what_runs(
    deps: Deps, config: Path
) -> None:
    put(config, server("one"))
    async with opened(deps) as core:
        await core.start(consent_all=True)
        await core.until(
            lambda: any(
                row.status == "connected"
                for event in core.of(StateChanged)
                if event.domain == "servers"
                for row in event.upserted
            )
        )
        put(deps.system_dir / "requirements.toml", "[oops\n")
        await core.until(
            lambda: any(
                row.status == "blocked"
                for event in core.of(StateChanged)
                if event.domain == "servers"
                for row in event.upserted
            )
        )
