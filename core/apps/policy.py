"""Switches of apps and their tools: the `[apps]` tables and what the administrator requires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from core.apps.hosted_tools import AppTool
from core.protocol.facts import Evidence

if TYPE_CHECKING:
    from core.config.model import Loaded

_DEFAULT = Evidence(layer="default")


@dataclass(frozen=True)
class Decision:
    """A switch, where it is decided, and for tools why: `by policy`, `off`, `destructive`, …"""

    on: bool
    at: Evidence = _DEFAULT
    reason: str = ""


def _table(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


class AppPolicy:
    """The switches of one configuration, read once.

    In the order of Codex 0.171.0: requirements, the app's own table, `[apps._default]`, on.
    """

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._apps = _table(loaded.get("apps"))
        self._defaults = _table(self._apps.get("_default"))
        self._required = _table(loaded.requirements.get("apps"))

    def feature(self) -> Decision:
        """Whether apps are used at all: `[features] apps`, older spelling `connectors`."""
        required = _flag(_table(self._loaded.requirements.get("features")).get("apps"))
        if required is False:
            return Decision(False, Evidence(layer="requirements", key="features.apps"), "by policy")
        for name in ("apps", "connectors"):
            chosen = _flag(self._loaded.get("features", name))
            if chosen is not None:
                return Decision(chosen, self._loaded.origin("features", name), _off(chosen))
        return Decision(True)

    def app(self, app_id: str) -> Decision:
        """Whether the app is switched on; says nothing about its tools."""
        if _flag(_table(self._required.get(app_id)).get("enabled")) is False:
            at = Evidence(layer="requirements", key=f"apps.{app_id}.enabled")
            return Decision(False, at, "by policy")
        for owner in (app_id, "_default"):
            chosen = _flag(_table(self._apps.get(owner)).get("enabled"))
            if chosen is not None:
                return Decision(chosen, self._loaded.origin("apps", owner, "enabled"), _off(chosen))
        return Decision(True)

    def tool(self, tool: AppTool) -> Decision:
        """Whether the model may call the tool, provided that its app is on."""
        app = _table(self._apps.get(tool.app_id))
        for name in (tool.name, tool.title):
            chosen = _flag(_table(_table(app.get("tools")).get(name)).get("enabled"))
            if chosen is not None:
                at = self._loaded.origin("apps", tool.app_id, "tools", name, "enabled")
                return self._seen(tool, Decision(chosen, at, _off(chosen)))
        chosen = _flag(app.get("default_tools_enabled"))
        if chosen is not None:
            at = self._loaded.origin("apps", tool.app_id, "default_tools_enabled")
            return self._seen(tool, Decision(chosen, at, _off(chosen)))
        for kind, hint, word in (
            ("destructive_enabled", "destructiveHint", "destructive"),
            ("open_world_enabled", "openWorldHint", "open-world"),
        ):
            allowed = self._allowed(tool.app_id, kind)
            # Both hints are true where the tool does not say (MCP 2025-06-18, ToolAnnotations).
            if not allowed.on and _flag(tool.annotations.get(hint)) is not False:
                return self._seen(tool, Decision(False, allowed.at, f"{word} tools are off"))
        return self._seen(tool, Decision(True))

    def _allowed(self, app_id: str, kind: str) -> Decision:
        for owner in (app_id, "_default"):
            chosen = _flag(_table(self._apps.get(owner)).get(kind))
            if chosen is not None:
                return Decision(chosen, self._loaded.origin("apps", owner, kind))
        return Decision(True)

    def _seen(self, tool: AppTool, decision: Decision) -> Decision:
        if decision.on and not tool.visible:
            return Decision(False, decision.at, "for the app's own page only")
        return decision


def _off(chosen: bool) -> str:
    return "" if chosen else "off"
