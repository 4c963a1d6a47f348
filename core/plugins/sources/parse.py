"""From what a marketplace entry writes as `source` to a source that can be used, or a refusal.

All rules as observed in Codex 0.171.0, oddities included.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from core.plugins.json_text import Repeated
from core.protocol.plugins import GitSource, LocalSource, NpmSource

Source = LocalSource | GitSource | NpmSource

_MEMBERS: dict[str, tuple[str, ...]] = {
    "local": ("path",),
    "url": ("url", "path", "ref", "sha"),
    "git-subdir": ("url", "path", "ref", "sha"),
    "npm": ("package", "version", "registry"),
}
_REQUIRED: dict[str, tuple[str, ...]] = {
    "local": ("path",),
    "url": ("url",),
    "git-subdir": ("url", "path"),
    "npm": ("package",),
}
_PLAIN_PATH = re.compile(r"\./[^/.~][^/]*(?:/[^/.][^/]*)*")
_SHORTHAND = re.compile(r"([A-Za-z0-9._-]+)/([A-Za-z0-9._-]+)", re.ASCII)
_NPM_PART = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)
_HOST = re.compile(r"[^\s<>\[\]\\^|%/?#@:]+|[0-9A-Fa-f:.]+")


@dataclass(frozen=True)
class Refused:
    """Why a source cannot be used.

    Attributes:
        rule: `source-kind`, `source-shape`, `source-path`, `source-url`, `source-package`.
        message: What is wrong, without a final stop.
        kind: The kind that was meant, when it can be told.
    """

    rule: str
    message: str
    kind: str = ""


def parse_source(raw: Any, root: str, home: str) -> Source | Refused:
    """Read a `source`.

    Args:
        raw: The JSON value.
        root: Directory of the marketplace, absolute; base of local paths.
        home: What a leading `~` stands for.
    """
    plain: Any = raw
    if type(raw) is dict and len(table := cast("dict[str, Any]", raw)) == 2:
        plain = table.get("path") if table.get("source") == "local" else None
    if isinstance(plain, str):
        if _PLAIN_PATH.fullmatch(plain):
            return LocalSource(root + plain[1:])
        path = local_path(plain, root, home)
        return path if isinstance(path, Refused) else LocalSource(path)
    table = _table(raw)
    if isinstance(table, Refused):
        return table
    kind, members = table
    if kind == "local":
        path = local_path(members["path"], root, home)
        return path if isinstance(path, Refused) else LocalSource(path)
    if kind == "npm":
        return _npm(members)
    return _git(members, root)


def _table(raw: Any) -> tuple[str, dict[str, Any]] | Refused:
    """Kind and known members; every one a string or absent."""
    if isinstance(raw, list):
        raw = _from_array(cast("list[Any]", raw))
    if not isinstance(raw, Mapping):
        return Refused("source-shape", "source is neither a path nor an object")
    values = cast("Mapping[str, Any]", raw)
    kind = values.get("source")
    if not isinstance(kind, str):
        return Refused("source-shape", "source has no kind: the member `source` is missing")
    names = _MEMBERS.get(kind)
    if names is None:
        return Refused("source-kind", f"source kind `{kind}` is not known", kind)
    if isinstance(raw, Repeated) and raw.repeated & {"source", *names}:
        return Refused("source-shape", "a member of source stands twice", kind)
    members: dict[str, Any] = {}
    for name in names:
        value = values.get(name)
        if value is None and name in _REQUIRED[kind]:
            return Refused("source-shape", f"source lacks `{name}`", kind)
        if value is not None and not isinstance(value, str):
            return Refused("source-shape", f"`{name}` of source is not a string", kind)
        members[name] = value
    return kind, members


def _from_array(items: list[Any]) -> dict[str, Any] | None:
    """The array form that the real reader takes: kind, then every member in order."""
    names = _MEMBERS.get(items[0]) if items and isinstance(items[0], str) else None
    if names is None or len(items) != len(names) + 1:
        return None
    return dict(zip(("source", *names), items, strict=True))


def local_path(path: str, root: str, home: str) -> str | Refused:
    """The absolute path of a local source; it need not exist, symlinks are not resolved."""
    if path in (".", "./"):
        return root
    if not path.startswith("./"):
        return Refused("source-path", f"local path `{path}` does not begin with `./`", "local")
    rest = path[2:]
    parts = rest.split("/")
    if rest.startswith("/") or parts[0] == "." or ".." in parts:
        return Refused("source-path", f"local path `{path}` leaves the marketplace", "local")
    kept = [part for part in parts if part not in ("", ".")]
    if kept[:1] == ["~"]:
        return "/".join([home, *kept[1:]])
    return "/".join([root, *kept])


def _git(members: dict[str, Any], root: str) -> GitSource | Refused:
    url = git_url(members["url"], root)
    if isinstance(url, Refused):
        return url
    path = members["path"]
    if path is not None:
        path = _subdirectory(path)
        if isinstance(path, Refused):
            return path
    return GitSource(url, path, _selector(members["ref"]), _selector(members["sha"]))


def _selector(text: str | None) -> str | None:
    return (text.strip() or None) if text is not None else None


def _subdirectory(path: str) -> str | Refused:
    rest = path.strip().removeprefix("./")
    parts = rest.split("/")
    if not rest or rest.startswith("/") or parts[0] == "." or ".." in parts:
        return Refused("source-path", f"`{path}` is no directory inside a repository", "git")
    return rest


def git_url(url: str, root: str) -> str | Refused:
    """A git URL as git takes it; see the table of forms in the product's documentation."""
    url = url.strip()
    if url.startswith(("http://", "https://")):
        github = url.startswith("https://github.com/") and not url.endswith(".git")
        return f"{url}.git" if github else url
    if url.startswith(("ssh://", "file://", "/")) or (url.startswith("git@") and ":" in url):
        return url
    if url.startswith(("./", ".\\")):
        parts = re.split(r"[/\\]", url[2:])
        if ".." in parts:
            return Refused("source-url", f"git URL `{url}` leaves the marketplace", "git")
        return "/".join([root, *(part for part in parts if part not in ("", "."))])
    match = _SHORTHAND.fullmatch(url)
    if match is not None and not url.startswith("../") and match.group(2) != ".git":
        return f"https://github.com/{match.group(1)}/{match.group(2).removesuffix('.git')}.git"
    return Refused("source-url", f"`{url}` is no git URL that can be used", "git")


def _npm(members: dict[str, Any]) -> NpmSource | Refused:
    package = members["package"].strip()
    if not _is_package(package):
        return Refused("source-package", f"`{package}` is no npm package name", "npm")
    version = members["version"]
    if version is not None:
        version = version.strip()
        if version in ("", ".", "..") or any(char in version for char in "/\\:"):
            return Refused("source-package", f"`{version}` is no npm version selector", "npm")
    registry = members["registry"]
    if registry is not None:
        registry = registry.strip()
        if not _is_registry(registry):
            message = f"`{registry}` is no https URL without user, query and fragment"
            return Refused("source-url", message, "npm")
    return NpmSource(package, version, registry)


def _is_package(package: str) -> bool:
    if not package.startswith("@"):
        return _NPM_PART.fullmatch(package) is not None and package[0] not in "._"
    scope, slash, name = package[1:].partition("/")
    return bool(slash and _NPM_PART.fullmatch(scope) and _NPM_PART.fullmatch(name))


def _is_registry(registry: str) -> bool:
    """An https URL as the WHATWG parser reads it: any number of slashes, empty port and user."""
    scheme, rest = registry[:6].lower(), registry[6:].lstrip("/\\")
    try:
        url = urlsplit(f"//{rest}")
        host, user = url.hostname or "", url.username
        port = url.port
    except ValueError:
        return False
    return (
        scheme == "https:"
        and _HOST.fullmatch(host) is not None
        and not user
        and not url.password
        and (port is None or port <= 65535)
        and not {"?", "#"} & set(registry)
    )


def source_text(raw: Any) -> str:
    """What a source says, for people; at most 200 characters."""
    if isinstance(raw, str):
        return raw[:200]
    if isinstance(raw, Mapping):
        values = cast("Mapping[str, Any]", raw)
        for name in ("path", "url", "repo", "package"):
            if isinstance(value := values.get(name), str):
                kind = values.get("source")
                return (value if kind in _MEMBERS else f"{kind} {value}")[:200]
    from json import dumps

    return dumps(raw, ensure_ascii=False, default=str)[:200]


def describe_source(source: Source, root: str) -> str:
    """A usable source for people: `./plugins/a`, a URL with its place, a package with version."""
    if isinstance(source, LocalSource):
        if source.path == root or source.path.startswith(root + "/"):
            return "./" + os.path.relpath(source.path, root).removeprefix(".")
        return source.path
    if isinstance(source, GitSource):
        place = source.sha or source.ref_name
        text = f"{source.url}@{place}" if place else source.url
        return f"{text} {source.path}" if source.path else text
    return f"{source.package}@{source.version}" if source.version else source.package
