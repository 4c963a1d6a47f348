"""Our own methods, all under `jackfield/`: what the panel needs beyond the real wire.

`msgspec.Struct`s, parameters included, so that the panel's first rows wait for no pydantic model:
decode with `msgspec.convert`, encode with `msgspec.json.encode`.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from core.protocol.events import Phase
from core.protocol.facts import Evidence, Problem
from core.protocol.rows import Domain


class Message(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of parameters and results here."""


class NoParams(Message, frozen=True, kw_only=True):
    """Parameters of a method that takes none."""


class Done(Message, frozen=True, kw_only=True):
    """A result without members."""


class PanelStartParams(Message, frozen=True, kw_only=True):
    """Open the panel's thread, read every list, watch the files.

    Attributes:
        consent_all: Every program counts as agreed to (`--yes`).
        only: Only these servers are started; None = all that were agreed to.
        lists: Fill the other lists and watch the files as well.
    """

    consent_all: bool = False
    only: tuple[str, ...] | None = None
    lists: bool = True


class PanelStartResult(Message, frozen=True, kw_only=True):
    """`thread_id` of the panel's thread; the same when asked again."""

    thread_id: str


class RowsParams(Message, frozen=True, kw_only=True):
    """A page of a domain's snapshot.

    Attributes:
        cursor: `nextCursor` of the page before; pages of one reading come from one snapshot.
        limit: Rows per page; at most 10,000.
    """

    domain: Domain
    cursor: str | None = None
    limit: int = 2000


class RowsResult(Message, frozen=True, kw_only=True):
    """Rows in list order. `refreshed_at`: of the last whole list, seconds since the epoch."""

    domain: Domain
    revision: int
    phase: Phase
    rows: tuple[Any, ...]
    refreshed_at: float = 0.0
    refreshing: bool = False
    next_cursor: str | None = None


class RefreshParams(Message, frozen=True, kw_only=True):
    """Read a list anew in the background.

    Attributes:
        forced: Past every cache.
        ids: Only these rows, where the domain can; None = all.
    """

    domain: Domain
    forced: bool = False
    ids: tuple[str, ...] | None = None


class RefreshResult(Message, frozen=True, kw_only=True):
    """Ties the refresh's events together; "" when one that serves is already running."""

    refresh_id: str


class ProblemsResult(Message, frozen=True, kw_only=True):
    """Everything that is wrong anywhere, what Codex leaves out in silence included."""

    problems: tuple[Problem, ...]


class SwitchParams(Message, frozen=True, kw_only=True):
    """Turn something on or off in the user's configuration.

    Attributes:
        id: Plugin id, server name, app id, or `SERVER/TOOL`.
        layer: `user`: write there even though another layer decides.
        server, plugin_id: Where no panel has been started that would know: the server of a tool,
            and the plugin that brings a server.
    """

    kind: Literal["plugin", "server", "app", "tool"]
    id: str
    enabled: bool
    layer: Literal["user"] | None = None
    server: str | None = None
    plugin_id: str | None = None


class SwitchResult(Message, frozen=True, kw_only=True):
    """What came of a switch.

    Attributes:
        written: A file was changed.
        effective: The value that now holds.
        message: For a toast: `memory is off: config.toml:30, enabled = false`.
        evidence: Where it was written.
        decided_by: The layer that decides when it is not the one written; the caller may ask
            again with `layer="user"`.
        undo: For `jackfield/undo`, or None when nothing was written.
    """

    written: bool
    effective: bool
    message: str
    evidence: Evidence = Evidence()
    decided_by: Evidence | None = None
    undo: str | None = None


class UndoParams(Message, frozen=True, kw_only=True):
    """`token`: `undo` of a result; usable once, and only while nobody changed the same value."""

    token: str


class StatusResult(Message, frozen=True, kw_only=True):
    """Where this core works."""

    home: str
    codex_home: str
    cwd: str
    project_root: str | None
    trusted: bool | None
    version: str
    read_only: bool
    config_file: str
    state_dir: str


class NamesParams(Message, frozen=True, kw_only=True):
    """Servers by name; None = all that have failed."""

    names: tuple[str, ...] | None = None


class NameParams(Message, frozen=True, kw_only=True):
    """One server."""

    name: str


class IdParams(Message, frozen=True, kw_only=True):
    """One row."""

    id: str


class DetailResult(Message, frozen=True, kw_only=True):
    """Everything known of one row, for the details page: foreign text, secrets masked."""

    detail: dict[str, Any]


class ConsentItem(Message, frozen=True, kw_only=True):
    """A program that waits for a yes.

    Attributes:
        id: Stable for this exact command, arguments, cwd, URL and set of environment names.
        kind: `stdio`, `http`.
        command: Exactly what will be run, one string per argument; empty for `http`.
        env_names: Names of variables it is given, never values.
        status: `new`, `changed` (`was` holds the lines that differ now), `agreed`, `declined`.
    """

    id: str
    kind: str
    name: str
    command: tuple[str, ...] = ()
    cwd: str = ""
    env_names: tuple[str, ...] = ()
    url: str = ""
    origin: Evidence = Evidence()
    plugin_id: str | None = None
    status: str = "new"
    was: tuple[str, ...] = ()


class ConsentResult(Message, frozen=True, kw_only=True):
    """All programs, those that wait first."""

    items: tuple[ConsentItem, ...]


class ConsentAnswers(Message, frozen=True, kw_only=True):
    """Yes or no by item id; what is not named goes on waiting."""

    answers: dict[str, bool]


class ElicitationAnswer(Message, frozen=True, kw_only=True):
    """What the person says to a question. `id`: of the `ElicitationRequested`."""

    id: str
    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


class RecentParams(Message, frozen=True, kw_only=True):
    """The last `limit` occurrences, oldest first."""

    limit: int = 500


class RecentResult(Message, frozen=True, kw_only=True):
    """Occurrences as events."""

    events: tuple[Any, ...]
