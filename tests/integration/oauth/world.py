"""A guarded MCP server, its authorization server, and a person with a browser."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest

from tests.integration.everything import NODE_MODULES

HERE = Path(__file__).parent


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def first_line(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, f"ended with {process.wait(5)} before it listened"
    return json.loads(line)


def end(process: subprocess.Popen[Any]) -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


@dataclass
class Guarded:
    """The MCP server; `issuer` is where an authorization server may be started."""

    url: str
    issuer: str

    @property
    def port(self) -> int:
        return int(self.issuer.rpartition(":")[2])


@contextmanager
def guarded() -> Generator[Guarded]:
    issuer = f"http://127.0.0.1:{free_port()}"
    command = [sys.executable, str(HERE / "guarded_server.py"), "0", issuer]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield Guarded(first_line(process)["url"], issuer)
    finally:
        end(process)


@dataclass
class Provider:
    """The authorization server: started, ended and started again on the same port."""

    guarded: Guarded
    log: Path
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    process: subprocess.Popen[str] | None = None

    def start(self, **options: Any) -> None:
        self.options |= options
        given = {"port": self.guarded.port, "resource": self.guarded.url, "log": str(self.log)}
        node = shutil.which("node")
        assert node is not None
        self.process = subprocess.Popen(
            [node, str(HERE / "provider.mjs"), json.dumps(given | self.options)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "JACKFIELD_NODE_MODULES": NODE_MODULES or ""},
        )
        assert first_line(self.process)["issuer"] == self.guarded.issuer

    def stop(self) -> None:
        if self.process is not None:
            end(self.process)
            self.process = None

    def token_endpoint_answers(self, status: int, *, echo: bool = False) -> None:
        """0 = as it should; `echo`: its error says what it was sent."""
        token_endpoint_answers(self.guarded.issuer, status, echo=echo)

    def events(self, name: str, **facts: Any) -> list[dict[str, Any]]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        told = [json.loads(line) for line in lines]
        return [each for each in told if each["event"] == name and facts.items() <= each.items()]


def token_endpoint_answers(issuer: str, status: int, *, echo: bool = False) -> None:
    params = {"is": status, "echo": int(echo)}
    httpx.get(f"{issuer}/--/token-status", params=params, trust_env=False).raise_for_status()


def needs_provider() -> None:
    place = Path(NODE_MODULES or "nowhere") / "oidc-provider"
    if not place.is_dir():
        if os.environ.get("JACKFIELD_REQUIRE_TOOLS") == "1":
            pytest.fail("oidc-provider is missing", pytrace=False)
        pytest.skip("oidc-provider is missing (see JACKFIELD_NODE_MODULES)")


async def browse(url: str, *, stop_at: str = "") -> tuple[str, httpx.Response | None]:
    """Follow a page as an approving person's browser does: cookies, redirects, no script.

    Args:
        stop_at: Beginning of an address that is not opened any more; its whole is returned.
    """
    async with httpx.AsyncClient(trust_env=False, timeout=10) as browser:
        for _ in range(20):
            if stop_at and url.startswith(stop_at):
                return url, None
            page = await browser.get(url)
            if not page.has_redirect_location:
                return url, page
            url = urljoin(url, page.headers["location"])
    raise AssertionError("too many redirects")


async def approve_device(page: str) -> str:
    """Open the page with the code in it and press every button; the last page's text."""
    async with httpx.AsyncClient(trust_env=False, follow_redirects=True, timeout=10) as browser:
        text = (await browser.get(page)).text
        for _ in range(5):
            form = re.search(r'<form[^>]*action="([^"]+)"', text)
            if form is None:
                return text
            fields = dict(re.findall(r'<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"', text))
            text = (await browser.post(html.unescape(form[1]), data=fields)).text
    raise AssertionError("too many forms")


def write_config(codex_home: Path, url: str, *, store: str = "file", more: str = "") -> None:
    codex_home.mkdir(parents=True, exist_ok=True)
    (codex_home / "config.toml").write_text(
        f'mcp_oauth_credentials_store = "{store}"\n[mcp_servers.g]\nurl = "{url}"\n{more}'
    )


def expire(codex_home: Path) -> None:
    """Let all stored access tokens be over."""
    file = codex_home / ".credentials.json"
    entries = json.loads(file.read_text())
    for entry in entries.values():
        entry["expires_at"] = int((time.time() - 5) * 1000)
    file.write_text(json.dumps(entries))


def stored(codex_home: Path) -> dict[str, Any]:
    """The one entry of the file store, or {}."""
    file = codex_home / ".credentials.json"
    entries = json.loads(file.read_text()) if file.exists() else {}
    return next(iter(entries.values()), {})
