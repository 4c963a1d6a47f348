"""Resources, prompts and completion over a connection that a thread keeps.

Source: MCP 2025-06-18, "Resources", "Prompts", "Completion"; `subscriptions/listen` of 2026-07-28.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from core.errors import CoreError, InternalError, InvalidRequest
from core.mcp import shapes
from core.mcp.client.session import DeadlinePassed, Incoming, Session, SessionClosed
from core.mcp.connection import Connection
from core.mcp.faults import StartFailed, ending, said_by
from core.mcp.shapes import Malformed
from core.protocol.facts import Evidence

MODERN = "2026-07-28"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
MOST_VALUES = 100
COMPLETION_DEADLINE = 5.0


def able(connection: Connection, *path: str) -> bool:
    """A capability of the server, e.g. `resources`, `subscribe`."""
    found: Any = connection.hello.capabilities if connection.hello is not None else None
    for name in path:
        if not isinstance(found, dict) or name not in found:
            return False
        found = cast("dict[str, Any]", found)[name]
    return found is not False


async def session_of(connection: Connection) -> Session:
    """After waiting for a start that is under way. Raises InternalError in words for people."""
    name = connection.spec.name
    try:
        return await connection.usable()
    except StartFailed as failed:
        raise _lost(connection, f"{name} did not start: {failed.reason}") from None
    except SessionClosed as closed:
        raise _lost(connection, f"{name} is gone: {ending(closed.reason)}") from None


async def asked(
    connection: Connection,
    method: str,
    params: dict[str, Any],
    *,
    deadline: float | None = None,
) -> dict[str, Any]:
    """One request within the server's limit for calls.

    Raises:
        InternalError: What happened, in words for people.
    """
    session = await session_of(connection)
    limit = connection.spec.tool_timeout if deadline is None else deadline
    try:
        return await session.request(method, params, deadline=limit)
    except CoreError as error:
        raise _lost(connection, said_by(error, method), error) from None


def _lost(connection: Connection, said: str, error: CoreError | None = None) -> InternalError:
    said = connection.spec.secrets.mask(said)
    hint = "tool_timeout_sec in its entry is the limit" if isinstance(error, DeadlinePassed) else ""
    return InternalError(said, evidence=Evidence(wire=said), hint=hint)


def _malformed(method: str, fault: Malformed) -> InternalError:
    return InternalError(f"its answer to {method}: {fault.message}")


async def read_resource(connection: Connection, uri: str) -> list[dict[str, Any]]:
    """The contents of a resource."""
    answer = await asked(connection, "resources/read", {"uri": uri})
    try:
        return shapes.read_result(answer)
    except Malformed as fault:
        raise _malformed("resources/read", fault) from None


async def get_prompt(
    connection: Connection, name: str, arguments: Mapping[str, str]
) -> tuple[str, list[dict[str, Any]]]:
    """A prompt's description and its messages."""
    params = {"name": name, "arguments": dict(arguments)}
    answer = await asked(connection, "prompts/get", params)
    try:
        found = shapes.prompt_result(answer)
    except Malformed as fault:
        raise _malformed("prompts/get", fault) from None
    return found.get("description", ""), found["messages"]


async def complete(
    connection: Connection,
    ref: Mapping[str, str],
    argument: str,
    value: str,
    known: Mapping[str, str],
) -> tuple[tuple[str, ...], bool]:
    """What may stand for an argument, and whether there is more; nothing where it cannot say."""
    if not able(connection, "completions"):
        return (), False
    params: dict[str, Any] = {"ref": dict(ref), "argument": {"name": argument, "value": value}}
    if known:
        params["context"] = {"arguments": dict(known)}
    answer = await asked(connection, "completion/complete", params, deadline=COMPLETION_DEADLINE)
    found: Any = answer.get("completion")
    given = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    values: Any = given.get("values")
    listed = cast("list[Any]", values) if isinstance(values, list) else []
    texts = [text for text in listed if isinstance(text, str)]
    more = len(texts) > MOST_VALUES or given.get("hasMore") is True
    return tuple(texts[:MOST_VALUES]), more


async def follow(
    connection: Connection,
    uri: str,
    changed: Callable[[], None],
    settled: Callable[[], None],
) -> None:
    """Have the server tell changes of a resource.

    In the older protocol this returns at once and changes come as notifications of the connection;
    in 2026-07-28 it lasts for as long as the subscription does.

    Args:
        changed: Called with each change in 2026-07-28.
        settled: Called once the server has agreed.

    Raises:
        InvalidRequest: The server does not do that.
        InternalError: It refuses, or is gone.
    """
    session = await session_of(connection)
    if not able(connection, "resources", "subscribe"):
        raise InvalidRequest(f"{connection.spec.name} does not tell changes of its resources")
    hello = connection.hello
    if hello is None or hello.protocol_version < MODERN:
        connection.followed.add(uri)
        try:
            await asked(connection, "resources/subscribe", {"uri": uri})
        except BaseException:
            connection.followed.discard(uri)
            raise
        settled()
        return
    await _listen(connection, session, uri, changed, settled)


async def _listen(
    connection: Connection,
    session: Session,
    uri: str,
    changed: Callable[[], None],
    settled: Callable[[], None],
) -> None:
    def heard(notice: Incoming) -> None:
        if notice.method == ACKNOWLEDGED:
            settled()
        elif notice.params.get("uri") == uri:
            changed()

    method = "subscriptions/listen"
    try:
        params = {"notifications": {"resourceSubscriptions": [uri]}}
        await session.request(method, params, deadline=None, on_notice=heard)
    except CoreError as error:
        raise _lost(connection, said_by(error, method), error) from None
    raise InternalError("the server ended the subscription")


async def unfollow(connection: Connection, uri: str) -> None:
    """End a subscription of the older protocol; a server that is gone needs not be told."""
    if uri not in connection.followed:
        return
    connection.followed.discard(uri)
    if connection.live:
        await asked(connection, "resources/unsubscribe", {"uri": uri})
