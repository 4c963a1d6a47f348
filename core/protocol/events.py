"""What a core tells its subscribers: state differences, refreshes and occurrences.

State events are conflated per subscriber and never lost. Occurrences are bounded; what a slow
subscriber misses is counted by `Lagged`. Neither ever carries a secret.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec

from core.protocol.facts import Evidence
from core.protocol.rows import (
    AccountRow,
    AppRow,
    ConfigRow,
    Domain,
    InstalledRow,
    MarketplaceRow,
    PluginRow,
    ProblemRow,
    Row,
    ServerRow,
    ThreadRow,
    ToolRow,
)

Phase = Literal["cached", "intermediate", "final"]


class Event(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="type"
):
    """Base of all events."""


class StateChanged(Event, frozen=True, kw_only=True):
    """The difference between two snapshots of one domain.

    Attributes:
        revision: Of the newer snapshot; rises by one per publication.
        phase: `cached` and `intermediate` only add and change; rows leave with `final`.
        upserted: New and changed rows, in list order.
        removed: Ids of rows that left. Applied before `upserted`: a row that left and came back
            is in both.
        order: All ids in list order, or None when the order of what stays is unchanged and new
            rows go to the end.
    """

    domain: ClassVar[Domain]

    revision: int
    phase: Phase = "final"
    upserted: tuple[Any, ...] = ()
    removed: tuple[str, ...] = ()
    order: tuple[str, ...] | None = None


class MarketplacesChanged(StateChanged, frozen=True, kw_only=True, tag="marketplaces/changed"):
    domain: ClassVar[Domain] = "marketplaces"
    upserted: tuple[MarketplaceRow, ...] = ()


class PluginsChanged(StateChanged, frozen=True, kw_only=True, tag="plugins/changed"):
    domain: ClassVar[Domain] = "plugins"
    upserted: tuple[PluginRow, ...] = ()


class AppsChanged(StateChanged, frozen=True, kw_only=True, tag="apps/changed"):
    domain: ClassVar[Domain] = "apps"
    upserted: tuple[AppRow, ...] = ()


class InstalledChanged(StateChanged, frozen=True, kw_only=True, tag="installed/changed"):
    domain: ClassVar[Domain] = "installed"
    upserted: tuple[InstalledRow, ...] = ()


class ServersChanged(StateChanged, frozen=True, kw_only=True, tag="servers/changed"):
    domain: ClassVar[Domain] = "servers"
    upserted: tuple[ServerRow, ...] = ()


class InventoryChanged(StateChanged, frozen=True, kw_only=True, tag="inventory/changed"):
    domain: ClassVar[Domain] = "inventory"
    upserted: tuple[ToolRow, ...] = ()


class ThreadsChanged(StateChanged, frozen=True, kw_only=True, tag="threads/changed"):
    domain: ClassVar[Domain] = "threads"
    upserted: tuple[ThreadRow, ...] = ()


class AccountChanged(StateChanged, frozen=True, kw_only=True, tag="account/changed"):
    domain: ClassVar[Domain] = "account"
    upserted: tuple[AccountRow, ...] = ()


class ProblemsChanged(StateChanged, frozen=True, kw_only=True, tag="problems/changed"):
    domain: ClassVar[Domain] = "problems"
    upserted: tuple[ProblemRow, ...] = ()


class ConfigChanged(StateChanged, frozen=True, kw_only=True, tag="config/changed"):
    domain: ClassVar[Domain] = "config"
    upserted: tuple[ConfigRow, ...] = ()


STATE_EVENTS: dict[Domain, type[StateChanged]] = {
    kind.domain: kind
    for kind in (
        MarketplacesChanged,
        PluginsChanged,
        AppsChanged,
        InstalledChanged,
        ServersChanged,
        InventoryChanged,
        ThreadsChanged,
        AccountChanged,
        ProblemsChanged,
        ConfigChanged,
    )
}


class RefreshEvent(Event, frozen=True, kw_only=True):
    """Base of the four refresh events; `id` ties them together."""

    id: str
    domain: Domain


class RefreshStarted(RefreshEvent, frozen=True, kw_only=True, tag="refresh/started"):
    """A list is being read anew. `sources` names what is awaited, for people."""

    forced: bool = False
    sources: tuple[str, ...] = ()


class RefreshProgress(RefreshEvent, frozen=True, kw_only=True, tag="refresh/progress"):
    """`source` has come to `done` of `total` (None: unknown); `note` is at most a few words."""

    source: str
    done: int = 0
    total: int | None = None
    note: str = ""


class RefreshFailed(RefreshEvent, frozen=True, kw_only=True, tag="refresh/failed"):
    """One source failed; the others go on and what it gave before is kept."""

    source: str
    message: str
    evidence: Evidence = Evidence()


class RefreshFinished(RefreshEvent, frozen=True, kw_only=True, tag="refresh/finished"):
    """The list is whole again. `outcome`: `ok`, `partly`, `failed`, `cancelled`."""

    outcome: str = "ok"
    kept_previous: bool = False
    added: int = 0
    changed: int = 0
    removed: int = 0
    seconds: float = 0.0


class Occurrence(Event, frozen=True, kw_only=True):
    """Base of events that are no state. `at`: seconds since the epoch."""

    at: float = 0.0


class ServerHappened(Occurrence, frozen=True, kw_only=True, tag="server/happened"):
    """A step in a server's life: `starting`, `ready`, `failed`, `cancelled`, `ended`, `stderr`,
    `reconnecting`, `listChanged`.
    """

    thread_id: str
    name: str
    what: str
    text: str = ""
    ms: float | None = None


class Traffic(Occurrence, frozen=True, kw_only=True, tag="traffic"):
    """One protocol message to (`out`) or from (`in`) a server; secrets masked, `text` capped.
    `bytes`: of the whole message.
    """

    name: str
    direction: Literal["in", "out"]
    method: str = ""
    text: str = ""
    ms: float | None = None
    bytes: int = 0


class ConsentRequested(Occurrence, frozen=True, kw_only=True, tag="consent/requested"):
    """Programs are new or changed and wait for a yes; `jackfield/consent/read` lists them."""

    count: int


class OperationProgress(Occurrence, frozen=True, kw_only=True, tag="operation/progress"):
    """`state`: `running`, `done`, `failed`, `cancelled`; `share` 0–1 or None."""

    id: str
    subject: str
    verb: str
    state: str = "running"
    share: float | None = None
    note: str = ""


class ElicitationRequested(Occurrence, frozen=True, kw_only=True, tag="elicitation/requested"):
    """A server asks the person something; answered with `jackfield/elicitation/answer`."""

    id: str
    server: str
    mode: str
    message: str
    requested_schema: dict[str, Any] | None = None
    url: str | None = None


class ElicitationClosed(Occurrence, frozen=True, kw_only=True, tag="elicitation/closed"):
    """Nobody waits for an answer any more. `how`: `answered`, or `withdrawn` when the server took
    its question back or is gone.
    """

    id: str
    server: str
    how: str = "answered"


class ResourceUpdated(Occurrence, frozen=True, kw_only=True, tag="resource/updated"):
    """A resource that is followed has changed. `what`: `updated`; `followed` and `lost` when the
    subscription itself begins, begins again after a restart, or ends (`text` says why).
    """

    name: str
    uri: str
    what: str = "updated"
    text: str = ""


class LoginCompleted(Occurrence, frozen=True, kw_only=True, tag="login/completed"):
    """A sign-in ended. `of`: `server`, or `account` for Codex's own."""

    name: str
    of: Literal["server", "account"] = "server"
    login_id: str
    success: bool
    error: str = ""


class FileChanged(Occurrence, frozen=True, kw_only=True, tag="file/changed"):
    """A watched file was changed by another program, or by us (`ours`)."""

    file: str
    ours: bool = False


class Notice(Occurrence, frozen=True, kw_only=True, tag="notice"):
    """Something for the status line or the activity list. `tone`: `info`, `care`, `bad`."""

    area: str
    about: str
    text: str
    tone: str = "info"
    evidence: Evidence = Evidence()


class Lagged(Event, frozen=True, kw_only=True, tag="lagged"):
    """`skipped` occurrences were lost on this subscription; state was not."""

    skipped: int


CoreEvent = (
    MarketplacesChanged
    | PluginsChanged
    | AppsChanged
    | InstalledChanged
    | ServersChanged
    | InventoryChanged
    | ThreadsChanged
    | AccountChanged
    | ProblemsChanged
    | ConfigChanged
    | RefreshStarted
    | RefreshProgress
    | RefreshFailed
    | RefreshFinished
    | ServerHappened
    | Traffic
    | ConsentRequested
    | OperationProgress
    | ElicitationRequested
    | ElicitationClosed
    | ResourceUpdated
    | LoginCompleted
    | FileChanged
    | Notice
    | Lagged
)


def state_changed(
    domain: Domain,
    *,
    revision: int,
    phase: Phase,
    upserted: tuple[Row, ...],
    removed: tuple[str, ...],
    order: tuple[str, ...] | None,
) -> StateChanged:
    """The event of `domain` for a difference."""
    return STATE_EVENTS[domain](
        revision=revision, phase=phase, upserted=upserted, removed=removed, order=order
    )
