"""Reads the layers that hold for a working directory, lowest first.

Observed in Codex 0.171.0: system, cloud, user, then every `.codex/config.toml` from the project
root down to the working directory, then the thread's own settings; tables are merged, all else is
replaced. A project layer counts only when its folder is trusted, by its own `[projects]` entry or
by that of the project root or of the repository. Managed requirements stand above all layers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.config import problems
from core.config.cooked import with_absolute_paths
from core.config.files import Source, Sources
from core.config.merge import merge, override_tree
from core.config.model import Layer, LayerKind
from core.config.paths import Home
from core.config.project import (
    Project,
    RealPaths,
    Trust,
    find_project,
    markers,
    trust_of,
    why_disabled,
    without_denied,
)
from core.config.toml.fault import TomlFault
from core.config.toml.read import read_toml


@dataclass(frozen=True, slots=True)
class CloudFragment:
    """A piece of configuration or requirements that the account's workspace sends along."""

    id: str
    name: str
    contents: str


@dataclass(frozen=True, slots=True)
class Stack:
    """Everything that was read for one load.

    `parts` identifies the content: equal parts, equal stack.
    """

    system: Source
    cloud: tuple[CloudFragment, ...]
    user: Source
    project: Project | None
    project_sources: tuple[Source, ...]
    trust: tuple[Trust, ...]
    cwd_trust: Trust | None
    overrides: Mapping[str, Any]

    @property
    def parts(self) -> tuple[object, ...]:
        sources = (self.system, self.user, *self.project_sources)
        return (
            tuple((source.path, source.digest, source.unreadable) for source in sources),
            self.cloud,
            self.project,
            self.trust,
            self.cwd_trust,
            repr(self.overrides) if self.overrides else "",
        )


def read_stack(
    home: Home,
    sources: Sources,
    cloud: Sequence[CloudFragment],
    cwd: Path | None,
    overrides: Mapping[str, Any] | None,
    real: RealPaths,
) -> Stack:
    """Look at every file that has a say; unchanged ones are not read again."""
    system = sources.get(str(home.system_config_file))
    user = sources.get(str(home.config_file))
    thread = override_tree(overrides) if overrides else {}
    if cwd is None:
        return Stack(system, tuple(cloud), user, None, (), (), None, thread)
    below = merge(merge(_good(system), _good(user)), thread)
    project = find_project(os.path.normpath(cwd), markers(below), str(home.codex_home), real)
    files = [f"{folder}/.codex/config.toml" for folder in project.folders]
    return Stack(
        system,
        tuple(cloud),
        user,
        project,
        tuple(sources.get(file) for file in files),
        tuple(trust_of(folder, project, below, real) for folder in project.folders),
        trust_of(project.cwd, project, below, real),
        thread,
    )


def _good(source: Source) -> Mapping[str, Any]:
    return source.good.value if source.good is not None else {}


def build_layers(stack: Stack, home: Home) -> tuple[Layer, ...]:
    """The layers of a stack, lowest first; those that do not count included."""
    layers = [_file_layer("system", stack.system, home)]
    layers += [_cloud_layer(fragment, home) for fragment in stack.cloud]
    layers.append(_file_layer("user", stack.user, home))
    for source, trust in zip(stack.project_sources, stack.trust, strict=True):
        layers.append(_project_layer(source, trust, home))
    if stack.overrides:
        layers.append(Layer("thread", value=stack.overrides, written=stack.overrides))
    return tuple(layers)


def _file_layer(kind: LayerKind, source: Source, home: Home) -> Layer:
    written = _good(source)
    file = Path(source.path)
    return Layer(
        kind,
        file,
        value=with_absolute_paths(dict(written), str(file.parent), str(home.home)),
        written=written,
        read=source.good,
        problem=problems.of_source(source, kind),
        source=source,
    )


def _project_layer(source: Source, trust: Trust, home: Home) -> Layer:
    disabled = why_disabled(trust, str(home.config_file))
    plain = _file_layer("project", source, home)
    value, ignored = without_denied(dict(plain.value))
    return Layer(
        "project",
        plain.file,
        value=value,
        written=plain.written,
        read=plain.read,
        disabled=disabled,
        # A file that does not count may be as broken as it likes.
        problem=None if disabled else plain.problem,
        ignored=() if disabled else ignored,
        source=source,
    )


def _cloud_layer(fragment: CloudFragment, home: Home) -> Layer:
    try:
        read = read_toml(fragment.contents)
    except TomlFault as fault:
        source = Source(f"cloud:{fragment.name}", fault=fault, text=fragment.contents)
        problem = problems.of_source(source, "cloud")
        return Layer("cloud", id=fragment.id, name=fragment.name, problem=problem, source=source)
    value = with_absolute_paths(dict(read.value), str(home.codex_home), str(home.home))
    return Layer(
        "cloud", value=value, written=read.value, read=read, id=fragment.id, name=fragment.name
    )
