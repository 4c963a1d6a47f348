"""`jackfield login` and `jackfield logout`, as a person types them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio
import anyio.to_thread
import pytest

from tests.integration.oauth.world import (
    Guarded,
    Provider,
    approve_device,
    browse,
    stored,
    write_config,
)
from tests.integration.test_oauth_codex import NONE, environ

pytestmark = [pytest.mark.anyio, pytest.mark.needs("node")]


class Running:
    """The program, its output so far, and its stdin."""

    def __init__(self, home: Path, *words: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tui", *words],
            env=environ(home, NONE),
            cwd=home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            bufsize=1,
        )
        self.said = ""

    async def until(self, pattern: str) -> re.Match[str]:
        assert self._process.stdout is not None
        with anyio.fail_after(40):
            while (found := re.search(pattern, self.said)) is None:
                char = await anyio.to_thread.run_sync(self._process.stdout.read, 1)
                assert char, f"it ended: {self.said}"
                self.said += char
        return found

    async def ended(self) -> int:
        assert self._process.stdout is not None
        with anyio.fail_after(40):
            self.said += await anyio.to_thread.run_sync(self._process.stdout.read)
            return await anyio.to_thread.run_sync(self._process.wait)

    def type(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")

    def interrupt(self) -> None:
        self._process.send_signal(2)

    async def __aenter__(self) -> Running:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


async def ran(home: Path, words: Sequence[str]) -> tuple[int, str]:
    async with Running(home, *words) as program:
        return await program.ended(), program.said


async def test_a_browser_and_back_out_again(
    home: Path, server: Guarded, provider: Provider
) -> None:
    provider.start()
    write_config(home / ".codex", server.url)
    code, said = await ran(home, ["login", "g"])
    assert code == 0, said
    assert "Asks for: mcp:read offline_access" in said
    assert said.endswith("Signed in to g. The tokens are in .credentials.json.\n")
    assert "state=" not in said and stored(home / ".codex")["scopes"] == ["mcp:read"]
    code, said = await ran(home, ["login", "g", "--scopes", "mcp:read,mcp:write"])
    assert code == 0 and "Asks for: mcp:read +mcp:write +offline_access" in said
    assert await ran(home, ["logout", "g"]) == (
        0,
        "Signed out of g: the tokens are revoked and removed.\n",
    )
    assert await ran(home, ["logout", "g"]) == (0, "Nothing was stored for g.\n")


async def test_a_paste_is_asked_for_until_it_is_right(
    home: Path, server: Guarded, provider: Provider
) -> None:
    provider.start()
    write_config(home / ".codex", server.url)
    async with Running(home, "login", "g", "--paste") as program:
        url = (await program.until(r"Open this page:\n\n(\S+)\n"))[1]
        await program.until(r"run there:  ssh -N -L (\d+):127\.0\.0\.1:\1 HOST")
        await program.until("Address")
        redirect = parse_qs(urlsplit(url).query)["redirect_uri"][0]
        right, _ = await browse(url, stop_at=redirect)
        program.type("what is this")
        await program.until("Not taken: it holds no code")
        program.type(right.replace("state=", "state=x"))
        await program.until(r"Not taken: it belongs to another sign-in \(state\)")
        program.type(right)
        assert await program.ended() == 0
        assert "Signed in to g." in program.said
        code = parse_qs(urlsplit(right).query)["code"][0]
        assert code not in program.said


async def test_a_code_for_another_machine(home: Path, server: Guarded, provider: Provider) -> None:
    provider.start()
    write_config(home / ".codex", server.url)
    async with Running(home, "login", "g", "--device") as program:
        page = (await program.until(r"Open (\S+) on any machine"))[1]
        code = (await program.until(r"\n    (\S+)\n"))[1]
        await approve_device(f"{page}?user_code={code}")
        assert await program.ended() == 0, program.said
        assert "Signed in to g." in program.said


async def test_a_refusal_a_late_person_and_a_changed_mind(
    home: Path, server: Guarded, provider: Provider
) -> None:
    provider.start(person="denies")
    write_config(home / ".codex", server.url)
    code, said = await ran(home, ["login", "g"])
    assert code == 1 and "not signed in to g: OAuth provider returned `access_denied`" in said
    code, said = await ran(home, ["login", "g", "--no-browser", "--timeout", "1"])
    assert code == 1 and "timed out waiting for OAuth callback" in said
    async with Running(home, "login", "g", "--no-browser") as program:
        await program.until("Address")
        program.interrupt()
        assert await program.ended() == 130
    assert stored(home / ".codex") == {}
