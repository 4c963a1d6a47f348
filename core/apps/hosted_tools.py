"""What the hosted tools say of apps: which connector a tool belongs to, who may see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

HOSTED_SERVER = "codex_apps"


@dataclass(frozen=True, kw_only=True)
class AppTool:
    """A hosted tool that belongs to an app.

    Attributes:
        app_id, app_name, app_description: `connector_id`, `connector_name` and
            `connector_description` of its `_meta`, trimmed.
        visible: `_meta.ui.visibility` is no list, or a list with `model`.
        raw: As tools/list gave it; foreign.
    """

    name: str
    app_id: str
    app_name: str
    app_description: str
    visible: bool
    raw: Mapping[str, Any] = field(repr=False)

    @property
    def title(self) -> str:
        """Of the tool itself, else of its annotations; "" when it has none."""
        for place in (self.raw, self.annotations):
            title = place.get("title")
            if isinstance(title, str) and title:
                return title
        return ""

    @property
    def description(self) -> str:
        text = self.raw.get("description")
        return text if isinstance(text, str) else ""

    @property
    def annotations(self) -> Mapping[str, Any]:
        return _members(self.raw.get("annotations"))

    @property
    def tokens(self) -> int:
        """Estimated cost of its declaration to the model: bytes / 4."""
        shown = {
            key: self.raw[key] for key in ("name", "description", "inputSchema") if key in self.raw
        }
        return len(msgspec.json.encode(shown)) // 4

    @property
    def effect(self) -> str:
        """`reads`, `writes`, `destroys`, or "" when it does not say."""
        hints = self.annotations
        if hints.get("readOnlyHint") is True:
            return "reads"
        if hints.get("destructiveHint") is True:
            return "destroys"
        if hints.get("destructiveHint") is False or hints.get("readOnlyHint") is False:
            return "writes"
        return ""


def _members(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def app_tools(raw_tools: Iterable[Mapping[str, Any]]) -> tuple[AppTool, ...]:
    """Those tools that belong to an app; links that are only synthetic do not count."""
    found = (_app_tool(raw) for raw in raw_tools)
    return tuple(tool for tool in found if tool is not None)


def _app_tool(raw: Mapping[str, Any]) -> AppTool | None:
    meta = _members(raw.get("_meta"))
    name, app_id = raw.get("name"), _trimmed(meta.get("connector_id"))
    if not isinstance(name, str) or not app_id:
        return None
    if _members(meta.get("_codex_apps")).get("synthetic_link") is True:
        return None
    visibility = _members(meta.get("ui")).get("visibility")
    return AppTool(
        name=name,
        app_id=app_id,
        app_name=_trimmed(meta.get("connector_name")),
        app_description=_trimmed(meta.get("connector_description")),
        visible=not isinstance(visibility, list) or "model" in visibility,
        raw=raw,
    )


def _trimmed(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


@dataclass(frozen=True)
class Connector:
    """What the hosted tools call an app; "" where none of them says."""

    name: str = ""
    description: str = ""


def connectors(tools: Iterable[AppTool]) -> dict[str, Connector]:
    """By app id, in the order of the tools; the first that says something is believed."""
    found: dict[str, Connector] = {}
    for tool in tools:
        known = found.get(tool.app_id, Connector())
        found[tool.app_id] = Connector(
            known.name or tool.app_name, known.description or tool.app_description
        )
    return found
