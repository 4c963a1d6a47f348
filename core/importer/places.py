"""Where other agents keep their servers and plugins, on Linux, macOS and Windows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

APPS: dict[str, str] = {
    "claude-code": "Claude Code",
    "claude-desktop": "Claude Desktop",
    "cursor": "Cursor",
    "vscode": "VS Code",
    "gemini": "Gemini CLI",
}
"""By id what people call them."""


@dataclass(frozen=True, slots=True)
class Place:
    """One file that may be there.

    Attributes:
        id: `claude-code:user`, unique; the part before the colon is the agent's.
        scope: `user` or `project`.
        reader: What reads it: a name in `core.importer.readers`.
    """

    id: str
    scope: str
    path: str
    reader: str

    @property
    def app(self) -> str:
        """Id of the agent."""
        return self.id.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Around:
    """Where this is looked for.

    Attributes:
        home: The person's home directory.
        project: Root of the project that the panel works in.
        platform: `sys.platform`.
    """

    home: str
    project: str
    platform: str
    environ: Mapping[str, str]

    @property
    def app_data(self) -> str:
        """Where desktop programs keep their settings."""
        if self.platform == "darwin":
            return f"{self.home}/Library/Application Support"
        if self.platform == "win32":
            return self.environ.get("APPDATA") or f"{self.home}/AppData/Roaming"
        configured = self.environ.get("XDG_CONFIG_HOME", "")
        return configured if os.path.isabs(configured) else f"{self.home}/.config"


def places(around: Around) -> tuple[Place, ...]:
    """All files, in the order in which they are told."""
    return (*_claude_code(around), *_claude_desktop(around), *_editors(around), *_gemini(around))


def _claude_code(around: Around) -> Iterator[Place]:
    own = around.environ.get("CLAUDE_CONFIG_DIR", "")
    folder = own if os.path.isabs(own) else f"{around.home}/.claude"
    state = f"{own}/.claude.json" if os.path.isabs(own) else f"{around.home}/.claude.json"
    project = around.project
    yield Place("claude-code:user", "user", state, "claude_state")
    yield Place("claude-code:settings", "user", f"{folder}/settings.json", "claude_settings")
    known = f"{folder}/plugins/known_marketplaces.json"
    yield Place("claude-code:marketplaces", "user", known, "claude_marketplaces")
    yield Place("claude-code:project", "project", f"{project}/.mcp.json", "claude_project")
    for name, file in (("shared", "settings.json"), ("local", "settings.local.json")):
        path = f"{project}/.claude/{file}"
        if path != f"{folder}/{file}":
            yield Place(f"claude-code:project-{name}", "project", path, "claude_settings")


def _claude_desktop(around: Around) -> Iterator[Place]:
    path = f"{around.app_data}/Claude/claude_desktop_config.json"
    yield Place("claude-desktop:user", "user", path, "claude_desktop")


def _editors(around: Around) -> Iterator[Place]:
    yield Place("cursor:user", "user", f"{around.home}/.cursor/mcp.json", "cursor")
    if around.project != around.home:
        path = f"{around.project}/.cursor/mcp.json"
        yield Place("cursor:project", "project", path, "cursor")
    for product, name in (
        ("Code", "user"),
        ("Code - Insiders", "insiders"),
        ("VSCodium", "codium"),
    ):
        user = f"{around.app_data}/{product}/User"
        yield Place(f"vscode:{name}", "user", f"{user}/mcp.json", "vscode")
        yield Place(f"vscode:{name}-settings", "user", f"{user}/settings.json", "vscode_settings")
    yield Place("vscode:project", "project", f"{around.project}/.vscode/mcp.json", "vscode")


def _gemini(around: Around) -> Iterator[Place]:
    yield Place("gemini:user", "user", f"{around.home}/.gemini/settings.json", "gemini")
    if around.project != around.home:
        path = f"{around.project}/.gemini/settings.json"
        yield Place("gemini:project", "project", path, "gemini")
