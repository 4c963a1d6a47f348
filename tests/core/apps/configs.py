"""A configuration from text, as the app layer sees it."""

from __future__ import annotations

import tomllib
from typing import Any

from core.protocol.facts import Evidence


class PlainRequirements:
    closed = False
    evidence = Evidence()

    def __init__(self, value: dict[str, Any]) -> None:
        self.features = value.get("features", {})
        self.apps_off = {
            key for key, app in value.get("apps", {}).items() if app.get("enabled") is False
        }


class PlainConfig:
    """Values of one user file, and what the administrator requires."""

    def __init__(self, value: dict[str, Any], requirements: dict[str, Any]) -> None:
        self.value, self.requirements = value, PlainRequirements(requirements)

    def get(self, *path: str, default: Any = None) -> Any:
        found: Any = self.value
        for key in path:
            if not isinstance(found, dict) or key not in found:
                return default
            found = found[key]
        return found

    def origin(self, *path: str) -> Evidence:
        if path[0] == "apps" and path[1] in self.requirements.apps_off:
            return Evidence(file="/etc/codex/requirements.toml", layer="requirements")
        if self.get(*path) is None:
            return Evidence()
        file = "/home/dev/.codex/config.toml"
        return Evidence(file=file, line=1, key=".".join(path), layer="user")

    def feature(self, name: str) -> bool:
        for table in (self.requirements.features, self.get("features", default={})):
            for spelling in (name, "connectors"):
                if spelling in table:
                    return table[spelling]
        return True

    def feature_origin(self, name: str) -> Evidence:
        return Evidence(layer="default")


def config_of(text: str, requirements: str = "") -> Any:
    return PlainConfig(tomllib.loads(text), tomllib.loads(requirements))
