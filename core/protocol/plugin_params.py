"""Parameters of the plugin methods; their results are in `core.protocol.plugins`."""

from __future__ import annotations

from typing import Literal

from core.protocol.base import U32, AbsolutePath, Params

MarketplaceKind = Literal[
    "local", "vertical", "workspace-directory", "shared-with-me", "created-by-me-remote"
]


class PluginListParams(Params):
    """What can be found.

    Attributes:
        cwds: Directories whose repositories and trusted project layers count; None = the user's
            own marketplaces only.
        marketplace_kinds: None = local ones, and the backend's catalog with a ChatGPT sign-in.
        force_refetch: Past the backend catalog's cache.
    """

    cwds: list[AbsolutePath] | None = None
    marketplace_kinds: list[MarketplaceKind] | None = None
    force_refetch: bool = False


class PluginInstalledParams(Params):
    """What is installed, and what is not but carries one of the suggested names."""

    cwds: list[AbsolutePath] | None = None
    install_suggestion_plugin_names: list[str] | None = None


class PluginReadParams(Params):
    """One plugin, by marketplace file or by remote marketplace, never both."""

    marketplace_path: AbsolutePath | None = None
    remote_marketplace_name: str | None = None
    plugin_name: str


class PluginInstallParams(Params):
    """Install or install again, and enable. `install_attempt_id`: remote plugins only."""

    marketplace_path: AbsolutePath | None = None
    remote_marketplace_name: str | None = None
    plugin_name: str
    install_attempt_id: str | None = None


class PluginUninstallParams(Params):
    """`plugin_id`: `PLUGIN@MARKETPLACE`, or the id of a remote plugin."""

    plugin_id: str


class PluginSearchParams(Params):
    """Local plugins by name, display name and keywords. `limit` does not cut local hits."""

    search_term: str
    scope: Literal["global", "workspace", "personal"] | None = None
    cwds: list[AbsolutePath] | None = None
    cursor: str | None = None
    limit: U32 | None = None


class PluginReconcileParams(Params):
    """Bring installed remote plugins up to date. `reason` is for the record."""

    reason: str | None = None


class PluginSkillReadParams(Params):
    """The text of a remote plugin's skill."""

    remote_marketplace_name: str
    remote_plugin_id: str
    skill_name: str


class ShareTarget(Params):
    """Somebody to share with."""

    principal_type: Literal["user", "group", "workspace"]
    principal_id: str
    role: Literal["reader", "editor"]


class PluginShareSaveParams(Params):
    """Share a local plugin, or save it again under `remote_plugin_id`."""

    plugin_path: AbsolutePath
    remote_plugin_id: str | None = None
    discoverability: Literal["LISTED", "UNLISTED", "PRIVATE"] | None = None
    share_targets: list[ShareTarget] | None = None


class PluginShareUpdateTargetsParams(Params):
    """Change who a shared plugin is shared with."""

    remote_plugin_id: str
    discoverability: Literal["UNLISTED", "PRIVATE", "LISTED"]
    share_targets: list[ShareTarget]


class PluginShareListParams(Params):
    """What the account shares."""


class PluginShareCheckoutParams(Params):
    """Fetch a shared plugin to edit it here."""

    remote_plugin_id: str


class PluginShareDeleteParams(Params):
    """Stop sharing."""

    remote_plugin_id: str
