"""mcpServer/tool/call and mcpServer/resource/read, with the real one's words for each refusal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from anyio.abc import TaskGroup

from core.errors import CoreError, InternalError, InvalidRequest, PeerError, SignInNeeded
from core.mcp import shapes
from core.mcp.client.session import (
    DeadlinePassed,
    HttpFailed,
    OnNotice,
    Session,
    SessionClosed,
)
from core.mcp.connection import Connection
from core.mcp.elicitation import Approvals
from core.mcp.faults import StartFailed, request_failed, said_by
from core.mcp.incoming import ServerSide
from core.mcp.opening import Opened, Opening
from core.mcp.runtime import McpRuntime
from core.mcp.sandbox import Binding, unreserved
from core.mcp.shapes import Malformed
from core.mcp.spec import ServerSpec, labelled
from core.net.challenge import missing_scopes, wanted
from core.protocol.facts import Evidence
from core.protocol.mcp import (
    McpServerResourceReadParams,
    McpServerResourceReadResult,
    McpServerToolCallParams,
    McpServerToolCallResult,
)

HOSTED = "codex_apps"
_TURN = "x-codex-turn-metadata"
_UNEXPECTED = "Unexpected response type"


async def call_tool(
    params: McpServerToolCallParams,
    thread_id: str,
    runtime: McpRuntime,
    *,
    on_notice: OnNotice | None = None,
) -> McpServerToolCallResult:
    """Call a tool over the thread's connection, after waiting for a start that is under way.

    Args:
        on_notice: Gets the call's progress notifications.

    Raises:
        PeerError: The server's own error.
        InternalError: Unknown server, filtered tool, failed start, timeout, lost connection …;
            its evidence says for people what happened.
    """
    connection = _connection(runtime, params.server, params.environment_id)
    spec = connection.spec
    binding = Binding(connection, runtime.sandboxing)
    session = await _started(connection)
    if not spec.allows(params.tool):
        raise InternalError(f"tool '{params.tool}' is disabled for MCP server '{spec.label}'")
    prefix = f"tool call failed for `{spec.label}/{params.tool}`"
    arguments = _object(params.arguments, f"{prefix}: MCP tool arguments must be a JSON object")
    meta = _object(params.meta, f"{prefix}: MCP tool request _meta must be a JSON object") or {}
    if isinstance(session, SessionClosed):
        raise _unanswered(prefix, session, "tools/call")
    sent: dict[str, Any] = {"name": params.tool}
    if arguments is not None:
        sent["arguments"] = arguments
    own = {**unreserved(meta), "threadId": thread_id, **await _authority(binding, prefix)}
    try:
        answer = await session.request(
            "tools/call",
            sent,
            deadline=spec.tool_timeout,
            meta=own,
            on_notice=on_notice,
        )
    except HttpFailed as failed:
        if failed.reason.http_status == 401 and failed.reason.challenge:
            return _sign_in_needed(failed.reason.challenge)
        raise _unanswered(prefix, failed, "tools/call") from None
    except PeerError:
        raise
    except SignInNeeded:
        return _sign_in_again()
    except CoreError as error:
        raise _unanswered(prefix, error, "tools/call") from None
    try:
        return McpServerToolCallResult.model_validate(shapes.call_result(answer))
    except Malformed as fault:
        said = Evidence(wire=f"its answer to tools/call: {fault.message}")
        raise InternalError(f"{prefix}: {_UNEXPECTED}", evidence=said) from None


async def _authority(binding: Binding, prefix: str) -> dict[str, Any]:
    try:
        return await binding.meta()
    except InternalError as error:
        said = Evidence(wire=error.message)
        raise InternalError(f"{prefix}: {error.message}", evidence=said, hint=error.hint) from None


def _unanswered(prefix: str, error: CoreError, method: str) -> InternalError:
    """In the wire's words; the evidence has those for people."""
    said, hint = Evidence(wire=said_by(error, method)), ""
    if isinstance(error, HttpFailed):
        hint = _step_up(error)
    elif isinstance(error, DeadlinePassed):
        hint = "tool_timeout_sec in its entry is the limit"
    elif isinstance(error, SessionClosed):
        hint = "nothing is sent again by itself"
    return InternalError(f"{prefix}: {request_failed(error)}", evidence=said, hint=hint)


def _step_up(failed: HttpFailed) -> str:
    missing = missing_scopes(failed.reason.http_status, failed.reason.challenge)
    if missing is None:
        return ""
    return f"the server wants {wanted(missing) or 'more rights'}: sign in again"


def _sign_in_needed(challenge: Sequence[str]) -> McpServerToolCallResult:
    return McpServerToolCallResult.model_validate(
        {
            "content": [{"type": "text", "text": "Authentication required"}],
            "isError": True,
            "_meta": {"mcp/www_authenticate": list(challenge)},
        }
    )


def _sign_in_again() -> McpServerToolCallResult:
    """What is stored authorised once, and does not any more."""
    said = "MCP authentication required. Reconnect to continue using this server."
    return McpServerToolCallResult.model_validate(
        {
            "content": [{"type": "text", "text": said}],
            "isError": True,
            "_meta": {"mcp/www_authenticate": 'Bearer error="invalid_token"'},
        }
    )


def check_read(params: McpServerResourceReadParams) -> None:
    """What is refused before anything is looked up. Raises InvalidRequest."""
    if params.origin_call_id is not None and params.thread_id is None:
        raise InvalidRequest("originCallId requires threadId")
    if params.target is not None and params.server != HOSTED:
        raise InvalidRequest(
            "target requires unscoped codex_apps, a connectorId, and a real linkId or null"
        )
    for key in ("threadId", _TURN):
        if key in (params.meta or {}):
            raise InvalidRequest(f"reserved resource read metadata key: {key}")


async def read_in_thread(
    params: McpServerResourceReadParams, runtime: McpRuntime
) -> McpServerResourceReadResult:
    """Read over the thread's connection. Raises as `call_tool` does."""
    connection = _connection(runtime, params.server, params.environment_id)
    session = await _started(connection)
    if isinstance(session, SessionClosed):
        raise _unanswered(_reading(params, connection.spec), session, "resources/read")
    return await _read(params, session, connection.spec)


async def read_alone(
    params: McpServerResourceReadParams,
    specs: Sequence[ServerSpec],
    opening: Opening,
    approvals: Approvals,
) -> McpServerResourceReadResult:
    """Read over a connection of its own. Raises as `call_tool` does."""
    spec = next((spec for spec in specs if spec.name == params.server), None)
    known = spec is not None and (spec.usable or spec.standing == "elsewhere")
    if spec is None or not known or not _scoped(spec, params.environment_id):
        raise _unknown(params.server, params.environment_id, spec)

    async def body(opened: Opened, tasks: TaskGroup) -> McpServerResourceReadResult:
        return await _read(params, opened.session, spec)

    side = ServerSide(name=spec.name, environment_id=spec.environment_id, approvals=approvals)
    try:
        return await opening.run(spec, side, body)
    except StartFailed as failed:
        raise InternalError(f"failed to get client: {failed.message}") from None


async def _read(
    params: McpServerResourceReadParams, session: Session, spec: ServerSpec
) -> McpServerResourceReadResult:
    meta = dict(params.meta or {})
    if params.connector_id is not None:
        chosen = {"selected_connector_ids": [params.connector_id]}
        meta[_TURN] = {"mcp_request_meta": chosen}
    try:
        answer = await session.request(
            "resources/read", {"uri": params.uri}, deadline=spec.tool_timeout, meta=meta or None
        )
        return McpServerResourceReadResult(contents=shapes.read_result(answer))
    except PeerError:
        raise
    except Malformed as fault:
        said = Evidence(wire=f"its answer to resources/read: {fault.message}")
        raise InternalError(f"{_reading(params, spec)}: {_UNEXPECTED}", evidence=said) from None
    except CoreError as error:
        raise _unanswered(_reading(params, spec), error, "resources/read") from None


def _reading(params: McpServerResourceReadParams, spec: ServerSpec) -> str:
    return f"resources/read failed for `{spec.label}` ({params.uri})"


def _connection(runtime: McpRuntime, name: str, environment_id: str | None) -> Connection:
    connection = runtime.current(name)
    if connection is None or not _scoped(connection.spec, environment_id):
        raise _unknown(name, environment_id, runtime.specs.get(name))
    return connection


def _scoped(spec: ServerSpec, environment_id: str | None) -> bool:
    return environment_id is None or environment_id == spec.environment_id


def _unknown(name: str, environment_id: str | None, spec: ServerSpec | None) -> InternalError:
    scope = environment_id
    if scope is None and spec is not None:
        scope = spec.environment_id
    return InternalError(f"unknown MCP server '{labelled(name, scope)}'")


async def _started(connection: Connection) -> Session | SessionClosed:
    """The session, or how it was lost. Raises InternalError when it could not be started."""
    try:
        return await connection.usable()
    except StartFailed as failed:
        said = Evidence(wire=failed.reason)
        raise InternalError(f"failed to get client: {failed.message}", evidence=said) from None
    except SessionClosed as closed:
        return closed


def _object(value: Any, said: str) -> dict[str, Any] | None:
    """A JSON object or nothing. Raises InternalError."""
    if value is None or isinstance(value, dict):
        return cast("dict[str, Any] | None", value)
    shown = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    raise InternalError(f"{said}, got {shown}")
