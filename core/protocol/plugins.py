"""A plugin as the wire tells it: bulk rows, so `msgspec.Struct`s; every member is always written.

Parameters of the methods are in `core.protocol.plugin_params`, which loads pydantic.
"""

from __future__ import annotations

from typing import Any

import msgspec

from core.protocol.skills import SkillInterface


class LocalSource(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="local"):
    """A directory. `path` is absolute."""

    path: str


class GitSource(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="git", rename="camel"):
    """A git repository, or a directory `path` in it, at a ref or a commit."""

    url: str
    path: str | None = None
    ref_name: str | None = None
    sha: str | None = None


class NpmSource(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="npm"):
    """An npm package. `version` is any selector that npm takes."""

    package: str
    version: str | None = None
    registry: str | None = None


class RemoteSource(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="remote"):
    """The backend's catalog."""


PluginSource = LocalSource | GitSource | NpmSource | RemoteSource


class PluginInterface(msgspec.Struct, frozen=True, gc=False, kw_only=True, rename="camel"):
    """How a plugin wants to be shown. Paths are absolute; URLs are unchecked."""

    display_name: str | None = None
    short_description: str | None = None
    long_description: str | None = None
    developer_name: str | None = None
    category: str | None = None
    capabilities: tuple[str, ...] = ()
    website_url: str | None = None
    privacy_policy_url: str | None = None
    terms_of_service_url: str | None = None
    default_prompt: tuple[str, ...] | None = None
    brand_color: str | None = None
    composer_icon: str | None = None
    composer_icon_url: str | None = None
    logo: str | None = None
    logo_dark: str | None = None
    logo_url: str | None = None
    logo_url_dark: str | None = None
    screenshots: tuple[str, ...] = ()
    screenshot_urls: tuple[str, ...] = ()


class SharePrincipal(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Who a shared plugin is shared with."""

    principal_type: str
    principal_id: str
    role: str
    name: str


class ShareContext(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A local plugin's shared copy at the backend."""

    remote_plugin_id: str
    remote_version: str | None = None
    discoverability: str | None = None
    share_url: str | None = None
    creator_account_user_id: str | None = None
    creator_name: str | None = None
    share_principals: tuple[SharePrincipal, ...] | None = None
    can_publish_to_workspace: bool | None = None


class PluginSummary(msgspec.Struct, frozen=True, gc=False, kw_only=True, rename="camel"):
    """One entry of a list.

    Attributes:
        version: Of remote plugins.
        local_version: Of the source's manifest, or of the installed copy's for git and npm.
        installed_at: Seconds since the epoch; remote plugins only.
    """

    id: str
    remote_plugin_id: str | None = None
    version: str | None = None
    local_version: str | None = None
    name: str
    share_context: ShareContext | None = None
    source: PluginSource
    installed: bool
    installed_at: int | None = None
    enabled: bool
    install_policy: str = "AVAILABLE"
    install_policy_source: str | None = None
    must_show_installation_interstitial: bool | None = None
    auth_policy: str = "ON_INSTALL"
    availability: str = "AVAILABLE"
    disabled_reason: str | None = None
    eligible_plan_types: tuple[str, ...] | None = None
    interface: PluginInterface | None = None
    keywords: tuple[str, ...] = ()


class MarketplaceInterface(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How a marketplace wants to be called."""

    display_name: str | None = None


class PluginMarketplaceEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A marketplace with what is listed of it. `path` is None for the backend's."""

    name: str
    path: str | None
    interface: MarketplaceInterface | None = None
    plugins: tuple[PluginSummary, ...]


class MarketplaceLoadError(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Why a marketplace file, or the configuration of a directory, could not be used."""

    marketplace_path: str
    message: str


class PluginListResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Of `plugin/list`."""

    marketplaces: tuple[PluginMarketplaceEntry, ...]
    marketplace_load_errors: tuple[MarketplaceLoadError, ...] = ()
    featured_plugin_ids: tuple[str, ...] = ()


class PluginInstalledResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Of `plugin/installed`."""

    marketplaces: tuple[PluginMarketplaceEntry, ...]
    marketplace_load_errors: tuple[MarketplaceLoadError, ...] = ()


class PluginSearchItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A hit."""

    plugin: PluginSummary
    marketplace_name: str
    marketplace_path: str | None


class PluginSearchResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Of `plugin/search`."""

    data: tuple[PluginSearchItem, ...]
    next_cursor: str | None = None


class SkillSummary(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A skill that a plugin brings."""

    name: str
    description: str
    short_description: str | None = None
    interface: SkillInterface | None = None
    path: str | None
    enabled: bool


class PluginHookSummary(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A hook that a plugin brings."""

    key: str
    event_name: str


class AppSummary(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An app that a plugin names."""

    id: str
    name: str
    description: str | None = None
    install_url: str | None = None
    category: str | None = None


class PluginDetail(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A plugin with its parts. `app_templates` and `scheduled_tasks`: remote plugins only."""

    marketplace_name: str
    marketplace_path: str | None
    summary: PluginSummary
    share_url: str | None = None
    description: str | None = None
    skills: tuple[SkillSummary, ...] = ()
    onboarding_skill: SkillSummary | None = None
    hooks: tuple[PluginHookSummary, ...] = ()
    apps: tuple[AppSummary, ...] = ()
    app_templates: tuple[Any, ...] = ()
    mcp_servers: tuple[str, ...] = ()
    scheduled_tasks: tuple[Any, ...] | None = None


class PluginReadResult(msgspec.Struct, frozen=True, kw_only=True):
    """Of `plugin/read`."""

    plugin: PluginDetail


class PluginInstallResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Of `plugin/install`."""

    auth_policy: str
    apps_needing_auth: tuple[AppSummary, ...] = ()


class PluginUninstallResult(msgspec.Struct, frozen=True, kw_only=True):
    """Of `plugin/uninstall`."""


class ReconciledPlugin(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A plugin that a reconciliation changed, and which kinds of parts that concerns."""

    id: str
    has_skills: bool
    has_hooks: bool
    has_mcps: bool
    has_apps: bool


class PluginReconcileResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Of `plugin/reconcile`."""

    changed_plugins: tuple[ReconciledPlugin, ...] = ()
    failed_remote_plugin_ids: tuple[str, ...] = ()
    failed_materialization_remote_plugin_ids: tuple[str, ...] = ()


class PluginSkillReadResult(msgspec.Struct, frozen=True, kw_only=True):
    """Of `plugin/skill/read`: the skill's markdown."""

    contents: str | None = None


class PluginShareListItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A plugin that the account shares, and where its local source is."""

    plugin: PluginSummary
    local_plugin_path: str | None = None


class PluginShareListResult(msgspec.Struct, frozen=True, kw_only=True):
    """Of `plugin/share/list`."""

    data: tuple[PluginShareListItem, ...] = ()


class PluginShareSaveResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Of `plugin/share/save`."""

    remote_plugin_id: str
    share_url: str
    can_publish_to_workspace: bool | None = None


class PluginShareUpdateTargetsResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Of `plugin/share/updateTargets`."""

    principals: tuple[SharePrincipal, ...]
    discoverability: str


class PluginShareCheckoutResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Of `plugin/share/checkout`."""

    remote_plugin_id: str
    plugin_id: str
    plugin_name: str
    plugin_path: str
    marketplace_name: str
    marketplace_path: str
    remote_version: str | None = None


class PluginShareDeleteResult(msgspec.Struct, frozen=True, kw_only=True):
    """Of `plugin/share/delete`."""
