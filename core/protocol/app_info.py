"""An app as the wire tells it: bulk rows, so `msgspec.Struct`s; every member is always written."""

from __future__ import annotations

import msgspec


class AppBranding(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Who makes an app, and whether it may be shown to those who look for one."""

    category: str | None = None
    developer: str | None = None
    website: str | None = None
    privacy_policy: str | None = None
    terms_of_service: str | None = None
    is_discoverable_app: bool


class AppReview(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """State of the backend's own review."""

    status: str


class AppScreenshot(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A picture by URL or by the backend's file id."""

    url: str | None = None
    file_id: str | None = None
    user_prompt: str


class AppMetadata(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the directory says of an app beside its name."""

    review: AppReview | None = None
    categories: tuple[str, ...] | None = None
    sub_categories: tuple[str, ...] | None = None
    seo_description: str | None = None
    screenshots: tuple[AppScreenshot, ...] | None = None
    developer: str | None = None
    version: str | None = None
    version_id: str | None = None
    version_notes: str | None = None
    first_party_requires_install: bool | None = None
    show_in_composer_when_unlinked: bool | None = None


class AppInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One entry of `app/list`.

    Attributes:
        install_url: Always computed from name and id, never taken from the directory.
        is_accessible: Its connector is among the hosted tools.
        is_enabled: The switch in the configuration, requirements included.
        plugin_display_names: Enabled plugins that name it, sorted.
    """

    id: str
    name: str
    description: str | None = None
    logo_url: str | None = None
    logo_url_dark: str | None = None
    icon_assets: dict[str, str] | None = None
    icon_dark_assets: dict[str, str] | None = None
    distribution_channel: str | None = None
    branding: AppBranding | None = None
    app_metadata: AppMetadata | None = None
    labels: dict[str, str] | None = None
    install_url: str | None = None
    is_accessible: bool = False
    is_enabled: bool = True
    plugin_display_names: tuple[str, ...] = ()


class AppListResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A page of `app/list`; `next_cursor` is the index of the next entry as text."""

    data: tuple[AppInfo, ...]
    next_cursor: str | None = None


class AppListUpdated(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`app/list/updated`: always the full list."""

    data: tuple[AppInfo, ...]


class AppToolSummary(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A tool of an app, for display; says nothing about what the model may call."""

    name: str
    title: str | None = None
    description: str | None = None
    is_enabled: bool = True
    disabled_reason: str | None = None
    is_read_only: bool = False


class AppMetadataEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One entry of `app/read`; `tool_summaries` is None unless asked for."""

    id: str
    name: str
    description: str | None = None
    icon_url: str | None = None
    icon_url_dark: str | None = None
    distribution_channel: str | None = None
    install_url: str
    plugin_display_names: tuple[str, ...] = ()
    tool_summaries: tuple[AppToolSummary, ...] | None = None


class AppReadResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Both lists in the order of the request, without duplicates."""

    apps: tuple[AppMetadataEntry, ...]
    missing_app_ids: tuple[str, ...]


class InstalledApp(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One connector of the committed runtime snapshot."""

    id: str
    runtime_name: str | None
    enabled: bool
    callable: bool


class AppInstalledResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Sorted by id."""

    apps: tuple[InstalledApp, ...]
