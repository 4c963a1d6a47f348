"""Parameters of the skill and hook methods."""

from __future__ import annotations

from typing import Annotated

from core.protocol.base import AbsolutePath, Expected, Params

AnyPath = Annotated[str, Expected("path string")]
"""Relative paths are taken as they are."""


class SkillsListParams(Params):
    """Skills of directories; [] = the server's own. `force_reload`: past the cache."""

    cwds: list[AnyPath] = []
    force_reload: bool = False


class SkillsConfigWriteParams(Params):
    """Switch a skill by its listed name or by the path of its SKILL.md, never both."""

    path: AbsolutePath | None = None
    name: str | None = None
    enabled: bool


class SkillsExtraRootsSetParams(Params):
    """More directories to look for skills in, for this process."""

    extra_roots: list[AbsolutePath]


class HooksListParams(Params):
    """Hooks of directories, or of a thread's directory, never both."""

    cwds: list[AnyPath] = []
    thread_id: str | None = None
