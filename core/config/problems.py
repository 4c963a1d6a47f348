"""Faults of the configuration as `Problem`s: exact, with their place, each on its own row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.config.files import Source
from core.config.merge import has
from core.config.model import Layer, LayerKind, Unknown
from core.config.schema import Bad, check_tree
from core.config.toml.fault import place_of
from core.protocol.facts import Evidence, Problem

REFUSES = "refuses every request that reads the configuration"
_DOMAINS = {
    "mcp_servers": ("servers", "server-entry"),
    "plugins": ("plugins", "plugin-entry"),
    "marketplaces": ("marketplaces", "marketplace-entry"),
    "apps": ("apps", "app-entry"),
    "projects": ("config", "project-entry"),
    "features": ("config", "feature"),
    "hooks": ("config", "hook-state"),
    "skills": ("config", "skill-entry"),
    "model_providers": ("account", "provider-entry"),
}
_UNKNOWN_SHOWN = 50
_MISSPELT = {
    "mcpServers": "mcp_servers",
    "mcp-servers": "mcp_servers",
    "mcpservers": "mcp_servers",
    "mcp_server": "mcp_servers",
    "plugin": "plugins",
    "marketplace": "marketplaces",
    "feature": "features",
}


def of_source(source: Source, kind: LayerKind) -> Problem | None:
    """Why a layer's file cannot be used."""
    if source.fault is not None:
        place = place_of(source.text, source.fault.offset)
        evidence = Evidence(file=source.path, line=place.line, column=place.column, layer=kind)
        message, rule = source.fault.reason, "toml-syntax"
        hint = "what it said before stays in use here" if source.good else ""
    elif source.unreadable:
        evidence = Evidence(file=source.path, layer=kind)
        message, rule, hint = source.unreadable, "unreadable", ""
    else:
        return None
    return Problem(
        id=f"config:{source.path}:{rule}",
        domain="config",
        subject=source.path,
        rule=rule,
        message=message,
        evidence=evidence,
        codex=REFUSES,
        hint=hint,
    )


def of_bad(bad: Sequence[Bad], layers: Sequence[Layer]) -> list[Problem]:
    """One problem per bad table, at the layer that is to blame."""
    if not bad:
        return []
    alone = [(layer, _by_unit(layer)) for layer in layers if layer.active]
    return [_of_unit(item, alone) for item in bad]


def _by_unit(layer: Layer) -> dict[tuple[str | int, ...], Bad]:
    return {item.unit: item for item in check_tree(layer.value)}


def _of_unit(item: Bad, alone: list[tuple[Layer, dict[tuple[str | int, ...], Bad]]]) -> Problem:
    evidence, fault = _blame(item, alone), item.fault
    domain, rule = _DOMAINS.get(str(item.unit[0]), ("config", "setting"))
    named = len(item.unit) > 1
    subject = str(item.unit[1]) if named and domain in ("servers", "plugins", "apps") else None
    if named and domain == "marketplaces":
        subject = f"config:{item.unit[1]}"
    key = ".".join(map(str, fault.path))
    return Problem(
        id=f"config:{'.'.join(map(str, item.unit))}",
        domain=domain,
        subject=subject,
        rule=rule,
        message=fault.message if len(fault.path) <= len(item.unit) else f"{key}: {fault.message}",
        evidence=evidence,
        codex=REFUSES,
    )


def _blame(item: Bad, alone: list[tuple[Layer, dict[tuple[str | int, ...], Bad]]]) -> Evidence:
    """The layer that is wrong by itself with the same words, else the highest that has the key."""
    for layer, units in alone:
        found = units.get(item.unit)
        if found is not None and found.fault.message == item.fault.message:
            return layer.evidence(*found.fault.path)
    for path in (item.fault.path, item.unit):
        for layer, _ in reversed(alone):
            if has(layer.value, path):
                return layer.evidence(*path)
    return Evidence(key=".".join(map(str, item.unit)))


def of_ignored(layer: Layer) -> Iterable[Problem]:
    """Keys of a trusted project file that it may not set."""
    for key in layer.ignored:
        yield Problem(
            id=f"config:{layer.file}:{key}",
            domain="config",
            subject=str(layer.file),
            rule="project-key",
            severity="warning",
            message=f"`{key}` has no effect in a project file",
            evidence=layer.evidence(*key.split(".")),
            codex="ignores it with a warning",
            hint="set it in the user's config.toml",
        )


def of_unknown(unknown: Sequence[Unknown], layers: Sequence[Layer]) -> Iterable[Problem]:
    """Keys without a meaning, the first few of them."""
    by_file = {str(layer.file): layer for layer in layers if layer.file is not None}
    for item in unknown[:_UNKNOWN_SHOWN]:
        layer = by_file.get(item.file)
        path = _split(item.key, layer) if layer is not None else ()
        meant = _MISSPELT.get(item.key)
        yield Problem(
            id=f"config:{item.file}:unknown:{item.key}",
            domain="config",
            subject=item.file or item.layer,
            rule="unknown-key",
            severity="warning" if meant else "note",
            message=f"`{item.key}` is no setting that Codex knows",
            evidence=layer.evidence(*path) if layer is not None else Evidence(layer=item.layer),
            codex="ignores it with a warning",
            hint=f"did you mean `{meant}`?" if meant else "",
        )


def _split(dotted: str, layer: Layer) -> tuple[str | int, ...]:
    """The key path that a dotted path stands for; names may hold dots themselves."""
    parts = dotted.split(".")
    path: list[str | int] = []
    while parts:
        for length in range(len(parts), 0, -1):
            name = ".".join(parts[:length])
            step = next((s for s in _steps(name) if has(layer.written, (*path, s))), None)
            if step is not None:
                path.append(step)
                parts = parts[length:]
                break
        else:
            return tuple(path)
    return tuple(path)


def _steps(name: str) -> tuple[str | int, ...]:
    return (name, int(name)) if name.isdigit() else (name,)


def of_late(message: str, layers: Sequence[Layer], key: str) -> Problem:
    """What Codex finds wrong only when it puts everything together."""
    layer = _highest(layers, (key,))
    return Problem(
        id=f"config:{key}",
        domain="account" if key == "model_provider" else "config",
        rule="setting",
        message=message,
        evidence=layer.evidence(key) if layer is not None else Evidence(key=key),
        codex=REFUSES,
    )


def of_overreach(server: str, message: str, layers: Sequence[Layer]) -> Problem:
    """An enterprise server that a project file tries to define."""
    path = ("mcp_servers", server)
    layer = _highest(layers, path)
    return Problem(
        id=f"config:mcp_servers.{server}:enterprise",
        domain="servers",
        subject=server,
        rule="enterprise-entry",
        message=message,
        evidence=layer.evidence(*path) if layer is not None else Evidence(),
        codex=REFUSES,
    )


def _highest(layers: Sequence[Layer], path: tuple[str, ...]) -> Layer | None:
    active = (layer for layer in reversed(layers) if layer.active)
    return next((layer for layer in active if has(layer.value, path)), None)
