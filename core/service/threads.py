"""thread/start, thread/loaded/list, thread/unsubscribe, thread/archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.scope import RequestScope
from core.service.dispatch import Handler
from core.threads.manager import ThreadManager

if TYPE_CHECKING:
    from core.protocol.base import Empty
    from core.protocol.threads import (
        ThreadArchiveParams,
        ThreadLoadedListParams,
        ThreadLoadedListResult,
        ThreadStartParams,
        ThreadStartResult,
        ThreadUnsubscribeParams,
        ThreadUnsubscribeResult,
    )


class ThreadsService:
    """The thread methods of every face; `threads` must have been entered."""

    def __init__(self, threads: ThreadManager) -> None:
        self._threads = threads

    def handlers(self) -> dict[str, Handler]:
        return {
            "thread/start": self.start,
            "thread/loaded/list": self.loaded_list,
            "thread/unsubscribe": self.unsubscribe,
            "thread/archive": self.archive,
        }

    async def start(self, params: ThreadStartParams, scope: RequestScope) -> ThreadStartResult:
        """A new thread; its servers start in the background."""
        return await self._threads.start(params, scope)

    async def loaded_list(
        self, params: ThreadLoadedListParams, scope: RequestScope
    ) -> ThreadLoadedListResult:
        """A page of the ids of loaded threads."""
        return self._threads.loaded_list(params)

    async def unsubscribe(
        self, params: ThreadUnsubscribeParams, scope: RequestScope
    ) -> ThreadUnsubscribeResult:
        """No more notifications of a thread on this connection."""
        from core.protocol.threads import ThreadUnsubscribeResult

        status = self._threads.unsubscribe(params.thread_id, scope.caller.connection)
        return ThreadUnsubscribeResult.model_validate({"status": status})

    async def archive(self, params: ThreadArchiveParams, scope: RequestScope) -> Empty:
        """Unload a thread and end its servers."""
        from core.protocol.base import Empty

        await self._threads.archive(params.thread_id, scope)
        return Empty()
