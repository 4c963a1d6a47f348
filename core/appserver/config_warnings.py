"""What is said of the configuration right after the handshake, as Codex 0.171.0 says it."""

from __future__ import annotations

from collections.abc import Iterator

from core.config.model import Layer, Loaded, Unknown
from core.config.strict import Refusal, refusal
from core.protocol.initialize import ConfigWarning

_SHOWN = 3


def warnings_of(loaded: Loaded) -> list[ConfigWarning]:
    """One for a configuration that cannot be used; else one for each kind of setting left out."""
    if (found := refusal(loaded)) is not None:
        return [_unusable(found)]
    return [ConfigWarning(summary=summary) for summary in _left_out(loaded)]


def _unusable(found: Refusal) -> ConfigWarning:
    summary = "Invalid configuration; using defaults."
    if not found.file or found.range is None:
        return ConfigWarning(summary=summary, details=found.message)
    start, end = found.range.start, found.range.end
    return ConfigWarning(
        summary=summary,
        details=found.message,
        path=str(found.file),
        range={
            "start": {"line": start.line, "column": start.column},
            "end": {"line": end.line, "column": end.column},
        },
    )


def _left_out(loaded: Loaded) -> Iterator[str]:
    projects = [layer for layer in loaded.layers if layer.kind == "project"]
    if untrusted := [layer for layer in projects if layer.disabled]:
        yield _untrusted(untrusted, loaded)
    for layer in projects:
        if layer.ignored and layer.active:
            yield (
                f"Ignored unsupported project-local config keys in {layer.file}: "
                f"{', '.join(layer.ignored)}. If you want these settings to apply, "
                "manually set them in your user-level config.toml."
            )
    if unknown := _unknown_by_rank(loaded):
        yield _unknown(unknown)


def _untrusted(layers: list[Layer], loaded: Loaded) -> str:
    lines = [
        "Project-local config, hooks, and exec policies are disabled in the following folders "
        "until the project is trusted, but skills still load."
    ]
    for number, layer in enumerate(layers, 1):
        folder = layer.file.parent if layer.file is not None else ""
        lines += [f"    {number}. {folder}", f"       {layer.disabled}"]
    return "\n".join(lines) + "\n"


def _unknown_by_rank(loaded: Loaded) -> list[Unknown]:
    """Those of configuration files, the layer that counts most first."""
    rank = {str(layer.file): -place for place, layer in enumerate(loaded.layers)}
    found = [one for one in loaded.unknown if one.layer != "requirements"]
    return sorted(found, key=lambda one: (rank.get(one.file, 0), one.key))


def _unknown(unknown: list[Unknown]) -> str:
    count = len(unknown)
    settings = "setting" if count == 1 else "settings"
    lines = [
        f"Codex is ignoring {count} unrecognized configuration {settings}. "
        "Check for typos or deprecated settings."
    ]
    lines += [f"  {one.layer} ({one.file}): `{one.key}` is ignored." for one in unknown[:_SHOWN]]
    if count > _SHOWN:
        lines.append(f"  ... and {count - _SHOWN} more ignored settings.")
    return "\n".join(lines)
