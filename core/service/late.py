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
    "jackfield/link/open",
)
"""Of `core.service.tools`."""

LIST_METHODS = (
    "jackfield/server/entries",
    "jackfield/marketplace/considered",
    "jackfield/entry/remove",
)
"""Of `core.service.lists`."""

PLUGIN_METHODS = (
    "jackfield/plugin/compatibility",
    "jackfield/plugin/install",
    "jackfield/plugin/trust",
    "jackfield/plugin/uninstall",
    "jackfield/marketplace/source",
    "jackfield/marketplace/remove",
    "jackfield/marketplace/kinds",
)
"""Of `core.service.plugin_trust`, `plugin_installing` and `market_changes`."""

UPDATE_METHODS = (
    "jackfield/plugin/updates",
    "jackfield/plugin/update",
    "jackfield/plugin/pin",
    "jackfield/plugin/rollback",
    "jackfield/marketplace/pin",
    "jackfield/orphans",
    "jackfield/orphan/clean",
)
"""Of `core.service.plugin_updates`, `plugin_pins` and `orphans`."""

SERVER_METHODS = (
    "jackfield/server/read",
    "jackfield/server/preview",
    "jackfield/server/write",
    "jackfield/server/remove",
    "jackfield/server/tools/switch",
    "jackfield/server/approval",
    "jackfield/server/test",
    "jackfield/server/test/cancel",
    "jackfield/server/end",
    "jackfield/server/traffic",
)
"""Of `core.service.servers` and `server_running`."""

VALIDATE_METHODS = ("jackfield/validate",)
"""Of `core.service.validate`."""
SEARCH_METHODS = ("jackfield/search",)
"""Of `core.service.search`."""
IMPORT_METHODS = ("jackfield/import/scan", "jackfield/import/apply")
"""Of `core.service.importing`."""

DOCTOR_METHODS = ("jackfield/doctor",)
"""Of `core.service.doctor`."""

EXPLAIN_METHODS = ("jackfield/explain",)
"""Of `core.service.explain`."""

ACCOUNT_METHODS = (
    "account/login/start",
    "account/login/cancel",
    "account/logout",
    "jackfield/account/facts",
    "jackfield/account/login",
    "jackfield/account/state",
    "jackfield/account/open",
    "jackfield/account/cancel",
    "jackfield/account/logout",
)
"""Of `core.service.account_login`."""


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
