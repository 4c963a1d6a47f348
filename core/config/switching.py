"""Turns plugins, servers, apps and tools on and off in the user's config.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import anyio

from core.config.edit import ConfigEditor, WriteResult
from core.config.edit_plan import Edit
from core.config.merge import has
from core.config.model import Loaded
from core.config.store import ConfigStore
from core.errors import InvalidRequest
from core.protocol.facts import Evidence

Path_ = tuple[str, ...]
_FIRM = ("project", "thread", "cloud", "requirements")


@dataclass(frozen=True, slots=True)
class Switched:
    """What came of a switch.

    Attributes:
        effective: The value that now holds.
        message: One line for a person.
        evidence: Where it was written, or stood already.
        decided_by: The layer that decides, when it is not the user's; ask again with `force` to
            write the user's layer nevertheless.
        result: Of the write; None when nothing was written.
    """

    effective: bool
    message: str
    evidence: Evidence = Evidence()
    decided_by: Evidence | None = None
    result: WriteResult | None = None

    @property
    def written(self) -> bool:
        """A file was changed."""
        return self.result is not None and self.result.changed


@dataclass(frozen=True, slots=True)
class _Target:
    """One switch: what it is called, the key that holds it and the edit that sets it."""

    name: str
    path: Path_
    enabled: bool
    edits: tuple[Edit, ...]


class Switcher:
    """Writes the user's layer; says so when another layer has the last word."""

    def __init__(self, store: ConfigStore, editor: ConfigEditor, cwd: Path | None) -> None:
        self._store = store
        self._editor = editor
        self._cwd = cwd

    async def plugin(self, plugin_id: str, enabled: bool, *, force: bool = False) -> Switched:
        """`[plugins."ID"] enabled`."""
        path = ("plugins", plugin_id, "enabled")
        return await self._switch(_plain(plugin_id, path, enabled), force=force)

    async def server(
        self, name: str, enabled: bool, *, plugin_id: str | None = None, force: bool = False
    ) -> Switched:
        """`enabled` of a configured server, or of one that a plugin brings.

        Raises:
            InvalidRequest: No such server is configured.
        """
        if plugin_id is not None:
            path = ("plugins", plugin_id, "mcp_servers", name, "enabled")
            return await self._switch(_plain(name, path, enabled), force=force)
        loaded = await self._load()
        if not has(loaded.merged, ("mcp_servers", name)):
            raise InvalidRequest(f"no MCP server `{name}` in the configuration")
        entry = loaded.servers.get(name)
        if enabled and entry is not None:
            verdict = loaded.requirements.allows_server(name, entry)
            if not verdict.allowed:
                message = f"{name} stays off: not allowed by {_told(verdict.evidence)}"
                return Switched(False, message, decided_by=verdict.evidence)
        elsewhere = _defined_elsewhere(loaded, name)
        if elsewhere is not None:
            effective = bool(loaded.get("mcp_servers", name, "enabled", default=True))
            message = f"{name} is defined in {_told(elsewhere)}: switch it there"
            return Switched(effective, message, decided_by=elsewhere)
        return await self._switch(
            _plain(name, ("mcp_servers", name, "enabled"), enabled), force=force
        )

    async def app(self, app_id: str, enabled: bool, *, force: bool = False) -> Switched:
        """`[apps.ID] enabled`."""
        path = ("apps", app_id, "enabled")
        return await self._switch(_plain(app_id, path, enabled), force=force)

    async def app_tool(
        self, app_id: str, tool: str, enabled: bool, *, force: bool = False
    ) -> Switched:
        """`[apps.ID.tools.TOOL] enabled`."""
        path = ("apps", app_id, "tools", tool, "enabled")
        return await self._switch(_plain(tool, path, enabled), force=force)

    async def server_tool(
        self,
        server: str,
        tool: str,
        enabled: bool,
        *,
        plugin_id: str | None = None,
        force: bool = False,
    ) -> Switched:
        """A server's tool, by its `enabled_tools` and `disabled_tools`.

        Raises:
            InvalidRequest: No such server is configured.
        """
        loaded = await self._load()
        base: Path_ = ("mcp_servers", server)
        if plugin_id is not None:
            base = ("plugins", plugin_id, "mcp_servers", server)
        elif not has(loaded.merged, base):
            raise InvalidRequest(f"no MCP server `{server}` in the configuration")
        if (elsewhere := _defined_elsewhere(loaded, server)) and plugin_id is None:
            message = f"{server} is defined in {_told(elsewhere)}: switch it there"
            return Switched(_tool_enabled(loaded.merged, base, tool), message, decided_by=elsewhere)
        edits, path = _tool_edits(loaded, base, tool, enabled)
        return await self._switch(_Target(tool, path, enabled, edits), force=force)

    async def _load(self) -> Loaded:
        return await anyio.to_thread.run_sync(lambda: self._store.load(self._cwd))

    async def _switch(self, target: _Target, *, force: bool) -> Switched:
        loaded = await self._load()
        if _holds(loaded, target) is target.enabled and not force:
            at = loaded.origin(*target.path)
            word = "on" if target.enabled else "off"
            where = f": {_told(at)}" if at.file else ""
            return Switched(target.enabled, f"{target.name} is {word} already{where}", at)
        firm = loaded.origin(*target.path)
        if firm.layer in _FIRM and not force:
            return self._decided_elsewhere(loaded, target, firm)
        result = await self._editor.write(target.edits, tolerant=True)
        after = await self._load()
        effective = _holds(after, target)
        at = after.origin(*target.path)
        written = after.user.evidence(*target.path)
        if effective is target.enabled:
            word = "on" if target.enabled else "off"
            setting = f"{target.path[-1]} = {_shown(after, target.path)}"
            message = f"{target.name} is {word}: {_told(written)}, {setting}"
            return Switched(effective, message, written, None, result)
        message = f"written to {_told(written)}, but {_told(at)} decides"
        return Switched(effective, message, written, at, result)

    def _decided_elsewhere(self, loaded: Loaded, target: _Target, firm: Evidence) -> Switched:
        effective = _holds(loaded, target)
        word = "on" if effective else "off"
        message = f"{target.name} stays {word}: {_told(firm)} ({firm.layer}) decides"
        return Switched(effective, message, decided_by=firm)


def _plain(name: str, path: Path_, enabled: bool) -> _Target:
    return _Target(name, path, enabled, (Edit.at(*path, value=enabled),))


def _holds(loaded: Loaded, target: _Target) -> bool:
    """The value that counts now, defaults included."""
    path = target.path
    if path[-1] != "enabled":
        return _tool_enabled(loaded.value, path[:-1], target.name)
    value = loaded.get(*path)
    if isinstance(value, bool):
        return value
    if path[0] == "plugins" and len(path) == 3:
        return loaded.get(*path[:-1]) is not None
    if path[0] == "apps" and len(path) == 3:
        return loaded.get("apps", "_default", "enabled", default=True) is not False
    if path[0] == "apps":
        return loaded.get("apps", path[1], "default_tools_enabled", default=True) is not False
    return True


def _defined_elsewhere(loaded: Loaded, name: str) -> Evidence | None:
    """The project file that defines a server which no layer of the person's own has.

    A table of ours without its transport would make Codex refuse the whole configuration.
    """
    path = ("mcp_servers", name)
    holders = [layer for layer in loaded.layers if layer.active and has(layer.value, path)]
    if any(layer.kind in ("user", "system", "cloud") for layer in holders) or not holders:
        return None
    return holders[-1].evidence(*path)


def _tool_enabled(tree: Mapping[str, Any], base: Path_, tool: str) -> bool:
    entry: Any = tree
    for step in base:
        entry = cast("dict[str, Any]", entry).get(step, {}) if type(entry) is dict else {}
    table = cast("dict[str, Any]", entry) if type(entry) is dict else {}
    allowed, denied = table.get("enabled_tools"), table.get("disabled_tools")
    if isinstance(allowed, list) and tool not in allowed:
        return False
    return not (isinstance(denied, list) and tool in denied)


def _tool_edits(
    loaded: Loaded, base: Path_, tool: str, enabled: bool
) -> tuple[tuple[Edit, ...], Path_]:
    """Edits of the two lists, and the list that shows the switch best."""
    allowed = _names(loaded, (*base, "enabled_tools"))
    denied = _names(loaded, (*base, "disabled_tools")) or []
    edits: list[Edit] = []
    shown = "disabled_tools"
    if enabled:
        if tool in denied:
            edits.append(_list_edit(base, "disabled_tools", [n for n in denied if n != tool]))
        if allowed is not None and tool not in allowed:
            edits.append(_list_edit(base, "enabled_tools", [*allowed, tool]))
            shown = "enabled_tools"
    else:
        edits.append(_list_edit(base, "disabled_tools", [*denied, tool]))
    return tuple(edits), (*base, shown)


def _names(loaded: Loaded, path: Path_) -> list[str] | None:
    value = loaded.get(*path)
    return [str(name) for name in cast("list[Any]", value)] if isinstance(value, list) else None


def _list_edit(base: Path_, key: str, names: list[str]) -> Edit:
    value = names if names or key == "enabled_tools" else None
    return Edit.at(*base, key, value=value)


def _shown(loaded: Loaded, path: Path_) -> str:
    from core.config.toml.render import render

    value = loaded.get(*path)
    return "not set" if value is None else render(value)


def _told(evidence: Evidence) -> str:
    """`config.toml:30`; the folder too where the name alone says little."""
    if evidence.file is None:
        return evidence.layer or "nothing"
    file = Path(evidence.file)
    name = f"{file.parent.name}/{file.name}" if evidence.layer == "project" else file.name
    return f"{name}:{evidence.line}" if evidence.line else name
