"""Skills as the wire tells them; results are `msgspec.Struct`s.

Parameters of the methods are in `core.protocol.skill_params`, which loads pydantic.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType


class SkillInterface(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How a skill wants to be shown. The URL members are for remote skills."""

    display_name: str | None = None
    short_description: str | None = None
    icon_small: str | None = None
    icon_large: str | None = None
    icon_small_url: str | None = None
    icon_large_url: str | None = None
    brand_color: str | None = None
    default_prompt: str | None = None


class SkillToolDependency(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A tool that a skill needs; absent members are omitted."""

    type: str
    value: str
    description: str | UnsetType = UNSET
    transport: str | UnsetType = UNSET
    command: str | UnsetType = UNSET
    url: str | UnsetType = UNSET


class SkillDependencies(msgspec.Struct, frozen=True, kw_only=True):
    """What a skill needs."""

    tools: tuple[SkillToolDependency, ...]


class SkillMetadata(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One skill of a list; absent `shortDescription`, `interface`, `dependencies` are omitted.

    Attributes:
        scope: `user`, `repo`, `system`, `admin`; plugin skills are `user`.
        path: Of its SKILL.md.
    """

    name: str
    description: str
    short_description: str | UnsetType = UNSET
    interface: SkillInterface | UnsetType = UNSET
    dependencies: SkillDependencies | UnsetType = UNSET
    path: str
    scope: str
    enabled: bool
    plugin_id: str | None = None


class SkillError(msgspec.Struct, frozen=True, kw_only=True):
    """A SKILL.md that could not be read."""

    path: str
    message: str


class SkillsListEntry(msgspec.Struct, frozen=True, kw_only=True):
    """The skills of one directory."""

    cwd: str
    skills: tuple[SkillMetadata, ...]
    errors: tuple[SkillError, ...]


class SkillsListResult(msgspec.Struct, frozen=True, kw_only=True):
    """Of `skills/list`."""

    data: tuple[SkillsListEntry, ...]


class SkillsConfigWriteResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Of `skills/config/write`."""

    effective_enabled: bool


class SkillsExtraRootsSetResult(msgspec.Struct, frozen=True, kw_only=True):
    """Of `skills/extraRoots/set`."""


class SkillsChanged(msgspec.Struct, frozen=True, kw_only=True):
    """Notification `skills/changed`."""
