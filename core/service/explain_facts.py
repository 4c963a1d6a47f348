"""What Explain wants to know of a server and no row tells; nothing is started or asked for it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from core.errors import CoreError
from core.explain.scene import ServerFacts
from core.mcp.spec import Endpoint, Program, ServerSpec
from core.protocol.facts import Evidence

if TYPE_CHECKING:
    from core.config.model import Loaded
    from core.mcp.connection import Connection
    from core.protocol.login import CredentialState
    from core.seams import SignInTarget

STORE_DEADLINE = 5.0
BODY = 200

Stored = Callable[["SignInTarget"], Awaitable["CredentialState"]]


async def facts_of(
    spec: ServerSpec, connection: Connection | None, loaded: Loaded, stored: Stored
) -> ServerFacts:
    """Of one server.

    Args:
        stored: Asks the credential store; takes as long as a keyring may.
    """
    facts = await anyio.to_thread.run_sync(_of_spec, spec, loaded)
    if connection is not None:
        facts = _with_connection(facts, spec, connection)
    target = spec.target
    if isinstance(target, Endpoint) and spec.usable and target.sign_in and not target.authorized:
        facts = await _with_store(facts, spec.sign_in_target(target), stored)
    return facts


def _of_spec(spec: ServerSpec, loaded: Loaded) -> ServerFacts:
    enabled = spec.enabled_tools
    facts = ServerFacts(
        standing=spec.standing,
        start_fault=spec.start_fault,
        enabled_tools=tuple(sorted(enabled)) if enabled is not None else None,
        disabled_tools=tuple(sorted(spec.disabled_tools)),
        filter_at=_filter_at(spec, loaded),
    )
    match spec.target:
        case Program(argv=argv, cwd=cwd, env=env) if argv and argv[0]:
            there = os.path.isdir(cwd)
            return replace(
                facts,
                command=argv[0],
                resolved=_found(argv[0], cwd, env.get("PATH", "")) if there else "",
                cwd=cwd,
                cwd_there=there,
            )
        case Endpoint() as endpoint:
            lacking = bool(endpoint.bearer_variable) and not endpoint.bearer
            return replace(
                facts,
                resolved="",
                unset=(endpoint.bearer_variable,) if lacking else (),
                bearer_variable=endpoint.bearer_variable,
                enterprise=endpoint.enterprise,
            )
        case _:
            return facts


def _found(command: str, cwd: str, path: str) -> str | None:
    """The file that would be run, or None."""
    if "/" not in command:
        return shutil.which(command, path=path)
    place = os.path.join(cwd, command)
    return place if os.path.isfile(place) and os.access(place, os.X_OK) else None


def _filter_at(spec: ServerSpec, loaded: Loaded) -> Evidence:
    key = "enabled_tools" if spec.enabled_tools is not None else "disabled_tools"
    paths: list[tuple[str, ...]] = [("mcp_servers", spec.name, key)]
    if spec.plugin_id is not None:
        paths.append(("plugins", spec.plugin_id, "mcp_servers", spec.name, key))
    found = (loaded.origin(*path) for path in paths)
    return next((at for at in found if at.layer is not None), spec.origin)


def _with_connection(facts: ServerFacts, spec: ServerSpec, connection: Connection) -> ServerFacts:
    failure = connection.failure
    ended = failure.ended if failure is not None else connection.ended
    wire: list[str] = []
    status: int | None = None
    if ended is not None:
        status = ended.http_status
        if status is not None:
            wire.append(f"HTTP {status} from {ended.host}" if ended.host else f"HTTP {status}")
        wire += [f"WWW-Authenticate: {challenge}" for challenge in ended.challenge]
        if ended.body:
            wire.append(" ".join(ended.body.split())[:BODY])
    return replace(
        facts,
        asked=True,
        http_status=status if not connection.live else None,
        timed_out=failure is not None and failure.timed_out,
        wire=tuple(spec.secrets.mask(line) for line in wire),
    )


async def _with_store(facts: ServerFacts, target: SignInTarget, stored: Stored) -> ServerFacts:
    try:
        with anyio.fail_after(STORE_DEADLINE):
            state: Any = await stored(target)
    except TimeoutError:
        said = f"the store did not answer within {STORE_DEADLINE:.0f} s"
        return replace(facts, stored="unknown", stored_reason=said)
    except CoreError as error:
        return replace(facts, stored="unknown", stored_reason=error.message)
    return replace(
        facts,
        stored=state.state,
        stored_reason=state.reason or state.keyring_words,
        store=state.store,
        until=state.expires_at,
        renews=state.renewable,
    )
