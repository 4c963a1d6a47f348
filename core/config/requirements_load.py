"""Finds managed requirements and puts them together; what cannot be read closes everything."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from core.config.files import Source, Sources
from core.config.layers import CloudFragment
from core.config.merge import merge
from core.config.paths import Home
from core.config.requirements import Requirements, RequirementsError, check_layer, compose
from core.config.spans import place
from core.config.toml.fault import TomlFault, excerpt, place_of
from core.config.toml.read import TomlText, read_toml
from core.protocol.facts import Evidence, Problem


class RequirementsReader:
    """Reads the requirements again only when something about them has changed."""

    def __init__(self, home: Home, sources: Sources) -> None:
        self._file = str(home.requirements_file)
        self._sources = sources
        self._lock = threading.Lock()
        self._cloud: tuple[CloudFragment, ...] = ()
        self._cloud_broken = ""
        self._kept: tuple[object, Requirements] | None = None

    def set_cloud(self, fragments: Sequence[CloudFragment], broken: str) -> None:
        """Requirements of the account's workspace, or why they could not be had."""
        with self._lock:
            self._cloud, self._cloud_broken = tuple(fragments), broken

    def read(self) -> Requirements:
        """What is required now; the same object while nothing has changed."""
        source = self._sources.get(self._file)
        with self._lock:
            key = (source.digest, source.unreadable, self._cloud, self._cloud_broken)
            if self._kept is not None and self._kept[0] == key:
                return self._kept[1]
            cloud, cloud_broken = self._cloud, self._cloud_broken
        made = _read(source, cloud, cloud_broken)
        with self._lock:
            self._kept = (key, made)
        return made


def _read(source: Source, cloud: Sequence[CloudFragment], cloud_broken: str) -> Requirements:
    evidence = Evidence(file=source.path, layer="requirements")
    if cloud_broken:
        return _closed(cloud_broken, Evidence(layer="cloud"), "unreadable")
    if source.unreadable:
        message = f"Failed to read requirements file {source.path}: {source.unreadable}"
        return _closed(message, evidence, "unreadable")
    if source.fault is not None:
        found = place_of(source.text, source.fault.offset)
        told = excerpt(source.text, source.fault.offset, source.fault.reason)
        message = f"failed to parse requirements layer {source.path}: {told}"
        at = Evidence(file=source.path, line=found.line, column=found.column, layer="requirements")
        return _closed(message, at, "toml-syntax")
    layers: list[tuple[str, TomlText, str | None]] = []
    if source.read is not None:
        layers.append((source.path, source.read, source.path))
    for fragment in cloud:
        try:
            layers.append((fragment.name, read_toml(fragment.contents), None))
        except TomlFault as fault:
            told = excerpt(fragment.contents, fault.offset, fault.reason)
            message = f"failed to parse requirements layer {fragment.name}: {told}"
            return _closed(message, Evidence(layer="cloud"), "toml-syntax")
    return _compose(layers) if layers else Requirements(evidence=evidence)


def _compose(layers: Sequence[tuple[str, TomlText, str | None]]) -> Requirements:
    merged: dict[str, Any] = {}
    places: dict[tuple[str, ...], Evidence] = {}
    for name, read, file in layers:
        try:
            check_layer(read.value, name)
        except RequirementsError as error:
            return _closed(str(error), _at(read, file, error.path), "requirement")
        merged = merge(merged, read.value)
        places.update(_places(read, file))
    names = ", ".join(name for name, _, _ in layers)
    last_file = next((file for _, _, file in reversed(layers) if file is not None), None)
    evidence = Evidence(file=last_file, layer="requirements" if last_file else "cloud")
    try:
        made = compose(merged, names, evidence)
    except RequirementsError as error:
        return _closed(str(error), _nearest(places, error.path, evidence), "requirement")
    return replace(made, places=places)


def _nearest(
    places: Mapping[tuple[str, ...], Evidence], path: Sequence[str | int], otherwise: Evidence
) -> Evidence:
    keys = tuple(map(str, path))
    parts = (keys[:end] for end in range(len(keys), 0, -1))
    return next((places[part] for part in parts if part in places), otherwise)


def _at(read: TomlText, file: str | None, path: Sequence[str | int]) -> Evidence:
    found = next(
        (spot for end in range(len(path), 0, -1) if (spot := place(read, path[:end]))), None
    )
    return Evidence(
        file=file,
        line=found.line if found else None,
        column=found.column if found else None,
        layer="requirements" if file else "cloud",
        key=".".join(map(str, path)) or None,
    )


def _places(read: TomlText, file: str | None) -> dict[tuple[str, ...], Evidence]:
    """Evidence of every table and key that names a rule; requirements are short."""
    found: dict[tuple[str, ...], Evidence] = {}

    def walk(value: dict[str, Any], path: tuple[str, ...]) -> None:
        for key, member in value.items():
            below = (*path, key)
            found[below] = _at(read, file, below)
            if type(member) is dict and len(below) < 4:
                walk(cast("dict[str, Any]", member), below)

    walk(read.value, ())
    return found


def _closed(message: str, evidence: Evidence, rule: str) -> Requirements:
    problem = Problem(
        id="config:requirements",
        domain="config",
        subject=evidence.file,
        rule=f"requirements-{rule}",
        message=message.strip(),
        evidence=evidence,
        codex="does not start",
        hint="nothing is started until they can be read",
    )
    return Requirements(broken=problem, source=evidence.file or "cloud", evidence=evidence)
