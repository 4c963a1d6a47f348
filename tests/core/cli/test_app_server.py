from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

HELLO = {
    "id": 1,
    "method": "initialize",
    "params": {"clientInfo": {"name": "t", "version": "1"}},
}
OURS = (sys.executable, "-m", "tui", "app-server")


def environ(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home" / ".codex"
    home.mkdir(parents=True)
    return {"PATH": os.environ["PATH"], "HOME": str(home.parent), "CODEX_HOME": str(home)}


def relayed(path: Path, env: dict[str, str], *messages: dict[str, Any]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [*OURS, "--connect", f"unix:{path}"],
        input="".join(json.dumps(message) + "\n" for message in messages),
        capture_output=True,
        text=True,
        env=env,
        timeout=30,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_it_listens_until_a_signal_comes_and_a_relay_reaches_it(tmp_path: Path):
    env, path = environ(tmp_path), tmp_path / "run" / "s"
    with subprocess.Popen(
        [*OURS, "--listen", f"unix:{path}"], env=env, stdin=subprocess.DEVNULL
    ) as server:
        try:
            deadline = time.monotonic() + 30
            while not path.exists():
                assert server.poll() is None
                assert time.monotonic() < deadline
                os.sched_yield()
            answers = relayed(
                path, env, HELLO, {"id": 2, "method": "jackfield/status", "params": {}}
            )
            assert answers[0]["result"]["codexHome"] == env["CODEX_HOME"]
            assert answers[1]["result"]["codexHome"] == env["CODEX_HOME"]
            second = subprocess.run(
                [*OURS, "--listen", f"unix:{path}"],
                env=env,
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            )
            assert second.returncode == 1
            assert f"another app-server listens on {path}" in second.stderr
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 0
    assert not path.exists()


@pytest.mark.parametrize("url", ["tcp://1", "unix:"])
def test_what_cannot_be_listened_on_is_refused_with_what_can(tmp_path: Path, url: str):
    done = subprocess.run(
        [*OURS, "--listen", url],
        env=environ(tmp_path),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert f"unsupported --listen URL `{url}`: `{url}` is not unix:PATH" in done.stderr
