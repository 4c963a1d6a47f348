"""Changing servers of the configuration, trying them before that, and looking at their traffic."""

from __future__ import annotations

from typing import Any, Literal

from core.protocol.facts import Evidence
from core.protocol.jackfield import Message

ServerLayer = Literal["user", "project"]
ApprovalMode = Literal["auto", "prompt", "writes", "approve"]


class ServerTableParams(Message, frozen=True, kw_only=True):
    """Whose table is to be changed. `layer`: None = where it stands, the user's file first."""

    name: str
    layer: ServerLayer | None = None


class ServerTable(Message, frozen=True, kw_only=True):
    """A server's table as a file has it.

    Attributes:
        table: Members as written; secrets are masked, and a masked value that comes back in
            `ServerEntryParams.table` stays as it is.
        layers: Files that could be written, by layer.
        why_not: Why it cannot be changed (a plugin brings it, policy decides), or "".
    """

    name: str
    layer: ServerLayer = "user"
    table: dict[str, Any] = {}
    origin: Evidence = Evidence()
    layers: dict[ServerLayer, str] = {}
    why_not: str = ""


class ServerEntryParams(Message, frozen=True, kw_only=True):
    """A server's table as it is to be.

    Attributes:
        table: All its members, as in `[mcp_servers.NAME]`.
        was: The name that the table had before, when it is to be renamed; "" = not renamed.
        merge: Only the members named change; a None takes a member out.
        new: There must be none of this name yet.
        agree: The person has seen exactly this program or endpoint: it may be started.
    """

    name: str
    table: dict[str, Any]
    layer: ServerLayer = "user"
    was: str = ""
    merge: bool = False
    new: bool = False
    agree: bool = False


class ServerRemoveParams(Message, frozen=True, kw_only=True):
    """A table to take out. `end`: what runs of it is ended as well, else it runs on."""

    name: str
    layer: ServerLayer | None = None
    end: bool = False


class ServerTestParams(Message, frozen=True, kw_only=True):
    """A server to try. `id`: the caller's, with which the test is ended."""

    id: str
    name: str
    table: dict[str, Any]
    layer: ServerLayer = "user"
    was: str = ""


class TextLine(Message, frozen=True, kw_only=True):
    """A line of a file: `+` new, `-` gone, " " around them; secrets masked."""

    sign: Literal["+", "-", " "]
    text: str
    line: int


class ServerPreview(Message, frozen=True, kw_only=True):
    """What writing would do; nothing was written.

    Attributes:
        file: That would be written.
        lines: The change; empty when the file says all of it already.
        fault: Why it cannot be written, or "".
        fault_key: The member that is at fault, dotted; "" = the table as a whole.
        warnings: What is unwise, in a line each: a secret in clear, a variable that is not set.
    """

    file: str = ""
    lines: tuple[TextLine, ...] = ()
    fault: str = ""
    fault_key: str = ""
    warnings: tuple[str, ...] = ()


class ServerWritten(Message, frozen=True, kw_only=True):
    """A change that is on the disk. `undo`: token for `jackfield/undo`; None = nothing changed."""

    message: str
    file: str = ""
    evidence: Evidence = Evidence()
    undo: str | None = None


class TestStep(Message, frozen=True, kw_only=True):
    """One step of a test. `outcome`: `ok`, `failed`, `care`; `ms`: what it took."""

    __test__ = False  # not a test class of pytest's

    what: Literal["found", "speaks", "lists", "ended"]
    outcome: Literal["ok", "failed", "care"]
    text: str
    ms: float | None = None


class ServerTested(Message, frozen=True, kw_only=True):
    """How a test went.

    Attributes:
        ok: It was found, it spoke, and it ended.
        reason: Of a failure, as on a row; "" otherwise.
        sign_in: It wants a sign-in, which comes after saving.
        tools: Their names, in the server's order.
        tokens: Estimated cost of all declarations, bytes / 4.
        stderr: Its last lines beside the protocol, secrets masked.
    """

    ok: bool
    steps: tuple[TestStep, ...] = ()
    reason: str = ""
    sign_in: bool = False
    cancelled: bool = False
    tools: tuple[str, ...] = ()
    tokens: int = 0
    stderr: tuple[str, ...] = ()
    ms: float = 0.0


class ToolSwitch(Message, frozen=True, kw_only=True):
    """Several tools of one server on or off at once; one `undo` takes all of it back."""

    server: str
    tools: tuple[str, ...]
    enabled: bool


class ApprovalParams(Message, frozen=True, kw_only=True):
    """What calls by the model need. `tool`: None = all tools of the server; `mode`: None = as
    Codex decides where nothing is said.
    """

    server: str
    tool: str | None = None
    mode: ApprovalMode | None = None


class TrafficParams(Message, frozen=True, kw_only=True):
    """What has passed since `after` (0 = all that is kept), oldest first."""

    name: str
    after: int = 0
    limit: int = 500


class TrafficLine(Message, frozen=True, kw_only=True):
    """A message, a line of stderr, or a step in the server's life.

    Attributes:
        number: Rises by one per line of this server.
        kind: `out` to the server, `in` from it, `stderr`, `state`.
        method: Of a message; the step's name for `state`.
        text: JSON of the params, the result or the error; the line; the reason. Secrets masked.
        bytes: Of the whole message; more than `text` holds when it was cut.
    """

    number: int
    at: float
    kind: Literal["out", "in", "stderr", "state"]
    method: str = ""
    text: str = ""
    ms: float | None = None
    bytes: int = 0


class TrafficResult(Message, frozen=True, kw_only=True):
    """`lost`: lines after `after` that are no longer kept. `names`: servers with any lines."""

    lines: tuple[TrafficLine, ...] = ()
    lost: int = 0
    names: tuple[str, ...] = ()
