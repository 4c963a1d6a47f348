"""What servers that confine their own work are told, and what they are not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from core.errors import InternalError
from core.mcp.client.session import ServerHello
from core.mcp.sandbox import (
    LAUNCHER,
    STATE,
    STATE_META,
    Binding,
    Launcher,
    Permissions,
    Sandboxing,
    advertises,
    lack,
    local_permissions,
    unreserved,
)
from core.mcp.spec import ServerSpec
from core.process import Processes
from tests.core.mcp.fakes import endpoint, program

pytestmark = pytest.mark.anyio
PERMISSIONS = Permissions(state={"permissionProfile": {"type": "disabled"}, "new": [1]})


@dataclass
class Connected:
    spec: ServerSpec
    hello: ServerHello | None


def server(spec: ServerSpec, name: str = STATE, value: Any = None) -> Connected:
    able = {"experimental": {name: {} if value is None else value}}
    return Connected(
        spec, ServerHello(protocol_version="2025-06-18", server_info={}, capabilities=able)
    )


def launcher(path: str | None = None) -> Launcher:
    return Launcher(path, Processes())


def script(path: Path, body: str) -> str:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def bound(*found: Permissions | None, path: str | None = None) -> Sandboxing:
    """Permissions that change from look to look; the last ones stay."""
    left = list(found)
    return Sandboxing(
        permissions=lambda: left.pop(0) if len(left) > 1 else left[0], launcher=launcher(path)
    )


@pytest.mark.parametrize("name", [STATE, STATE_META])
async def test_both_names_carry_the_value_unchanged_whichever_was_announced(name: str) -> None:
    meta = await Binding(server(program("s"), name), bound(PERMISSIONS)).meta()
    assert meta == {STATE: PERMISSIONS.state, STATE_META: PERMISSIONS.state}


@pytest.mark.parametrize("value", [False, [], "yes"])
async def test_a_capability_that_is_no_object_asks_for_nothing(value: Any) -> None:
    asking = server(program("s"), value=value)
    assert not advertises(asking.hello)
    assert await Binding(asking, bound(PERMISSIONS)).meta() == {}
    assert not advertises(None)


async def test_what_cannot_be_expressed_is_not_sent() -> None:
    sandboxing = bound(None)
    assert await Binding(server(program("s")), sandboxing).meta() == {}
    assert "cannot be expressed" in lack(server(program("s")), sandboxing)


async def test_a_call_that_was_prepared_before_a_change_is_refused() -> None:
    looser = Permissions(state={"permissionProfile": {"type": "disabled"}})
    prepared = Binding(server(program("s")), bound(PERMISSIONS, looser))
    with pytest.raises(InternalError, match="no captured permission authority"):
        await prepared.meta()
    moved = server(program("s"))
    prepared = Binding(moved, bound(PERMISSIONS))
    moved.spec = replace(moved.spec, fingerprint="another")
    with pytest.raises(InternalError, match="no captured permission authority"):
        await prepared.meta()


async def test_the_launcher_goes_to_programs_of_this_machine_only(tmp_path: Path) -> None:
    path = script(tmp_path / "la uncher", "exit 0")
    told = {LAUNCHER: {"codexExecutable": path}}
    for spec, expected in (
        (program("s"), told),
        (program("s", environment_id="local"), told),
        (program("s", environment_id="remote"), {}),
        (endpoint("s", "http://127.0.0.1:1/mcp"), {}),
    ):
        with anyio.fail_after(10):
            meta = await Binding(server(spec), bound(PERMISSIONS, path=path)).meta()
        assert {name: meta[name] for name in meta if name == LAUNCHER} == expected


async def test_a_launcher_is_probed_once_with_an_empty_environment(tmp_path: Path) -> None:
    log = tmp_path / "log"
    path = script(tmp_path / "codex", f'echo "$@ [$HOME$SECRET]" >> {log}; cat >> {log}')
    probed = launcher(path)
    with anyio.fail_after(10):
        assert [await probed.path(), await probed.path()] == [path, path]
    assert log.read_text() == "sandbox --sandbox-state-json {} --help []\n"


async def test_a_launcher_that_was_replaced_is_probed_again(tmp_path: Path) -> None:
    path = script(tmp_path / "codex", "exit 0")
    probed = launcher(path)
    with anyio.fail_after(10):
        assert await probed.path() == path
        script(tmp_path / "codex", "exit 2  # as long as it takes")
        assert await probed.path() is None


async def test_what_is_no_launcher_is_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.mcp.sandbox._PROBE_DEADLINE", 0.2)
    plain = tmp_path / "plain"
    plain.write_text("exit 0")
    folder = tmp_path / "folder"
    folder.mkdir()
    hanging = script(tmp_path / "hanging", "sleep 60")
    for path in (None, "", "codex", "/no/such", str(plain), str(folder), hanging, "/x\udcff"):
        with anyio.fail_after(10):
            assert await launcher(path).path() is None


def test_the_row_says_what_is_lacking() -> None:
    assert lack(server(program("s")), bound(PERMISSIONS)) == (
        "it has no launcher for its sandbox: JACKFIELD_CODEX is not set"
    )
    assert "not an absolute path" in lack(server(program("s")), bound(PERMISSIONS, path="codex"))
    assert lack(server(endpoint("s")), bound(PERMISSIONS)) == ""
    assert lack(server(program("s")), bound(PERMISSIONS, path="/opt/codex")) == ""
    assert lack(Connected(program("s"), None), bound(PERMISSIONS)) == ""


def test_a_caller_cannot_speak_for_us() -> None:
    forged = {STATE: 1, STATE_META: 2, LAUNCHER: 3, "threadId": "t", "kept": {STATE: 4}}
    assert unreserved(forged) == {"kept": {STATE: 4}}


def test_the_folder_goes_as_a_uri() -> None:
    state = local_permissions({"type": "disabled"}, Path("/srv/ü p")).state
    assert state["sandboxCwd"] == "file:///srv/%C3%BC%20p"
    assert state["codexLinuxSandboxExe"] is None
    with pytest.raises(ValueError, match="relative"):
        local_permissions({}, Path("here"))
