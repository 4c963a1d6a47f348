"""The MCP methods of every face, and what the panel asks of its servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.errors import InvalidRequest
from core.mcp.auth_status import AuthJudge
from core.mcp.elicitation import Answer
from core.mcp.event_streams import EventStreams
from core.mcp.hosted import HOSTED_NAME
from core.mcp.opening import Opening
from core.mcp.runtime import McpRuntime
from core.mcp.spec import ServerSpec
from core.protocol.jackfield import (
    ConsentAnswers,
    ConsentResult,
    DetailResult,
    Done,
    ElicitationAnswer,
    NameParams,
    NamesParams,
)
from core.protocol.jackfield import NoParams as NothingAsked
from core.scope import Caller, RequestScope
from core.service.dispatch import Handler
from core.threads.manager import ThreadManager
from core.threads.panel import Panel
from core.threads.settings import standing_approvals

if TYPE_CHECKING:
    from core.protocol.base import Empty, NoParams
    from core.protocol.mcp import (
        McpServerEventStreamStartParams,
        McpServerEventStreamStopParams,
        McpServerResourceReadParams,
        McpServerResourceReadResult,
        McpServerStatusListParams,
        McpServerStatusListResult,
        McpServerToolCallParams,
        McpServerToolCallResult,
    )


class McpService:
    """mcpServerStatus/list, mcpServer/*, config/mcpServer/reload, jackfield/server/* and consent.

    Args:
        threads: All threads; it must have been entered.
        panel: The panel's own thread, opened or not.
    """

    def __init__(self, threads: ThreadManager, panel: Panel, judge: AuthJudge) -> None:
        self._threads, self._panel, self._judge = threads, panel, judge
        self._streams = EventStreams(lambda: threads.tasks, threads.clock)

    def handlers(self) -> dict[str, Handler]:
        return {
            "mcpServerStatus/list": self.status_list,
            "mcpServer/tool/call": self.tool_call,
            "mcpServer/resource/read": self.resource_read,
            "config/mcpServer/reload": self.reload,
            "mcpServer/event/stream/start": self.event_stream_start,
            "mcpServer/event/stream/stop": self.event_stream_stop,
            "jackfield/server/reconnect": self.reconnect,
            "jackfield/server/cancel": self.cancel,
            "jackfield/server/detail": self.detail,
            "jackfield/consent/read": self.consent_read,
            "jackfield/consent/write": self.consent_write,
            "jackfield/elicitation/answer": self.elicitation_answer,
        }

    # -- the wire's methods

    async def status_list(
        self, params: McpServerStatusListParams, scope: RequestScope
    ) -> McpServerStatusListResult:
        """Statuses of a page of servers; the answer waits for all of them."""
        from core.mcp.status import StatusLister

        runtime, live, specs = await self._asked_about(params, scope)
        loaded = await self._threads.source.loaded()
        lister = StatusLister(
            judge=self._judge,
            opening=self._opening(scope.caller),
            runtime=runtime,
            live=live,
            approvals=standing_approvals(loaded),
        )
        return await lister.answer(params, specs)

    async def _asked_about(
        self, params: McpServerStatusListParams, scope: RequestScope
    ) -> tuple[McpRuntime | None, bool, Sequence[ServerSpec]]:
        """Whose states are told, whether its connections are used, and the servers."""
        if params.thread_id is not None:
            thread = self._threads.get(params.thread_id)
            live = params.server_name is not None
            reading = await self._threads.reading_of(thread)
            return thread.runtime, live, reading.specs
        own = self._panel.thread
        if scope.caller.policy.keep_connections and own is not None:
            return own.runtime, True, tuple(own.runtime.specs.values())
        reading = await self._threads.source.read()
        return None, False, reading.specs

    async def tool_call(
        self, params: McpServerToolCallParams, scope: RequestScope
    ) -> McpServerToolCallResult:
        """Call a tool over a thread's connection."""
        from core.mcp.calls import call_tool

        thread = self._threads.get(params.thread_id)
        return await call_tool(params, thread.id, thread.runtime)

    async def resource_read(
        self, params: McpServerResourceReadParams, scope: RequestScope
    ) -> McpServerResourceReadResult:
        """Read a resource over a thread's connection, or over one of its own."""
        from core.mcp.calls import check_read, read_alone, read_in_thread

        check_read(params)
        if params.thread_id is not None:
            return await read_in_thread(params, self._threads.get(params.thread_id).runtime)
        reading = await self._threads.source.read()
        return await read_alone(
            params,
            reading.specs,
            self._opening(scope.caller),
            standing_approvals(reading.loaded),
        )

    async def reload(self, params: NoParams, scope: RequestScope) -> Empty:
        """Let all threads have the configuration as it is now; the work follows the answer."""
        from core.protocol.base import Empty

        await self._threads.reload(scope)
        return Empty()

    async def event_stream_start(
        self, params: McpServerEventStreamStartParams, scope: RequestScope
    ) -> Empty:
        """Subscribe to events of the hosted apps server; answered once the stream is active."""
        from core.protocol.base import Empty
        from core.protocol.mcp import McpServerEventStreamNotification

        if params.server != HOSTED_NAME:
            raise InvalidRequest("MCP event subscriptions are only supported for hosted apps")
        client, subscription_id = scope.caller.connection, params.subscription_id
        thread = self._threads.subscribed(params.thread_id, client)

        def tell(method: str, said: dict[str, Any]) -> None:
            told = McpServerEventStreamNotification(
                subscription_id=subscription_id,
                notification={"method": method, "params": said},
            )
            scope.notify("mcpServer/event/stream/notification", told)

        await self._streams.start(
            client,
            subscription_id,
            thread.runtime,
            name=params.name,
            arguments=params.arguments,
            meta=params.meta,
            tell=tell,
        )
        return Empty()

    async def event_stream_stop(
        self, params: McpServerEventStreamStopParams, scope: RequestScope
    ) -> Empty:
        """End a subscription."""
        from core.protocol.base import Empty

        self._streams.stop(scope.caller.connection, params.subscription_id)
        return Empty()

    def connection_closed(self, connection: int) -> None:
        """A client has gone: its subscriptions end, its threads stay loaded."""
        self._streams.client_gone(connection)
        self._threads.connection_closed(connection)

    def _opening(self, caller: Caller) -> Opening:
        """For connections without a thread; under consent nothing else is contacted."""
        if caller.policy.consent:
            return self._panel.opening(threaded=False)
        return self._threads.opening(caller, threaded=False)

    # -- ours

    async def reconnect(self, params: NamesParams, scope: RequestScope) -> Done:
        """Start servers anew; without names all that have failed."""
        self._panel.reconnect(params.names)
        return Done()

    async def cancel(self, params: NameParams, scope: RequestScope) -> Done:
        """Give up a start, or end a server."""
        self._panel.cancel(params.name)
        return Done()

    async def detail(self, params: NameParams, scope: RequestScope) -> DetailResult:
        """Everything known of a server."""
        return DetailResult(detail=await self._panel.detail(params.name))

    async def consent_read(self, params: NothingAsked, scope: RequestScope) -> ConsentResult:
        """All programs and endpoints, those that wait for a yes first."""
        return ConsentResult(items=self._panel.consent_items())

    async def consent_write(self, params: ConsentAnswers, scope: RequestScope) -> Done:
        """Remember answers; what has got its yes is started."""
        await self._panel.answer_consent(params.answers)
        return Done()

    async def elicitation_answer(self, params: ElicitationAnswer, scope: RequestScope) -> Done:
        """Answer a question of a server."""
        answer = Answer(action=params.action, content=params.content)
        if not self._panel.desk.answer(params.id, answer):
            raise InvalidRequest("nobody waits for this answer any more")
        return Done()
