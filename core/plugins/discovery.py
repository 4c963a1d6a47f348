"""Where marketplaces are looked for, and which file of a root counts.

Candidates cost no disk access, so that one dead directory never delays the others: each is
resolved by itself. Rules as observed in Codex 0.171.0.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from core.config.model import Loaded
from core.config.paths import Home
from core.plugins import names
from core.plugins.layout import (
    MARKETPLACE_FILES,
    is_directory,
    is_file,
    marketplace_file,
    split_marketplace_path,
)
from core.protocol.facts import Evidence

Kind = Literal["home", "local", "git", "curated", "workspace"]
CHATGPT = "chatgpt"


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A place where a marketplace may be.

    Attributes:
        root: Its directory; for `workspace` the working directory, for `git` the checkout.
        key: Name in the configuration, "" otherwise.
        origin: Path or URL that it was added from.
        managed: The name that this directory of the product's own must carry, or "".
        ignored: Why Codex ignores the configured one without looking, or "".
        evidence: Where it is configured.
    """

    kind: Kind
    root: str
    key: str = ""
    origin: str = ""
    ref: str | None = None
    managed: str = ""
    ignored: str = ""
    evidence: Evidence = Evidence()

    @property
    def label(self) -> str:
        """What people call it."""
        return self.key or {"home": "home", "curated": "curated"}.get(self.kind, self.root)


@dataclass(frozen=True, kw_only=True)
class Place:
    """A candidate with the one file that counts in it."""

    candidate: Candidate
    root: str
    path: str
    format: str

    @property
    def managed(self) -> str:
        """The name that it must carry, or ""."""
        return self.candidate.managed


def candidates(
    home: Home, loaded: Loaded, cwd: str | None, *, account: str = "none"
) -> tuple[Candidate, ...]:
    """Everything that a directory's configuration makes Codex look at; unsorted.

    Args:
        cwd: Working directory, absolute; None leaves the workspace out.
        account: `none`, `apiKey`, `chatgpt`: decides on the curated snapshot.
    """
    found = [Candidate(kind="home", root=str(home.home), origin=str(home.home))]
    found += _configured(home, loaded)
    curated = _curated(home, loaded, account)
    if curated is not None:
        found.append(curated)
    if cwd is not None:
        found.append(Candidate(kind="workspace", root=cwd, origin=cwd))
    return tuple(found)


def _configured(home: Home, loaded: Loaded) -> Iterator[Candidate]:
    tables: Any = loaded.get("marketplaces", default={})
    if not isinstance(tables, Mapping):
        return
    for key, table in cast("Mapping[str, Any]", tables).items():
        if isinstance(table, Mapping):
            evidence = loaded.origin("marketplaces", key)
            yield _from_table(home, key, cast("Mapping[str, Any]", table), evidence)


def _from_table(home: Home, key: str, table: Mapping[str, Any], evidence: Evidence) -> Candidate:
    source = table.get("source")
    source = source if isinstance(source, str) else ""
    kind = table.get("source_type")
    managed = managed_name(home, source) if kind == "local" else ""
    ignored = names.marketplace_name_fault(key)
    if not ignored and key in names.RESERVED and managed != key:
        ignored = f"marketplace name `{key}` is reserved"
    elif not ignored and kind is None:
        ignored = "it has no `source_type`"
    elif not ignored and kind == "local" and not source:
        ignored = "it has no `source`"
    elif not ignored and kind == "local" and not os.path.isabs(source):
        ignored = f"`source` is no absolute path: {source}"
    ref = table.get("ref")
    return Candidate(
        kind="git" if kind == "git" else "local",
        root=str(home.marketplaces_dir / key) if kind == "git" else source,
        key=key,
        origin=source,
        ref=ref if isinstance(ref, str) else None,
        managed=managed,
        ignored=ignored,
        evidence=evidence,
    )


def managed_name(home: Home, root: str) -> str:
    """The name that a directory of the product's own must carry, or "" for any other."""
    parent, name = os.path.split(os.path.normpath(root))
    if parent == str(home.bundled_marketplaces_dir) and name in (
        names.BUNDLED,
        "openai-bundled-alpha",
    ):
        return name
    return ""


def managed_name_of_file(home: Home, path: str) -> str:
    """The same for a marketplace file."""
    split = split_marketplace_path(path)
    if split is None:
        return ""
    root, format = split
    if root == str(home.curated_dir):
        return names.API_CURATED if format == "codex-api" else names.CURATED
    return managed_name(home, root)


def _curated(home: Home, loaded: Loaded, account: str) -> Candidate | None:
    """The curated snapshot, unless the remote catalog takes its place."""
    root = str(home.curated_dir)
    if account != CHATGPT:
        return Candidate(kind="curated", root=root, origin=root, managed=names.API_CURATED)
    if loaded.feature("remote_plugin"):
        return None
    return Candidate(kind="curated", root=root, origin=root, managed=names.CURATED)


def resolve(candidate: Candidate) -> Place | None:
    """The file of a candidate, or None when there is none. Reads the disk, may block."""
    if candidate.ignored:
        return None
    if candidate.kind == "workspace":
        return _workspace(candidate)
    if candidate.kind == "curated":
        return _snapshot(candidate)
    return _in_root(candidate, candidate.root)


def _in_root(candidate: Candidate, root: str) -> Place | None:
    if marketplace_file(root) is None:
        return None
    # The path as it is answered has its dots resolved; the file was looked for without.
    root = os.path.normpath(root)
    found = marketplace_file(root)
    if found is None:
        return None
    return Place(candidate=candidate, root=root, path=found[0], format=found[1])


def _snapshot(candidate: Candidate) -> Place | None:
    wanted = MARKETPLACE_FILES[1 if candidate.managed == names.API_CURATED else 0]
    path = f"{candidate.root}/{wanted[0]}"
    if not is_file(path):
        return None
    return Place(candidate=candidate, root=candidate.root, path=path, format=wanted[1])


def _workspace(candidate: Candidate) -> Place | None:
    cwd = candidate.root
    split = split_marketplace_path(cwd)
    if split is not None and is_file(cwd):
        return Place(candidate=candidate, root=split[0], path=cwd, format=split[1])
    if (found := _in_root(candidate, cwd)) is not None:
        return found
    root = git_root(cwd)
    return _in_root(candidate, root) if root is not None else None


def git_root(directory: str) -> str | None:
    """The nearest directory, upwards and by name, that holds a `.git` file, or one with HEAD."""
    while True:
        git = f"{directory.rstrip('/')}/.git"
        if is_file(git) or (is_directory(git) and os.path.exists(f"{git}/HEAD")):
            return directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def path_key(path: str) -> list[str]:
    """Sorts paths by their parts, as Codex does."""
    return path.split("/")
