"""Entries of the app directory: read, made regular, merged with what the hosted tools tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from core.apps.hosted_tools import Connector
from core.config.pace import Pace
from core.protocol.app_info import AppBranding, AppInfo, AppMetadata
from core.seams import NamedApp

_EITHER = {
    "logo_url": "logoUrl",
    "logo_url_dark": "logoUrlDark",
    "icon_assets": "iconAssets",
    "icon_dark_assets": "iconDarkAssets",
    "distribution_channel": "distributionChannel",
    "app_metadata": "appMetadata",
}
_EITHER_IN_SCREENSHOT = {"file_id": "fileId", "user_prompt": "userPrompt"}


class _Raw(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    id: str
    name: str
    description: str | None = None
    visibility: str | None = None
    logo_url: str | None = None
    logo_url_dark: str | None = None
    icon_assets: dict[str, str] | None = None
    icon_dark_assets: dict[str, str] | None = None
    distribution_channel: str | None = None
    branding: AppBranding | None = None
    app_metadata: AppMetadata | None = None
    labels: dict[str, str] | None = None


class _Page(msgspec.Struct, frozen=True, kw_only=True):
    apps: list[msgspec.Raw]
    next_token: str | None = None


@dataclass(frozen=True, kw_only=True)
class DirectoryPage:
    """One page as it came: hidden entries left out, the others made regular one by one.

    Attributes:
        bad: What is wrong with entries that cannot be used: `entry 3: …`.
        next_token: Of the following page, or None.
    """

    entries: tuple[AppInfo, ...]
    bad: tuple[str, ...] = ()
    next_token: str | None = None


def read_page(body: bytes) -> DirectoryPage:
    """Read a directory answer; entries that cannot be used are told, not raised.

    Raises:
        msgspec.DecodeError: The answer as a whole is no directory page.
    """
    try:
        page = msgspec.json.decode(body, type=_Page)
    except RecursionError as error:
        raise msgspec.DecodeError("nested too deeply") from error
    entries: list[AppInfo] = []
    bad: list[str] = []
    pace = Pace()
    for place, raw in enumerate(page.apps, 1):
        pace.tick()
        try:
            entry = _read_entry(bytes(raw))
        except (msgspec.DecodeError, RecursionError) as error:
            bad.append(f"entry {place}: {error}")
            continue
        if entry is not None:
            entries.append(entry)
    return DirectoryPage(entries=tuple(entries), bad=tuple(bad), next_token=page.next_token or None)


def _read_entry(raw: bytes) -> AppInfo | None:
    value = msgspec.json.decode(raw)
    if not isinstance(value, dict):
        raise msgspec.ValidationError("is no object")
    members = _respelled(value, _EITHER)  # pyright: ignore[reportUnknownArgumentType]
    _respell_screenshots(members)
    entry = msgspec.convert(members, type=_Raw)
    if entry.visibility == "HIDDEN":
        return None
    return AppInfo(
        id=entry.id,
        name=entry.name.strip(),
        description=(entry.description or "").strip() or None,
        logo_url=entry.logo_url,
        logo_url_dark=entry.logo_url_dark,
        icon_assets=entry.icon_assets,
        icon_dark_assets=entry.icon_dark_assets,
        distribution_channel=entry.distribution_channel,
        branding=entry.branding,
        app_metadata=entry.app_metadata,
        labels=entry.labels,
    )


def _respelled(value: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    fresh: dict[str, Any] = {}
    for key, member in value.items():
        spelling = names.get(key, key)
        if spelling in fresh:
            raise msgspec.ValidationError(f"`{spelling}` is given twice")
        fresh[spelling] = member
    return fresh


def _respell_screenshots(members: dict[str, Any]) -> None:
    match members.get("appMetadata"):
        case {"screenshots": [*pictures]} as metadata:
            respelled = [
                _respelled(picture, _EITHER_IN_SCREENSHOT) if isinstance(picture, dict) else picture  # pyright: ignore[reportUnknownArgumentType]
                for picture in pictures
            ]
            members["appMetadata"] = {**metadata, "screenshots": respelled}
        case _:
            pass


def unite(entries: Iterable[AppInfo]) -> tuple[AppInfo, ...]:
    """One entry per id: the first wins, what it lacks is taken from later ones. An entry without
    a name is called by its id, except in its install page (Codex 0.171.0).
    """
    by_id: dict[str, AppInfo] = {}
    for entry in entries:
        earlier = by_id.get(entry.id)
        by_id[entry.id] = entry if earlier is None else _filled(earlier, entry)
    return tuple(
        msgspec.structs.replace(
            entry, name=entry.name or entry.id, install_url=install_url(entry.name, entry.id)
        )
        for entry in by_id.values()
    )


def _filled(earlier: AppInfo, later: AppInfo) -> AppInfo:
    changes = _lacking(earlier, later)
    if not earlier.name:
        changes["name"] = later.name
    if earlier.branding is not None and later.branding is not None:
        branding = _lacking(earlier.branding, later.branding)
        branding["is_discoverable_app"] = (
            earlier.branding.is_discoverable_app or later.branding.is_discoverable_app
        )
        changes["branding"] = msgspec.structs.replace(earlier.branding, **branding)
    if earlier.app_metadata is not None and later.app_metadata is not None:
        changes["app_metadata"] = msgspec.structs.replace(
            earlier.app_metadata, **_lacking(earlier.app_metadata, later.app_metadata)
        )
    return msgspec.structs.replace(earlier, **changes)


def _lacking(earlier: msgspec.Struct, later: msgspec.Struct) -> dict[str, Any]:
    return {
        name: getattr(later, name)
        for name in earlier.__struct_fields__
        if getattr(earlier, name) is None and getattr(later, name) is not None
    }


def install_url(name: str, app_id: str) -> str:
    """The page where an app is linked; the id is not escaped, as observed in Codex 0.171.0."""
    slug = "".join(
        letter.lower() if letter.isascii() and letter.isalnum() else "-" for letter in name
    )
    return f"https://chatgpt.com/apps/{slug.strip('-') or 'app'}/{app_id}"


def merge(
    directory: Sequence[AppInfo] | None,
    connectors: Mapping[str, Connector],
    named: Sequence[NamedApp] = (),
    *,
    part: bool = False,
) -> list[AppInfo]:
    """The list as it is shown, without the switches. Takes its time: call it in a thread.

    Args:
        directory: United entries, or None while the directory is not loaded: then the
            connectors stand for themselves. Once it is, connectors that it lacks are left out.
        connectors: What the hosted tools tell, by app id.
        named: Apps that enabled plugins name; added where the directory lacks them.
        part: `directory` is only a part of it: add nothing.
    """
    pace = Pace()
    brought: dict[str, set[str]] = {}
    for app in named:
        brought.setdefault(app.app_id, set()).add(app.plugin_display_name)
    apps = _unlisted(connectors) if directory is None else list(directory)
    if directory is not None and not part:
        known = {app.id for app in directory}
        apps += [_by_id_only(app_id) for app_id in brought if app_id not in known]
    merged: list[AppInfo] = []
    for app in apps:
        pace.tick()
        merged.append(_joined(app, connectors.get(app.id), brought.get(app.id)))
    merged.sort(key=lambda app: (not app.is_accessible, app.name.encode(), app.id.encode()))
    return merged


def _by_id_only(app_id: str) -> AppInfo:
    return AppInfo(id=app_id, name=app_id, install_url=install_url(app_id, app_id))


def _unlisted(connectors: Mapping[str, Connector]) -> list[AppInfo]:
    return [
        AppInfo(id=key, name=told.name or key, install_url=install_url(told.name or key, key))
        for key, told in connectors.items()
    ]


def _joined(app: AppInfo, told: Connector | None, plugins: set[str] | None) -> AppInfo:
    if told is None and not plugins:
        return app
    changes: dict[str, Any] = {}
    if plugins:
        changes["plugin_display_names"] = tuple(sorted(plugins))
    if told is not None:
        changes["is_accessible"] = True
        changes["description"] = app.description or told.description or None
        if told.name and app.name == app.id:
            changes["name"] = told.name
    return msgspec.structs.replace(app, **changes)
