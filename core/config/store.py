"""The one way to the configuration: `ConfigStore.load`."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from core.config import problems
from core.config.enterprise import overreaches
from core.config.files import Sources
from core.config.late import late_faults
from core.config.layers import CloudFragment, Stack, build_layers, read_stack
from core.config.merge import merge, with_plugin_apps
from core.config.model import Layer, Loaded, Unknown
from core.config.paths import Home
from core.config.project import RealPaths
from core.config.requirements import Requirements
from core.config.requirements_load import RequirementsReader
from core.config.schema import Bad, check_tree, without
from core.config.serde import Fault
from core.config.server_entry import ServerEntry, build_server
from core.config.unknown import unknown_keys
from core.ports import Deps
from core.protocol.facts import Problem

_KEPT = 64


class ConfigStore:
    """Loads the configuration; reads a file only when it has changed. Thread-safe.

    A load costs a few `stat` calls when nothing has changed.

    Args:
        overrides: Of the command line (`-c`), over every file; a thread's own count more.
    """

    def __init__(self, home: Home, deps: Deps, overrides: Mapping[str, Any] | None = None) -> None:
        self.home = home
        self._overrides = dict(overrides or {})
        self._deps = deps
        self._sources = Sources()
        self._real = RealPaths()
        self._requirements = RequirementsReader(home, self._sources)
        self._lock = threading.Lock()
        self._kept: dict[tuple[object, ...], Loaded] = {}
        self._cloud: tuple[CloudFragment, ...] = ()

    def set_cloud(
        self,
        config: Sequence[CloudFragment] = (),
        requirements: Sequence[CloudFragment] = (),
        broken: str = "",
    ) -> None:
        """Take what the account's workspace sends along.

        Args:
            config: Layers between system and user, lowest first.
            requirements: Above the system's requirements.
            broken: Why they could not be had; then policy is unknown and nothing starts.
        """
        with self._lock:
            self._cloud = tuple(config)
        self._requirements.set_cloud(requirements, broken)

    def load(self, cwd: Path | None = None, overrides: Mapping[str, Any] | None = None) -> Loaded:
        """The configuration as it is on disk now.

        Args:
            cwd: Working directory of a thread; None leaves project layers out.
            overrides: The thread's own settings: dotted keys or tables.
        """
        if self._overrides:
            overrides = merge(self._overrides, overrides) if overrides else self._overrides
        with self._lock:
            cloud = self._cloud
        stack = read_stack(self.home, self._sources, cloud, cwd, overrides, self._real)
        requirements = self._requirements.read()
        key = (*stack.parts, id(requirements))
        with self._lock:
            if (known := self._kept.get(key)) is not None:
                return known
        loaded = _assemble(stack, self.home, requirements, cwd)
        with self._lock:
            if len(self._kept) >= _KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = loaded
        return loaded


def _assemble(stack: Stack, home: Home, requirements: Requirements, cwd: Path | None) -> Loaded:
    layers = build_layers(stack, home)
    active = [layer for layer in layers if layer.active]
    merged: dict[str, Any] = {}
    for layer in active:
        merged = merge(merged, layer.value) if merged else dict(layer.value)
    merged, plugin_apps = with_plugin_apps(merged)
    bad = check_tree(merged)
    found = _layer_problems(layers, bad)
    late: list[str] = []
    for key, message in late_faults(merged):
        late.append(message)
        found.append(problems.of_late(message, layers, key))
    out = list(bad)
    for overreach in _overreaches(merged, active):
        late.append(overreach.message)
        found.append(problems.of_overreach(overreach.server, overreach.message, layers))
        path = ("mcp_servers", overreach.server)
        out.append(Bad.plain(path, Fault(path, overreach.message)))
    unknown = _unknown(layers, requirements)
    found += problems.of_unknown(unknown, layers)
    if requirements.broken is not None:
        found.append(requirements.broken)
    value = _with_requirements(without(merged, out) if out else merged, requirements)
    return Loaded(
        value=value,
        merged=merged,
        layers=layers,
        problems=tuple(found),
        requirements=requirements,
        servers=_servers(value),
        bad=tuple(bad),
        late=tuple(late),
        unknown=unknown,
        trusted=_trusted(stack),
        project_root=Path(stack.project.root) if stack.project is not None else None,
        cwd=cwd,
        plugin_apps=plugin_apps,
        fingerprint=_fingerprint(stack, requirements),
    )


def _layer_problems(layers: Sequence[Layer], bad: Sequence[Bad]) -> list[Problem]:
    found = [layer.problem for layer in layers if layer.problem is not None]
    for layer in layers:
        found += problems.of_ignored(layer)
    return found + problems.of_bad(bad, layers)


def _overreaches(merged: Mapping[str, Any], active: Sequence[Layer]) -> list[Any]:
    own = [layer.value for layer in active if layer.kind not in ("project", "thread")]
    projects = any(layer.kind == "project" for layer in active)
    return list(overreaches(merged, own, projects))


def _unknown(layers: Sequence[Layer], requirements: Requirements) -> tuple[Unknown, ...]:
    found = [
        Unknown(layer.kind, str(layer.file or ""), key)
        for layer in layers
        if layer.active
        for key in unknown_keys(layer.value)
    ]
    file = requirements.evidence.file or ""
    found += [Unknown("requirements", file, key) for key in requirements.unknown]
    return tuple(found)


def _with_requirements(value: dict[str, Any], requirements: Requirements) -> dict[str, Any]:
    """Pinned features and settings, and apps that are forced off, over the tree."""
    if requirements.features:
        value = merge(value, {"features": dict(requirements.features)})
    if requirements.apps_off:
        value = merge(value, {"apps": {app: {"enabled": False} for app in requirements.apps_off}})
    return {**value, **requirements.pins} if requirements.pins else value


def _servers(value: Mapping[str, Any]) -> dict[str, ServerEntry]:
    table = value.get("mcp_servers")
    if type(table) is not dict:
        return {}
    entries = cast("dict[str, Any]", table).items()
    return {name: build_server(name, entry) for name, entry in entries}


def _trusted(stack: Stack) -> bool | None:
    if stack.cwd_trust is None or stack.cwd_trust.level is None:
        return None
    return stack.cwd_trust.level == "trusted"


def _fingerprint(stack: Stack, requirements: Requirements) -> str:
    said = repr((stack.parts, requirements.value, requirements.closed))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]
