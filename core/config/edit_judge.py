"""Whether edits would leave a valid configuration, in the words of Codex 0.171.0."""

from __future__ import annotations

from typing import Any, cast

from core.config.edit_plan import INVALID, Plan
from core.config.merge import merge
from core.config.model import Loaded
from core.config.requirements import Requirements
from core.config.schema import Bad, check_tree
from core.config.strict import refusal
from core.errors import ConfigWriteError, InternalError


def refuse_broken(loaded: Loaded) -> None:
    """Raise InternalError when some layer cannot be read at all; Codex writes nothing then."""
    found = refusal(loaded)
    if found is not None and found.reading:
        raise InternalError(f"failed to load configuration: {found.message}")


def judge(plan: Plan, old: dict[str, Any], loaded: Loaded, *, tolerant: bool) -> None:
    """Raise ConfigWriteError when the result would not be a valid configuration."""
    _judge_pins(plan, loaded.requirements)
    known = {_sign(item) for item in check_tree(old)} if tolerant else set[object]()
    _judge_tree(plan.tree, known)
    _judge_features(plan, loaded.requirements, tolerant=tolerant)
    known = {_sign(item) for item in loaded.bad} if tolerant else set[object]()
    merged: dict[str, Any] = {}
    for layer in loaded.layers:
        merged = merge(merged, plan.tree if layer.kind == "user" else layer.value)
    _judge_tree(merged, known)


def _sign(item: Bad) -> object:
    return item.unit, item.fault.message


def _judge_tree(tree: dict[str, Any], known: set[object]) -> None:
    for item in check_tree(tree):
        if _sign(item) in known:
            continue
        told = ".".join(step for step in item.told_merged if isinstance(step, str))
        message = f"Invalid configuration: {item.fault.merged_message}\nin `{told}`\n"
        raise ConfigWriteError(message, INVALID)


def _judge_pins(plan: Plan, requirements: Requirements) -> None:
    for segments in plan.paths:
        if segments[0] == "chatgpt_base_url" and "chatgpt_base_url" in requirements.pins:
            raise ConfigWriteError(
                "`chatgpt_base_url` is managed by requirements and cannot be changed",
                "configRequirementReadonly",
                evidence=requirements.place("chatgpt_base_url"),
            )


def _judge_features(plan: Plan, requirements: Requirements, *, tolerant: bool) -> None:
    table = plan.tree.get("features")
    if not requirements.features or not isinstance(table, dict):
        return
    allowed = ", ".join(
        f"{name}={str(value).lower()}" for name, value in sorted(requirements.features.items())
    )
    touched = {segments[1] for segments in plan.paths if segments[0] == "features" and segments[1:]}
    for name, wanted in requirements.features.items():
        value: Any = cast("dict[str, Any]", table).get(name, wanted)
        if not isinstance(value, bool) or value == wanted or (tolerant and name not in touched):
            continue
        raise ConfigWriteError(
            f"Invalid configuration: invalid value for `features`: `features.{name}="
            f"{str(value).lower()}` is not in the allowed set [{allowed}] (set by "
            f"{requirements.source})",
            INVALID,
            evidence=requirements.place("features", name),
        )
