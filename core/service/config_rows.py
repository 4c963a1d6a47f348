"""Configuration layers as rows."""

from __future__ import annotations

from collections.abc import Sequence

from core.config.model import Layer, Loaded
from core.protocol.facts import Problem
from core.protocol.rows import ConfigRow

_ELSEWHERE = frozenset({"servers", "plugins", "marketplaces"})
"""Domains whose own rows carry the problems of their tables."""


def config_rows(loaded: Loaded) -> list[ConfigRow]:
    """One row per layer, lowest first, and one for the requirements."""
    rows = [_row(layer, loaded.problems) for layer in loaded.layers]
    required = loaded.requirements
    file = required.evidence.file
    rows.append(
        ConfigRow(
            id=file or "requirements",
            layer="requirements",
            file=file,
            state="broken" if required.closed else "used" if required.value else "absent",
            problems=(required.broken,) if required.broken is not None else (),
        )
    )
    return rows


def _row(layer: Layer, problems: Sequence[Problem]) -> ConfigRow:
    file = str(layer.file) if layer.file is not None else None
    name = file or layer.name or layer.kind
    own = tuple(problem for problem in problems if _belongs(problem, layer))
    told = tuple(problem for problem in own if problem.domain not in _ELSEWHERE)
    return ConfigRow(id=name, layer=layer.kind, file=file, state=_state(layer, own), problems=told)


def _belongs(problem: Problem, layer: Layer) -> bool:
    if problem.evidence.layer != layer.kind:
        return False
    return layer.file is None or problem.evidence.file == str(layer.file)


def _state(layer: Layer, problems: Sequence[Problem]) -> str:
    if layer.disabled:
        return "untrusted"
    if layer.problem is not None:
        return "broken"
    if any(problem.severity == "error" for problem in problems):
        return "partly"
    source = layer.source
    return "absent" if source is not None and not source.exists else "used"
