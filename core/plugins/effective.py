"""What enabled plugins contribute: servers, apps, skills and hooks of their installed copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from core.config.model import Loaded
from core.config.paths import Home
from core.config.store import ConfigStore
from core.plugins.agent_plugins import data_directory
from core.plugins.allowed import SourcePolicy
from core.plugins.apps_file import plugin_apps
from core.plugins.json_place import line_of, offset_of
from core.plugins.layout import read_file
from core.plugins.manifest import Manifest, read_manifest
from core.plugins.manifest_file import ManifestFault
from core.plugins.mcp_file import PluginServers, plugin_servers
from core.plugins.names import split_id
from core.plugins.state import PluginStates
from core.protocol.facts import Evidence, Problem
from core.seams import DeclaredServer, DeclaredServers, NamedApp

_POLICY = (
    "enabled",
    "enabled_tools",
    "disabled_tools",
    "default_tools_approval_mode",
    "tools",
)


@dataclass(frozen=True)
class Active:
    """An enabled plugin with its installed copy."""

    plugin_id: str
    name: str
    marketplace: str
    root: str
    manifest: Manifest
    servers: Mapping[str, Any]

    @property
    def display_name(self) -> str:
        """As its manifest has it, or ""."""
        interface = self.manifest.interface
        return (interface.display_name or "") if interface is not None else ""

    def data_root(self, home: Home) -> str:
        """Where the plugin keeps its data."""
        if self.manifest.agent_plugins:
            return data_directory(str(home.codex_home), self.name, self.marketplace)
        return f"{home.plugins_data}/{self.name}-{self.marketplace}"


def active_plugins(
    home: Home, loaded: Loaded, problems: list[Problem] | None = None
) -> Iterator[Active]:
    """Enabled plugins that are installed and whose manifest can be used, by id. Blocks.

    Args:
        problems: Gets what is wrong with the others.
    """
    if not loaded.feature("plugins"):
        return
    states = PluginStates(home, [loaded])
    policy = SourcePolicy(home, loaded)
    for plugin_id in states.enabled_ids():
        root = states.root(plugin_id)
        names = split_id(plugin_id)
        if root is None or names is None:
            continue
        if fault := policy.plugin_fault(names[1]):
            if problems is not None:
                problems.append(_not_allowed(plugin_id, fault, policy.evidence))
            continue
        manifest = read_manifest(root)
        if isinstance(manifest, Manifest):
            switch = states.switches[plugin_id]
            yield Active(plugin_id, *names, root, manifest, switch.servers)
        elif problems is not None:
            problems.append(_broken(plugin_id, root, manifest))


def _not_allowed(plugin_id: str, fault: str, place: Evidence) -> Problem:
    return Problem(
        id=f"plugin:{plugin_id}:source-not-allowed",
        domain="plugins",
        subject=plugin_id,
        rule="source-not-allowed",
        message=fault,
        evidence=place,
        codex="uses nothing of the plugin, says nothing",
        hint="your administrator decides",
    )


def _broken(plugin_id: str, root: str, fault: ManifestFault | None) -> Problem:
    where = Evidence(file=root, layer="plugin")
    message = "the installed copy has no plugin.json"
    if fault is not None:
        where = Evidence(file=fault.path, line=fault.line or None, layer="plugin")
        message = f"plugin.json of the installed copy: {fault.message}"
    return Problem(
        id=f"plugin:{plugin_id}:manifest",
        domain="plugins",
        subject=plugin_id,
        rule=fault.rule if fault is not None else "manifest",
        message=message,
        evidence=where,
        codex="uses nothing of the plugin, says nothing",
    )


class EffectivePlugins:
    """What enabled plugins bring into a thread; implements two seams.

    Every call reads the disk: a plugin's files may have changed, and Codex reads them anew too.
    """

    def __init__(self, home: Home, configs: ConfigStore) -> None:
        self._home = home
        self._configs = configs

    def declared_servers(self, cwd: Path | None) -> DeclaredServers:
        """Servers of enabled plugins, by plugin id and name, and what was wrong with others."""
        problems: list[Problem] = []
        declared: list[DeclaredServer] = []
        for plugin in active_plugins(self._home, self._configs.load(cwd), problems):
            servers = plugin_servers(plugin.manifest, plugin.data_root(self._home))
            place = _Places(servers.path)
            problems += _server_problems(plugin.plugin_id, servers, place)
            declared += [
                DeclaredServer(
                    name=name,
                    plugin_id=plugin.plugin_id,
                    entry=with_policy(entry, plugin.servers.get(name)),
                    root=Path(plugin.root),
                    origin=place.of(name),
                    agent_plugins=plugin.manifest.agent_plugins,
                    display_name=plugin.display_name,
                )
                for name, entry in servers.entries.items()
            ]
        return DeclaredServers(servers=tuple(declared), problems=tuple(problems))

    def named_apps(self, cwd: Path | None) -> tuple[NamedApp, ...]:
        """Apps that enabled plugins name, in plugin order."""
        named: list[NamedApp] = []
        for plugin in active_plugins(self._home, self._configs.load(cwd)):
            named += [
                NamedApp(
                    app_id=app.id,
                    plugin_id=plugin.plugin_id,
                    plugin_display_name=plugin.display_name or plugin.name,
                    category=app.category,
                )
                for app in plugin_apps(plugin.manifest)
            ]
        return tuple(named)


def with_policy(entry: Mapping[str, Any], policy: Any) -> dict[str, Any]:
    """An entry under `[plugins."ID".mcp_servers.NAME]`."""
    merged = dict(entry)
    if isinstance(policy, Mapping):
        table = cast("Mapping[str, Any]", policy)
        merged |= {name: table[name] for name in _POLICY if table.get(name) is not None}
    return merged


class _Places:
    """Lines of servers in the file that declares them."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._text: str | None = None

    def of(self, name: str) -> Evidence:
        """Where a server stands."""
        line = None
        for path in (("mcpServers", "mcpServers", name), ("mcpServers", name), (name,)):
            offset = offset_of(self._read(), path)
            if offset is not None:
                line = line_of(self._read(), offset)
                break
        return Evidence(file=self._path or None, line=line, layer="plugin", key=name)

    def _read(self) -> str:
        if self._text is None:
            try:
                self._text = read_file(self._path).decode("utf-8", "replace")
            except (OSError, ValueError):
                self._text = ""
        return self._text


def _server_problems(plugin_id: str, servers: PluginServers, place: _Places) -> Iterator[Problem]:
    if servers.fault:
        yield Problem(
            id=f"plugin:{plugin_id}:servers",
            domain="servers",
            subject=plugin_id,
            rule="mcp-file",
            message=servers.fault,
            evidence=Evidence(file=servers.path, line=servers.line or None, layer="plugin"),
            codex="uses no server of the plugin, says nothing",
        )
    for dropped in servers.dropped:
        yield Problem(
            id=f"plugin:{plugin_id}:server:{dropped.name}",
            domain="servers",
            subject=plugin_id,
            rule="server-entry",
            message=f"server `{dropped.name}`: {dropped.reason}",
            evidence=place.of(dropped.name),
            codex="leaves the server out, says nothing",
        )
