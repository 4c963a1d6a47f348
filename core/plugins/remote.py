"""The backend's plugin catalog: what is refused without the sign-in that it needs."""

from __future__ import annotations

from core.config.model import Loaded
from core.errors import InvalidRequest, Unavailable
from core.plugins.discovery import CHATGPT
from core.plugins.names import BAD_REMOTE_ID, is_remote_id

API_KEY = "apiKey"
CATALOG_KINDS = frozenset({"workspace-directory", "shared-with-me", "created-by-me-remote"})
LIST = "list remote plugin catalog"


def demand_account(action: str, account: str) -> None:
    """The catalog needs a ChatGPT sign-in, and is not offered here even then.

    Args:
        action: What was tried, in the words of Codex 0.171.0.
        account: `none`, `apiKey`, `chatgpt`.

    Raises:
        InvalidRequest: Always.
    """
    if account == CHATGPT:
        raise Unavailable(f"{action}: the remote plugin catalog is not offered by Jackfield")
    reason = "chatgpt authentication required for remote plugin catalog"
    if account == API_KEY:
        reason += "; api key auth is not supported"
    raise InvalidRequest(f"{action}: {reason}")


def check_kinds(kinds: list[str], loaded: Loaded, account: str) -> None:
    """Refuse the kinds of `plugin/list` that need a sign-in. Raises InvalidRequest."""
    wanted = CATALOG_KINDS & set(kinds)
    if not loaded.feature("remote_plugin"):
        wanted -= {"created-by-me-remote"}
        if "vertical" in kinds and account not in (CHATGPT, API_KEY):
            demand_account("list OpenAI Curated remote plugin catalog", account)
    if not loaded.feature("plugin_sharing"):
        wanted -= {"shared-with-me"}
    if wanted:
        demand_account(LIST, account)


def check_remote_id(plugin_id: str) -> None:
    """Refuse what can be no id of the catalog. Raises InvalidRequest."""
    if not is_remote_id(plugin_id):
        raise InvalidRequest(f"invalid remote plugin id: {BAD_REMOTE_ID}")


def refuse_read(marketplace: str, plugin: str, loaded: Loaded, account: str) -> None:
    """The way of `plugin/read` into the catalog. Raises InvalidRequest."""
    if not loaded.feature("plugins"):
        raise InvalidRequest(f"remote plugin read is not enabled for marketplace {marketplace}")
    check_remote_id(plugin)
    demand_account("read remote plugin details", account)


def refuse_skill(marketplace: str, plugin: str, skill: str, loaded: Loaded, account: str) -> None:
    """`plugin/skill/read`. Raises InvalidRequest."""
    if not loaded.feature("plugins"):
        where = f"for marketplace {marketplace}"
        raise InvalidRequest(f"remote plugin skill read is not enabled {where}")
    check_remote_id(plugin)
    if not skill:
        raise InvalidRequest("invalid remote plugin skill name: cannot be empty")
    demand_account("read remote plugin skill details", account)


def refuse_install(marketplace: str, plugin: str, loaded: Loaded, account: str) -> None:
    """The way of `plugin/install` into the catalog. Raises InvalidRequest."""
    if not loaded.feature("plugins"):
        raise InvalidRequest(f"remote plugin install is not enabled for marketplace {marketplace}")
    check_remote_id(plugin)
    demand_account("read remote plugin details before install", account)


def refuse_uninstall(plugin: str, loaded: Loaded, account: str) -> None:
    """The way of `plugin/uninstall` into the catalog. Raises InvalidRequest."""
    if not is_remote_id(plugin):
        raise InvalidRequest("invalid remote plugin id")
    if not loaded.feature("plugins"):
        raise InvalidRequest("remote plugin uninstall is not enabled")
    demand_account("resolve remote plugin before uninstall", account)


SHARE_ACTIONS = {
    "plugin/share/list": "list remote plugin shares",
    "plugin/share/save": "save remote plugin share",
    "plugin/share/checkout": "checkout plugin share",
    "plugin/share/delete": "delete remote plugin share",
    "plugin/share/updateTargets": "update remote plugin share targets",
}
_NEEDS_SHARING = frozenset(
    {"plugin/share/save", "plugin/share/checkout", "plugin/share/updateTargets"}
)


def refuse_share(method: str, remote_id: str | None, loaded: Loaded, account: str) -> None:
    """Every `plugin/share/*` method. Raises InvalidRequest."""
    if not loaded.feature("plugins"):
        raise InvalidRequest("plugin sharing is not enabled")
    if method in _NEEDS_SHARING and not loaded.feature("plugin_sharing"):
        raise InvalidRequest("plugin sharing is disabled")
    if remote_id is not None and not is_remote_id(remote_id):
        raise InvalidRequest("invalid remote plugin id")
    demand_account(SHARE_ACTIONS[method], account)
