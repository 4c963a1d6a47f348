"""Hooks as the wire tells them; parameters are in `core.protocol.skill_params`."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType


class HookMetadata(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One hook of a list; members of other handler types are omitted.

    Attributes:
        handler_type: `command` (with `command`, `is_async`), `mcpTool` (with `server`, `tool`),
            `prompt`, `agent`.
        timeout_sec: Seconds.
        source: `user`, `project`, `plugin`, ...
        current_hash: Of the handler, then of all files of its plugin.
        trust_status: `managed`, `untrusted`, `trusted`, `modified`.
    """

    key: str
    event_name: str
    handler_type: str
    command: str | UnsetType = UNSET
    is_async: bool | UnsetType = msgspec.field(default=UNSET, name="async")
    server: str | UnsetType = UNSET
    tool: str | UnsetType = UNSET
    matcher: str | None = None
    timeout_sec: int = 600
    status_message: str | None = None
    additional_context_limit: int | None = None
    source_path: str
    source: str
    plugin_id: str | None = None
    environment_id: str | None = None
    display_order: int
    enabled: bool
    is_managed: bool = False
    current_hash: str
    trust_status: str


class HookError(msgspec.Struct, frozen=True, kw_only=True):
    """A file that could not be read."""

    path: str
    message: str


class HooksListEntry(msgspec.Struct, frozen=True, kw_only=True):
    """The hooks of one directory."""

    cwd: str
    hooks: tuple[HookMetadata, ...]
    warnings: tuple[str, ...]
    errors: tuple[HookError, ...]


class HooksListResult(msgspec.Struct, frozen=True, kw_only=True):
    """Of `hooks/list`."""

    data: tuple[HooksListEntry, ...]
