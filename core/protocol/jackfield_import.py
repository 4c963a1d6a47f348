"""jackfield/import/scan and apply: servers and plugins of other agents, written as Codex has them.

Values of secrets never stand in these messages: a row names the places that hold one.
"""

from __future__ import annotations

from typing import Literal

from core.protocol.facts import Evidence
from core.protocol.jackfield import Message

RowKind = Literal["server", "marketplace", "plugin"]
RowState = Literal["new", "same", "clash", "blocked"]


class ImportSource(Message, frozen=True, kw_only=True):
    """A file that was looked for.

    Attributes:
        id: `claude-code:user`; `app` is the part before the colon.
        label: Of the agent: `Claude Code`.
        scope: `user` or `project`.
        state: `found`, `empty` (nothing in it for us), `broken`. Absent files are not told.
        message: What is wrong with a broken one. `line`: where, 0 when that is not known.
        rows: How many rows it gave.
    """

    id: str
    app: str
    label: str
    scope: str
    path: str
    state: str
    message: str = ""
    line: int = 0
    rows: int = 0


class ImportRow(Message, frozen=True, kw_only=True):
    """One thing that can be written.

    Attributes:
        id: `claude-code:user/server/github`; stable while the source says so.
        source: Id of its `ImportSource`.
        state: `new`; `same` (the configuration says so already); `clash` (its name is taken by
            something else); `blocked` (Codex cannot have it, `reason` says why).
        reason: Why the state is not `new`, or "".
        target: Command line, URL or source, secrets masked.
        table: TOML table that is written: `mcp_servers.github`.
        toml: Exactly what is written, literal secrets left out; those that are copied on demand
            are masked here.
        present: The table of that name as it is now, secrets masked, or "".
        diff: Lines of `present` and `toml` with `-`, `+` or a blank before them.
        notes: What is lost or has to be done by hand.
        secrets: Places that hold a literal secret: `env API_KEY`.
        wants: Variables of the environment that it needs, to be set by the person.
        proposed: Ticked to begin with.
        free_name: A name that is not taken, for a `clash`.
        digest: Of everything that would be written; an answer for another one is refused.
    """

    id: str
    kind: RowKind
    name: str
    source: str
    state: RowState
    origin: Evidence
    reason: str = ""
    target: str = ""
    table: str = ""
    toml: str = ""
    present: str = ""
    diff: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    wants: tuple[str, ...] = ()
    proposed: bool = False
    free_name: str = ""
    digest: str = ""


class ScanParams(Message, frozen=True, kw_only=True):
    """`app`: only this agent's files (`cursor`); "" = all."""

    app: str = ""


class ScanResult(Message, frozen=True, kw_only=True):
    """What was found. `file`: where it would be written."""

    file: str
    sources: tuple[ImportSource, ...]
    rows: tuple[ImportRow, ...]


class ImportChoice(Message, frozen=True, kw_only=True):
    """A yes to one row.

    Attributes:
        digest: Of the row that was shown.
        name: Write it under this name; None = its own.
        replace: Write over a table of that name.
        copy_secrets: Copy literal secrets as they stand, instead of naming variables.
    """

    id: str
    digest: str
    name: str | None = None
    replace: bool = False
    copy_secrets: bool = False


class ApplyParams(Message, frozen=True, kw_only=True):
    """Everything that was said yes to; one write, all or nothing."""

    choices: tuple[ImportChoice, ...]


class ImportOutcome(Message, frozen=True, kw_only=True):
    """What became of one choice. `state`: `written`, `installed`, `cloned`, `failed`."""

    id: str
    name: str
    state: str
    message: str = ""


class ApplyResult(Message, frozen=True, kw_only=True):
    """What was written.

    Attributes:
        outcomes: One per choice; marketplaces are cloned and plugins installed after the write.
        message: One line for a person.
        undo: For `jackfield/undo`, or None when nothing was written.
    """

    file: str
    outcomes: tuple[ImportOutcome, ...]
    message: str
    undo: str | None = None
