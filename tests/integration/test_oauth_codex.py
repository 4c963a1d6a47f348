"""One home, two programs: what either of them does with a sign-in, the other one knows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPO
from tests.integration.keyring_session import keyring
from tests.integration.oauth.world import (
    Guarded,
    Provider,
    expire,
    stored,
    write_config,
)

pytestmark = pytest.mark.needs("node", "codex")
ROUNDS = 2
NONE: Mapping[str, str] = {}
JACKFIELD = [sys.executable, "-m", "tui"]
CODEX = ["codex"]
BROWSER = Path(__file__).parent / "oauth" / "browser.py"


def browser(home: Path) -> Path:
    """A program that takes an address and nothing else, as both programs start one."""
    script = home / "browser"
    if not script.exists():
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{BROWSER}" "$1"\n')
        script.chmod(0o755)
    return script


def environ(home: Path, found: Mapping[str, str]) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "CODEX_HOME": str(home / ".codex"),
        "PYTHONPATH": str(REPO),
        "BROWSER": str(browser(home)),
        "NO_PROXY": "127.0.0.1",
        **(found or {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}),
    }


def ran(home: Path, *command: str, found: Mapping[str, str] = NONE) -> str:
    done = subprocess.run(
        command,
        env=environ(home, found),
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(autouse=True)
def _started(provider: Provider) -> None:
    provider.start()


def standing(home: Path, program: Sequence[str], found: Mapping[str, str] = NONE) -> str:
    told = json.loads(ran(home, *program, "mcp", "list", "--json", found=found))
    return told[0]["auth_status"]


class Asked:
    """An app-server that is asked for the status of all servers."""

    def __init__(self, home: Path, program: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            [*program, "app-server"],
            env=environ(home, NONE),
            cwd=home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._say(
            {
                "id": 0,
                "method": "initialize",
                "params": {"clientInfo": {"name": "x", "version": "1"}},
            },
            {"method": "initialized"},
        )
        self._answer(0)

    def ask(self) -> None:
        self._say({"id": 1, "method": "mcpServerStatus/list", "params": {}})

    def row(self) -> dict[str, Any]:
        return self._answer(1)["data"][0]

    def _say(self, *messages: Any) -> None:
        assert self._process.stdin is not None
        for message in messages:
            self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _answer(self, number: int) -> Any:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == number and "method" not in message:
                return message["result"]
        raise AssertionError("it ended")

    def __enter__(self) -> Asked:
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


@pytest.mark.parametrize(
    ("one", "other"), [(JACKFIELD, CODEX), (CODEX, JACKFIELD)], ids=["in-here", "in-there"]
)
def test_who_signs_in_with_one_is_in_with_both_and_out_of_both(
    home: Path, server: Guarded, provider: Provider, one: list[str], other: list[str]
) -> None:
    write_config(home / ".codex", server.url)
    assert "Successfully logged in to MCP server 'g'." in ran(home, *one, "mcp", "login", "g")
    assert standing(home, JACKFIELD) == standing(home, CODEX) == "o_auth"
    assert "Removed OAuth credentials for 'g'." in ran(home, *other, "mcp", "logout", "g")
    assert standing(home, JACKFIELD) == standing(home, CODEX) == "not_logged_in"
    assert not (home / ".codex" / ".credentials.json").exists()


@pytest.mark.needs("dbus-daemon", "gnome-keyring-daemon")
@pytest.mark.parametrize(
    ("one", "other"), [(JACKFIELD, CODEX), (CODEX, JACKFIELD)], ids=["in-here", "in-there"]
)
def test_the_keyring_is_shared_item_by_item(
    home: Path, server: Guarded, provider: Provider, one: list[str], other: list[str]
) -> None:
    write_config(home / ".codex", server.url, store="keyring")
    with keyring(home / "ring") as ring:
        found = ring.environ
        ran(home, *one, "mcp", "login", "g", found=found)
        assert len(ring.items()) == 1
        assert standing(home, JACKFIELD, found) == standing(home, CODEX, found) == "o_auth"
        ran(home, *other, "mcp", "login", "g", found=found)
        assert len(ring.items()) == 1
        said = ran(home, *other, "mcp", "logout", "g", found=found)
        assert "Removed OAuth credentials for 'g'." in said
        assert ring.items() == []
        assert standing(home, one, found) == "not_logged_in"
    assert not (home / ".codex" / ".credentials.json").exists()


def test_six_programs_refresh_at_once_and_nobody_is_logged_out(
    home: Path, server: Guarded, provider: Provider
) -> None:
    write_config(home / ".codex", server.url)
    ran(home, *JACKFIELD, "mcp", "login", "g")
    for _ in range(ROUNDS):
        before = stored(home / ".codex")
        with ExitStack() as stack:
            programs = [
                stack.enter_context(Asked(home, each)) for each in [JACKFIELD] * 5 + [CODEX]
            ]
            expire(home / ".codex")
            for program in programs:
                program.ask()
            rows = [program.row() for program in programs]
        assert [(row["authStatus"], row["toolsError"]) for row in rows] == [("oAuth", None)] * 6
        assert all({"whoami", "admin"} == row["tools"].keys() for row in rows)
        assert stored(home / ".codex")["refresh_token"] != before["refresh_token"]
    # Reuse of a refresh token would have revoked the family, its last tokens included.
    assert provider.events("grant.revoked") == []
    assert len(provider.events("grant.success", kind="refresh_token")) == ROUNDS
    assert provider.events("grant.error") == []
