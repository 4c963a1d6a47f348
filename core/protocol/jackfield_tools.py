"""Our own methods for what servers offer: calls, resources, prompts, completion, questions.

`msgspec.Struct`s, as in `core.protocol.jackfield`. What servers send is foreign text.
"""

from __future__ import annotations

from typing import Any, Literal

from core.protocol.events import ElicitationRequested
from core.protocol.jackfield import Message

CallOutcome = Literal["answered", "failed", "cancelled"]


class ToolCallParams(Message, frozen=True, kw_only=True):
    """Call a tool over the panel's own connection.

    Attributes:
        id: `SERVER/TOOL`.
        call_id: Chosen by the caller, so that it can cancel; "" = we choose.
        again: A call of the history whose arguments are sent once more, unmasked; `arguments`
            do not count then.
    """

    id: str
    arguments: dict[str, Any] | None = None
    call_id: str = ""
    again: str = ""


class ToolCallResult(Message, frozen=True, kw_only=True):
    """How a call ended; that a server fails is a result, not an error.

    Attributes:
        outcome: `answered` (`is_error`: the tool itself says that it failed), `failed` (no
            answer: `reason` says how it ended, `hint` what to do), `cancelled`.
        content: Blocks as MCP has them: text, image, audio, resource, resource_link.
        structured: There is structured content, which may be null.
        duration_ms: Time that passed, that of asking a person included.
        bytes: Of the whole result as JSON, before anything was cut.
        cut: What was left out because of its size, for people; "" = nothing.
    """

    call_id: str
    id: str
    outcome: CallOutcome
    reason: str = ""
    hint: str = ""
    content: tuple[dict[str, Any], ...] = ()
    structured: bool = False
    structured_content: Any = None
    is_error: bool = False
    meta: Any = None
    duration_ms: float = 0.0
    bytes: int = 0
    cut: str = ""


class CallIdParams(Message, frozen=True, kw_only=True):
    """One call."""

    call_id: str


class ToolHistoryParams(Message, frozen=True, kw_only=True):
    """`id`: only calls of this tool; "" = all."""

    id: str = ""


class PastCall(Message, frozen=True, kw_only=True):
    """A call that has ended.

    Attributes:
        arguments: Secrets masked; `masked` says that there were any.
        at: When it began, seconds since the epoch.
        outcome: As in `ToolCallResult`, or `toolError` when the tool said that it failed.
        said: First line of the answer, or the reason; at most 200 characters.
    """

    call_id: str
    id: str
    arguments: dict[str, Any] | None
    masked: bool
    at: float
    duration_ms: float
    outcome: str
    said: str
    bytes: int = 0


class ToolHistoryResult(Message, frozen=True, kw_only=True):
    """Newest first; kept in memory only."""

    calls: tuple[PastCall, ...]


class ServerParams(Message, frozen=True, kw_only=True):
    """A connected server."""

    server: str


class ResourceListResult(Message, frozen=True, kw_only=True):
    """What a server last listed, as it declared it.

    Attributes:
        subscribe: Changes of a resource can be followed.
        complete: It completes variables of templates.
        subscribed: URIs that are followed now.
    """

    resources: tuple[dict[str, Any], ...]
    templates: tuple[dict[str, Any], ...]
    subscribe: bool
    complete: bool
    subscribed: tuple[str, ...] = ()


class ResourceParams(Message, frozen=True, kw_only=True):
    """One resource of a server."""

    server: str
    uri: str


class ResourceReadResult(Message, frozen=True, kw_only=True):
    """`contents`: text entries and blobs, as MCP has them; `bytes` and `cut` as of calls."""

    contents: tuple[dict[str, Any], ...]
    bytes: int = 0
    cut: str = ""
    duration_ms: float = 0.0


class PromptListResult(Message, frozen=True, kw_only=True):
    """Prompts as the server declared them; `complete`: it completes their arguments."""

    prompts: tuple[dict[str, Any], ...]
    complete: bool


class PromptGetParams(Message, frozen=True, kw_only=True):
    """A prompt with its arguments, which are texts."""

    server: str
    name: str
    arguments: dict[str, str] = {}


class PromptGetResult(Message, frozen=True, kw_only=True):
    """`messages`: `{role, content}` with one content block each."""

    messages: tuple[dict[str, Any], ...]
    description: str = ""
    bytes: int = 0
    cut: str = ""


class CompleteParams(Message, frozen=True, kw_only=True):
    """What may stand for an argument of a prompt, or for a variable of a template.

    Attributes:
        ref: `{"type": "ref/prompt", "name": …}` or `{"type": "ref/resource", "uri": …}`.
        known: Arguments that have been filled in.
    """

    server: str
    ref: dict[str, str]
    argument: str
    value: str = ""
    known: dict[str, str] = {}


class CompleteResult(Message, frozen=True, kw_only=True):
    """At most 100 values; `more`: there are others."""

    values: tuple[str, ...]
    more: bool = False


class QuestionsResult(Message, frozen=True, kw_only=True):
    """Questions of servers that wait for an answer, oldest first."""

    questions: tuple[ElicitationRequested, ...]


class LinkParams(Message, frozen=True, kw_only=True):
    """A page that the person wants to see: `http` or `https`."""

    url: str


class LinkResult(Message, frozen=True, kw_only=True):
    """Whether a browser took the page."""

    opened: bool
