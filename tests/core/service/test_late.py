from __future__ import annotations

from typing import Any

import pytest

from core.scope import Caller, RequestScope
from core.service.late import TOOL_METHODS, late
from core.service.tools import ToolsService
from core.threads.policy import PANEL

pytestmark = pytest.mark.anyio
SCOPE = RequestScope(caller=Caller(policy=PANEL))


async def test_a_late_service_is_made_once_and_only_when_it_is_asked() -> None:
    made: list[int] = []

    def make() -> dict[str, Any]:
        made.append(1)

        async def handler(params: Any, scope: RequestScope) -> Any:
            return params

        return {"a": handler, "b": handler}

    handlers = late(("a", "b"), make)
    assert made == []
    assert [await handlers[name](name, SCOPE) for name in ("a", "b")] == ["a", "b"]
    assert made == [1]


def test_the_methods_named_for_tools_are_all_of_its_service() -> None:
    handlers = ToolsService.handlers(ToolsService.__new__(ToolsService))
    assert set(handlers) == set(TOOL_METHODS)
