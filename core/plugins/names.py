"""What may be the name of a plugin, of a marketplace, of a version directory."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MARKETPLACE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_PLUGIN = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)
_VERSION = re.compile(r"[A-Za-z0-9.+_-]+", re.ASCII)
_REMOTE = re.compile(r"[A-Za-z0-9_~-]+", re.ASCII)

CURATED = "openai-curated"
API_CURATED = "openai-api-curated"
BUNDLED = "openai-bundled"
REMOTE_CURATED = "openai-curated-remote"

RESERVED = frozenset(
    {
        CURATED,
        API_CURATED,
        BUNDLED,
        "openai-bundled-alpha",
        "openai-primary-runtime",
        REMOTE_CURATED,
        "workspace-directory",
        "workspace-shared-with-me",
        "workspace-shared-with-me-private",
        "workspace-shared-with-me-unlisted",
        "created-by-me-remote",
    }
)
"""Names that only the product's own directories may carry (observed in Codex 0.171.0)."""

BAD_PLUGIN_NAME = "only ASCII letters, digits, `.`, `_`, and `-` are allowed"
BAD_MARKETPLACE_NAME = "only ASCII letters, digits, `_`, and `-` are allowed"
BAD_REMOTE_ID = "only ASCII letters, digits, `_`, `-`, and `~` are allowed"


def plugin_name_fault(name: str) -> str:
    """Why `name` cannot be a plugin's, or "" when it can."""
    if (
        _PLUGIN.fullmatch(name)
        and not name.startswith(".")
        and not name.endswith(".")
        and ".." not in name
    ):
        return ""
    return f"invalid plugin name: {BAD_PLUGIN_NAME}"


def marketplace_name_fault(name: str) -> str:
    """Why `name` cannot be a marketplace's, or "" when it can; reserved ones can."""
    if not name:
        return "invalid marketplace name: must not be empty"
    if not _MARKETPLACE.fullmatch(name):
        return f"invalid marketplace name: {BAD_MARKETPLACE_NAME}"
    return ""


def is_remote_id(name: str) -> bool:
    """Whether `name` can be the id of a plugin of the remote catalog."""
    return _REMOTE.fullmatch(name) is not None


def is_version(name: str) -> bool:
    """Whether `name` can be a version directory of the plugin cache."""
    return name not in (".", "..") and _VERSION.fullmatch(name) is not None


def split_id(plugin_id: str) -> tuple[str, str] | None:
    """Plugin and marketplace of `PLUGIN@MARKETPLACE`, or None when it is none."""
    plugin, at, marketplace = plugin_id.partition("@")
    if not at or plugin_name_fault(plugin) or marketplace_name_fault(marketplace):
        return None
    return plugin, marketplace


_NUMBER = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?",
    re.ASCII,
)


def _identifiers(text: str, *, numeric_strict: bool) -> tuple[tuple[int, int, str], ...] | None:
    parts: list[tuple[int, int, str]] = []
    for part in text.split("."):
        if not part:
            return None
        if part.isdigit():
            if numeric_strict and not _NUMBER.fullmatch(part):
                return None
            parts.append((0, int(part), part))
        else:
            parts.append((1, 0, part))
    return tuple(parts)


def semver_key(version: str) -> tuple[object, ...] | None:
    """A key that sorts as semver.org 2.0.0 §11 says, build metadata last; None for no semver."""
    match = _SEMVER.fullmatch(version)
    if match is None:
        return None
    major, minor, patch, pre, build = match.groups()
    before = _identifiers(pre, numeric_strict=True) if pre else ()
    after = _identifiers(build, numeric_strict=False) if build else ()
    if before is None or after is None:
        return None
    return (int(major), int(minor), int(patch), not before, before, bool(after), after)


def greatest_version(versions: Iterable[str]) -> str | None:
    """The version that Codex uses among the directories that are there.

    `local` wins; otherwise the greatest by semver, and by text where one of a pair is no semver.
    """
    best: str | None = None
    best_key: tuple[object, ...] | None = None
    for version in sorted(versions):
        if version == "local":
            return version
        key = semver_key(version)
        if best is None:
            best, best_key = version, key
            continue
        both = key is not None and best_key is not None
        if (key >= best_key) if both else (version >= best):  # type: ignore[operator]
            best, best_key = version, key
    return best
