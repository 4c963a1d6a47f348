"""A configuration from text, as the app layer sees it."""

from __future__ import annotations

import tomllib
from typing import Any

from core.protocol.facts import Evidence


class PlainConfig:
    """Values of one user file, and what the administrator requires."""

    def __init__(self, value: dict[str, Any], requirements: dict[str, Any]) -> None:
        self.value, self.requirements = value, requirements

    def get(self, *path: str, default: Any = None) -> Any:
        found: Any = self.value
        for key in path:
            if not isinstance(found, dict) or key not in found:
                return default
            found = found[key]
        return found

    def origin(self, *path: str) -> Evidence:
        if self.get(*path) is None:
            return Evidence()
        return Evidence(file="/home/dev/.codex/config.toml", line=1, key=".".join(path))


def config_of(text: str, requirements: str = "") -> Any:
    return PlainConfig(tomllib.loads(text), tomllib.loads(requirements))
