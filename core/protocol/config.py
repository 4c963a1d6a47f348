"""config/read, config/value/write and config/batchWrite."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from core.protocol.base import Params, Wire

MergeStrategy = Literal["replace", "upsert"]


class ConfigReadParams(Params):
    """`cwd`: absolute directory whose project layers count; none without it."""

    include_layers: bool = False
    cwd: str | None = None


class ConfigReadResult(Wire):
    """The effective configuration.

    Attributes:
        config: Every known member, null when unset.
        origins: `{name, version}` of the layer that decides, by dotted path of each leaf.
        layers: Highest first, those that do not count with `disabledReason`; omitted unless asked.
    """

    config: dict[str, Any]
    origins: dict[str, Any]
    layers: list[dict[str, Any]] | None = Field(default=None, exclude_if=lambda v: v is None)


class ConfigValueWriteParams(Params):
    """One edit of the user's config.toml. `value` null deletes."""

    key_path: str
    value: Any
    merge_strategy: MergeStrategy
    file_path: str | None = None
    expected_version: str | None = None


class ConfigEdit(Params):
    """One of several edits."""

    key_path: str
    value: Any
    merge_strategy: MergeStrategy


class ConfigBatchWriteParams(Params):
    """Several edits, all or none. `reload_user_config`: loaded threads take them up at once."""

    edits: list[ConfigEdit]
    file_path: str | None = None
    expected_version: str | None = None
    reload_user_config: bool = False


class ConfigWriteResult(Wire):
    """What was written; `version` is the expected version of the next write."""

    status: Literal["ok", "okOverridden"] = "ok"
    version: str
    file_path: str
    overridden_metadata: dict[str, Any] | None = None


class ConfigRequirementsReadResult(Wire):
    """Managed requirements; `requirements` is null when nothing is required."""

    supports_independent_speed_modes: bool = True
    requirements: dict[str, Any] | None = None
