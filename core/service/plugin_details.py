"""What a plugin brings, part by part, for its details page and the trust page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any, cast

import msgspec

from core.config.store import ConfigStore
from core.errors import InvalidRequest
from core.mcp.masking import masked_arguments, masked_url
from core.plugins.apps_file import plugin_apps
from core.plugins.brings import ignored
from core.plugins.catalog import PluginCatalog
from core.plugins.commands import plugin_commands
from core.plugins.entry_manifest import entry_manifest
from core.plugins.hook_list import HookOwner, listed
from core.plugins.hooks import EVENTS, plugin_hooks
from core.plugins.manifest import Manifest, read_manifest
from core.plugins.mcp_file import plugin_servers
from core.plugins.offers import Offer
from core.plugins.skills import Found, Skill, plugin_skills
from core.plugins.workers import in_thread
from core.protocol.rows import PluginRow

DEADLINE = 10.0


class PluginDetails:
    """Reads the directory of a row's plugin: the installed copy, else the source. Writes nothing.

    The parts of a plugin that lies elsewhere (git, npm) are not known before it is installed.
    """

    def __init__(self, catalog: PluginCatalog, configs: ConfigStore) -> None:
        self._catalog, self._configs = catalog, configs

    async def detail(self, row_id: str) -> dict[str, Any]:
        """`plugin`, `skills`, `hooks`, `servers`, `apps`, `commands`, `ignored`, `faults`.

        `unused` tells in words what Codex does not use, with names and reasons; hooks of an
        installed plugin have their standing in Codex as `status`.

        Of an installed one also `former` (kept versions, the newest first) and `changed` (paths
        that differ from its source under the same version).

        Raises:
            InvalidRequest: There is no such row.
        """
        found = self._catalog.offer_of(row_id)
        if found is None:
            raise InvalidRequest(f"no plugin {row_id!r} here")
        try:
            return await in_thread(partial(self._read, *found), deadline=DEADLINE)
        except TimeoutError:
            raise InvalidRequest(
                f"{found[0].root} did not answer within {DEADLINE:.0f} s"
            ) from None

    def _read(self, row: PluginRow, offer: Offer | None) -> dict[str, Any]:
        detail = _read(row, offer)
        if not row.installed:
            return detail
        if detail.get("hooks"):
            detail["hooks"] = list(self._installed_hooks(row))
        kept = self._catalog.memory.backups.all(row.plugin_id)
        former = [{"version": one.version, "kept": _day(one.at), "at": one.at} for one in kept]
        changed = self._catalog.comparer.changes_of(row.plugin_id) if row.changed else ()
        return detail | {"former": former, "changed": list(changed)}

    def _installed_hooks(self, row: PluginRow) -> Iterator[dict[str, Any]]:
        """Hooks as Codex lists them, with what it has been told of them."""
        manifest = read_manifest(row.root)
        if not isinstance(manifest, Manifest):
            return
        state: Any = self._configs.load(None).get("hooks", "state")
        table = cast("dict[str, Any]", state) if isinstance(state, dict) else {}
        owner = HookOwner(row.plugin_id, "plugin", row.plugin_id)
        for hook in listed(plugin_hooks(manifest), owner, table, 0, []):
            tool = f"{hook.server}/{hook.tool}" if hook.server else ""
            yield {
                "event": hook.event_name,
                "matcher": hook.matcher,
                "command": hook.command or tool,
                "status": hook.trust_status if hook.enabled else "off",
                "path": hook.source_path,
            }


def _day(at: float) -> str:
    """`kept 28 Nov 09:12`, in local time."""
    return datetime.fromtimestamp(at).strftime("kept %d %b %H:%M")


def _read(row: PluginRow, offer: Offer | None) -> dict[str, Any]:
    detail: dict[str, Any] = {"plugin": msgspec.to_builtins(row)}
    manifest = read_manifest(row.root) if row.root else None
    if manifest is None and offer is not None and row.root:
        manifest = entry_manifest(offer.entry, row.root)
    if not isinstance(manifest, Manifest):
        return detail
    commands = plugin_commands(manifest)
    unused = [command for command in commands if command.reason]
    servers = plugin_servers(manifest)
    skills = Found(skills=[], faults=[], seen=set())
    plugin_skills(manifest, skills, installed=row.installed)
    faults = [f"{fault.path}: {fault.message}" for fault in skills.faults]
    faults += [f"{servers.path}: {servers.fault}"] if servers.fault else []
    faults += [f"{servers.path}: {gone.name}: {gone.reason}" for gone in servers.dropped]
    detail |= {
        "manifest": manifest.path,
        "skills": [_skill(skill) for skill in skills.skills],
        "hooks": list(_hooks(manifest)),
        "servers": [_server(name, entry) for name, entry in servers.entries.items()],
        "apps": [{"name": app.id} for app in plugin_apps(manifest)],
        "commands": [
            {"name": command.slug, "reason": command.reason, "path": command.path}
            for command in commands
        ],
        "ignored": list(ignored(manifest, len(unused))),
        "unused": _unused(row, offer, manifest),
        "faults": faults,
    }
    return detail


def _unused(row: PluginRow, offer: Offer | None, manifest: Manifest) -> list[dict[str, Any]]:
    from core.plugins.compat_view.ignores import ignored_parts

    metadata = offer.entry.metadata if offer is not None else {}
    servers = plugin_servers(manifest)
    parts = ignored_parts(manifest, servers, metadata, installed=row.installed)
    return [{"what": part.what, "names": list(part.names), "reason": part.reason} for part in parts]


def _skill(skill: Skill) -> dict[str, Any]:
    short = skill.short_description or skill.description
    return {"name": skill.name, "target": short, "path": skill.path}


def _hooks(manifest: Manifest) -> Iterator[dict[str, Any]]:
    """Each handler with its event and exactly what it runs."""
    for group in plugin_hooks(manifest).sets:
        for event, wire, _ in EVENTS:
            for matcher in group.events.get(event, ()):
                for handler in cast("list[dict[str, Any]]", matcher.get("hooks", ())):
                    command = handler.get("command") or handler.get("prompt") or ""
                    yield {
                        "event": wire,
                        "matcher": matcher.get("matcher"),
                        "type": handler.get("type"),
                        "command": str(command),
                        "path": group.path,
                    }


def _server(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    if "command" in entry:
        arguments = masked_arguments(str(word) for word in entry.get("args") or ())
        target = " ".join([str(entry["command"]), *arguments])
    else:
        target = masked_url(str(entry.get("url", "")))
    shown: dict[str, Any] = {"name": name, "target": target}
    if environment := entry.get("env"):
        shown["environment"] = sorted(map(str, cast("dict[str, Any]", environment)))
    if entry.get("enabled") is False:
        shown["status"] = "off"
    if cwd := entry.get("cwd"):
        shown["cwd"] = str(cwd)
    return shown
