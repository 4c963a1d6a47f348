"""jackfield/tool/*, resource/*, prompt/* and complete: what servers offer, used by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread

from core.errors import InvalidRequest
from core.mcp import offers
from core.mcp.connection import Connection
from core.mcp.followers import Followers, connection_of
from core.mcp.showing import Shown, masked, shown_blocks
from core.ports import Browser
from core.protocol.events import Event
from core.protocol.jackfield import Done, NoParams
from core.protocol.jackfield_tools import (
    CallIdParams,
    CompleteParams,
    CompleteResult,
    LinkParams,
    LinkResult,
    PromptGetParams,
    PromptGetResult,
    PromptListResult,
    QuestionsResult,
    ResourceListResult,
    ResourceParams,
    ResourceReadResult,
    ServerParams,
    ToolCallParams,
    ToolCallResult,
    ToolHistoryParams,
    ToolHistoryResult,
)
from core.scope import RequestScope
from core.service.dispatch import Handler
from core.service.tool_calls import ToolCalls
from core.threads.manager import ThreadManager
from core.threads.panel import Panel
from core.threads.thread import Thread

_PAGE = re.compile(r"https?://[^\s\x00-\x1f]+", re.IGNORECASE)


class ToolsService:
    """Works over the connections of the panel's own thread; nothing is contacted anew for it.

    Args:
        emit: For the progress of calls and for changes of followed resources.
    """

    def __init__(
        self,
        threads: ThreadManager,
        panel: Panel,
        browser: Browser,
        emit: Callable[[Event], None],
    ) -> None:
        self._panel, self._browser = panel, browser
        self._calls = ToolCalls(self._thread, threads.clock, emit)
        self._followers = Followers(
            lambda: self._thread().runtime, lambda: threads.tasks, threads.clock, emit
        )

    def handlers(self) -> dict[str, Handler]:
        return {
            "jackfield/tool/call": self.call,
            "jackfield/tool/cancel": self.cancel,
            "jackfield/tool/history": self.history,
            "jackfield/resource/list": self.resource_list,
            "jackfield/resource/read": self.resource_read,
            "jackfield/resource/subscribe": self.resource_subscribe,
            "jackfield/resource/unsubscribe": self.resource_unsubscribe,
            "jackfield/prompt/list": self.prompt_list,
            "jackfield/prompt/get": self.prompt_get,
            "jackfield/complete": self.complete,
            "jackfield/elicitation/list": self.questions,
            "jackfield/link/open": self.link_open,
        }

    def happened(self, event: Event) -> None:
        """A listener of the core's events; see `Followers.happened`."""
        self._followers.happened(event)

    # -- calls

    async def call(self, params: ToolCallParams, scope: RequestScope) -> ToolCallResult:
        """Call a tool and wait for its end."""
        return await self._calls.call(params)

    async def cancel(self, params: CallIdParams, scope: RequestScope) -> Done:
        """End a call; its server gets `notifications/cancelled`."""
        if not self._calls.cancel(params.call_id):
            raise InvalidRequest("this call does not run any more")
        return Done()

    async def history(self, params: ToolHistoryParams, scope: RequestScope) -> ToolHistoryResult:
        """What was called since the start."""
        return ToolHistoryResult(calls=self._calls.history(params.id))

    # -- resources

    async def resource_list(self, params: ServerParams, scope: RequestScope) -> ResourceListResult:
        """Resources and templates as last listed."""
        connection = self._connection(params.server)
        return ResourceListResult(
            resources=_items(connection, "resources"),
            templates=_items(connection, "templates"),
            subscribe=offers.able(connection, "resources", "subscribe"),
            complete=offers.able(connection, "completions"),
            subscribed=self._followers.of(params.server),
        )

    async def resource_read(
        self, params: ResourceParams, scope: RequestScope
    ) -> ResourceReadResult:
        """Read a resource."""
        began = anyio.current_time()
        connection = self._connection(params.server)
        contents = await offers.read_resource(connection, params.uri)
        ms = round((anyio.current_time() - began) * 1000, 1)
        shown = await self._shown(connection, contents)
        return ResourceReadResult(
            contents=tuple(shown.blocks), bytes=shown.bytes, cut=shown.cut, duration_ms=ms
        )

    async def resource_subscribe(self, params: ResourceParams, scope: RequestScope) -> Done:
        """Have changes of a resource told as occurrences."""
        await self._followers.follow(params.server, params.uri)
        return Done()

    async def resource_unsubscribe(self, params: ResourceParams, scope: RequestScope) -> Done:
        """Stop that."""
        await self._followers.unfollow(params.server, params.uri)
        return Done()

    # -- prompts

    async def prompt_list(self, params: ServerParams, scope: RequestScope) -> PromptListResult:
        """Prompts as last listed."""
        connection = self._connection(params.server)
        return PromptListResult(
            prompts=_items(connection, "prompts"),
            complete=offers.able(connection, "completions"),
        )

    async def prompt_get(self, params: PromptGetParams, scope: RequestScope) -> PromptGetResult:
        """The messages of a prompt."""
        connection = self._connection(params.server)
        description, messages = await offers.get_prompt(connection, params.name, params.arguments)
        shown = await self._shown(connection, [message["content"] for message in messages])
        pairs = zip(messages, shown.blocks, strict=False)
        return PromptGetResult(
            messages=tuple({"role": message["role"], "content": block} for message, block in pairs),
            description=connection.spec.secrets.mask(description),
            bytes=shown.bytes,
            cut=shown.cut,
        )

    async def complete(self, params: CompleteParams, scope: RequestScope) -> CompleteResult:
        """What may stand for an argument; nothing where the server cannot say."""
        connection = self._connection(params.server)
        values, more = await offers.complete(
            connection, params.ref, params.argument, params.value, params.known
        )
        return CompleteResult(values=values, more=more)

    # -- questions

    async def questions(self, params: NoParams, scope: RequestScope) -> QuestionsResult:
        """Questions of servers that wait for the person; answered with elicitation/answer."""
        return QuestionsResult(questions=self._panel.desk.questions())

    # -- links

    async def link_open(self, params: LinkParams, scope: RequestScope) -> LinkResult:
        """Show a page that a server names; the person has seen where it leads."""
        if not _PAGE.fullmatch(params.url):
            raise InvalidRequest("only http and https links are opened")
        return LinkResult(opened=await self._browser.open(params.url))

    def _thread(self) -> Thread:
        if self._panel.thread is None:
            raise InvalidRequest("the panel has not been started")
        return self._panel.thread

    def _connection(self, server: str) -> Connection:
        return connection_of(self._thread().runtime, server)

    async def _shown(self, connection: Connection, blocks: list[dict[str, Any]]) -> Shown:
        return await anyio.to_thread.run_sync(shown_blocks, blocks, connection.spec.secrets)


def _items(connection: Connection, kind: str) -> tuple[dict[str, Any], ...]:
    listing = connection.listing(kind)
    if listing is None:
        return ()
    return tuple(masked(item, connection.spec.secrets) for item in listing.items.values())
