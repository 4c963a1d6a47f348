"""Rows of the panel, made from an entry and what is known of its connection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import anyio
import msgspec

from core.mcp.connection import Connection
from core.mcp.inventory import Fault, Listing
from core.mcp.sandbox import VARIABLE
from core.mcp.spec import Endpoint, ServerSpec
from core.ports import Clock
from core.protocol.facts import Problem
from core.protocol.rows import ServerRow, ServerStatus, ToolRow

TAIL_LINES = 40
BYTES_PER_TOKEN = 4
_STANDING: dict[str, ServerStatus] = {
    "usable": "notStarted",
    "disabled": "disabled",
    "blocked": "blocked",
    "untrusted": "untrusted",
    "invalid": "invalid",
    "elsewhere": "disabled",
}
_KINDS = {"tools": "tool", "resources": "resource", "templates": "template", "prompts": "prompt"}


@dataclass(frozen=True, kw_only=True)
class AuthState:
    """How a server is authorised: `status` as on the wire, `reason` for people.

    `until`: when what is stored ends, seconds since the epoch, or None; `renews`: not by itself.
    """

    status: str = "unsupported"
    reason: str = ""
    until: float | None = None
    renews: bool = False


@dataclass(frozen=True, kw_only=True)
class Held:
    """Why a usable server is not started: `review`, and in which words."""

    status: ServerStatus = "notStarted"
    reason: str = ""
    since: float = 0.0


def server_row(
    spec: ServerSpec,
    connection: Connection | None,
    *,
    held: Held,
    auth: AuthState,
    clock: Clock,
) -> ServerRow:
    """The row of one server.

    Args:
        spec: As the files have it now; for a server that is no longer in any, as it runs.
        held: Counts while there is no connection.
    """
    target, target_problem = spec.shown_target()
    row = ServerRow(
        id=spec.name,
        name=spec.name,
        status=_STANDING[spec.standing],
        reason=spec.reason,
        since=held.since,
        enabled=spec.enabled,
        enabled_at=spec.enabled_at,
        transport=spec.transport,
        target=target,
        target_problem=target_problem,
        origin=spec.origin,
        plugin_id=spec.plugin_id,
        auth=auth.status,
        auth_reason=auth.reason,
        auth_until=auth.until,
        auth_renews=auth.renews,
        required=spec.required,
        problems=spec.problems,
    )
    if connection is None:
        if spec.usable:
            row = _changed(row, status=held.status, reason=held.reason)
        return row
    return _changed(row, **_live_facts(spec, connection, clock))


def _live_facts(spec: ServerSpec, connection: Connection, clock: Clock) -> dict[str, Any]:
    tools = connection.listing("tools") if connection.live else None
    session, hello = connection.session, connection.hello
    heard = session.heard_at if session is not None else 0.0
    faults = [fault for kind in _KINDS for fault in _faults(connection.listing(kind), kind)]
    problems = (
        *spec.problems,
        *(_problem(spec, fault) for fault in faults),
        *_lacking(spec, connection),
    )
    return {
        "status": connection.status,
        "reason": _why(spec, connection),
        "since": connection.since,
        "limit": connection.limit,
        "tools": None if tools is None else sum(map(spec.allows, tools.items)),
        "tools_total": None if tools is None else len(tools.items),
        "resources": _count(connection, "resources"),
        "templates": _count(connection, "templates"),
        "heard_at": clock.now() - (anyio.current_time() - heard) if heard else None,
        "latency_ms": connection.latencies[-1] if connection.live else None,
        "protocol": hello.protocol_version if hello is not None else "",
        "server_version": str(hello.server_info.get("version", "")) if hello is not None else "",
        "pid": session.pid if session is not None and connection.live else None,
        "configured": connection.configured,
        "stderr_tail": tail_of(spec, connection),
        "problems": problems,
    }


def _why(spec: ServerSpec, connection: Connection) -> str:
    if connection.live and not connection.configured:
        return "running, no longer configured"
    return spec.secrets.mask(connection.reason)


def shown_spec(spec: ServerSpec, connection: Connection | None) -> ServerSpec:
    """The entry that a row is made from: of a server that runs on as it was started, that one."""
    if connection is None or connection.spec.link == spec.link:
        return spec
    running = connection.spec
    if not spec.usable:
        return replace(running, problems=spec.problems)
    changed = Problem(
        id=f"servers:{spec.name}:changed",
        domain="servers",
        subject=spec.name,
        rule="changed",
        severity="warning",
        message=f"{spec.name}: its entry has changed; it runs on as it was started",
        evidence=spec.origin,
        hint="agree to the change; it is then started anew",
    )
    return replace(running, problems=(*spec.problems, changed))


def tail_of(spec: ServerSpec, connection: Connection, lines: int = TAIL_LINES) -> tuple[str, ...]:
    """The last lines that the server wrote beside the protocol, secrets masked."""
    failure = connection.failure.ended if connection.failure is not None else None
    last = connection.ended or failure
    tail = last.tail if last is not None else ()
    if not tail:
        tail = connection.tail
    return tuple(spec.secrets.mask(line) for line in tail[-lines:])


def _count(connection: Connection, kind: str) -> int | None:
    listing = connection.listing(kind) if connection.live else None
    return None if listing is None else len(listing.items)


def _faults(listing: Listing | None, kind: str) -> Iterable[tuple[str, Fault]]:
    return [(kind, fault) for fault in listing.faults] if listing is not None else []


def _problem(spec: ServerSpec, fault: tuple[str, Fault]) -> Problem:
    kind, what = fault
    subject = f"{_KINDS[kind]} {what.name}: " if what.name else f"{kind}: "
    refused = what.rule == "shape" and kind == "tools"
    return Problem(
        id=f"inventory:{spec.name}:{kind}:{what.rule}:{what.name}",
        domain="inventory",
        subject=spec.name,
        rule=f"list-{what.rule}",
        message=f"{subject}{what.message}",
        severity="warning",
        codex="refuses the whole server" if refused else "",
    )


def _lacking(spec: ServerSpec, connection: Connection) -> Iterable[Problem]:
    if not connection.live or not (what := connection.lack):
        return ()
    return (
        Problem(
            id=f"servers:{spec.name}:sandbox",
            domain="servers",
            subject=spec.name,
            rule="sandbox",
            severity="warning",
            message=f"{spec.name}: {what}; calls of its tools may be refused",
            evidence=spec.origin,
            hint=f"set {VARIABLE} to the absolute path of codex, and start anew",
        ),
    )


def tool_rows(spec: ServerSpec, connection: Connection) -> list[ToolRow]:
    """All that a server offers, malformed tools included; what cannot be used says why."""
    rows: dict[str, ToolRow] = {}
    for name, kind in _KINDS.items():
        listing = connection.listing(name)
        if listing is None:
            continue
        for key, item in listing.items.items():
            row = _row(spec, connection, kind, key, item, listing)
            rows[row.id] = row
        if name == "tools":
            for fault in listing.faults:
                if fault.rule == "shape" and f"{spec.name}/{fault.name}" not in rows:
                    row = _malformed(spec, fault, listing.at)
                    rows[row.id] = row
    return list(rows.values())


def stale_tool(row: ToolRow, connection: Connection) -> ToolRow:
    """What a server offered before its present start, until it has listed again."""
    reason = _reason(connection.spec, connection, None, True)
    return msgspec.structs.replace(row, cached=True, callable=False, reason=reason)


def _row(
    spec: ServerSpec,
    connection: Connection,
    kind: str,
    key: str,
    item: dict[str, Any],
    listing: Listing,
) -> ToolRow:
    is_tool = kind == "tool"
    visible = not is_tool or _visible(item)
    allowed = not is_tool or spec.allows(key)
    reason = _reason(spec, connection, key if is_tool else None, visible)
    return ToolRow(
        id=f"{spec.name}/{key}" if is_tool else f"{spec.name}/{kind}:{key}",
        cached=not connection.live,
        name=item.get("name", key),
        owner=spec.name,
        title=item.get("title", ""),
        description=item.get("description", ""),
        kind=kind,
        effect=_effect(item.get("annotations", {})) if is_tool else "",
        visible=visible,
        filtered=not allowed,
        callable=is_tool and not reason,
        reason=reason,
        tokens=-(-listing.sizes.get(key, 0) // BYTES_PER_TOKEN),
        seen_at=listing.at,
    )


def _reason(spec: ServerSpec, connection: Connection, tool: str | None, visible: bool) -> str:
    """Why the model may not call it now; "" when it may, or when there is nothing to call."""
    if not connection.live:
        return f"{spec.name}: {spec.secrets.mask(connection.reason) or connection.status}"
    if tool is None:
        return ""
    if tool in spec.disabled_tools:
        return "off: in disabled_tools"
    if not spec.allows(tool):
        return "off: not in enabled_tools"
    return "" if visible else "for apps only, not for the model"


def _visible(item: dict[str, Any]) -> bool:
    ui = item.get("_meta", {}).get("ui")
    visibility: Any = ui.get("visibility") if isinstance(ui, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return not isinstance(visibility, list) or "model" in visibility


def _effect(hints: dict[str, Any]) -> str:
    if hints.get("readOnlyHint"):
        return "reads"
    if hints.get("destructiveHint"):
        return "destroys"
    if "readOnlyHint" in hints or "destructiveHint" in hints:
        return "writes"
    return ""


def _malformed(spec: ServerSpec, fault: Fault, at: float) -> ToolRow:
    return ToolRow(
        id=f"{spec.name}/{fault.name}",
        name=fault.name,
        owner=spec.name,
        reason=f"unusable: {fault.message}",
        seen_at=at,
    )


def _changed(row: ServerRow, **facts: Any) -> ServerRow:
    return msgspec.structs.replace(row, **facts)


def presumed_auth(spec: ServerSpec) -> AuthState:
    """What the entry alone says, before anybody has been asked."""
    target = spec.target
    if not isinstance(target, Endpoint) or not spec.usable:
        return AuthState()
    if target.authorized and not target.hosted:
        missing = target.bearer_variable if target.bearer is None else ""
        return AuthState(status="bearerToken", reason=f"{missing} is not set" if missing else "")
    return AuthState(status="unknown" if target.sign_in else "unsupported")
