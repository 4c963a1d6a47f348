"""An app-server that is killed while it installs leaves a whole home, whatever it was doing."""

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
