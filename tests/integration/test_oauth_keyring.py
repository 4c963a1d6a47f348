"""Sign-ins in a real keyring, and in whatever is wrong with one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from core.auth.grants import Grant, secret_text
from tests.conftest import REPO
from tests.integration.keyring_session import Keyring, keyring
from tests.integration.oauth.world import Guarded, Provider, write_config
from tests.integration.test_oauth_codex import browser

pytestmark = [
    pytest.mark.needs("dbus-daemon", "gnome-keyring-daemon"),
    pytest.mark.skipif(sys.platform != "linux", reason="the Secret Service is Linux'"),
]
URL = "http://127.0.0.1:9/mcp"
SCRIPT = Path(__file__).parent / "oauth" / "credentials_of.py"
GRANT = Grant(
    server_name="g",
    server_url=URL,
    client_id="c",
    access_token="token",
    issuer="http://127.0.0.1:9",
    refresh_token="more",
    scopes=("read",),
)
PUT = """
import sys
from core.auth.secret_service import SecretService
SecretService().set("Codex MCP Credentials", sys.argv[1], sys.stdin.read())
"""


@pytest.fixture
def ring(tmp_path: Path) -> Generator[Keyring]:
    with keyring(tmp_path / "ring") as made:
        yield made


def environ(home: Path, found: dict[str, str]) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "CODEX_HOME": str(home / ".codex"),
        "PYTHONPATH": str(REPO),
        **found,
    }


def put(home: Path, ring: Keyring) -> None:
    subprocess.run(
        [sys.executable, "-c", PUT, GRANT.key],
        input=secret_text(GRANT, time.time()),
        text=True,
        env=environ(home, ring.environ),
        check=True,
        timeout=30,
    )


def asked(home: Path, found: dict[str, str]) -> dict[str, Any]:
    """What is told; that the program ends by itself is part of it."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "g"],
        env=environ(home, found),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["took"] < 4
    return told["state"]


def facts(state: dict[str, Any]) -> tuple[str, str, str, str]:
    return state["state"], state["store"], state["keyring"], state["keyringWords"]


def test_what_the_keyring_has_is_found(home: Path, ring: Keyring) -> None:
    write_config(home / ".codex", URL, store="auto")
    put(home, ring)
    state = asked(home, ring.environ)
    assert facts(state) == ("oAuth", "keyring", "", "")
    assert (state["renewable"], state["scopes"]) == (True, ["read"])


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (Keyring.lock, ("unknown", "", "locked", "the keyring is locked")),
        (Keyring.kill, ("unknown", "", "locked", "the keyring is locked")),
        (Keyring.stop, ("unknown", "", "silent", "the keyring does not answer (2 s)")),
        (Keyring.kill_bus, ("none", "", "absent", "there is no keyring on this machine")),
    ],
    ids=["locked", "killed", "stopped", "no bus"],
)
def test_each_state_of_the_keyring_has_its_words_and_holds_nothing_up(
    home: Path, ring: Keyring, spoil: Callable[[Keyring], None], words: tuple[str, ...]
) -> None:
    write_config(home / ".codex", URL, store="auto")
    put(home, ring)
    spoil(ring)
    assert facts(asked(home, ring.environ)) == words


def test_without_any_keyring_the_file_is_what_counts(home: Path) -> None:
    write_config(home / ".codex", URL, store="auto")
    assert facts(asked(home, {})) == ("none", "", "absent", "there is no keyring on this machine")


def test_an_entry_that_is_none_of_codexs_is_unreadable_and_not_signed_out(
    home: Path, ring: Keyring
) -> None:
    write_config(home / ".codex", URL, store="auto")
    subprocess.run(
        [sys.executable, "-c", PUT, GRANT.key],
        input="no json",
        text=True,
        env=environ(home, ring.environ),
        check=True,
        timeout=30,
    )
    state = asked(home, ring.environ)
    assert state["state"] == "unknown" and "cannot be read" in state["reason"]


def test_a_keyring_that_lives_in_memory_is_told_as_that(home: Path, ring: Keyring) -> None:
    write_config(home / ".codex", URL, store="auto")
    ring.make_volatile()
    put(home, ring)
    assert facts(asked(home, ring.environ)) == (
        "oAuth",
        "keyring",
        "volatile",
        "the keyring forgets everything at the end of this session",
    )


@pytest.mark.needs("node")
@pytest.mark.parametrize(
    ("spoil", "store", "code", "words"),
    [
        (None, "auto", 0, "The tokens are in the keyring."),
        (Keyring.make_volatile, "auto", 0, "Note: the keyring forgets everything"),
        (Keyring.lock, "auto", 0, "Note: the keyring is locked: the file is used"),
        (Keyring.stop, "auto", 0, "Note: the keyring does not answer (2 s): the file is used"),
        (
            Keyring.lock,
            "keyring",
            1,
            "failed to write OAuth tokens to keyring: the keyring is locked",
        ),
        (
            Keyring.stop,
            "keyring",
            1,
            "failed to write OAuth tokens to keyring: the keyring does not",
        ),
    ],
    ids=["fine", "volatile", "locked", "stopped", "locked-only", "stopped-only"],
)
def test_a_sign_in_says_where_it_is_kept_and_ends_whatever_the_keyring_does(
    home: Path,
    ring: Keyring,
    server: Guarded,
    provider: Provider,
    spoil: Callable[[Keyring], None] | None,
    store: str,
    code: int,
    words: str,
) -> None:
    provider.start()
    write_config(home / ".codex", server.url, store=store)
    if spoil is not None:
        spoil(ring)
    done = subprocess.run(
        [sys.executable, "-m", "tui", "login", "g"],
        env=environ(home, {**ring.environ, "BROWSER": str(browser(home)), "NO_PROXY": "127.0.0.1"}),
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert words in done.stdout + done.stderr
    in_file = (home / ".codex" / ".credentials.json").exists()
    assert in_file is ("the file is used" in words)
