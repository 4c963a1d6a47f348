"""What we tell servers of their sandbox, enforced by the real `codex sandbox`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import anyio
import pytest

from core.mcp.sandbox import STATE, Launcher
from core.ports import Deps
from core.process import Processes
from tests.core.mcp.fakes import FakeMaker, Script
from tests.core.threads.world import world

pytestmark = [pytest.mark.anyio, pytest.mark.needs("codex")]
ONE = '[mcp_servers.one]\ncommand = "one"\n'


async def test_the_real_launcher_passes_the_probe() -> None:
    path = shutil.which("codex")
    assert path is not None
    with anyio.fail_after(30):
        assert await Launcher(path, Processes()).path() == path


@pytest.mark.parametrize(("mode", "written"), [("read-only", False), ("workspace-write", True)])
async def test_a_state_that_we_send_is_obeyed(deps: Deps, mode: str, written: bool) -> None:
    maker = FakeMaker(one=Script(capabilities={"tools": {}, "experimental": {STATE: {}}}))
    maker.scripts["one"].replies["tools/call"] = [{"content": []}]
    config = f'sandbox_mode = "{mode}"\n{ONE}'
    async with world(deps, config, maker=maker) as here:
        client = here.client()
        thread = await client.start()
        await client.call("mcpServer/tool/call", threadId=thread, server="one", tool="t")
        meta = maker.latest("one").asked[-1][2]
    assert meta is not None
    file = Path(deps.cwd) / "written"
    state = json.dumps(meta[STATE])
    probe = ["codex", "sandbox", "--sandbox-state-json", state, "--", "sh", "-c"]
    with anyio.fail_after(40):
        able = await anyio.run_process([*probe, "true"], check=False)
        if able.returncode != 0:
            pytest.skip(f"no sandbox on this machine: {able.stderr.decode()[-200:]}")
        await anyio.run_process([*probe, "echo yes > written"], check=False)
    assert await anyio.Path(file).exists() is written
