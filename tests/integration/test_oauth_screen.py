"""A sign-in that is begun by a key in the panel, in tmux, and completed by a real browser."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest

from tests.integration.oauth.world import Guarded, Provider, browse, write_config
from tests.integration.test_oauth_browser import chromium
from tests.integration.test_oauth_canary import forms
from tests.terminal.homes import been_here
from tests.terminal.panel import panel_environ

pytestmark = pytest.mark.needs("node", "tmux")
PATIENCE = 30.0


class Tmux:
    """A panel in a tmux of its own; `bytes` is all that it has written to the terminal."""

    def __init__(self, folder: Path) -> None:
        self._socket, self._written = folder / "tmux", folder / "written"
        self._written.touch()

    def start(self, environ: dict[str, str], cwd: Path) -> None:
        command = f"exec {shlex.join([sys.executable, '-m', 'tui'])}"
        size = ("-x", "120", "-y", "40", "-c", str(cwd))
        self("-f", "/dev/null", "new-session", "-d", "-s", "p", *size, "sleep 600", env=environ)
        self("pipe-pane", "-t", "p", f"cat >>{self._written}")
        self("set-option", "-t", "p", "remain-on-exit", "on")
        self("respawn-pane", "-k", "-t", "p", "-c", str(cwd), command)

    def __call__(self, *words: str, env: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self._socket), *words],
            env=env or {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color"},
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
        return done.stdout

    def press(self, *keys: str) -> None:
        self("send-keys", "-t", "p", *keys)

    def paste(self, text: str) -> None:
        """In brackets, as terminals do."""
        self("set-buffer", text)
        self("paste-buffer", "-p", "-t", "p")

    @property
    def screen(self) -> str:
        return self("capture-pane", "-p", "-t", "p")

    def until(self, seen: Callable[[str], bool]) -> str:
        end = time.monotonic() + PATIENCE
        while not seen(screen := self.screen):
            assert time.monotonic() < end, f"not seen:\n{screen}"
            time.sleep(0.05)
        return screen

    def shows(self, *words: str) -> str:
        """Wait for a line with all of them."""
        return self.until(
            lambda screen: any(all(w in line for w in words) for line in screen.splitlines())
        )

    @property
    def bytes(self) -> str:
        return self._written.read_text("utf-8", "replace")

    def end(self) -> None:
        subprocess.run(["tmux", "-S", str(self._socket), "kill-server"], check=False, timeout=10)


@pytest.fixture
def tmux(tmp_path: Path) -> Generator[Tmux]:
    made = Tmux(tmp_path)
    try:
        yield made
    finally:
        made.end()


def start(tmux: Tmux, home: Path, url: str, **more: str) -> None:
    write_config(home / ".codex", url)
    been_here(home)
    environ = panel_environ(home, **more)
    tmux.start(environ, home)
    tmux.shows("1 Marketplaces")
    tmux.press("4")
    tmux.shows("? g", "review")
    tmux.press("m")
    tmux.shows("Start what is ticked")
    tmux.press("Right", "Enter")
    tmux.shows("? g", "sign-in")


def stored(home: Path) -> dict[str, str]:
    (entry,) = json.loads((home / ".codex/.credentials.json").read_text()).values()
    return entry


@pytest.mark.needs("chromium")
def test_a_browser_completes_what_a_key_has_begun(
    home: Path, tmp_path: Path, server: Guarded, provider: Provider, tmux: Tmux
) -> None:
    provider.start(person="clicks")
    start(tmux, home, server.url, BROWSER=str(chromium(tmp_path)))
    tmux.press("s")
    tmux.shows("wants an account at", server.issuer.removeprefix("http://"))
    tmux.shows("o open")
    tmux.press("o")
    tmux.shows("● signed in until")
    tmux.shows("● g", "connected", "until")
    tmux.until(lambda screen: "Sign in to g" not in screen)
    assert any("HeadlessChrome" in each["agent"] for each in provider.events("person"))
    tmux.press("S")
    tmux.shows("Sign out of g?")
    tmux.press("Right", "Enter")
    tmux.shows("Signed out of g: its tokens are revoked and removed")


def test_nothing_secret_reaches_the_terminal_the_logs_or_a_picture(
    home: Path, server: Guarded, provider: Provider, tmux: Tmux
) -> None:
    provider.start()
    start(tmux, home, server.url, PYTHONASYNCIODEBUG="1")
    tmux.press("s")
    tmux.shows("o open")
    tmux.press("w")
    tmux.shows("sign-in.txt")
    tmux.press("Enter")
    tmux.shows("written to")
    link = (home / "sign-in.txt").read_text()
    redirect = parse_qs(urlsplit(link).query)["redirect_uri"][0]
    came, _ = anyio.run(lambda: browse(link, stop_at=redirect))
    code = parse_qs(urlsplit(came).query)["code"][0]
    tmux.paste(f"{redirect}?code={code}&state=wrong")
    tmux.shows("not taken: it belongs to another sign-in (state)")
    tmux.paste(came)
    tmux.shows("● signed in until")
    tmux.shows("● g", "connected", "until")
    tmux.until(lambda screen: "Sign in to g" not in screen)
    entry = stored(home)
    tmux.press("C-p")
    for char in "picture":
        tmux.press(char)
    tmux.shows("Picture of screen")
    tmux.press("Enter")
    tmux.shows("Write to a file")
    tmux.press("Enter")
    tmux.until(lambda screen: bool(list(home.glob("*.svg"))))
    tmux.press("q")
    tmux.until(lambda screen: tmux("display-message", "-p", "-t", "p", "#{pane_dead}") == "1\n")
    secrets = [code, entry["access_token"], entry["refresh_token"]]
    places = {"terminal": tmux.bytes}
    logs = [file for file in (home / ".local").rglob("*.log*") if file.is_file()]
    for file in (*logs, *home.glob("*.svg")):
        places[str(file)] = file.read_text("utf-8", "replace")
    assert "signed in until" in places["terminal"]
    found = [
        (place, form[:6])
        for place, text in places.items()
        for secret in secrets
        for form in forms(secret)
        if form in text
    ]
    assert found == []
