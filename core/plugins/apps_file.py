"""Apps that a plugin names in its `.app.json`."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from core.plugins import json_fast
from core.plugins.json_fast import member
from core.plugins.json_shape import ANY, read_exactly
from core.plugins.json_tokens import JsonFault
from core.plugins.layout import read_file
from core.plugins.manifest import Manifest, below
from core.plugins.text import trim
from core.protocol.plugins import AppSummary

INSTALL_URL = "https://chatgpt.com/apps"


class PluginApp(msgspec.Struct, frozen=True):
    """An app by id, with the category that the plugin gives it."""

    id: str
    category: str | None = None

    def summary(self, name: str = "", description: str | None = None) -> AppSummary:
        """As the wire tells it; an unknown app is called by its id."""
        shown = name or self.id
        return AppSummary(
            id=self.id,
            name=shown,
            description=description,
            install_url=f"{INSTALL_URL}/{slug(shown)}/{self.id}",
            category=self.category,
        )


def slug(name: str) -> str:
    """An app's name as it stands in its page's address."""
    spelled = "".join(char if char.isalnum() and char.isascii() else "-" for char in name.lower())
    return spelled.strip("-") or "app"


def plugin_apps(manifest: Manifest) -> tuple[PluginApp, ...]:
    """The apps in file order, each once; one wrong type, and there are none."""
    path = below(manifest.apps, manifest.root) or f"{manifest.root}/.app.json"
    try:
        data = read_file(path)
    except OSError:
        return ()
    value = json_fast.decode(data)
    if value is json_fast.SUSPECT:
        try:
            value = read_exactly(data, ANY)
        except (JsonFault, UnicodeDecodeError):
            return ()
    table = member(value, "apps")
    if not isinstance(table, dict):
        return ()
    apps: dict[str, PluginApp] = {}
    for written in cast("dict[str, Any]", table).values():
        app_id, category = member(written, "id"), member(written, "category")
        if not isinstance(app_id, str) or not isinstance(category, str | None):
            return ()
        if trim(app_id):
            apps.setdefault(app_id, PluginApp(app_id, trim(category or "") or None))
    return tuple(apps.values())
