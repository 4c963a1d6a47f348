"""Sessions from explicit arguments; nothing here knows of configuration."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup

from core.mcp.client.connection import Connection
from core.mcp.client.eras import Introduction, begin
from core.mcp.client.http import StreamableHttp
from core.mcp.client.rpc import Rpc
from core.mcp.client.session import HttpFailed, ServerHello, Session
from core.mcp.client.sse import LegacySse
from core.mcp.client.stdio import StdioCarrier, StdioTarget
from core.mcp.client.wire import HttpTarget
from core.ports import HttpFactory
from core.process import Processes

_OLDER_SERVERS_ANSWER = (400, 404, 405)


@asynccontextmanager
async def open_stdio_session(
    target: StdioTarget, introduction: Introduction, *, processes: Processes
) -> AsyncGenerator[Session]:
    """A session with a process, which is started by `Session.open` and ended with the block.

    One task enters and leaves the block; `request` and the like may be called from any. What the
    block raises comes out as it is, never in an exception group.
    """

    def build(tasks: TaskGroup) -> Connection:
        rpc = Rpc(tasks)
        return Connection(rpc, [StdioCarrier(tasks, rpc, processes, target)], introduction)

    async with _living(build) as session:
        yield session


@asynccontextmanager
async def open_http_session(
    target: HttpTarget, introduction: Introduction, *, http: HttpFactory
) -> AsyncGenerator[Session]:
    """A session over streamable HTTP, or the older HTTP+SSE where `target` allows it.

    As `open_stdio_session` otherwise; nothing is sent before `Session.open`.
    """

    def build(tasks: TaskGroup) -> Connection:
        rpc = Rpc(tasks)
        agent = f"{introduction.name}/{introduction.version}"

        async def handshake(transport: StreamableHttp) -> ServerHello:
            return await begin(rpc, introduction, transport.speaks)

        streamable = StreamableHttp(tasks, rpc, http, target, agent, handshake)
        if not target.legacy_sse:
            return Connection(rpc, [streamable], introduction)
        older = LegacySse(tasks, rpc, http, target, agent)
        return Connection(rpc, [streamable, older], introduction, fallback=_may_be_older)

    async with _living(build) as session:
        yield session


@asynccontextmanager
async def _living(build: Callable[[TaskGroup], Connection]) -> AsyncGenerator[Connection]:
    raised: Exception | None = None
    async with anyio.create_task_group() as tasks:
        connection = build(tasks)
        try:
            yield connection
        except Exception as error:
            raised = error  # the task group would wrap it
        finally:
            await connection.aclose()
            tasks.cancel_scope.cancel()
    if raised is not None:
        raise raised


def _may_be_older(failed: HttpFailed) -> bool:
    return failed.reason.http_status in _OLDER_SERVERS_ANSWER
