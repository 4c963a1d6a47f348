"""A home that something is wrong with, and the servers and sites that its files name."""

from __future__ import annotations

import json
import os
import shlex
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from core.auth.grants import Grant, file_entry
from core.cli.main import main
from core.demo.http import Answer, Asked, Site, as_json
from tests.fakes.chatgpt_backend import auth_json
from tests.fakes.mcp_http import FakeMcpHttp
from tests.fakes.mcp_stdio import answer, argv, tool

ECHO = {"tools": [tool("echo"), tool("other")]}


def toml(value: Any) -> str:
    """A value as TOML; JSON is, but for tables."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    return json.dumps(value)


@dataclass
class World:
    """Files below one folder; whatever listens ends with it."""

    root: Path
    patch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    ends: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        self.home = self.root / "home"
        self.codex = self.home / ".codex"
        self.work = self.root / "project"
        self.system = self.root / "system"
        self.market = self.root / "market"
        for folder in (self.codex, self.work, self.system, self.root / "bin"):
            folder.mkdir(parents=True, exist_ok=True)
        (self.work / ".git").mkdir()
        (self.work / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        self.patch.setenv("PATH", f"{self.root / 'bin'}{os.pathsep}{os.environ['PATH']}")
        self.patch.chdir(self.work)
        self.config("")

    # -- running

    def run(self, *words: str) -> tuple[int, str, str]:
        """A command line; its exit code and what it said."""
        code = main(words)
        said = self.capsys.readouterr()
        return code, said.out, said.err

    def explain(self, *words: str) -> dict[str, Any]:
        """`jackfield explain --json`."""
        code, out, err = self.run("explain", "--json", "--deadline", "15", *words)
        assert out, (code, err)
        return {**json.loads(out), "code": code}

    def carry_out(self, action: dict[str, Any]) -> None:
        """Type the command line of an action."""
        program, *words = shlex.split(action["cli"])
        assert program == "jackfield"
        code, out, err = self.run(*words)
        assert code in (0, 5), (words, out, err)

    # -- files

    def config(self, text: str) -> None:
        """The person's config.toml."""
        (self.codex / "config.toml").write_text(text)

    def more(self, text: str) -> None:
        """At its end."""
        with (self.codex / "config.toml").open("a") as file:
            file.write(f"\n{text}\n")

    def replace(self, old: str, new: str) -> None:
        """In it."""
        file = self.codex / "config.toml"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    def required(self, text: str) -> None:
        """What an administrator requires."""
        (self.system / "requirements.toml").write_text(text)

    def project(self, text: str, *, trust: str = "") -> None:
        """The project's own config.toml."""
        folder = self.work / ".codex"
        folder.mkdir(exist_ok=True)
        (folder / "config.toml").write_text(text)
        if trust:
            self.trust(trust)

    def trust(self, level: str = "trusted") -> None:
        self.more(f"[projects.{json.dumps(str(self.work))}]\ntrust_level = {json.dumps(level)}")

    def program(self, name: str, *, mode: str = "ok", spec: dict[str, Any] | None = None) -> Path:
        """A program of this name on PATH, which is an MCP server."""
        return self.script(self.root / "bin" / name, mode=mode, spec=spec or ECHO)

    def script(self, file: Path, *, mode: str = "ok", spec: dict[str, Any] | None = None) -> Path:
        """The same in a file."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\nexec {shlex.join(argv(mode, spec=spec or ECHO))}\n")
        file.chmod(0o755)
        return file

    # -- servers

    def server(self, name: str = "s", **members: Any) -> None:
        """A table for a program on PATH, called like the server, which is there and well."""
        if not members.keys() & {"command", "url"}:
            members["command"] = str(self.program(f"{name}-server"))
        lines = [f"{key} = {toml(value)}" for key, value in members.items()]
        self.more("\n".join([f"[mcp_servers.{json.dumps(name)}]", *lines]))

    def fake(
        self, name: str = "s", *, mode: str = "ok", spec: dict[str, Any] | None = None
    ) -> None:
        """A table for a server that behaves like this; `fake` again changes it."""
        file = self.program(f"{name}-server", mode=mode, spec=spec)
        if f'"{name}"' not in (self.codex / "config.toml").read_text():
            self.server(name, command=str(file))

    def http(
        self, name: str = "s", *, table: dict[str, Any] | None = None, **how: Any
    ) -> FakeMcpHttp:
        """A server over HTTP with its table."""
        site = self.ends.enter_context(FakeMcpHttp(spec=ECHO, **how))
        self.server(name, url=site.url, **(table or {}))
        return site

    def grant(self, url: str, token: str, *, expires_in: float | None = None) -> None:
        """What a sign-in leaves behind."""
        import time

        if "mcp_oauth_credentials_store" not in (self.codex / "config.toml").read_text():
            text = (self.codex / "config.toml").read_text()
            self.config(f'mcp_oauth_credentials_store = "file"\n{text}')
        ends = None if expires_in is None else int((time.time() + expires_in) * 1000)
        grant = Grant(
            server_name="s", server_url=url, client_id="c", access_token=token, expires_at=ends
        )
        file = self.codex / ".credentials.json"
        file.write_text(json.dumps({grant.key: file_entry(grant)}))
        file.chmod(0o600)

    # -- plugins

    def marketplace(
        self, *entries: dict[str, Any] | str, name: str = "m", root: Path | None = None
    ) -> Path:
        """A configured marketplace; a plain name is a plugin in it with a skill."""
        root = root or self.market
        written: list[dict[str, Any]] = []
        for entry in entries:
            if isinstance(entry, str):
                self.plugin(entry, root=root)
                entry = {"name": entry, "source": f"./plugins/{entry}"}
            written.append(entry)
        file = root / ".agents" / "plugins" / "marketplace.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"name": name, "plugins": written}))
        if f"[marketplaces.{name}]" not in (self.codex / "config.toml").read_text():
            self.more(
                f'[marketplaces.{name}]\nsource_type = "local"\nsource = {json.dumps(str(root))}'
            )
        return file

    def plugin(
        self,
        name: str,
        *,
        root: Path | None = None,
        skill: bool = True,
        servers: dict[str, Any] | None = None,
        **manifest: Any,
    ) -> Path:
        """A plugin's folder in the marketplace; its manifest."""
        folder = (root or self.market) / "plugins" / name
        file = folder / ".codex-plugin" / "plugin.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"name": name, "version": "1.0.0", **manifest}))
        if skill:
            self.skill(folder)
        if servers is not None:
            (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
        return file

    def skill(self, folder: Path) -> None:
        file = folder / "skills" / "greet" / "SKILL.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("---\nname: greet\ndescription: Says hello.\n---\nSay hello.\n")

    def install(self, plugin: str = "p@m") -> None:
        code, out, err = self.run("install", plugin)
        assert code == 0, out + err

    # -- apps

    def backend(self, *hosted: dict[str, Any], listed: tuple[str, ...] = ("a",)) -> Backend:
        """A ChatGPT backend that somebody is signed in at."""
        backend = Backend(list(hosted), list(listed))
        site = Site(backend.respond)
        self.ends.callback(site.close)
        self.config(
            f'chatgpt_base_url = "{site.url}"\ncli_auth_credentials_store = "file"\n'
            + (self.codex / "config.toml").read_text()
        )
        self.sign_in()
        return backend

    def sign_in(self) -> None:
        (self.codex / "auth.json").write_text(json.dumps(auth_json()))

    def fetch(self) -> None:
        """Commit a snapshot."""
        code, _, err = self.run("list", "apps")
        assert code == 0, err


@dataclass
class Backend:
    """Directory and hosted tools; `statuses` {path: status} says what fails."""

    tools: list[dict[str, Any]]
    listed: list[str]
    statuses: dict[str, int] = field(default_factory=dict[str, int])

    HOSTED = "/api/codex/ps/mcp"
    DIRECTORY = "/connectors/directory/list"

    def respond(self, asked: Asked) -> Answer:
        if (status := self.statuses.get(asked.path)) is not None:
            return Answer(status=status, body=b"not today")
        if asked.path == self.HOSTED:
            return self._hosted(asked)
        if asked.path == self.DIRECTORY:
            apps = [
                {"id": key, "name": key.title(), "description": "an app"} for key in self.listed
            ]
            return as_json({"apps": apps, "next_token": None})
        if asked.path == "/connectors/directory/list_workspace":
            return as_json({"apps": [], "next_token": None})
        return Answer(status=404, body=b"not found")

    def _hosted(self, asked: Asked) -> Answer:
        message = asked.json()
        if asked.method != "POST":
            return Answer(status=405)
        if "id" not in message:
            return Answer(status=202)
        said = answer({"tools": self.tools}, message)
        whole = {"jsonrpc": "2.0", "id": message["id"], **said}
        return as_json(whole, headers={"mcp-session-id": "s"})


PYTHON = sys.executable
