"""What a plugin brings, read from real folders through a real core."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from core.compose import open_core
from core.errors import CoreError
from core.method_table import METHODS
from core.ports import Deps
from core.protocol.events import RefreshFinished
from core.protocol.jackfield import IdParams, PanelStartParams

pytestmark = pytest.mark.anyio


TWO_HOOKS = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": c} for c in "ab"]}]}}


def write_home(codex_home: Path, root: Path, more: str = "") -> None:
    write_market(root)
    codex_home.mkdir(parents=True, exist_ok=True)
    table = f'[marketplaces.m]\nsource_type = "local"\nsource = {json.dumps(str(root))}\n'
    (codex_home / "config.toml").write_text(table + more)


def write_market(root: Path) -> None:
    plugin = root / "plugins" / "guard"
    (plugin / ".codex-plugin").mkdir(parents=True)
    (plugin / "skills" / "look").mkdir(parents=True)
    (plugin / "hooks").mkdir()
    (plugin / "agents").mkdir()
    (plugin / "agents" / "helper.md").write_text("hello")
    (plugin / ".codex-plugin" / "plugin.json").write_text(json.dumps({"name": "guard"}))
    (plugin / "skills" / "look" / "SKILL.md").write_text(
        "---\nname: look\ndescription: Looks twice\n---\n"
    )
    handler = {"type": "command", "command": "bash guard.sh"}
    hooks = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}}
    (plugin / "hooks" / "hooks.json").write_text(json.dumps(hooks))
    servers = {
        "local": {"command": "serve", "args": ["--token", "s3cret"], "env": {"KEY": "v4lue"}},
        "far": {"url": "https://me:pa55@mcp.example/mcp"},
        "bad": {"command": 7},
    }
    (plugin / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    (root / ".agents" / "plugins").mkdir(parents=True)
    entry = {"name": "guard", "source": "./plugins/guard"}
    document = {"name": "m", "plugins": [entry]}
    (root / ".agents" / "plugins" / "marketplace.json").write_text(json.dumps(document))


@asynccontextmanager
async def details(deps: Deps, root: Path, more: str = "") -> AsyncGenerator[Any]:
    write_home(Path(deps.environ["CODEX_HOME"]), root, more)
    async with open_core(deps) as core:
        client = core.client()

        async def detail(row_id: str) -> dict[str, Any]:
            result = await client.call(METHODS["jackfield/plugin/detail"], IdParams(id=row_id))
            return result.detail

        with anyio.fail_after(20):
            async with client.subscribe() as events:
                await client.call(METHODS["jackfield/panel/start"], PanelStartParams())
                async for event in events:
                    if isinstance(event, RefreshFinished) and event.domain == "plugins":
                        break
            yield detail


async def test_every_part_is_told_with_what_it_runs_and_no_secret(deps: Deps, tmp_path: Path):
    async with details(deps, tmp_path / "market") as detail:
        told = await detail("guard@m")
    assert [skill["name"] for skill in told["skills"]] == ["guard:look"]
    (hook,) = told["hooks"]
    assert (hook["event"], hook["command"]) == ("preToolUse", "bash guard.sh")
    servers = {server["name"]: server for server in told["servers"]}
    assert servers["local"]["environment"] == ["KEY"]
    assert servers["far"]["target"].startswith("https://")
    assert told["ignored"] == ["1 agent"]
    unused = {entry["what"]: entry for entry in told["unused"]}
    assert unused["agent"]["names"] == ["helper"]
    assert unused["server"]["names"] == ["bad"]
    assert unused["server"]["reason"].startswith("left out: ")
    assert any("bad" in fault for fault in told["faults"])
    for secret in ("s3cret", "v4lue", "pa55"):
        assert secret not in json.dumps(told)


async def test_an_unknown_row_is_refused(deps: Deps, tmp_path: Path):
    async with details(deps, tmp_path / "market") as detail:
        with pytest.raises(CoreError, match="no plugin 'nope@m' here"):
            await detail("nope@m")


async def test_hooks_of_an_installed_plugin_say_what_codex_was_told(deps: Deps, tmp_path: Path):
    copy = Path(deps.environ["CODEX_HOME"]) / "plugins/cache/m/guard/local"
    for name, text in (
        (".codex-plugin/plugin.json", '{"name": "guard"}'),
        ("hooks/hooks.json", json.dumps(TWO_HOOKS)),
    ):
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    key = "guard@m:hooks/hooks.json:stop:0:1"
    more = f'[plugins."guard@m"]\n[hooks.state."{key}"]\nenabled = false\n'
    async with details(deps, tmp_path / "market", more) as detail:
        told = await detail("guard@m")
    assert [hook["status"] for hook in told["hooks"]] == ["untrusted", "off"]
