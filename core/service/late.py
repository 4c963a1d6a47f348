"""Services made, and their modules loaded, at the first call of one of their methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from core.scope import RequestScope
from core.service.dispatch import Handler

TOOL_METHODS = (
    "jackfield/tool/call",
    "jackfield/tool/cancel",
    "jackfield/tool/history",
    "jackfield/resource/list",
    "jackfield/resource/read",
    "jackfield/resource/subscribe",
    "jackfield/resource/unsubscribe",
    "jackfield/prompt/list",
    "jackfield/prompt/get",
    "jackfield/complete",
    "jackfield/elicitation/list",
)
"""Of `core.service.tools`."""


def late(methods: Iterable[str], make: Callable[[], Mapping[str, Handler]]) -> dict[str, Handler]:
    """Handlers of these methods, all of one service.

    Args:
        make: Called once; gives a handler for each of the methods.
    """
    made: dict[str, Handler] = {}

    def handler(name: str) -> Handler:
        async def run(params: Any, scope: RequestScope) -> Any:
            if not made:
                made.update(make())
            return await made[name](params, scope)

        return run

    return {name: handler(name) for name in methods}
