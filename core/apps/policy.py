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

    def feature(self) -> Decision:
        """Whether apps are used at all; not while the administrator's word cannot be read."""
        required = self._loaded.requirements
        if required.closed:
            return Decision(False, required.evidence, "the policy cannot be read")
        on = self._loaded.feature("apps")
        at = self._loaded.feature_origin("apps")
        return Decision(on, at, "" if on else _off_by(at))

    def app(self, app_id: str) -> Decision:
        """Whether the app is switched on; says nothing about its tools."""
        if app_id in self._loaded.requirements.apps_off:
            at = self._loaded.origin("apps", app_id, "enabled")
            return Decision(False, at, _off_by(at))
        for owner in (app_id, "_default"):
            chosen = _flag(_table(self._apps.get(owner)).get("enabled"))
            if chosen is not None:
                at = self._loaded.origin("apps", owner, "enabled")
                return Decision(chosen, at, "" if chosen else _off_by(at))
        return Decision(True)

    def tool(self, tool: AppTool) -> Decision:
        """Whether the model may call the tool, provided that its app is on."""
        app = _table(self._apps.get(tool.app_id))
        for name in (tool.name, tool.title):
            chosen = _flag(_table(_table(app.get("tools")).get(name)).get("enabled"))
            if chosen is not None:
                at = self._loaded.origin("apps", tool.app_id, "tools", name, "enabled")
                return self._seen(tool, Decision(chosen, at, "" if chosen else "off"))
        chosen = _flag(app.get("default_tools_enabled"))
        if chosen is not None:
            at = self._loaded.origin("apps", tool.app_id, "default_tools_enabled")
            return self._seen(tool, Decision(chosen, at, "" if chosen else "off"))
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


def _off_by(at: Evidence) -> str:
    return "by policy" if at.layer == "requirements" else "off"
