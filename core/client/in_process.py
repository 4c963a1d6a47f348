"""The client of a core in the same process."""

from __future__ import annotations

import logging
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar, cast

import msgspec

from core.channels import EventHub, Subscription
from core.client.contract import Capabilities
from core.errors import CoreError, InternalError, Unavailable
from core.methods import Method
from core.scope import Caller, RequestScope
from core.service.dispatch import Dispatcher, Encoded
from core.threads.policy import PANEL

log = logging.getLogger(__name__)

P = TypeVar("P")
R = TypeVar("R")


class InProcessClient:
    """Calls handlers directly, as the panel and the command line do. See `CoreClient`."""

    def __init__(
        self, dispatcher: Dispatcher, hub: EventHub, *, version: str, read_only: bool
    ) -> None:
        self._dispatcher, self._hub = dispatcher, hub
        self._scope = RequestScope(caller=Caller(policy=PANEL, version=version))
        self._closed = False
        self.capabilities = Capabilities(
            methods=dispatcher.methods, name="jackfield", version=version, read_only=read_only
        )

    async def call(self, method: Method[P, R], params: P) -> R:
        if self._closed:
            raise Unavailable("the session has ended")
        if lacking := self.capabilities.lacks(method):
            raise Unavailable(lacking)
        try:
            result: Any = await self._dispatcher.handle(method.name, params, self._scope)
        except CoreError:
            raise
        except Exception as error:
            # The boundary between the core and whoever shows it: a fault of ours in one answer
            # must not end the panel.
            log.exception("%s failed", method.name)
            raise InternalError(
                f"{method.name} failed by a fault of Jackfield's own", hint="the log says more"
            ) from error
        if isinstance(result, Encoded):
            result = _decoded(result, method.result)
        return cast("R", result)

    def subscribe(self) -> AbstractAsyncContextManager[Subscription]:
        return self._hub.subscribe()

    async def aclose(self) -> None:
        self._closed = True


def _decoded(result: Encoded, kind: type[Any]) -> Any:
    if issubclass(kind, msgspec.Struct):
        return msgspec.json.decode(result.body, type=kind)
    return kind.model_validate_json(result.body)
