"""Looks over the apps that a plugin names."""

from __future__ import annotations

from typing import Any, cast

from core.plugins.apps_file import plugin_apps
from core.plugins.json_fast import member
from core.plugins.layout import BOM, is_file, read_file
from core.plugins.manifest import Manifest, below
from core.plugins.text import trim
from core.plugins.validate.report import Report
from core.plugins.validate.values import any_value, json_fault


def look_at_apps(manifest: Manifest, report: Report) -> int:
    """Tell what is wrong with the apps; how many Codex can use."""
    path = below(manifest.apps, manifest.root) or f"{manifest.root}/.app.json"
    if not report.readable(path):
        return 0
    apps = plugin_apps(manifest)
    if not is_file(path):
        report.add("app-file", path, "it is no file")
        return 0
    data = read_file(path)
    if fault := json_fault(data):
        message = "it begins with a byte order mark" if data.startswith(BOM) else fault.reason
        report.add("app-file", path, message, line=fault.line, column=fault.column)
        return 0
    _members(path, any_value(data), report)
    return len(apps)


def _members(path: str, value: Any, report: Report) -> None:
    table = member(value, "apps")
    if not isinstance(table, dict):
        report.add("app-file", path, "it has no object `apps`", at=("apps",))
        return
    seen: set[str] = set()
    for name, written in cast("dict[str, Any]", table).items():
        app_id, category = member(written, "id"), member(written, "category")
        if not isinstance(app_id, str):
            report.add(
                "app-file", path, f"`{name}` has no `id` that is a string", at=("apps", name)
            )
        elif not isinstance(category, str | None):
            at = ("apps", name, "category")
            report.add("app-file", path, f"`category` of `{name}` is no string", at=at)
        elif not trim(app_id):
            report.add("app-id", path, f"`{name}` has a blank `id`", at=("apps", name, "id"))
        elif app_id in seen:
            message = f"`{name}` has the `id` of another one"
            report.add("app-id", path, message, at=("apps", name, "id"))
        else:
            seen.add(app_id)
