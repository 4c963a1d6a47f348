from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from core.config.edit import ConfigEditor, Outcome, WriteResult
from core.config.paths import Home
from core.config.store import ConfigStore
from core.errors import ConfigWriteError, InvalidRequest
from core.ports import Deps
from core.protocol.config import (
    ConfigBatchWriteParams,
    ConfigReadParams,
    ConfigValueWriteParams,
)
from core.protocol.events import ConfigChanged, Event, FileChanged, Notice
from core.protocol.rows import ConfigRow
from core.scope import Caller, RequestScope
from core.service.config import ConfigDelta, ConfigService
from core.threads.policy import CODEX
from tests.fakes.ports import FakeClock

pytestmark = pytest.mark.anyio

SCOPE = RequestScope(caller=Caller(policy=CODEX))


class Bench:
    """A service with what it has told so far."""

    def __init__(self, deps: Deps, overrides: dict[str, Any] | None = None) -> None:
        self.home = Home.of(deps)
        self.home.codex_home.mkdir(parents=True, exist_ok=True)
        self.deps = deps
        self.events: list[Event] = []
        self.deltas: list[ConfigDelta] = []
        self._more = anyio.Event()
        store = ConfigStore(self.home, deps, overrides)
        self.editor = ConfigEditor(store, deps)
        self.service = ConfigService(store, self.editor, deps, self._emit)
        self.service.listen(self._listen)

    def _emit(self, event: Event) -> None:
        self.events.append(event)
        self._more.set()

    async def _listen(self, delta: ConfigDelta) -> None:
        self.deltas.append(delta)
        self._more.set()

    async def until(self, kind: type[Any]) -> Any:
        """The next event or delta of a kind."""
        with anyio.fail_after(5):
            while True:
                for found in (*self.events, *self.deltas):
                    if isinstance(found, kind):
                        return found
                self._more = anyio.Event()
                await self._more.wait()

    def user(self, text: str) -> None:
        self.home.config_file.write_text(text)

    def project(self, text: str) -> str:
        """config.toml of the working directory, which is made a trusted project."""
        (self.deps.cwd / ".git").mkdir(exist_ok=True)
        (self.deps.cwd / ".git/HEAD").write_text("ref: x\n")
        file = self.deps.cwd / ".codex/config.toml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        return str(file)

    @property
    def trusted(self) -> str:
        return f'[projects."{self.deps.cwd}"]\ntrust_level = "trusted"\n'

    def text(self) -> str:
        return self.home.config_file.read_text()

    def row(self, layer: str) -> ConfigRow:
        rows = self.service.owner.current.rows.values()
        return next(row for row in rows if row.layer == layer)


@pytest.fixture
def bench(deps: Deps) -> Bench:
    return Bench(deps)


@asynccontextmanager
async def running(bench: Bench) -> AsyncGenerator[None]:
    async with anyio.create_task_group() as group:
        group.start_soon(bench.service.run)
        await bench.until(ConfigChanged)
        await anyio.wait_all_tasks_blocked()
        bench.events.clear()
        yield
        group.cancel_scope.cancel()


async def test_layers_become_rows_with_their_state_and_problems(bench: Bench):
    bench.user("[mcp_servers.bad]\n\n[features]\nplugins = 1\n")
    file = bench.project("bad = [\n")
    await bench.service.refresh()
    assert (bench.row("system").state, bench.row("user").state) == ("absent", "partly")
    (problem,) = bench.row("user").problems
    assert (problem.rule, problem.evidence.line) == ("feature", 4)
    assert (bench.row("project").id, bench.row("project").state) == (file, "untrusted")
    bench.user(bench.trusted)
    await bench.service.refresh()
    assert (bench.row("user").state, bench.row("project").state) == ("used", "broken")
    assert bench.row("project").problems[0].rule == "toml-syntax"
    assert bench.row("requirements").state == "absent"


async def test_broken_requirements_are_a_row_of_their_own(bench: Bench):
    bench.home.requirements_file.parent.mkdir()
    bench.home.requirements_file.write_text("bad = [")
    await bench.service.refresh()
    assert bench.row("requirements").state == "broken"
    assert bench.row("requirements").problems[0].rule == "requirements-toml-syntax"


async def test_config_read_answers_with_layers_only_when_asked(bench: Bench):
    bench.user('model = "m"\n')
    plain = await bench.service.read(ConfigReadParams(), SCOPE)
    assert "layers" not in plain.model_dump(by_alias=True)
    assert plain.config["model"] == "m"
    full = await bench.service.read(ConfigReadParams(include_layers=True), SCOPE)
    assert [layer["name"]["type"] for layer in full.layers or ()] == ["user", "system"]


async def test_config_read_of_a_folder_sees_its_project(bench: Bench):
    bench.user(bench.trusted)
    bench.project('model = "p"\n')
    told = await bench.service.read(ConfigReadParams(cwd=str(bench.deps.cwd)), SCOPE)
    assert told.config["model"] == "p"
    assert (await bench.service.read(ConfigReadParams(), SCOPE)).config["model"] is None


async def test_a_value_write_answers_like_codex(bench: Bench):
    result = await bench.service.value_write(
        ConfigValueWriteParams(
            key_path='plugins."p@m".enabled', value=False, merge_strategy="upsert"
        ),
        SCOPE,
    )
    assert result.model_dump(by_alias=True) == {
        "status": "ok",
        "version": result.version,
        "filePath": str(bench.home.config_file),
        "overriddenMetadata": None,
    }
    assert bench.text() == '[plugins."p@m"]\nenabled = false\n'


async def test_a_write_below_the_command_line_s_word_is_told_as_overridden(deps: Deps):
    bench = Bench(deps, {"model": "cli"})
    params = ConfigValueWriteParams(key_path="model", value="mine", merge_strategy="replace")
    result = await bench.service.value_write(params, SCOPE)
    assert bench.text() == 'model = "mine"\n'
    assert result.status == "okOverridden"
    above = result.overridden_metadata
    assert above is not None
    assert above["message"] == "Overridden by session flags"
    assert above["overridingLayer"]["name"] == {"type": "sessionFlags"}
    assert above["effectiveValue"] == "cli"


async def test_the_steps_of_switching_a_plugin_on_the_wire(bench: Bench):
    async def write(path: str, value: Any, strategy: str) -> str:
        params = ConfigValueWriteParams.model_validate(
            {"keyPath": path, "value": value, "mergeStrategy": strategy}
        )
        await bench.service.value_write(params, SCOPE)
        return bench.text()

    head = '[plugins."p@m"]\n'
    assert await write('plugins."p@m".enabled', False, "upsert") == head + "enabled = false\n"
    assert await write("plugins.p@m.enabled", True, "upsert") == head + "enabled = true\n"
    assert await write('plugins."p@m"', {"enabled": False}, "replace") == (
        head + "enabled = false\n"
    )
    assert await write('plugins."p@m"', {"foo": 1}, "upsert") == (
        head + "enabled = false\nfoo = 1\n"
    )
    assert await write('plugins."p@m".enabled', None, "replace") == head + "foo = 1\n"
    assert await write('plugins."p@m"', None, "replace") == ""


async def test_a_batch_tells_threads_to_reload_when_asked(bench: Bench):
    params = ConfigBatchWriteParams.model_validate(
        {
            "edits": [
                {"keyPath": "model", "value": "m", "mergeStrategy": "replace"},
                {"keyPath": "mcp_servers.a.command", "value": "c", "mergeStrategy": "replace"},
            ],
            "reloadUserConfig": True,
        }
    )
    await bench.service.batch_write(params, SCOPE)
    (delta,) = bench.deltas
    assert delta.tables == {"model", "mcp_servers"}
    assert delta.ours and delta.reload
    assert set(delta.loaded.servers) == {"a"}


async def test_a_strict_write_minds_other_bad_tables(bench: Bench):
    bench.user("[mcp_servers.bad]\n")
    with pytest.raises(ConfigWriteError, match="invalid transport"):
        await bench.service.value_write(
            ConfigValueWriteParams(key_path="model", value="m", merge_strategy="replace"), SCOPE
        )


async def test_requirements_are_read(bench: Bench):
    from core.protocol.base import NoParams

    result = await bench.service.requirements_read(NoParams(), SCOPE)
    assert result.model_dump(by_alias=True) == {
        "supportsIndependentSpeedModes": True,
        "requirements": None,
    }


# --- switches ---


async def test_a_plugin_is_switched_and_switched_back(bench: Bench):
    bench.user('# c\n[plugins."p@m"] # h\nenabled = true # yes\n')
    switched, token = await bench.service.switch_plugin("p@m", False)
    assert switched.written and not switched.effective
    assert switched.message == "p@m is off: config.toml:3, enabled = false"
    assert switched.evidence.line == 3
    assert bench.text() == '# c\n[plugins."p@m"] # h\nenabled = false # yes\n'
    assert token is not None
    await bench.service.undo(token)
    assert bench.text() == '# c\n[plugins."p@m"] # h\nenabled = true # yes\n'
    with pytest.raises(InvalidRequest, match="can no longer be undone"):
        await bench.service.undo(token)


async def test_undo_is_refused_once_somebody_has_changed_the_value(bench: Bench):
    _, token = await bench.service.switch_plugin("p@m", True)
    bench.user('[plugins."p@m"]\nenabled = false\n')
    assert token is not None
    with pytest.raises(InvalidRequest, match="has been changed since"):
        await bench.service.undo(token)
    assert bench.text() == '[plugins."p@m"]\nenabled = false\n'


async def test_what_is_so_already_is_not_written(bench: Bench):
    bench.user('[plugins."p@m"]\n')
    switched, token = await bench.service.switch_plugin("p@m", True)
    assert (switched.written, switched.effective, token) == (False, True, None)
    assert bench.text() == '[plugins."p@m"]\n'


async def test_switching_works_while_another_table_is_bad(bench: Bench):
    bench.user('[mcp_servers.bad]\n[mcp_servers.ok]\ncommand = "c"\n')
    switched, _ = await bench.service.switch_server("ok", False)
    assert switched.written and not switched.effective
    assert bench.text().endswith('command = "c"\nenabled = false\n')


async def test_a_deciding_project_layer_is_told_and_the_user_s_can_be_written_all_the_same(
    bench: Bench,
):
    bench.user(bench.trusted + '[plugins."p@m"]\nenabled = true\n')
    file = bench.project('[plugins."p@m"]\nenabled = false\n')
    before = bench.text()
    switched, token = await bench.service.switch_plugin("p@m", True)
    assert (switched.written, switched.effective, token) == (False, False, None)
    assert switched.decided_by is not None
    assert (switched.decided_by.file, switched.decided_by.line) == (file, 2)
    assert switched.message == "p@m stays off: .codex/config.toml:2 (project) decides"
    assert bench.text() == before
    bench.user(before.replace("enabled = true", "enabled = false"))
    switched, token = await bench.service.switch_plugin("p@m", True, force=True)
    assert switched.written and not switched.effective
    assert switched.message == "written to config.toml:4, but .codex/config.toml:2 decides"
    assert token is not None


async def test_a_server_of_a_project_only_is_not_half_defined_for_everybody(bench: Bench):
    bench.user(bench.trusted)
    file = bench.project('[mcp_servers.s]\ncommand = "c"\n')
    switched, _ = await bench.service.switch_server("s", False)
    assert not switched.written and switched.effective
    assert switched.decided_by is not None and switched.decided_by.file == file
    assert "mcp_servers" not in bench.text()


async def test_a_server_that_policy_forbids_stays_off(bench: Bench):
    bench.user('[mcp_servers.s]\ncommand = "c"\nenabled = false\n')
    bench.home.requirements_file.parent.mkdir()
    bench.home.requirements_file.write_text("mcp_servers = {}\n")
    switched, _ = await bench.service.switch_server("s", True)
    assert not switched.written and not switched.effective
    assert switched.message == "s stays off: not allowed by requirements.toml:1"


async def test_an_unknown_server_cannot_be_switched(bench: Bench):
    with pytest.raises(InvalidRequest, match="no MCP server `nope`"):
        await bench.service.switch_server("nope", False)


async def test_a_plugin_s_server_is_switched_below_its_plugin(bench: Bench):
    bench.user('[plugins."p@m"]\nenabled = true\n')
    await bench.service.switch_server("s", False, plugin_id="p@m")
    assert bench.text() == (
        '[plugins."p@m"]\nenabled = true\n\n[plugins."p@m".mcp_servers.s]\nenabled = false\n'
    )


async def test_apps_and_their_tools_are_switched(bench: Bench):
    bench.user("[apps._default]\nenabled = false\n")
    switched, _ = await bench.service.switch_app("a", False)
    assert not switched.written
    switched, _ = await bench.service.switch_app("a", True)
    assert switched.written and switched.effective
    await bench.service.switch_app_tool("a", "t", False)
    assert bench.text() == (
        "[apps._default]\nenabled = false\n\n[apps.a]\nenabled = true\n\n"
        "[apps.a.tools.t]\nenabled = false\n"
    )


async def test_a_server_s_tool_is_switched_by_its_lists(bench: Bench):
    bench.user('[mcp_servers.s]\ncommand = "c"\nenabled_tools = [\n  "a", # one\n]\n')
    switched, _ = await bench.service.switch_server_tool("s", "b", True)
    assert switched.effective
    assert 'enabled_tools = [\n  "a", # one\n  "b",\n]' in bench.text()
    switched, _ = await bench.service.switch_server_tool("s", "a", False)
    assert not switched.effective
    assert bench.text().endswith('disabled_tools = ["a"]\n')
    switched, _ = await bench.service.switch_server_tool("s", "a", True)
    assert switched.effective
    assert "disabled_tools" not in bench.text()


# --- while it runs ---


async def test_an_outside_edit_is_seen_and_told(bench: Bench):
    bench.user('model = "a"\n')
    async with running(bench):
        bench.user('model = "b"\n[mcp_servers.s]\ncommand = "c"\n')
        delta = await bench.until(ConfigDelta)
        assert delta.tables == {"model", "mcp_servers"}
        assert not delta.ours
        changed = await bench.until(FileChanged)
        assert (changed.file, changed.ours) == (str(bench.home.config_file), False)


async def test_our_own_write_is_told_once(bench: Bench):
    async with running(bench):
        await bench.service.switch_plugin("p@m", True)
        changed = await bench.until(FileChanged)
        assert changed.ours
        await anyio.wait_all_tasks_blocked()
        assert [delta.ours for delta in bench.deltas] == [True]


async def test_a_write_that_was_taken_back_is_not_written_once_more(
    deps: Deps, monkeypatch: pytest.MonkeyPatch
):
    from dataclasses import replace

    clock = FakeClock(auto=False)
    bench = Bench(replace(deps, clock=clock))
    bench.user('[plugins."p@m"]\nenabled = false\n')
    async with running(bench):
        _, token = await bench.service.switch_plugin("p@m", True)
        with anyio.fail_after(5):
            while not clock.sleepers:
                await anyio.wait_all_tasks_blocked()
        assert token is not None
        undone = await bench.service.undo(token)
        checked: list[WriteResult] = []
        recheck = bench.editor.recheck

        async def told(result: WriteResult) -> Outcome:
            outcome = await recheck(result)
            checked.append(result)
            return outcome

        monkeypatch.setattr(bench.editor, "recheck", told)
        with anyio.fail_after(5):
            while not any(result is undone for result in checked):
                await clock.advance(1.0)
                await anyio.wait_all_tasks_blocked()
        assert bench.text() == '[plugins."p@m"]\nenabled = false\n'


async def test_a_lost_write_is_written_once_more_and_told(deps: Deps):
    from dataclasses import replace

    clock = FakeClock(auto=False)
    bench = Bench(replace(deps, clock=clock))
    bench.user("x = 1\n")
    async with running(bench):
        await bench.service.switch_plugin("p@m", True)
        bench.user("x = 2\n")
        with anyio.fail_after(5):
            while not clock.sleepers:
                await anyio.wait_all_tasks_blocked()
        await clock.advance(2.0)
        notice = await bench.until(Notice)
        assert notice.text == "another program had undone plugins.p@m.enabled: written once more"
        assert bench.text() == 'x = 2\n\n[plugins."p@m"]\nenabled = true\n'


# --- what follows from a change


async def test_a_listener_that_fails_stops_no_other_and_the_files_stay_watched(bench: Bench):
    heard: list[str] = []

    async def broken(delta: ConfigDelta) -> None:
        raise RuntimeError("a fault of ours")

    async def refused(delta: ConfigDelta) -> None:
        raise InvalidRequest("not now")

    async def sound(delta: ConfigDelta) -> None:
        heard.append("sound")

    service = ConfigService(
        ConfigStore(bench.home, bench.deps), bench.editor, bench.deps, bench._emit
    )
    for listener in (broken, refused, sound, bench._listen):
        service.listen(listener)
    bench.service = service
    bench.user("")
    async with running(bench):
        for number in (1, 2):
            bench.deltas.clear()
            bench.user(f'model = "m{number}"\n')
            await bench.until(ConfigDelta)
        assert heard == ["sound", "sound"]
        told = [event for event in bench.events if isinstance(event, Notice)]
        assert [notice.text for notice in told[:2]] == [
            "a part of Jackfield failed; the log says more",
            "not now",
        ]
        assert {notice.tone for notice in told} == {"bad"}


async def test_a_write_is_answered_though_what_follows_from_it_fails(bench: Bench):
    async def broken(delta: ConfigDelta) -> None:
        raise RuntimeError("a fault of ours")

    bench.service.listen(broken)
    bench.user("")
    params = ConfigValueWriteParams(key_path="model", value="m", merge_strategy="replace")
    result = await bench.service.value_write(params, SCOPE)
    assert result.status == "ok" and 'model = "m"' in bench.text()


@pytest.mark.parametrize("broken_first", [True, False])
async def test_a_file_that_becomes_legible_or_illegible_is_told_to_listeners(
    bench: Bench, broken_first: bool
):
    texts = ["[oops\n", 'model = "m"\n']
    bench.user(texts[not broken_first])
    await bench.service.refresh()
    bench.user(texts[broken_first])
    await bench.service.refresh()
    bench.user('model = "other"\n' if broken_first else "[oops again\n")
    await bench.service.refresh()
    assert [delta.legible for delta in bench.deltas] == [True, False]
