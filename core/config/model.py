"""What a load of the configuration gives: layers, the merged tree and what is wrong with it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from core.config import features
from core.config.cooked import cooked
from core.config.files import Source
from core.config.merge import at, has
from core.config.requirements import Requirements
from core.config.schema import Bad
from core.config.server_entry import ServerEntry
from core.config.spans import place
from core.config.toml.read import TomlText
from core.config.version import version_of
from core.protocol.facts import Evidence, Problem

LayerKind = Literal["system", "cloud", "user", "project", "thread"]


@dataclass(frozen=True)
class Layer:
    """One source of settings.

    Attributes:
        kind: Also the `layer` of evidence that points into it.
        file: None for `cloud` and `thread`.
        value: As it counts: without what a project may not set, relative paths resolved. Of a
            broken file what it said when it was good last.
        written: As the file says it, unknown and forbidden keys included.
        read: Text and places; None where there is no readable file.
        disabled: Why it does not count, in the real one's words; "" when it does.
        problem: Why the file cannot be used.
        ignored: Keys that a project file may not set.
        name: Of a cloud layer.
        source: What the file said, for those who want to edit it.
    """

    kind: LayerKind
    file: Path | None = None
    value: Mapping[str, Any] = field(default_factory=dict[str, Any])
    written: Mapping[str, Any] = field(default_factory=dict[str, Any])
    read: TomlText | None = None
    disabled: str = ""
    problem: Problem | None = None
    ignored: tuple[str, ...] = ()
    name: str = ""
    id: str = ""
    source: Source | None = None

    @property
    def active(self) -> bool:
        """It counts."""
        return not self.disabled

    @property
    def version(self) -> str:
        """Hash of what it says; the expected version of writes."""
        known = self.__dict__.get("_version")
        if known is None:
            known = version_of(cooked(self.value))
            self.__dict__["_version"] = known
        return str(known)

    def wire_source(self) -> dict[str, Any]:
        """Which layer it is, as `config/read` names it."""
        if self.kind == "project" and self.file is not None:
            return {"type": "project", "dotCodexFolder": str(self.file.parent)}
        if self.kind == "user":
            return {"type": "user", "file": str(self.file), "profile": None}
        if self.kind == "system":
            return {"type": "system", "file": str(self.file)}
        if self.kind == "cloud":
            return {"type": "enterpriseManaged", "id": self.id, "name": self.name}
        return {"type": "sessionFlags"}

    def evidence(self, *path: str | int) -> Evidence:
        """Where it says something; without a line when it does not say it in so many words."""
        key = ".".join(map(str, path)) or None
        file = str(self.file) if self.file is not None else None
        found = place(self.read, path) if self.read is not None and path else None
        return Evidence(
            file=file,
            line=found.line if found else None,
            column=found.column if found else None,
            layer=self.kind,
            key=key,
        )


@dataclass(frozen=True, slots=True)
class Unknown:
    """A key that Codex ignores: dotted path, and the layer that has it."""

    layer: str
    file: str
    key: str


@dataclass(frozen=True)
class Loaded:
    """One consistent view of all layers. Immutable; do not change the trees in place.

    Attributes:
        value: The merged tree without invalid tables and with managed requirements on top.
        merged: The merged tree as it is, before either.
        layers: Lowest first, those that do not count included.
        problems: One per bad table, file or key.
        requirements: What an administrator allows.
        servers: Valid `[mcp_servers.NAME]` records by name.
        bad: What Codex would refuse in the merged tree, in its order.
        late: What Codex refuses after that, in its words: unknown provider and the like.
        unknown: Keys without a meaning.
        trusted: The word on the working directory: trusted, not trusted, none yet (None).
        project_root: None without a working directory.
        cwd: Working directory that it was loaded for.
        plugin_apps: Plugin whose `[plugins.ID.apps]` says something about an app, by app id.
        fingerprint: Changes whenever anything above may have.
    """

    value: Mapping[str, Any]
    merged: Mapping[str, Any]
    layers: tuple[Layer, ...]
    problems: tuple[Problem, ...]
    requirements: Requirements
    servers: Mapping[str, ServerEntry]
    bad: tuple[Bad, ...] = ()
    late: tuple[str, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    trusted: bool | None = None
    project_root: Path | None = None
    cwd: Path | None = None
    plugin_apps: Mapping[str, str] = field(default_factory=dict[str, str])
    fingerprint: str = ""
    _origins: dict[tuple[str, ...], Evidence] = field(
        default_factory=dict[tuple[str, ...], Evidence], repr=False, compare=False
    )
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def get(self, *path: str, default: Any = None) -> Any:
        """The value at a key path, or `default`."""
        value: Any = self.value
        for step in path:
            if type(value) is not dict:
                return default
            table = cast("dict[str, Any]", value)
            if step not in table:
                return default
            value = table[step]
        return value

    def feature(self, name: str) -> bool:
        """Whether a feature is on: requirements, then layers, then Codex' default."""
        pinned = self.requirements.features
        table = self.get("features", default={})
        for spelling in (name, *features.ALIASES.get(name, ())):
            if spelling in pinned:
                return pinned[spelling]
        for spelling in (name, *features.ALIASES.get(name, ())):
            value = table.get(spelling)
            if isinstance(value, dict):
                value = cast("dict[str, Any]", value).get("enabled", True)
            if isinstance(value, bool):
                return value
        return features.DEFAULTS.get(name, False)

    def feature_origin(self, name: str) -> Evidence:
        """Where a feature is decided; `default` as the layer when nowhere."""
        for spelling in (name, *features.ALIASES.get(name, ())):
            found = self.origin("features", spelling)
            if found.layer is not None:
                return found
        return Evidence(layer="default", key=f"features.{name}")

    def illegible(self, key: str) -> Problem | None:
        """Why nobody knows what a top-level key says; None when it is known.

        A file that has the last word on it, or could have it, cannot be read and has never been
        read; or its value is none.
        """
        if self.requirements.broken is not None:
            return self.requirements.broken
        if key in self.requirements.pins:
            return None
        for layer in reversed(self.layers):
            if layer.active and layer.problem is not None and layer.read is None:
                return layer.problem
            if layer.active and key in layer.value:
                break
        return next((p for p in self.problems if p.id == f"config:{key}"), None)

    def layer_of(self, *path: str | int) -> Layer | None:
        """The highest layer that counts and says something at a path."""
        for layer in reversed(self.layers):
            if layer.active and has(layer.value, path):
                return layer
        return None

    def origin(self, *path: str) -> Evidence:
        """The place that decides a value; `Evidence()` when none does."""
        with self._lock:
            known = self._origins.get(path)
        if known is not None:
            return known
        found = self._find_origin(path)
        with self._lock:
            self._origins[path] = found
        return found

    def _find_origin(self, path: tuple[str, ...]) -> Evidence:
        required = self.requirements
        match path:
            case ("features", name, *_) if name in required.features:
                return required.place("features", name)
            case (key, *_) if key in required.pins:
                return required.place(key)
            case ("apps", app, "enabled") if app in required.apps_off:
                return required.place("apps", app, "enabled")
            case _:
                pass
        layer = self.layer_of(*path)
        if layer is None and path[0] == "apps" and path[1] in self.plugin_apps:
            path = ("plugins", self.plugin_apps[path[1]], *path)
            layer = self.layer_of(*path)
        return layer.evidence(*path) if layer is not None else Evidence()

    @property
    def user(self) -> Layer:
        """The layer that can be written."""
        return next(layer for layer in self.layers if layer.kind == "user")

    def without_requirements(self, *path: str, default: Any = None) -> Any:
        """The value that the layers alone give."""
        try:
            return at(self.merged, path)
        except KeyError:
            return default
