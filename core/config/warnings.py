"""The `configWarning` notifications that the real app-server sends after initialize, as data."""

from __future__ import annotations

from typing import Any

from core.config.model import Layer, Loaded, Unknown
from core.config.requirements import Requirements
from core.config.serde import quoted
from core.config.strict import Refusal, refusal

_LISTED = 3
_DEFAULTS = {
    "cli_auth_credentials_store": "file",
    "chatgpt_base_url": "https://chatgpt.com/backend-api/",
}


def config_warnings(loaded: Loaded) -> list[dict[str, Any]]:
    """`params` of each notification, in order. Load with the working directory of the server."""
    refused = refusal(loaded)
    if refused is not None:
        return [_defaults_used(refused)]
    found = [_ignored(layer) for layer in loaded.layers if layer.active and layer.ignored]
    if disabled := [layer for layer in loaded.layers if layer.disabled]:
        found.append(_untrusted(disabled))
    if loaded.unknown:
        found.append(_unknown(loaded.unknown))
    found += _pinned(loaded.requirements, loaded)
    return found


def _plain(summary: str) -> dict[str, Any]:
    return {"summary": summary, "details": None}


def _defaults_used(refused: Refusal) -> dict[str, Any]:
    warning: dict[str, Any] = {
        "summary": "Invalid configuration; using defaults.",
        "details": refused.message,
    }
    if refused.file and refused.range is not None:
        warning["path"] = refused.file
        warning["range"] = {
            side: {"line": place.line, "column": place.column}
            for side, place in (("start", refused.range.start), ("end", refused.range.end))
        }
    return warning


def _ignored(layer: Layer) -> dict[str, Any]:
    return _plain(
        f"Ignored unsupported project-local config keys in {layer.file}: "
        f"{', '.join(layer.ignored)}. If you want these settings to apply, manually set them in "
        "your user-level config.toml."
    )


def _untrusted(layers: list[Layer]) -> dict[str, Any]:
    lines = [
        "Project-local config, hooks, and exec policies are disabled in the following folders "
        "until the project is trusted, but skills still load."
    ]
    for number, layer in enumerate(layers, 1):
        folder = layer.file.parent if layer.file is not None else ""
        lines += [f"    {number}. {folder}", f"       {layer.disabled}"]
    return _plain("\n".join(lines) + "\n")


def _unknown(unknown: tuple[Unknown, ...]) -> dict[str, Any]:
    names = {"thread": "session flags", "cloud": "enterprise-managed"}
    lines = sorted(
        f"{names.get(item.layer, item.layer)} ({item.file}): `{item.key}` is ignored."
        if item.file
        else f"{names.get(item.layer, item.layer)}: `{item.key}` is ignored."
        for item in unknown
    )
    settings = "setting" if len(lines) == 1 else "settings"
    shown = lines[:_LISTED]
    if len(lines) > _LISTED:
        shown.append(f"... and {len(lines) - _LISTED} more ignored settings.")
    head = (
        f"Codex is ignoring {len(lines)} unrecognized configuration {settings}. "
        "Check for typos or deprecated settings."
    )
    return _plain("\n  ".join([head, *shown]))


def _pinned(requirements: Requirements, loaded: Loaded) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for key, value in requirements.pins.items():
        configured = loaded.without_requirements(key, default=_DEFAULTS.get(key))
        if configured is None or configured == value or not isinstance(value, str):
            continue
        told = value.capitalize() if key == "cli_auth_credentials_store" else quoted(value)
        found.append(
            _plain(
                f"Configured value for `{key}` is overridden by the required value {told} "
                f"from {requirements.source}."
            )
        )
    return found
