from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from core.appserver.strictness import ConfigGate
from core.config.paths import Home
from core.config.store import ConfigStore
from core.errors import CoreError
from core.ports import Deps

pytestmark = pytest.mark.anyio


class Machine:
    """A Codex home, a repository in the working directory, and a gate before them."""

    def __init__(self, deps: Deps) -> None:
        self.home = Home.of(deps)
        self.work = deps.cwd
        (self.work / ".git").mkdir()
        self.gate = ConfigGate(ConfigStore(self.home, deps).load, deps.cwd)

    def user(self, text: str, *, trusted: bool = False) -> None:
        trust = f'[projects."{self.work}"]\ntrust_level = "trusted"\n' if trusted else ""
        self.home.config_file.write_text(text + trust)

    def project(self, text: str) -> None:
        (self.work / ".codex").mkdir(exist_ok=True)
        (self.work / ".codex" / "config.toml").write_text(text)

    async def told(self, method: str, **params: Any) -> tuple[int, str] | None:
        given = {"thread_id": None, "server_name": None, "cwd": None, "config": None, **params}
        try:
            await self.gate.check(method, SimpleNamespace(**given))
        except CoreError as error:
            return error.code, error.message
        return None


@pytest.fixture
def machine(deps: Deps) -> Machine:
    return Machine(deps)


SYNTAX = "unquoted keys cannot be empty, expected letters, numbers, `-`, `_`"

THREADLESS = [
    "plugin/list",
    "plugin/installed",
    "plugin/read",
    "plugin/install",
    "plugin/search",
    "plugin/reconcile",
    "plugin/share/list",
    "marketplace/add",
    "marketplace/remove",
    "marketplace/upgrade",
    "mcpServerStatus/list",
    "mcpServer/oauth/login",
    "mcpServer/resource/read",
    "app/list",
    "app/read",
    "app/installed",
]


@pytest.mark.parametrize("method", THREADLESS)
async def test_a_broken_configuration_fails_what_reads_it_strictly(machine: Machine, method: str):
    machine.user("[[[\n")
    where = f"{machine.home.config_file}:1:3"
    assert await machine.told(method) == (-32603, f"failed to reload config: {where}: {SYNTAX}")


@pytest.mark.parametrize("method", THREADLESS)
async def test_what_belongs_to_no_thread_looks_at_no_project(machine: Machine, method: str):
    machine.user("", trusted=True)
    machine.project("mcp_servers = 1\n")
    assert await machine.told(method) is None


@pytest.mark.parametrize(
    "method",
    ["account/read", "account/logout", "skills/list", "hooks/list", "thread/loaded/list"],
)
async def test_what_does_not_read_it_strictly_goes_on(machine: Machine, method: str):
    machine.user("[[[\n")
    assert await machine.told(method) is None


async def test_a_thread_is_refused_in_other_words(machine: Machine):
    machine.user("[[[\n")
    where = f"{machine.home.config_file}:1:3"
    expected = (-32600, f"failed to load configuration: {where}: {SYNTAX}")
    assert await machine.told("thread/start") == expected


async def test_a_thread_is_refused_for_its_own_project_and_settings(machine: Machine):
    machine.user("", trusted=True)
    machine.project("model = 5\n")
    file = machine.work / ".codex" / "config.toml"
    words = "invalid type: integer `5`, expected a string"
    expected = (-32600, f"failed to load configuration: {file}:1:9: {words}")
    assert await machine.told("thread/start") == expected
    assert await machine.told("thread/start", cwd=str(machine.work)) == expected
    assert await machine.told("thread/start", cwd="/") is None
    settings = {"mcp_servers": 1}
    words = "invalid type: integer `1`, expected a map\nin `mcp_servers`\n"
    refused = await machine.told("thread/start", cwd="/", config=settings)
    assert refused == (-32600, f"failed to load configuration: {words}")


async def test_a_thread_that_lives_needs_no_file(machine: Machine):
    machine.user("[[[\n")
    for method in ("app/installed", "mcpServer/resource/read", "mcpServer/oauth/login"):
        assert await machine.told(method, thread_id="t") is None
    for method in ("app/list", "app/read", "mcpServerStatus/list"):
        assert await machine.told(method, thread_id="t") is not None
    live = {"thread_id": "t", "server_name": "s"}
    assert await machine.told("mcpServerStatus/list", **live) is None
    assert await machine.told("mcpServerStatus/list", server_name="s") is not None


async def test_a_local_plugin_is_uninstalled_by_what_reads_the_file_itself(machine: Machine):
    machine.user("[[[\n")
    assert await machine.told("plugin/uninstall", plugin_id="p@m") is None
    assert await machine.told("plugin/uninstall", plugin_id="remote-id") is not None


async def test_the_servers_own_directory_is_warned_of(machine: Machine):
    assert await machine.gate.warnings() == []
    machine.user("", trusted=True)
    machine.project("model = 5\n")
    (warning,) = await machine.gate.warnings()
    assert warning["path"] == str(machine.work / ".codex" / "config.toml")
