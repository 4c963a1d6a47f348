"""Our own methods about plugins: updates, pins, former versions, left-overs."""

from __future__ import annotations

from typing import Literal

from core.protocol.jackfield import Message


class UpdatesParams(Message, frozen=True, kw_only=True):
    """Which installed plugins have an update.

    Attributes:
        fetch: Ask the servers of git sources and git marketplaces which commit they are at;
            without it nothing leaves this machine.
    """

    fetch: bool = False


class Update(Message, frozen=True, kw_only=True):
    """An installed plugin whose offer differs.

    Attributes:
        id: `PLUGIN@MARKETPLACE`.
        version, offered: Installed and offered, None where there is none or it is not known.
        commit, offered_commit: Of a git source, full ids, or "".
        changed: Other content under the same version; `files` are the paths that differ.
        reason: What differs where versions do not say it, or "".
        pinned: The version that it is to stay at: it is left out when all are updated.
        codex: What Codex does next with a pinned one, or "".
    """

    id: str
    name: str
    version: str | None
    offered: str | None
    commit: str = ""
    offered_commit: str = ""
    changed: bool = False
    reason: str = ""
    files: tuple[str, ...] = ()
    pinned: str | None = None
    codex: str = ""


class UpdatesResult(Message, frozen=True, kw_only=True):
    """What can be updated, by id.

    Attributes:
        behind: Git marketplaces whose server has another commit than the checkout; only known
            after `fetch`.
        faults: What could not be asked: subject and reason.
        checked_at: When that was, seconds since the epoch.
    """

    updates: tuple[Update, ...]
    behind: tuple[str, ...] = ()
    faults: tuple[tuple[str, str], ...] = ()
    checked_at: float = 0.0


class UpdateParams(Message, frozen=True, kw_only=True):
    """Bring installed plugins to what is offered.

    Attributes:
        ids: Plugin ids; None = all that have an update, pinned ones left out.
        fetch: Bring the git marketplaces that they come from up to date first.
    """

    ids: tuple[str, ...] | None = None
    fetch: bool = False


class UpdateOutcome(Message, frozen=True, kw_only=True):
    """What came of one plugin.

    Attributes:
        outcome: `unchanged`: it was the newest already; `skipped`: pinned; `cancelled`.
        before, version: Installed version before and now; `local` for one without.
        message: For a toast, or why it failed.
    """

    id: str
    name: str
    outcome: Literal["updated", "unchanged", "skipped", "failed", "cancelled"]
    before: str | None = None
    version: str | None = None
    message: str = ""


class UpdateResult(Message, frozen=True, kw_only=True):
    """One outcome for each plugin, and marketplaces that could not be brought up to date."""

    outcomes: tuple[UpdateOutcome, ...]
    faults: tuple[tuple[str, str], ...] = ()


class PinParams(Message, frozen=True, kw_only=True):
    """Keep an installed plugin as it is, or no longer. Kept in our own state: Codex knows none."""

    id: str
    pinned: bool


class MarketplacePinParams(Message, frozen=True, kw_only=True):
    """Keep a git marketplace at its present commit, or let it follow its former `ref` again.

    It is written as `ref` into the user's configuration, so that Codex obeys it too.
    """

    name: str
    pinned: bool


class PinResult(Message, frozen=True, kw_only=True):
    """`at`: version or commit, "" when not pinned; `codex`: what Codex does all the same, or ""."""

    pinned: bool
    at: str = ""
    message: str = ""
    codex: str = ""


class RollbackParams(Message, frozen=True, kw_only=True):
    """Put a former version back. `version`: which of the kept ones; None = the newest."""

    id: str
    version: str | None = None


class RollbackResult(Message, frozen=True, kw_only=True):
    """What is installed now. It is pinned, or the next update would take it away again.

    Attributes:
        before: What was installed until now; it is kept, so that the way back is the same.
        codex: What Codex does with it, or "".
    """

    version: str
    before: str | None
    message: str
    codex: str = ""


class Orphan(Message, frozen=True, kw_only=True):
    """Something that is left over; nothing of it ever goes away by itself.

    Attributes:
        id: Plugin id, or `checkout:NAME`.
        kind: As `PluginRow.left_over`, or `checkout`.
        reason: Why it counts as left over.
        action: The one thing that cleans it up, in words; "" when there is nothing to clean up.
        writes: What leaves the configuration, as it is written there; "" = nothing.
        removes: Directories that go, "" = none.
        undo: It can be undone.
    """

    id: str
    name: str
    kind: str
    reason: str = ""
    action: str = ""
    writes: str = ""
    removes: tuple[str, ...] = ()
    moved_to: str = ""
    undo: bool = True


class OrphansResult(Message, frozen=True, kw_only=True):
    """All left-overs, by id."""

    orphans: tuple[Orphan, ...]


class OrphanCleanResult(Message, frozen=True, kw_only=True):
    """`undo`: for `jackfield/undo`, or None when it cannot be undone."""

    message: str
    undo: str | None = None
