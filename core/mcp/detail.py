"""Everything known of one server or tool, as plain JSON for a details page; secrets masked."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import Any

from core.mcp.connection import Connection
from core.mcp.masking import masked_arguments, masked_url
from core.mcp.rows import tail_of, tool_rows
from core.mcp.spec import Endpoint, Program, ServerSpec
from core.protocol.rows import ServerRow, ToolRow, detail_of

STDERR_LINES = 400


def server_detail(
    row: ServerRow, spec: ServerSpec, connection: Connection | None, environ: Mapping[str, str]
) -> dict[str, Any]:
    """Of one server; what is not known is left out. Looks for the program on the disk."""
    detail: dict[str, Any] = {
        "row": detail_of(row),
        "scope": spec.scope,
        "environmentId": spec.environment_id,
        "startTimeout": spec.start_timeout,
        "toolTimeout": spec.tool_timeout,
        "approval": spec.approval,
        "toolApprovals": dict(spec.tool_approvals),
        "enabledTools": sorted(spec.enabled_tools) if spec.enabled_tools is not None else None,
        "disabledTools": sorted(spec.disabled_tools),
        **_target(spec, environ),
    }
    if connection is not None:
        detail |= _connection(spec, connection)
    return detail


def _target(spec: ServerSpec, environ: Mapping[str, str]) -> dict[str, Any]:
    match spec.target:
        case Program(argv=argv, cwd=cwd, env=env, env_names=names):
            found = shutil.which(argv[0], path=env.get("PATH", "")) if argv[0] else None
            return {
                "command": [spec.secrets.mask(part) for part in masked_arguments(argv)],
                "resolved": os.path.join(cwd, found) if found else None,
                "cwd": cwd,
                "environment": [{"name": name, "set": name in env} for name in names],
                "inherited": sorted(set(env) - set(names)),
            }
        case Endpoint() as endpoint:
            names = endpoint.env_names
            return {
                "url": masked_url(endpoint.url),
                "headers": sorted(endpoint.headers),
                "headersHelper": bool(endpoint.helper),
                "environment": [{"name": name, "set": bool(environ.get(name))} for name in names],
                "bearerVariable": endpoint.bearer_variable or None,
            }
        case None:
            return {}


def _connection(spec: ServerSpec, connection: Connection) -> dict[str, Any]:
    hello, failure = connection.hello, connection.failure
    ended = connection.ended or (failure.ended if failure is not None else None)
    detail: dict[str, Any] = {
        "history": [
            {"status": past.status, "reason": spec.secrets.mask(past.reason), "at": past.at}
            for past in connection.history
        ],
        "latencies": list(connection.latencies),
        "stderr": list(tail_of(spec, connection, STDERR_LINES)),
        "tools": [detail_of(tool) for tool in tool_rows(spec, connection)],
    }
    if hello is not None:
        detail |= {
            "serverInfo": hello.server_info,
            "capabilities": hello.capabilities,
            "instructions": hello.instructions,
            "protocol": hello.protocol_version,
        }
    if failure is not None:
        detail["error"] = spec.secrets.mask(failure.wire)
    if ended is not None:
        detail |= {
            "exitCode": ended.exit_code,
            "httpStatus": ended.http_status,
            "challenge": list(ended.challenge),
            "body": spec.secrets.mask(ended.body),
        }
    return detail


def tool_detail(row: ToolRow, spec: ServerSpec, connection: Connection) -> dict[str, Any]:
    """Of one tool, resource, template or prompt: its declaration as the server gave it."""
    kind = {"tool": "tools", "resource": "resources", "template": "templates"}.get(
        row.kind, "prompts"
    )
    listing = connection.listing(kind)
    key = row.id.removeprefix(f"{spec.name}/").removeprefix(f"{row.kind}:")
    declared = listing.items.get(key) if listing is not None else None
    return {
        "row": detail_of(row),
        "declaration": declared,
        "approval": spec.tool_approvals.get(row.name, spec.approval),
        "server": spec.name,
    }
