"""Codex homes for panels on a terminal: servers and marketplaces as files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.terminal.panel import MARK
from tui.options import FIRST_START


def toml(value: str | float | bool | list[str]) -> str:
    """A TOML value, all but plain ASCII written out."""
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if not isinstance(value, str):
        return json.dumps(value)
    return '"' + "".join(map(_escaped, value)) + '"'


def _escaped(char: str) -> str:
    if " " <= char <= "~":
        return f"\\{char}" if char in '"\\' else char
    return f"\\U{ord(char):08x}"


def server_table(name: str, command: list[str], mark: str = "", **more: Any) -> str:
    """A `[mcp_servers.NAME]` table of a program; the mark goes into its environment."""
    program, *words = command
    lines = [
        f"[mcp_servers.{toml(name)}]",
        f"command = {toml(program)}",
        f"args = {toml(words)}",
        *(f"{key} = {toml(value)}" for key, value in more.items()),
    ]
    if mark:
        lines.append(f"env = {{ {MARK} = {toml(mark)} }}")
    return "\n".join(lines) + "\n\n"


def url_table(name: str, url: str, **more: Any) -> str:
    """A `[mcp_servers.NAME]` table of an endpoint."""
    lines = [f"[mcp_servers.{toml(name)}]", f"url = {toml(url)}"]
    lines += [f"{key} = {toml(value)}" for key, value in more.items()]
    return "\n".join(lines) + "\n\n"


def marketplace_table(name: str, source: Path) -> str:
    """A `[marketplaces.NAME]` table of a local one."""
    return f'[marketplaces.{toml(name)}]\nsource_type = "local"\nsource = {toml(str(source))}\n\n'


def write_marketplace(root: Path, name: str, plugins: Mapping[str, Mapping[str, Any]]) -> None:
    """A Codex-format marketplace whose plugins lie in it, with these manifest members."""
    entries: list[object] = []
    for plugin, members in plugins.items():
        entries.append({"name": plugin, "source": f"./plugins/{plugin}"})
        folder = root / "plugins" / plugin / ".codex-plugin"
        folder.mkdir(parents=True)
        manifest = {"name": plugin, "version": "1.0.0", **members}
        (folder / "plugin.json").write_text(json.dumps(manifest))
    file = root / ".agents" / "plugins" / "marketplace.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"name": name, "plugins": entries}))


def write_config(codex_home: Path, *tables: str) -> Path:
    """`config.toml` of these tables."""
    codex_home.mkdir(parents=True, exist_ok=True)
    file = codex_home / "config.toml"
    file.write_text("".join(tables))
    return file


def been_here(home: Path) -> None:
    """The panel has been started before: it greets nobody."""
    state = home / ".local" / "state" / "jackfield"
    state.mkdir(parents=True, exist_ok=True)
    (state / FIRST_START).touch()
