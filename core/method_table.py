"""Every method of the core by name; the types stay unloaded until somebody asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.methods import Method

if TYPE_CHECKING:
    from core.protocol import (
        account,
        app_info,
        apps,
        base,
        config,
        hooks,
        initialize,
        jackfield,
        jackfield_account,
        jackfield_doctor,
        jackfield_explain,
        jackfield_import,
        jackfield_install,
        jackfield_lists,
        jackfield_plugins,
        jackfield_search,
        jackfield_servers,
        jackfield_tools,
        jackfield_validate,
        jackfield_wire,
        login,
        marketplaces,
        mcp,
        oauth,
        plugin_params,
        plugins,
        skill_params,
        skills,
        threads,
    )

_NO_PARAMS = "core.protocol.base:NoParams"
_EMPTY = "core.protocol.base:Empty"
_CONFIG = "core.protocol.config:"
_ASKED = "core.protocol.plugin_params:"
_TOLD = "core.protocol.plugins:"
_MARKET = "core.protocol.marketplaces:"
_SKILL_ASKED = "core.protocol.skill_params:"
_OURS = "core.protocol.jackfield:"
_LISTS = "core.protocol.jackfield_lists:"
_NOTHING = _OURS + "NoParams"
_DONE = _OURS + "Done"
_LOGIN = "core.protocol.login:"
_DOCTOR = "core.protocol.jackfield_doctor:"
_EXPLAIN = "core.protocol.jackfield_explain:"
_VALIDATE = "core.protocol.jackfield_validate:"
_SEARCH = "core.protocol.jackfield_search:"
_IMPORT = "core.protocol.jackfield_import:"
_INSTALL = "core.protocol.jackfield_install:"
_PLUGINS = "core.protocol.jackfield_plugins:"
_TOOLS = "core.protocol.jackfield_tools:"
_SERVERS = "core.protocol.jackfield_servers:"
_ACCOUNT = "core.protocol.jackfield_account:"

INITIALIZE: Method[initialize.InitializeParams, initialize.InitializeResponse] = Method(
    "initialize",
    "core.protocol.initialize:InitializeParams",
    "core.protocol.initialize:InitializeResponse",
)

# --- configuration ---

CONFIG_READ: Method[config.ConfigReadParams, config.ConfigReadResult] = Method(
    "config/read", _CONFIG + "ConfigReadParams", _CONFIG + "ConfigReadResult"
)
CONFIG_VALUE_WRITE: Method[config.ConfigValueWriteParams, config.ConfigWriteResult] = Method(
    "config/value/write", _CONFIG + "ConfigValueWriteParams", _CONFIG + "ConfigWriteResult"
)
CONFIG_BATCH_WRITE: Method[config.ConfigBatchWriteParams, config.ConfigWriteResult] = Method(
    "config/batchWrite", _CONFIG + "ConfigBatchWriteParams", _CONFIG + "ConfigWriteResult"
)

CONFIG_REQUIREMENTS_READ: Method[base.NoParams, config.ConfigRequirementsReadResult] = Method(
    "configRequirements/read",
    _NO_PARAMS,
    _CONFIG + "ConfigRequirementsReadResult",
    params_optional=True,
)

# --- plugins ---

PLUGIN_LIST: Method[plugin_params.PluginListParams, plugins.PluginListResult] = Method(
    "plugin/list", _ASKED + "PluginListParams", _TOLD + "PluginListResult"
)
PLUGIN_INSTALLED: Method[plugin_params.PluginInstalledParams, plugins.PluginInstalledResult] = (
    Method("plugin/installed", _ASKED + "PluginInstalledParams", _TOLD + "PluginInstalledResult")
)
PLUGIN_READ: Method[plugin_params.PluginReadParams, plugins.PluginReadResult] = Method(
    "plugin/read", _ASKED + "PluginReadParams", _TOLD + "PluginReadResult"
)
PLUGIN_INSTALL: Method[plugin_params.PluginInstallParams, plugins.PluginInstallResult] = Method(
    "plugin/install", _ASKED + "PluginInstallParams", _TOLD + "PluginInstallResult"
)
PLUGIN_UNINSTALL: Method[plugin_params.PluginUninstallParams, plugins.PluginUninstallResult] = (
    Method("plugin/uninstall", _ASKED + "PluginUninstallParams", _TOLD + "PluginUninstallResult")
)
PLUGIN_SEARCH: Method[plugin_params.PluginSearchParams, plugins.PluginSearchResult] = Method(
    "plugin/search", _ASKED + "PluginSearchParams", _TOLD + "PluginSearchResult", experimental=True
)
PLUGIN_RECONCILE: Method[plugin_params.PluginReconcileParams, plugins.PluginReconcileResult] = (
    Method("plugin/reconcile", _ASKED + "PluginReconcileParams", _TOLD + "PluginReconcileResult")
)
PLUGIN_SKILL_READ: Method[plugin_params.PluginSkillReadParams, plugins.PluginSkillReadResult] = (
    Method("plugin/skill/read", _ASKED + "PluginSkillReadParams", _TOLD + "PluginSkillReadResult")
)
PLUGIN_SHARE_SAVE: Method[plugin_params.PluginShareSaveParams, plugins.PluginShareSaveResult] = (
    Method("plugin/share/save", _ASKED + "PluginShareSaveParams", _TOLD + "PluginShareSaveResult")
)
PLUGIN_SHARE_UPDATE_TARGETS: Method[
    plugin_params.PluginShareUpdateTargetsParams, plugins.PluginShareUpdateTargetsResult
] = Method(
    "plugin/share/updateTargets",
    _ASKED + "PluginShareUpdateTargetsParams",
    _TOLD + "PluginShareUpdateTargetsResult",
)
PLUGIN_SHARE_LIST: Method[plugin_params.PluginShareListParams, plugins.PluginShareListResult] = (
    Method("plugin/share/list", _ASKED + "PluginShareListParams", _TOLD + "PluginShareListResult")
)
PLUGIN_SHARE_CHECKOUT: Method[
    plugin_params.PluginShareCheckoutParams, plugins.PluginShareCheckoutResult
] = Method(
    "plugin/share/checkout",
    _ASKED + "PluginShareCheckoutParams",
    _TOLD + "PluginShareCheckoutResult",
)
PLUGIN_SHARE_DELETE: Method[
    plugin_params.PluginShareDeleteParams, plugins.PluginShareDeleteResult
] = Method(
    "plugin/share/delete", _ASKED + "PluginShareDeleteParams", _TOLD + "PluginShareDeleteResult"
)
MARKETPLACE_ADD: Method[marketplaces.MarketplaceAddParams, marketplaces.MarketplaceAddResult] = (
    Method("marketplace/add", _MARKET + "MarketplaceAddParams", _MARKET + "MarketplaceAddResult")
)
MARKETPLACE_REMOVE: Method[
    marketplaces.MarketplaceRemoveParams, marketplaces.MarketplaceRemoveResult
] = Method(
    "marketplace/remove", _MARKET + "MarketplaceRemoveParams", _MARKET + "MarketplaceRemoveResult"
)
MARKETPLACE_UPGRADE: Method[
    marketplaces.MarketplaceUpgradeParams, marketplaces.MarketplaceUpgradeResult
] = Method(
    "marketplace/upgrade",
    _MARKET + "MarketplaceUpgradeParams",
    _MARKET + "MarketplaceUpgradeResult",
)
SKILLS_LIST: Method[skill_params.SkillsListParams, skills.SkillsListResult] = Method(
    "skills/list", _SKILL_ASKED + "SkillsListParams", "core.protocol.skills:" + "SkillsListResult"
)
SKILLS_CONFIG_WRITE: Method[
    skill_params.SkillsConfigWriteParams, skills.SkillsConfigWriteResult
] = Method(
    "skills/config/write",
    _SKILL_ASKED + "SkillsConfigWriteParams",
    "core.protocol.skills:" + "SkillsConfigWriteResult",
)
SKILLS_EXTRA_ROOTS_SET: Method[
    skill_params.SkillsExtraRootsSetParams, skills.SkillsExtraRootsSetResult
] = Method(
    "skills/extraRoots/set",
    _SKILL_ASKED + "SkillsExtraRootsSetParams",
    "core.protocol.skills:" + "SkillsExtraRootsSetResult",
)
HOOKS_LIST: Method[skill_params.HooksListParams, hooks.HooksListResult] = Method(
    "hooks/list", _SKILL_ASKED + "HooksListParams", "core.protocol.hooks:" + "HooksListResult"
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

MCP_SERVER_EVENT_STREAM_START: Method[mcp.McpServerEventStreamStartParams, base.Empty] = Method(
    "mcpServer/event/stream/start",
    "core.protocol.mcp:McpServerEventStreamStartParams",
    _EMPTY,
    experimental=True,
)
MCP_SERVER_EVENT_STREAM_STOP: Method[mcp.McpServerEventStreamStopParams, base.Empty] = Method(
    "mcpServer/event/stream/stop",
    "core.protocol.mcp:McpServerEventStreamStopParams",
    _EMPTY,
    experimental=True,
)
MCP_SERVER_OAUTH_LOGIN: Method[oauth.McpServerOauthLoginParams, oauth.McpServerOauthLoginResult] = (
    Method(
        "mcpServer/oauth/login",
        "core.protocol.oauth:McpServerOauthLoginParams",
        "core.protocol.oauth:McpServerOauthLoginResult",
    )
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
ACCOUNT_LOGIN_START: Method[account.AccountLoginStartParams, account.AccountLoginStartResult] = (
    Method(
        "account/login/start",
        "core.protocol.account:AccountLoginStartParams",
        "core.protocol.account:AccountLoginStartResult",
    )
)
ACCOUNT_LOGIN_CANCEL: Method[account.AccountLoginCancelParams, account.AccountLoginCancelResult] = (
    Method(
        "account/login/cancel",
        "core.protocol.account:AccountLoginCancelParams",
        "core.protocol.account:AccountLoginCancelResult",
    )
)
ACCOUNT_LOGOUT: Method[base.NoParams, base.Empty] = Method(
    "account/logout", _NO_PARAMS, _EMPTY, params_optional=True
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
JACKFIELD_ELICITATION_ANSWER: Method[jackfield.ElicitationAnswer, jackfield.Done] = Method(
    "jackfield/elicitation/answer", _OURS + "ElicitationAnswer", _DONE
)
JACKFIELD_ELICITATION_LIST: Method[jackfield.NoParams, jackfield_tools.QuestionsResult] = Method(
    "jackfield/elicitation/list", _NOTHING, _TOOLS + "QuestionsResult", params_optional=True
)
JACKFIELD_TOOL_CALL: Method[jackfield_tools.ToolCallParams, jackfield_tools.ToolCallResult] = (
    Method("jackfield/tool/call", _TOOLS + "ToolCallParams", _TOOLS + "ToolCallResult")
)
JACKFIELD_TOOL_CANCEL: Method[jackfield_tools.CallIdParams, jackfield.Done] = Method(
    "jackfield/tool/cancel", _TOOLS + "CallIdParams", _DONE
)
JACKFIELD_TOOL_HISTORY: Method[
    jackfield_tools.ToolHistoryParams, jackfield_tools.ToolHistoryResult
] = Method("jackfield/tool/history", _TOOLS + "ToolHistoryParams", _TOOLS + "ToolHistoryResult")
JACKFIELD_RESOURCE_LIST: Method[
    jackfield_tools.ServerParams, jackfield_tools.ResourceListResult
] = Method("jackfield/resource/list", _TOOLS + "ServerParams", _TOOLS + "ResourceListResult")
JACKFIELD_RESOURCE_READ: Method[
    jackfield_tools.ResourceParams, jackfield_tools.ResourceReadResult
] = Method("jackfield/resource/read", _TOOLS + "ResourceParams", _TOOLS + "ResourceReadResult")
JACKFIELD_RESOURCE_SUBSCRIBE: Method[jackfield_tools.ResourceParams, jackfield.Done] = Method(
    "jackfield/resource/subscribe", _TOOLS + "ResourceParams", _DONE
)
JACKFIELD_RESOURCE_UNSUBSCRIBE: Method[jackfield_tools.ResourceParams, jackfield.Done] = Method(
    "jackfield/resource/unsubscribe", _TOOLS + "ResourceParams", _DONE
)
JACKFIELD_PROMPT_LIST: Method[jackfield_tools.ServerParams, jackfield_tools.PromptListResult] = (
    Method("jackfield/prompt/list", _TOOLS + "ServerParams", _TOOLS + "PromptListResult")
)
JACKFIELD_PROMPT_GET: Method[jackfield_tools.PromptGetParams, jackfield_tools.PromptGetResult] = (
    Method("jackfield/prompt/get", _TOOLS + "PromptGetParams", _TOOLS + "PromptGetResult")
)
JACKFIELD_COMPLETE: Method[jackfield_tools.CompleteParams, jackfield_tools.CompleteResult] = Method(
    "jackfield/complete", _TOOLS + "CompleteParams", _TOOLS + "CompleteResult"
)
JACKFIELD_OPERATION_CANCEL: Method[jackfield.IdParams, jackfield.Done] = Method(
    "jackfield/operation/cancel", _OURS + "IdParams", _DONE
)
JACKFIELD_PLUGIN_UPDATES: Method[
    jackfield_plugins.UpdatesParams, jackfield_plugins.UpdatesResult
] = Method("jackfield/plugin/updates", _PLUGINS + "UpdatesParams", _PLUGINS + "UpdatesResult")
JACKFIELD_PLUGIN_UPDATE: Method[jackfield_plugins.UpdateParams, jackfield_plugins.UpdateResult] = (
    Method("jackfield/plugin/update", _PLUGINS + "UpdateParams", _PLUGINS + "UpdateResult")
)
JACKFIELD_PLUGIN_PIN: Method[jackfield_plugins.PinParams, jackfield_plugins.PinResult] = Method(
    "jackfield/plugin/pin", _PLUGINS + "PinParams", _PLUGINS + "PinResult"
)
JACKFIELD_PLUGIN_ROLLBACK: Method[
    jackfield_plugins.RollbackParams, jackfield_plugins.RollbackResult
] = Method("jackfield/plugin/rollback", _PLUGINS + "RollbackParams", _PLUGINS + "RollbackResult")
JACKFIELD_MARKETPLACE_PIN: Method[
    jackfield_plugins.MarketplacePinParams, jackfield_plugins.PinResult
] = Method("jackfield/marketplace/pin", _PLUGINS + "MarketplacePinParams", _PLUGINS + "PinResult")
JACKFIELD_ORPHANS: Method[jackfield.NoParams, jackfield_plugins.OrphansResult] = Method(
    "jackfield/orphans", _NOTHING, _PLUGINS + "OrphansResult", params_optional=True
)
JACKFIELD_ORPHAN_CLEAN: Method[jackfield.IdParams, jackfield_plugins.OrphanCleanResult] = Method(
    "jackfield/orphan/clean", _OURS + "IdParams", _PLUGINS + "OrphanCleanResult"
)
JACKFIELD_SERVER_ENTRIES: Method[jackfield_lists.EntriesParams, jackfield_lists.EntriesResult] = (
    Method("jackfield/server/entries", _LISTS + "EntriesParams", _LISTS + "EntriesResult")
)
JACKFIELD_ENTRY_REMOVE: Method[jackfield.NameParams, jackfield.Done] = Method(
    "jackfield/entry/remove", _OURS + "NameParams", _DONE
)
JACKFIELD_MARKETPLACE_CONSIDERED: Method[jackfield.NoParams, jackfield_lists.ConsideredResult] = (
    Method(
        "jackfield/marketplace/considered",
        _NOTHING,
        _LISTS + "ConsideredResult",
        params_optional=True,
    )
)
JACKFIELD_PLUGIN_COMPATIBILITY: Method[
    jackfield_install.CompatibilityParams, jackfield_install.Compatibility
] = Method(
    "jackfield/plugin/compatibility",
    _INSTALL + "CompatibilityParams",
    _INSTALL + "Compatibility",
)
JACKFIELD_PLUGIN_INSTALL: Method[
    jackfield_install.PluginInstallParams, jackfield_install.PluginInstalled
] = Method(
    "jackfield/plugin/install", _INSTALL + "PluginInstallParams", _INSTALL + "PluginInstalled"
)
JACKFIELD_PLUGIN_TRUST: Method[jackfield_install.PluginTrustParams, jackfield.Done] = Method(
    "jackfield/plugin/trust", _INSTALL + "PluginTrustParams", _DONE
)
JACKFIELD_PLUGIN_UNINSTALL: Method[jackfield.IdParams, jackfield_install.RemovedResult] = Method(
    "jackfield/plugin/uninstall", _OURS + "IdParams", _INSTALL + "RemovedResult"
)
JACKFIELD_MARKETPLACE_SOURCE: Method[
    jackfield_install.SourceParams, jackfield_install.SourceRead
] = Method("jackfield/marketplace/source", _INSTALL + "SourceParams", _INSTALL + "SourceRead")
JACKFIELD_MARKETPLACE_REMOVE: Method[
    jackfield_install.MarketplaceRemoveParams, jackfield_install.RemovedResult
] = Method(
    "jackfield/marketplace/remove",
    _INSTALL + "MarketplaceRemoveParams",
    _INSTALL + "RemovedResult",
)
JACKFIELD_MARKETPLACE_KINDS: Method[jackfield.NoParams, jackfield_install.KindsResult] = Method(
    "jackfield/marketplace/kinds", _NOTHING, _INSTALL + "KindsResult", params_optional=True
)
JACKFIELD_LINK_OPEN: Method[jackfield_tools.LinkParams, jackfield_tools.LinkResult] = Method(
    "jackfield/link/open", _TOOLS + "LinkParams", _TOOLS + "LinkResult"
)
JACKFIELD_EVENTS_RECENT: Method[jackfield.RecentParams, jackfield.RecentResult] = Method(
    "jackfield/events/recent", _OURS + "RecentParams", _OURS + "RecentResult"
)
JACKFIELD_LOGIN_START: Method[login.LoginStartParams, login.LoginState] = Method(
    "jackfield/login/start", _LOGIN + "LoginStartParams", _LOGIN + "LoginState"
)
JACKFIELD_LOGIN_STATE: Method[login.LoginIdParams, login.LoginState] = Method(
    "jackfield/login/state", _LOGIN + "LoginIdParams", _LOGIN + "LoginState"
)
JACKFIELD_LOGIN_LIST: Method[jackfield.NoParams, login.LoginList] = Method(
    "jackfield/login/list", _OURS + "NoParams", _LOGIN + "LoginList", params_optional=True
)
JACKFIELD_LOGIN_PASTE: Method[login.LoginPasteParams, login.LoginPasteResult] = Method(
    "jackfield/login/paste", _LOGIN + "LoginPasteParams", _LOGIN + "LoginPasteResult"
)
JACKFIELD_LOGIN_OPEN: Method[login.LoginIdParams, login.LoginOpenResult] = Method(
    "jackfield/login/open", _LOGIN + "LoginIdParams", _LOGIN + "LoginOpenResult"
)
JACKFIELD_LOGIN_CANCEL: Method[login.LoginIdParams, jackfield.Done] = Method(
    "jackfield/login/cancel", _LOGIN + "LoginIdParams", _DONE
)
JACKFIELD_LOGIN_SIGN_OUT: Method[jackfield.NameParams, login.SignOutResult] = Method(
    "jackfield/login/signOut", _OURS + "NameParams", _LOGIN + "SignOutResult"
)
JACKFIELD_LOGIN_FORGET: Method[jackfield.NameParams, jackfield.Done] = Method(
    "jackfield/login/forget", _OURS + "NameParams", _DONE
)
JACKFIELD_LOGIN_CREDENTIALS: Method[jackfield.NameParams, login.CredentialState] = Method(
    "jackfield/login/credentials", _OURS + "NameParams", _LOGIN + "CredentialState"
)

JACKFIELD_VALIDATE: Method[jackfield_validate.ValidateParams, jackfield_validate.ValidateResult] = (
    Method("jackfield/validate", _VALIDATE + "ValidateParams", _VALIDATE + "ValidateResult")
)
JACKFIELD_SEARCH: Method[jackfield_search.SearchParams, jackfield_search.SearchResult] = Method(
    "jackfield/search", _SEARCH + "SearchParams", _SEARCH + "SearchResult"
)
JACKFIELD_IMPORT_SCAN: Method[jackfield_import.ScanParams, jackfield_import.ScanResult] = Method(
    "jackfield/import/scan", _IMPORT + "ScanParams", _IMPORT + "ScanResult", params_optional=True
)
JACKFIELD_IMPORT_APPLY: Method[jackfield_import.ApplyParams, jackfield_import.ApplyResult] = Method(
    "jackfield/import/apply", _IMPORT + "ApplyParams", _IMPORT + "ApplyResult"
)
JACKFIELD_SERVER_READ: Method[
    jackfield_servers.ServerTableParams, jackfield_servers.ServerTable
] = Method("jackfield/server/read", _SERVERS + "ServerTableParams", _SERVERS + "ServerTable")
JACKFIELD_SERVER_PREVIEW: Method[
    jackfield_servers.ServerEntryParams, jackfield_servers.ServerPreview
] = Method("jackfield/server/preview", _SERVERS + "ServerEntryParams", _SERVERS + "ServerPreview")
JACKFIELD_SERVER_WRITE: Method[
    jackfield_servers.ServerEntryParams, jackfield_servers.ServerWritten
] = Method("jackfield/server/write", _SERVERS + "ServerEntryParams", _SERVERS + "ServerWritten")
JACKFIELD_SERVER_REMOVE: Method[
    jackfield_servers.ServerRemoveParams, jackfield_servers.ServerWritten
] = Method("jackfield/server/remove", _SERVERS + "ServerRemoveParams", _SERVERS + "ServerWritten")
JACKFIELD_SERVER_TOOLS_SWITCH: Method[
    jackfield_servers.ToolSwitch, jackfield_servers.ServerWritten
] = Method("jackfield/server/tools/switch", _SERVERS + "ToolSwitch", _SERVERS + "ServerWritten")
JACKFIELD_SERVER_APPROVAL: Method[
    jackfield_servers.ApprovalParams, jackfield_servers.ServerWritten
] = Method("jackfield/server/approval", _SERVERS + "ApprovalParams", _SERVERS + "ServerWritten")
JACKFIELD_SERVER_TEST: Method[
    jackfield_servers.ServerTestParams, jackfield_servers.ServerTested
] = Method("jackfield/server/test", _SERVERS + "ServerTestParams", _SERVERS + "ServerTested")
JACKFIELD_SERVER_TEST_CANCEL: Method[jackfield.IdParams, jackfield.Done] = Method(
    "jackfield/server/test/cancel", _OURS + "IdParams", _DONE
)
JACKFIELD_SERVER_END: Method[jackfield.NameParams, jackfield.Done] = Method(
    "jackfield/server/end", _OURS + "NameParams", _DONE
)
JACKFIELD_SERVER_TRAFFIC: Method[
    jackfield_servers.TrafficParams, jackfield_servers.TrafficResult
] = Method("jackfield/server/traffic", _SERVERS + "TrafficParams", _SERVERS + "TrafficResult")
JACKFIELD_DOCTOR: Method[jackfield_doctor.DoctorParams, jackfield_doctor.DoctorResult] = Method(
    "jackfield/doctor", _DOCTOR + "DoctorParams", _DOCTOR + "DoctorResult", params_optional=True
)

JACKFIELD_SUBSCRIBE: Method[jackfield.NoParams, jackfield_wire.SubscribeResult] = Method(
    "jackfield/subscribe",
    _OURS + "NoParams",
    "core.protocol.jackfield_wire:SubscribeResult",
    params_optional=True,
)
JACKFIELD_EXPLAIN: Method[jackfield_explain.ExplainParams, jackfield_explain.ExplainResult] = (
    Method("jackfield/explain", _EXPLAIN + "ExplainParams", _EXPLAIN + "ExplainResult")
)

# --- the account ---

JACKFIELD_ACCOUNT_FACTS: Method[jackfield.NoParams, jackfield_account.AccountFacts] = Method(
    "jackfield/account/facts", _NOTHING, _ACCOUNT + "AccountFacts", params_optional=True
)
JACKFIELD_ACCOUNT_LOGIN: Method[
    jackfield_account.AccountLoginParams, jackfield_account.AccountAttemptState
] = Method(
    "jackfield/account/login", _ACCOUNT + "AccountLoginParams", _ACCOUNT + "AccountAttemptState"
)
JACKFIELD_ACCOUNT_STATE: Method[jackfield.NoParams, jackfield_account.AccountAttemptState] = Method(
    "jackfield/account/state", _NOTHING, _ACCOUNT + "AccountAttemptState", params_optional=True
)
JACKFIELD_ACCOUNT_OPEN: Method[jackfield.NoParams, login.LoginOpenResult] = Method(
    "jackfield/account/open", _NOTHING, _LOGIN + "LoginOpenResult", params_optional=True
)
JACKFIELD_ACCOUNT_CANCEL: Method[jackfield.NoParams, jackfield.Done] = Method(
    "jackfield/account/cancel", _NOTHING, _DONE, params_optional=True
)
JACKFIELD_ACCOUNT_LOGOUT: Method[jackfield.NoParams, jackfield_account.AccountSignOutResult] = (
    Method(
        "jackfield/account/logout",
        _NOTHING,
        _ACCOUNT + "AccountSignOutResult",
        params_optional=True,
    )
)

METHODS: dict[str, Method[Any, Any]] = {
    value.name: value for value in tuple(globals().values()) if isinstance(value, Method)
}
"""All methods by name, in the order of this file."""
