"""What a person writes as the source of a marketplace, and what is meant by it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from core.errors import InvalidRequest

BAD_FORMAT = (
    "invalid marketplace source format; expected owner/repo, a git URL, or a local marketplace path"
)
_SHORTHAND = re.compile(r"([A-Za-z0-9._-]+)/([A-Za-z0-9._-]+)", re.ASCII)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]", re.ASCII)
_URLS = ("http://", "https://", "ssh://")
_RELATIVE = ("/", "./", "../", "~/", ".\\", "..\\", "\\\\")


@dataclass(frozen=True)
class LocalPlace:
    """A directory, absolute, links resolved."""

    root: str


@dataclass(frozen=True)
class GitPlace:
    """A repository, as it is written to the configuration.

    Attributes:
        sparse: Paths to check out; empty means everything.
    """

    url: str
    ref: str | None = None
    sparse: tuple[str, ...] = ()


def marketplace_source(
    source: str, ref: str | None, sparse: tuple[str, ...], *, cwd: str, home: str
) -> LocalPlace | GitPlace:
    """Read a source. Reads the disk for a local one, may block.

    Args:
        ref: Wins over one that is written behind the source.
        cwd, home: What `./` and `~/` stand for.

    Raises:
        InvalidRequest: In the words of Codex 0.171.0.
    """
    source = source.strip()
    if not source:
        raise InvalidRequest("marketplace source must not be empty")
    base, written = _split(source)
    wanted = ref if ref is not None else written
    if source in (".", "..") or base.startswith(_RELATIVE) or _DRIVE.match(base):
        return _local(base, wanted, sparse, cwd=cwd, home=home)
    if source.startswith("-"):
        raise InvalidRequest(BAD_FORMAT)
    if base.startswith(_URLS) or (base.startswith("git@") and ":" in base):
        return GitPlace(_git_url(base), wanted, sparse)
    match = _SHORTHAND.fullmatch(base)
    if match is None or match[1] in (".", "..") or match[2].removesuffix(".git") in ("", ".", ".."):
        raise InvalidRequest(BAD_FORMAT)
    url = f"https://github.com/{match[1]}/{match[2].removesuffix('.git')}.git"
    return GitPlace(url, wanted, sparse)


def _split(source: str) -> tuple[str, str | None]:
    """A source and the ref behind it: `#ref` of any, `@ref` of `owner/repo`."""
    base, mark, ref = source.partition("#")
    if mark:
        return base, ref or None
    if not base.startswith((*_RELATIVE, *_URLS, "git@")) and "@" in base:
        base, _, ref = base.partition("@")
        return base, ref or None
    return source, None


def _git_url(base: str) -> str:
    url = base.rstrip("/")
    if url.rstrip(":") in ("http", "https", "ssh"):
        raise InvalidRequest(BAD_FORMAT)
    if url.startswith("https://github.com/") and not url.endswith(".git"):
        url += ".git"
    return url


def _local(
    path: str, ref: str | None, sparse: tuple[str, ...], *, cwd: str, home: str
) -> LocalPlace:
    if ref is not None:
        raise InvalidRequest("--ref is only supported for git marketplace sources")
    if sparse:
        raise InvalidRequest("--sparse is only supported for git marketplace sources")
    if path.startswith("~/"):
        path = f"{home}/{path[2:]}"
    try:
        root = os.path.realpath(os.path.join(cwd, path), strict=True)
    except (OSError, ValueError) as error:
        number = error.errno if isinstance(error, OSError) else None
        reason = f"{os.strerror(number)} (os error {number})" if number else str(error)
        message = f"failed to resolve local marketplace source path: {reason}"
        raise InvalidRequest(message) from None
    if not os.path.isdir(root):
        raise InvalidRequest("local marketplace source must be a directory, not a file")
    return LocalPlace(root)
