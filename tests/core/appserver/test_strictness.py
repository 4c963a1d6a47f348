from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from core.appserver.strictness import ConfigGate
from core.config.paths import Home
from core.config.store import ConfigStore
from core.errors import CoreError
from core.ports import Deps
from core.protocol.initialize import ConfigWarning

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

    async def warned(self) -> list[ConfigWarning]:
        return await self.gate.warnings()


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


# The words of the warnings were observed in Codex 0.171.0.
async def test_a_configuration_that_can_be_used_is_not_spoken_of(machine: Machine):
    machine.user('model = "x"\n')
    assert await machine.told("plugin/list") is None
    assert await machine.warned() == []


async def test_the_fault_and_its_place_are_told_after_the_handshake(machine: Machine):
    machine.user("[[[\n")
    (warning,) = await machine.warned()
    file = str(machine.home.config_file)
    place = {"line": 1, "column": 3}
    assert warning.summary == "Invalid configuration; using defaults."
    assert warning.details == f"{file}:1:3: {SYNTAX}"
    assert (warning.path, warning.range) == (file, {"start": place, "end": place})


async def test_a_fault_without_a_place_is_told_without_one(machine: Machine):
    machine.user('model_provider = "nope"\n')
    (warning,) = await machine.warned()
    assert warning == ConfigWarning(
        summary="Invalid configuration; using defaults.", details="Model provider `nope` not found"
    )


async def test_settings_without_a_meaning_are_named_three_at_most(machine: Machine):
    machine.user("foo = 1\n")
    (one,) = await machine.warned()
    file = machine.home.config_file
    assert one.summary == (
        "Codex is ignoring 1 unrecognized configuration setting. "
        "Check for typos or deprecated settings.\n"
        f"  user ({file}): `foo` is ignored."
    )
    machine.user("foo = 1\nd = 1\nc = 1\nb = 1\n", trusted=True)
    machine.project("z = 1\n")
    (many,) = await machine.warned()
    assert many.summary == (
        "Codex is ignoring 5 unrecognized configuration settings. "
        "Check for typos or deprecated settings.\n"
        f"  project ({machine.work}/.codex/config.toml): `z` is ignored.\n"
        f"  user ({file}): `b` is ignored.\n"
        f"  user ({file}): `c` is ignored.\n"
        "  ... and 2 more ignored settings."
    )


async def test_what_a_project_may_not_set_is_named(machine: Machine):
    machine.user("", trusted=True)
    machine.project('model_provider = "x"\nnotify = ["a"]\n')
    (warning,) = await machine.warned()
    assert warning.summary == (
        f"Ignored unsupported project-local config keys in {machine.work}/.codex/config.toml: "
        "model_provider, notify. If you want these settings to apply, "
        "manually set them in your user-level config.toml."
    )


async def test_a_folder_that_nobody_trusts_yet_is_named(machine: Machine):
    machine.user("")
    machine.project("b = 1\n")
    (warning,) = await machine.warned()
    assert warning.summary == (
        "Project-local config, hooks, and exec policies are disabled in the following folders "
        "until the project is trusted, but skills still load.\n"
        f"    1. {machine.work}/.codex\n"
        "       To load project-local config, hooks, and exec policies, "
        f"add {machine.work} as a trusted project in {machine.home.config_file}.\n"
    )
