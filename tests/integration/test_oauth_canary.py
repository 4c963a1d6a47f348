"""No token, code, secret or verifier is anywhere where somebody could read it."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.integration.oauth.world import Guarded, Provider, write_config
from tests.integration.test_oauth_codex import NONE, browser, environ

pytestmark = pytest.mark.needs("node")
TOUR = Path(__file__).parent / "oauth" / "tour.py"


def forms(secret: str) -> set[str]:
    """A secret as it could be written."""
    raw = secret.encode()
    inner = base64.b64encode(raw).decode().rstrip("=")[:-2]
    return {secret, quote(secret, safe=""), inner, raw.hex()}


def test_nothing_secret_is_logged_told_raised_or_handed_to_a_program(
    home: Path, tmp_path: Path, server: Guarded, provider: Provider
) -> None:
    provider.start()
    write_config(home / ".codex", server.url)
    seen = tmp_path / "arguments"
    script = browser(home)
    script.write_text(script.read_text().replace("exec", f'echo "$@" >>"{seen}"\nexec'))
    done = subprocess.run(
        [sys.executable, str(TOUR), str(tmp_path), server.issuer],
        env=environ(home, NONE) | {"PYTHONASYNCIODEBUG": "1"},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    secrets: list[str] = json.loads((tmp_path / "secrets").read_text())
    # Of each kind there was one at least: 4 attempts with 3 parts, tokens, codes, a device code.
    assert len(secrets) >= 4 * 3 + 2 * 2 + 3 + 1
    places = {
        "stdout": done.stdout,
        "stderr": done.stderr,
        "argv": seen.read_text(),
        "provider": "",
    }
    for file in (home / ".local", home / ".cache", home / ".config"):
        places |= {
            str(each): each.read_text("latin-1") for each in file.rglob("*") if each.is_file()
        }
    found = [
        (place, form[:6])
        for place, text in places.items()
        for secret in secrets
        for form in forms(secret)
        if form in text
    ]
    assert found == []
    assert "login/completed" in done.stdout and "DEBUG" in done.stderr
    assert "server_error" in done.stdout
