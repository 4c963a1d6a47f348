from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPO

pytestmark = [
    pytest.mark.needs("dbus-run-session", "gnome-keyring-daemon"),
    pytest.mark.skipif(sys.platform != "linux", reason="the Secret Service is Linux'"),
]


def session(folder: Path, password: str, *steps: str) -> list[object]:
    folder.mkdir(mode=0o700, exist_ok=True)
    environ = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY")
    }
    environ |= {
        "XDG_DATA_HOME": str(folder),
        "XDG_RUNTIME_DIR": str(folder),
        "PYTHONPATH": str(REPO),
    }
    script = Path(__file__).with_name("keyring_daemon.py")
    done = subprocess.run(
        ["dbus-run-session", "--", sys.executable, script, folder, password, *steps],
        env=environ,
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_real_keyring_keeps_one_secret_per_account(tmp_path: Path):
    steps = ("get", "set=one", "get", "set=two", "get", "delete", "delete", "get")
    said = session(tmp_path / "keys", "password", *steps)
    assert said == [None, None, "one", None, "two", True, False, None]


def test_a_locked_keyring_says_so_and_nobody_is_asked_for_a_password(tmp_path: Path):
    assert session(tmp_path / "keys", "password", "set=kept") == [None]
    said = session(tmp_path / "keys", "", "get", "set=lost", "delete")
    assert said == ["locked", "locked", "locked"]
    assert session(tmp_path / "keys", "password", "get") == ["kept"]


def test_a_keyring_that_was_never_set_up_is_no_keyring(tmp_path: Path):
    assert session(tmp_path / "keys", "", "get", "set=x") == ["absent", "absent"]


def test_a_keyring_that_hangs_is_given_up_and_the_program_still_ends(tmp_path: Path):
    said = session(tmp_path / "keys", "password", "set=one", "stop", "get", "get")
    assert said == [None, "silent", "silent"]
