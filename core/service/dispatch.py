"""From a method's name to its handler; the same for every face."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from core.errors import InvalidRequest
from core.scope import RequestScope

Handler = Callable[[Any, RequestScope], Awaitable[Any]]


class Encoded:
    """A bulk result that is already JSON, so that a wire face sends the bytes as they are.

    Attributes:
        body: The `result` value, UTF-8 JSON without line breaks.
    """

    __slots__ = ("body",)

    def __init__(self, body: bytes) -> None:
        self.body = body


class Dispatcher:
    """Knows every handler; holds no state of its own."""

    def __init__(self, parts: Iterable[Mapping[str, Handler]]) -> None:
        self._handlers: dict[str, Handler] = {}
        for part in parts:
            if double := self._handlers.keys() & part.keys():
                raise ValueError(f"two handlers for {sorted(double)}")
            self._handlers.update(part)

    @property
    def methods(self) -> frozenset[str]:
        """Names of the methods that are served."""
        return frozenset(self._handlers)

    async def handle(self, name: str, params: object, scope: RequestScope) -> Any:
        """Run the handler of `name` on parsed parameters.

        Returns:
            A pydantic model, a msgspec Struct, a JSON value, or `Encoded`.

        Raises:
            CoreError: What the handler says; `InvalidRequest` for an unknown name.
        """
        handler = self._handlers.get(name)
        if handler is None:
            raise InvalidRequest(f"unknown method {name}")
        return await handler(params, scope)
