"""Killed while it installs, updates or rolls back, it leaves a whole home and whole backups."""

from __future__ import annotations

import json
import os
import random
import select
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPO
from tests.core.plugins.world import put, put_market, put_plugin

FILES = 200
KILLS = 20
COMMENT = '# comment\nmodel = "x" # keep\n'


def source(home: Path, version: str, content: str) -> None:
    put_plugin(home / "plugins/p", {f"f{n}": content for n in range(FILES)}, version=version)


def killed_while_it_installs(home: Path, market: Path, seconds: float, *, uninstall: bool) -> None:
    env = {**os.environ, "PYTHONPATH": str(REPO)}
    with subprocess.Popen(
        [sys.executable, "-m", "tui", "app-server"],
        cwd=home,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def send(method: str, params: dict[str, Any]) -> None:
            assert server.stdin is not None
            server.stdin.write(json.dumps({"id": 1, "method": method, "params": params}).encode())
            server.stdin.write(b"\n")
            server.stdin.flush()

        plugin = {"marketplacePath": str(market), "pluginName": "p"}
        send("initialize", {"clientInfo": {"name": "t", "version": "1"}, "capabilities": {}})
        server.stdout.readline()
        send("plugin/read", plugin)
        server.stdout.readline()
        for _ in range(30):
            send("plugin/install", plugin)
            if uninstall:
                send("plugin/uninstall", {"pluginId": "p@m"})
        select.select([], [], [], seconds)
        server.kill()


@pytest.mark.slow
def test_twenty_kills_at_random_moments_leave_whole_copies_and_a_whole_configuration(home: Path):
    chance = random.Random(5)
    market = put_market(home, "p")
    config = put(home / ".codex/config.toml", COMMENT)
    plugin = home / ".codex/plugins/cache/m/p"
    for kill in range(KILLS):
        source(home, chance.choice(["1.0.0", "1.0.0", "2.0.0"]), str(kill))
        uninstall = kill % 3 == 0
        killed_while_it_installs(home, market, chance.uniform(0, 0.5), uninstall=uninstall)
        assert config.read_text().startswith(COMMENT)
        tables = tomllib.loads(config.read_text())
        copies = list(plugin.iterdir()) if plugin.exists() else []
        for copy in copies:
            assert len({(copy / f"f{number}").read_text() for number in range(FILES)}) == 1
            manifest = json.loads((copy / ".codex-plugin/plugin.json").read_text())
            assert manifest["version"] == copy.name
        assert copies or not tables.get("plugins")


UPDATING = """
import anyio, os
from contextlib import suppress
from pathlib import Path
from core import method_table as methods
from core.compose import open_core
from core.deps import real_deps
from core.errors import CoreError
from core.protocol.jackfield_plugins import PinParams, RollbackParams, UpdateParams

async def main():
    async with open_core(real_deps(os.environ, Path.cwd())) as core:
        client = core.client()
        print("ready", flush=True)
        while True:
            await client.call(methods.JACKFIELD_PLUGIN_UPDATE, UpdateParams(ids=("p@m",)))
            with suppress(CoreError):
                await client.call(methods.JACKFIELD_PLUGIN_ROLLBACK, RollbackParams(id="p@m"))
            await client.call(methods.JACKFIELD_PLUGIN_PIN, PinParams(id="p@m", pinned=False))

anyio.run(main)
"""


def killed_while_it_updates(home: Path, seconds: float) -> None:
    env = {**os.environ, "PYTHONPATH": str(REPO)}
    with subprocess.Popen(
        [sys.executable, "-c", UPDATING],
        cwd=home,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as panel:
        assert panel.stdout is not None
        assert panel.stdout.readline() == b"ready\n", panel.stderr and panel.stderr.read().decode()
        select.select([], [], [], seconds)
        panel.kill()


def whole(copy: Path, version: str) -> bool:
    """All files of a copy are of one time, and it is of the version that it is filed under."""
    manifest = json.loads((copy / ".codex-plugin/plugin.json").read_text())
    contents = {(copy / f"f{number}").read_text() for number in range(FILES)}
    return len(contents) == 1 and manifest["version"] == version


@pytest.mark.slow
def test_ten_kills_in_updates_and_rollbacks_leave_whole_copies_and_whole_backups(home: Path):
    chance = random.Random(7)
    put_market(home, "p")
    put(home / ".codex/config.toml", '[plugins."p@m"]\n')
    plugin = home / ".codex/plugins/cache/m/p"
    source(home, "1.0.0", "0")
    put_plugin(plugin / "1.0.0", {f"f{n}": "old" for n in range(FILES)}, name="p", version="1.0.0")
    state = home / ".local/state/jackfield"
    kept: list[Path] = []
    for kill in range(KILLS // 2):
        source(home, chance.choice(["1.0.0", "2.0.0"]), str(kill))
        killed_while_it_updates(home, chance.uniform(0, 0.6))
        copies = list(plugin.iterdir())
        assert copies
        assert all(whole(copy, copy.name) for copy in copies)
        kept = list(state.glob("plugin-backups/*/m/p/*/copy"))
        assert all(whole(copy, copy.parent.name.partition("-")[2]) for copy in kept)
        for book in state.glob("plugins-*.json"):
            assert json.loads(book.read_text())["schemaVersion"] == 1
    assert kept
