from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from core.appserver.strictness import ConfigGate
from core.errors import CoreError, InternalError
from core.protocol.facts import Evidence

pytestmark = pytest.mark.anyio

REASON = "/h/config.toml:1:3: unquoted keys cannot be empty"


def broken() -> None:
    raise InternalError(
        f"failed to reload config: {REASON}",
        evidence=Evidence(file="/h/config.toml", line=1, column=3),
    )


def params(**members: Any) -> Any:
    return SimpleNamespace(**{"thread_id": None, "server_name": None, **members})


async def told(method: str, asked: Any = None) -> tuple[int, str] | None:
    try:
        await ConfigGate(broken).check(method, asked or params())
    except CoreError as error:
        return error.code, error.message
    return None


RELOAD = (-32603, f"failed to reload config: {REASON}")


@pytest.mark.parametrize(
    "method",
    [
        "plugin/list",
        "plugin/installed",
        "plugin/read",
        "plugin/install",
        "plugin/search",
        "plugin/reconcile",
        "marketplace/add",
        "marketplace/remove",
        "marketplace/upgrade",
        "mcpServerStatus/list",
        "mcpServer/oauth/login",
        "mcpServer/resource/read",
        "app/list",
        "app/read",
        "app/installed",
    ],
)
async def test_a_broken_configuration_fails_what_reads_it_strictly(method: str):
    assert await told(method) == RELOAD


async def test_a_thread_is_refused_in_other_words():
    expected = (-32600, f"failed to load configuration: {REASON}")
    assert await told("thread/start", object()) == expected


@pytest.mark.parametrize(
    "method",
    ["account/read", "account/logout", "skills/list", "hooks/list", "thread/loaded/list"],
)
async def test_what_does_not_read_it_strictly_goes_on(method: str):
    assert await told(method) is None


async def test_a_local_plugin_is_uninstalled_by_what_reads_the_file_itself():
    assert await told("plugin/uninstall", params(plugin_id="p@m")) is None
    assert await told("plugin/uninstall", params(plugin_id="remote-id")) == RELOAD


async def test_a_thread_that_lives_needs_no_file():
    in_thread = params(thread_id="t")
    for method in ("app/installed", "mcpServer/resource/read", "mcpServer/oauth/login"):
        assert await told(method, in_thread) is None
    for method in ("app/list", "app/read", "mcpServerStatus/list"):
        assert await told(method, in_thread) == RELOAD
    assert await told("mcpServerStatus/list", params(thread_id="t", server_name="s")) is None
    assert await told("mcpServerStatus/list", params(server_name="s")) == RELOAD


async def test_the_fault_and_its_place_are_told_after_the_handshake():
    (warning,) = await ConfigGate(broken).warnings()
    place = {"line": 1, "column": 3}
    assert warning.summary == "Invalid configuration; using defaults."
    assert warning.details == REASON
    assert (warning.path, warning.range) == ("/h/config.toml", {"start": place, "end": place})


async def test_a_configuration_that_can_be_used_is_not_spoken_of():
    gate = ConfigGate(lambda: None)
    await gate.check("plugin/list", params())
    assert await gate.warnings() == []
