"""How an installed copy stands to what its entry offers, told without fetching anything.

A source on this disk is read. Of one elsewhere (git, npm) only what its marketplace says is known,
what was noted when it was installed, and what a forced refetch has heard from its server.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from json import dumps
from typing import TYPE_CHECKING, Any

import msgspec

from core.plugins.entries import Entry
from core.plugins.json_fast import member
from core.plugins.layout import read_file
from core.plugins.market_commit import FULL_ID, checkout_commit
from core.plugins.updates.ledger import Book, CopyNote
from core.protocol.plugins import GitSource, LocalSource, NpmSource

if TYPE_CHECKING:
    from core.plugins.updates.backups import Backup

UNVERSIONED = "local"


@dataclass(frozen=True)
class Memory:
    """What is remembered of plugins.

    Attributes:
        book: Pins, and where copies came from.
        backups: The newest former version, by plugin id.
        heard: Commits that servers have named, by URL and ref ("" = HEAD).
    """

    book: Book = field(default_factory=Book)
    backups: Mapping[str, Backup] = field(default_factory=lambda: {})
    heard: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def note(self, plugin_id: str, root: str) -> CopyNote | None:
        """What is known of the copy in a directory of the cache."""
        note = self.book.copies.get(plugin_id)
        return note if note is not None and note.version == os.path.basename(root) else None


class Standing(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An installed copy beside its offer.

    Attributes:
        newer: Another version, commit or source is offered.
        offered: The version on offer, when known.
        commit, offered_commit: Full ids, or "".
        reason: What differs where versions do not say it, or "".
    """

    newer: bool = False
    offered: str | None = None
    commit: str = ""
    offered_commit: str = ""
    reason: str = ""


def claims_of(entry: Entry) -> str:
    """What an entry says of a source elsewhere, in a form that can be compared."""
    claimed: Any = entry.metadata.get("version")
    version = claimed if isinstance(claimed, str) else None
    match entry.source:
        case GitSource() as git:
            said: list[Any] = ["git", git.url, git.path, git.ref_name, git.sha, version]
        case NpmSource() as npm:
            said = ["npm", npm.package, npm.version, npm.registry, version]
        case _:
            return ""
    return dumps(said, separators=(",", ":"))


def stand(
    entry: Entry,
    offered: str | None,
    copy: tuple[str, str | None],
    note: CopyNote | None,
    heard: Mapping[tuple[str, str], str],
) -> Standing:
    """Compare an entry with the copy that is installed of it.

    Args:
        offered: Version of the source's manifest, for a source on this disk.
        copy: Directory and version of the copy.
        note: What is known of where it came from.
    """
    root, version = copy
    source = entry.source
    if isinstance(source, LocalSource):
        return Standing(newer=offered is not None and offered != version, offered=offered)
    if note is not None and note.claims and note.claims == claims_of(entry):
        # It was installed from this very offer, whatever version that claims to have.
        claimed = None
    else:
        said: Any = entry.metadata.get("version")
        claimed = said if isinstance(said, str) else None
    match source:
        case GitSource() as git:
            return _git(git, claimed, root, version, note, heard)
        case NpmSource() as npm:
            return _npm(npm, claimed, root, version)
        case _:
            return Standing()


def _git(
    source: GitSource,
    claimed: str | None,
    root: str,
    version: str | None,
    note: CopyNote | None,
    heard: Mapping[tuple[str, str], str],
) -> Standing:
    commit = (note.commit if note is not None else "") or checkout_commit(root)
    wanted = source.sha or source.ref_name or ""
    offered = wanted if FULL_ID.fullmatch(wanted) else heard.get((source.url, wanted), "")
    if commit and offered:
        moved = commit != offered
        reason = f"→ {offered[:7]}" if moved else ""
        return Standing(newer=moved, commit=commit, offered_commit=offered, reason=reason)
    if note is not None and note.claims and _place(note.claims) != _place_of(source):
        return Standing(newer=True, offered=claimed, commit=commit, reason="its source has moved")
    newer = claimed is not None and claimed != version
    return Standing(newer=newer, offered=claimed, commit=commit, offered_commit=offered)


def _place(claims: str) -> list[Any]:
    return msgspec.json.decode(claims, type=list[Any])[1:4]


def _place_of(source: GitSource) -> list[Any]:
    return [source.url, source.path, source.ref_name]


def _npm(source: NpmSource, claimed: str | None, root: str, version: str | None) -> Standing:
    packed = package_version(root)
    exact = source.version if _is_exact(source) else None
    if exact is not None and packed:
        return Standing(newer=exact != packed, offered=exact)
    newer = claimed is not None and claimed not in (version, packed)
    return Standing(newer=newer, offered=claimed)


def _is_exact(source: GitSource | NpmSource) -> bool:
    """It can only ever be the same content."""
    if isinstance(source, GitSource):
        return FULL_ID.fullmatch(source.sha or source.ref_name or "") is not None
    return (source.version or "")[:1].isdigit()


def package_version(root: str) -> str:
    """The version that a copy's `package.json` has, or ""."""
    try:
        version: Any = member(msgspec.json.decode(read_file(f"{root}/package.json")), "version")
    except (OSError, ValueError, msgspec.MsgspecError):
        return ""
    return version if isinstance(version, str) else ""


def next_of_codex(entry: Entry, standing: Standing, *, checkout: bool) -> str:
    """What Codex does with a copy that is to stay as it is, or "" when it leaves it alone.

    As observed: plugin/list installs what has another version than its source, and fetches git
    and npm sources for that each time; at its start marketplaces are upgraded, and plugins of
    those that have moved are copied anew, same version or not.

    Args:
        checkout: Its marketplace is a git checkout that follows a branch.
    """
    source = entry.source
    if isinstance(source, (GitSource, NpmSource)):
        if not standing.newer and _is_exact(source):
            return ""
        return "Codex fetches its source and may move it at its next list"
    if standing.newer and standing.offered:
        return f"Codex will move this to {standing.offered} at its next list"
    if checkout:
        return "Codex may move this when it starts and its marketplace has news"
    return ""
