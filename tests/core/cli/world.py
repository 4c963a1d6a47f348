"""A home for the command line, and marketplaces to list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.fakes.mcp_stdio import argv


def marketplace(root: Path, name: str, *plugins: dict[str, Any] | str) -> Path:
    """A Codex marketplace; a plain name is a plugin that lies in it, version 1.0.0."""
    entries: list[dict[str, Any]] = []
    for plugin in plugins:
        entry = (
            {"name": plugin, "source": f"./plugins/{plugin}"} if isinstance(plugin, str) else plugin
        )
        entries.append(entry)
        manifest = root / "plugins" / entry["name"] / ".codex-plugin" / "plugin.json"
        manifest.parent.mkdir(parents=True)
        manifest.write_text(json.dumps({"name": entry["name"], "version": "1.0.0"}))
    file = root / ".agents" / "plugins" / "marketplace.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"name": name, "plugins": entries}))
    return root


def server_table(name: str, mode: str = "ok", **options: Any) -> str:
    """A table of config.toml for a fake server."""
    command, *arguments = argv(mode, **options)
    return (
        f"[mcp_servers.{name}]\ncommand = {json.dumps(command)}\nargs = {json.dumps(arguments)}\n"
    )
