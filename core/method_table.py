"""Every method of the core by name; the types stay unloaded until somebody asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.methods import Method

if TYPE_CHECKING:
    from core.protocol import account, app_info, apps, base, initialize, jackfield, mcp, threads

_NO_PARAMS = "core.protocol.base:NoParams"
_EMPTY = "core.protocol.base:Empty"
_OURS = "core.protocol.jackfield:"
_NOTHING = _OURS + "NoParams"
_DONE = _OURS + "Done"

INITIALIZE: Method[initialize.InitializeParams, initialize.InitializeResponse] = Method(
    "initialize",
    "core.protocol.initialize:InitializeParams",
    "core.protocol.initialize:InitializeResponse",
)

# --- threads ---

THREAD_START: Method[threads.ThreadStartParams, threads.ThreadStartResult] = Method(
    "thread/start",
    "core.protocol.threads:ThreadStartParams",
    "core.protocol.threads:ThreadStartResult",
)
THREAD_ARCHIVE: Method[threads.ThreadArchiveParams, base.Empty] = Method(
    "thread/archive", "core.protocol.threads:ThreadArchiveParams", _EMPTY
)
THREAD_UNSUBSCRIBE: Method[threads.ThreadUnsubscribeParams, threads.ThreadUnsubscribeResult] = (
    Method(
        "thread/unsubscribe",
        "core.protocol.threads:ThreadUnsubscribeParams",
        "core.protocol.threads:ThreadUnsubscribeResult",
    )
)
THREAD_LOADED_LIST: Method[threads.ThreadLoadedListParams, threads.ThreadLoadedListResult] = Method(
    "thread/loaded/list",
    "core.protocol.threads:ThreadLoadedListParams",
    "core.protocol.threads:ThreadLoadedListResult",
)

# --- MCP servers ---

MCP_SERVER_STATUS_LIST: Method[mcp.McpServerStatusListParams, mcp.McpServerStatusListResult] = (
    Method(
        "mcpServerStatus/list",
        "core.protocol.mcp:McpServerStatusListParams",
        "core.protocol.mcp:McpServerStatusListResult",
    )
)
MCP_SERVER_RELOAD: Method[base.NoParams, base.Empty] = Method(
    "config/mcpServer/reload", _NO_PARAMS, _EMPTY, params_optional=True
)
MCP_SERVER_TOOL_CALL: Method[mcp.McpServerToolCallParams, mcp.McpServerToolCallResult] = Method(
    "mcpServer/tool/call",
    "core.protocol.mcp:McpServerToolCallParams",
    "core.protocol.mcp:McpServerToolCallResult",
)
MCP_SERVER_RESOURCE_READ: Method[
    mcp.McpServerResourceReadParams, mcp.McpServerResourceReadResult
] = Method(
    "mcpServer/resource/read",
    "core.protocol.mcp:McpServerResourceReadParams",
    "core.protocol.mcp:McpServerResourceReadResult",
)

# --- apps and account ---

APP_LIST: Method[apps.AppListParams, app_info.AppListResult] = Method(
    "app/list", "core.protocol.apps:AppListParams", "core.protocol.app_info:AppListResult"
)
APP_READ: Method[apps.AppReadParams, app_info.AppReadResult] = Method(
    "app/read", "core.protocol.apps:AppReadParams", "core.protocol.app_info:AppReadResult"
)
APP_INSTALLED: Method[apps.AppInstalledParams, app_info.AppInstalledResult] = Method(
    "app/installed",
    "core.protocol.apps:AppInstalledParams",
    "core.protocol.app_info:AppInstalledResult",
)
ACCOUNT_READ: Method[account.AccountReadParams, account.AccountReadResult] = Method(
    "account/read",
    "core.protocol.account:AccountReadParams",
    "core.protocol.account:AccountReadResult",
)

# --- ours ---

JACKFIELD_PANEL_START: Method[jackfield.PanelStartParams, jackfield.PanelStartResult] = Method(
    "jackfield/panel/start", _OURS + "PanelStartParams", _OURS + "PanelStartResult"
)
JACKFIELD_ROWS: Method[jackfield.RowsParams, jackfield.RowsResult] = Method(
    "jackfield/rows", _OURS + "RowsParams", _OURS + "RowsResult"
)
JACKFIELD_REFRESH: Method[jackfield.RefreshParams, jackfield.RefreshResult] = Method(
    "jackfield/refresh", _OURS + "RefreshParams", _OURS + "RefreshResult"
)
JACKFIELD_PROBLEMS: Method[jackfield.NoParams, jackfield.ProblemsResult] = Method(
    "jackfield/problems", _NOTHING, _OURS + "ProblemsResult", params_optional=True
)
JACKFIELD_SWITCH: Method[jackfield.SwitchParams, jackfield.SwitchResult] = Method(
    "jackfield/switch", _OURS + "SwitchParams", _OURS + "SwitchResult"
)
JACKFIELD_UNDO: Method[jackfield.UndoParams, jackfield.SwitchResult] = Method(
    "jackfield/undo", _OURS + "UndoParams", _OURS + "SwitchResult"
)
JACKFIELD_STATUS: Method[jackfield.NoParams, jackfield.StatusResult] = Method(
    "jackfield/status", _NOTHING, _OURS + "StatusResult", params_optional=True
)
JACKFIELD_SERVER_RECONNECT: Method[jackfield.NamesParams, jackfield.Done] = Method(
    "jackfield/server/reconnect", _OURS + "NamesParams", _DONE
)
JACKFIELD_SERVER_CANCEL: Method[jackfield.NameParams, jackfield.Done] = Method(
    "jackfield/server/cancel", _OURS + "NameParams", _DONE
)
JACKFIELD_SERVER_DETAIL: Method[jackfield.NameParams, jackfield.DetailResult] = Method(
    "jackfield/server/detail", _OURS + "NameParams", _OURS + "DetailResult"
)
JACKFIELD_PLUGIN_DETAIL: Method[jackfield.IdParams, jackfield.DetailResult] = Method(
    "jackfield/plugin/detail", _OURS + "IdParams", _OURS + "DetailResult"
)
JACKFIELD_APP_DETAIL: Method[jackfield.IdParams, jackfield.DetailResult] = Method(
    "jackfield/app/detail", _OURS + "IdParams", _OURS + "DetailResult"
)
JACKFIELD_TOOL_DETAIL: Method[jackfield.IdParams, jackfield.DetailResult] = Method(
    "jackfield/tool/detail", _OURS + "IdParams", _OURS + "DetailResult"
)
JACKFIELD_CONSENT_READ: Method[jackfield.NoParams, jackfield.ConsentResult] = Method(
    "jackfield/consent/read", _NOTHING, _OURS + "ConsentResult", params_optional=True
)
JACKFIELD_CONSENT_WRITE: Method[jackfield.ConsentAnswers, jackfield.Done] = Method(
    "jackfield/consent/write", _OURS + "ConsentAnswers", _DONE
)
JACKFIELD_EVENTS_RECENT: Method[jackfield.RecentParams, jackfield.RecentResult] = Method(
    "jackfield/events/recent", _OURS + "RecentParams", _OURS + "RecentResult"
)

METHODS: dict[str, Method[Any, Any]] = {
    value.name: value for value in tuple(globals().values()) if isinstance(value, Method)
}
"""All methods by name, in the order of this file."""
