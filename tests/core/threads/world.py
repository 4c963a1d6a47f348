"""A small core for tests: threads and panel over a home of the test's own."""

from __future__ import annotations

import textwrap
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio

from core.config.paths import Home
from core.config.store import ConfigStore
from core.mcp.auth_status import AuthJudge
from core.mcp.board import ServerBoard
from core.mcp.effective import ServerSource
from core.mcp.headers_helper import HeadersHelper
from core.mcp.links import Links, Plumbing
from core.mcp.opening import SessionMaker
from core.ports import Deps
from core.process import Processes
from core.protocol.events import Event
from core.protocol.rows import ServerRow, ToolRow
from core.scope import Caller, RequestScope
from core.seams import DeclaredServer, DeclaredServers, HostedServer, SignInTarget
from core.service.mcp import McpService
from core.service.threads import ThreadsService
from core.threads.manager import ThreadManager
from core.threads.panel import Panel
from core.threads.policy import CODEX, PANEL, ThreadPolicy
from tests.core.mcp.fakes import FakeMaker


class FakeProbe:
    def __init__(self) -> None:
        self.answers: dict[str, bool | None] = {}
        self.asked: list[str] = []
        self.forgotten: list[str] = []

    async def offers_oauth(self, target: SignInTarget) -> bool | None:
        self.asked.append(target.url)
        return self.answers.get(target.url, False)

    def forget(self, url: str) -> None:
        self.forgotten.append(url)


@dataclass
class Plugins:
    servers: list[DeclaredServer] = field(default_factory=list)

    def declared_servers(self, cwd: Path | None) -> DeclaredServers:
        return DeclaredServers(servers=tuple(self.servers))


@dataclass
class Hosted:
    server: HostedServer | None = None

    async def hosted_server(self, cwd: Path | None) -> HostedServer | None:
        return self.server


@dataclass
class Client:
    """A connection: what it is told, in order, with marks where answers were given."""

    world: World
    connection: int = 1
    policy: ThreadPolicy = CODEX
    log: list[tuple[str, Any]] = field(default_factory=list)
    answer: Any = None

    def scope(self) -> RequestScope:
        waiting: list[Callable[[], None]] = []
        self._later = waiting
        return RequestScope(
            caller=Caller(policy=self.policy, name="test", connection=self.connection),
            notify=lambda method, params: self.log.append((method, dump(params))),
            ask=self._ask,
            after_answer=waiting.append,
        )

    async def _ask(self, method: str, params: Any) -> Any:
        self.log.append((method, dump(params)))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def call(self, method: str, **params: Any) -> Any:
        """Through the handler, as a wire face does it."""
        from core.method_table import METHODS

        kind = METHODS[method].params
        scope = self.scope()
        later = self._later
        try:
            result = await self.world.handlers[method](kind.model_validate(params), scope)
        finally:
            self.log.append(("answer", method))
            for do in later:
                do()
        return dump(result)

    async def start(self, **params: Any) -> str:
        return (await self.call("thread/start", **params))["thread"]["id"]

    def startup(self, name: str) -> list[str]:
        return [
            params["status"]
            for method, params in self.log
            if method == "mcpServer/startupStatus/updated" and params["name"] == name
        ]


def dump(value: Any) -> Any:
    return value.model_dump(by_alias=True) if hasattr(value, "model_dump") else value


@dataclass
class World:
    deps: Deps
    threads: ThreadManager
    panel: Panel
    board: ServerBoard
    handlers: Mapping[str, Any]
    maker: FakeMaker
    probe: FakeProbe
    plugins: Plugins
    hosted: Hosted
    processes: Processes
    events: list[Event] = field(default_factory=list)

    @property
    def codex_home(self) -> Path:
        return Home.of(self.deps).codex_home

    def write(self, text: str) -> None:
        write_config(self.codex_home, text)

    def client(self, connection: int = 1, policy: ThreadPolicy = CODEX) -> Client:
        return Client(self, connection, policy)

    @property
    def rows(self) -> Mapping[str, ServerRow]:
        return self.board.servers.current.rows

    @property
    def tools(self) -> Mapping[str, ToolRow]:
        return self.board.inventory.current.rows

    async def until(self, met: Callable[[], Any], seconds: float = 5) -> None:
        with anyio.fail_after(seconds):
            while not met():
                with anyio.move_on_after(0.005):
                    await anyio.sleep_forever()

    async def until_status(self, *, seconds: float = 5, **statuses: str) -> None:
        await self.until(
            lambda: all(
                name in self.rows and self.rows[name].status == status
                for name, status in statuses.items()
            ),
            seconds,
        )

    async def agree(self, *names: str) -> None:
        items = self.panel.consent_items()
        chosen = {item.id: True for item in items if not names or item.name in names}
        await self.panel.answer_consent(chosen)


def write_config(codex_home: Path, text: str) -> None:
    codex_home.mkdir(parents=True, exist_ok=True)
    (codex_home / "config.toml").write_text(textwrap.dedent(text))


@asynccontextmanager
async def world(
    deps: Deps, config: str = "", *, maker: FakeMaker | None = None, real: bool = False, **more: Any
) -> AsyncGenerator[World]:
    """`real` starts real processes instead of fake sessions."""
    home = Home.of(deps)
    write_config(home.codex_home, config)
    configs = ConfigStore(home, deps)
    processes = Processes()
    fakes = maker or FakeMaker()
    probe, plugins, hosted = FakeProbe(), Plugins(), Hosted()
    plumbing = Plumbing(
        processes=processes,
        http=deps.http,
        helper=HeadersHelper(processes, deps.environ, deps.clock),
        version="0",
    )
    source = ServerSource(
        configs=configs,
        home=home,
        declarations=plugins,
        hosted=hosted,
        environ=deps.environ,
    )
    judge = AuthJudge(probe=probe)
    events: list[Event] = []

    def links(plumbing: Plumbing, policy: ThreadPolicy, client: Mapping[str, Any]) -> SessionMaker:
        return Links(plumbing, policy, client) if real else fakes

    async with ThreadManager(
        deps, source, plumbing, events.append, version="0", links=links
    ) as threads:
        board = ServerBoard(events.append, deps.clock)
        panel = Panel(deps, threads, board, judge, events.append, version="0", **more)
        mcp = McpService(threads, panel, judge)
        handlers = {**mcp.handlers(), **ThreadsService(threads).handlers()}
        yield World(
            deps, threads, panel, board, handlers, fakes, probe, plugins, hosted, processes, events
        )


__all__ = ["CODEX", "PANEL", "Client", "World", "replace", "world"]
