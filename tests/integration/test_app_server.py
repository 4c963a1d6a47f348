"""The app-server as a process: what it says first, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPO

HELLO = {
    "id": "hello",
    "method": "initialize",
    "params": {"clientInfo": {"name": "test", "version": "1"}, "capabilities": {}},
}


class Server:
    """One process with its pipes."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self.popen = popen

    def send(self, *messages: dict[str, Any]) -> None:
        assert self.popen.stdin is not None
        for message in messages:
            self.popen.stdin.write(json.dumps(message).encode() + b"\n")
        self.popen.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.popen.stdout is not None
        return json.loads(self.popen.stdout.readline())

    def hello(self) -> dict[str, Any]:
        self.send(HELLO)
        return self.receive()

    def hang_up(self) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.close()

    def ended(self) -> int:
        return self.popen.wait(10)


@contextmanager
def app_server(home: Path, *options: str, cwd: Path | None = None) -> Generator[Server]:
    popen = subprocess.Popen(
        [sys.executable, str(REPO / "tests/conformance/server.py"), "app-server", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd or home,
        env={**os.environ, "HOME": str(home), "CODEX_HOME": str(home / ".codex")},
    )
    try:
        yield Server(popen)
    finally:
        popen.kill()
        popen.wait(10)
        for pipe in (popen.stdin, popen.stdout, popen.stderr):
            if pipe is not None:
                with suppress(OSError):  # what was not written yet has nobody to go to
                    pipe.close()


def slow_server(home: Path) -> Path:
    """Configures an MCP server that never answers; the file that it writes its id into."""
    mark = home / "started"
    args = json.dumps(["-c", f"echo $$ > {mark}; exec sleep 60"])
    entry = f'[mcp_servers.slow]\ncommand = "sh"\nargs = {args}\n'
    (home / ".codex" / "config.toml").write_text(entry)
    return mark


def appeared(path: Path) -> int:
    for _ in range(1000):
        if path.exists() and (text := path.read_text()):
            return int(text)
        time.sleep(0.01)
    raise AssertionError(f"{path} never appeared")


def gone(pid: int) -> bool:
    for _ in range(500):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_it_says_who_it_is_and_ends_with_its_input(home: Path):
    with app_server(home) as server:
        answer = server.hello()
        assert answer["id"] == "hello"
        assert answer["result"]["codexHome"] == str(home / ".codex")
        server.hang_up()
        assert server.ended() == 0


def test_a_pipe_of_requests_is_answered_before_it_ends(home: Path):
    with app_server(home) as server:
        server.send(HELLO, *({"id": n, "method": "plugin/list", "params": {}} for n in range(5)))
        server.hang_up()
        assert server.popen.stdout is not None
        ids = [json.loads(line).get("id") for line in server.popen.stdout]
        assert [id for id in ids if id is not None] == ["hello", 0, 1, 2, 3, 4]
        assert server.ended() == 0


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 0), (signal.SIGINT, -signal.SIGINT), (signal.SIGHUP, -signal.SIGHUP)],
)
def test_a_signal_ends_it_and_its_servers(home: Path, number: signal.Signals, code: int):
    mark = slow_server(home)
    with app_server(home) as server:
        server.hello()
        server.send({"id": 1, "method": "thread/start", "params": {}})
        pid = appeared(mark)
        server.popen.send_signal(number)
        assert server.ended() == code
        assert gone(pid)


def test_the_end_of_the_input_ends_its_servers_too(home: Path):
    mark = slow_server(home)
    with app_server(home) as server:
        server.hello()
        server.send({"id": 1, "method": "mcpServerStatus/list", "params": {}})
        pid = appeared(mark)
        server.hang_up()
        assert server.ended() == 0
        assert gone(pid)


def test_even_a_kill_leaves_no_server_behind(home: Path):
    mark = slow_server(home)
    with app_server(home) as server:
        server.hello()
        server.send({"id": 1, "method": "thread/start", "params": {}})
        pid = appeared(mark)
        server.popen.kill()
        server.ended()
        assert gone(pid)


def test_overrides_count_more_than_files(home: Path):
    (home / ".codex" / "config.toml").write_text('[mcp_servers.one]\ncommand = "true"\n')
    listed = {"id": 1, "method": "mcpServerStatus/list", "params": {"detail": "toolsAndAuthOnly"}}
    off = ("-c", "mcp_servers.one.enabled=false", "-c", "mcp_servers.two={url='http://[::1]:9'}")
    with app_server(home, *off) as server:
        server.hello()
        server.send(listed)
        names = [row["name"] for row in server.receive()["result"]["data"]]
        assert names == ["one", "two"]


def test_what_cannot_be_overridden_is_told_on_stderr_only(home: Path):
    with app_server(home, "-c", "nonsense") as server:
        out, error = server.popen.communicate(timeout=10)
        assert server.popen.returncode == 1
        assert out == b""
        assert b"Error: error parsing -c overrides: Invalid override" in error
