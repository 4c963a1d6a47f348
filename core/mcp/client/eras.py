"""How a connection begins: the handshake until 2025-11-25, or 2026-07-28 without one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import anyio

from core.errors import PeerError
from core.mcp.client import jsontext
from core.mcp.client.rpc import Rpc
from core.mcp.client.session import CloseReason, HttpFailed, ServerHello, SessionClosed

OFFERED = "2025-06-18"
MODERN = "2026-07-28"
UNSUPPORTED_VERSION = -32022
_META = "io.modelcontextprotocol/"
_PROBE = 5.0  # handshake servers may never answer a method that they do not know

Era = Literal["handshake", "modern", "auto"]


@dataclass(frozen=True, kw_only=True)
class Introduction:
    """Who we are and how we begin.

    Attributes:
        name, title, version: The `clientInfo`.
        capabilities: As `initialize` or each modern request declares them.
        era: `handshake`: initialize, and 2026-07-28 only when the server answers −32022.
            `modern`: 2026-07-28 only. `auto`: that first, else the handshake.
    """

    name: str
    version: str
    title: str | None = None
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    era: Era = "handshake"

    @property
    def client_info(self) -> dict[str, Any]:
        """As it goes over the wire."""
        title = {"title": self.title} if self.title else {}
        return {"name": self.name, **title, "version": self.version}


Speaks = Callable[[str, bool], None]
"""Told the version to speak from now on, and whether it is the modern era; "" = none yet."""


async def begin(rpc: Rpc, introduction: Introduction, speaks: Speaks) -> ServerHello:
    """Agree with the server on how to talk.

    Raises:
        PeerError, HttpFailed, SessionClosed: As the server or the connection has it.
    """
    if introduction.era == "handshake":
        try:
            return await _initialize(rpc, introduction, speaks)
        except (PeerError, HttpFailed) as error:
            if MODERN not in _supported(error):
                raise
        return await _discover(rpc, introduction, speaks)
    try:
        with anyio.fail_after(_PROBE if introduction.era == "auto" else None):
            return await _discover(rpc, introduction, speaks)
    except (PeerError, HttpFailed, TimeoutError) as error:
        if introduction.era == "modern" or not _may_be_older(error):
            raise
    rpc.stamp = {}
    return await _initialize(rpc, introduction, speaks)


async def _initialize(rpc: Rpc, introduction: Introduction, speaks: Speaks) -> ServerHello:
    speaks("", False)
    params = {
        "protocolVersion": OFFERED,
        "capabilities": dict(introduction.capabilities),
        "clientInfo": introduction.client_info,
    }
    result = await rpc.request("initialize", params, deadline=None)
    version = result.get("protocolVersion")
    if not isinstance(version, str):
        raise _broken("The server answered initialize without a protocol version")
    speaks(version, False)
    await rpc.notify("notifications/initialized")
    return _hello(version, result, result.get("serverInfo"))


async def _discover(rpc: Rpc, introduction: Introduction, speaks: Speaks) -> ServerHello:
    rpc.stamp = {
        f"{_META}protocolVersion": MODERN,
        f"{_META}clientInfo": introduction.client_info,
        f"{_META}clientCapabilities": dict(introduction.capabilities),
    }
    speaks(MODERN, True)
    result = await rpc.request("server/discover", {}, deadline=None)
    versions = result.get("supportedVersions")
    if not isinstance(versions, list) or MODERN not in versions:
        raise PeerError(
            UNSUPPORTED_VERSION, f"The server does not speak {MODERN}", {"supported": versions}
        )
    meta = result.get("_meta")
    info = cast(dict[str, Any], meta).get(f"{_META}serverInfo") if isinstance(meta, dict) else None
    return _hello(MODERN, result, info)


def _hello(version: str, result: dict[str, Any], info: Any) -> ServerHello:
    capabilities, instructions = result.get("capabilities"), result.get("instructions")
    return ServerHello(
        protocol_version=version,
        server_info=cast(dict[str, Any], info) if isinstance(info, dict) else {},
        capabilities=cast(dict[str, Any], capabilities) if isinstance(capabilities, dict) else {},
        instructions=instructions if isinstance(instructions, str) else None,
        raw=result,
    )


def _supported(error: Exception) -> list[Any]:
    """The versions that a −32022 names, as an answer or as the body of an HTTP error."""
    code, data = None, None
    if isinstance(error, PeerError):
        code, data = error.code, error.data
    elif isinstance(error, HttpFailed):
        code, data = _error_in(error.reason.body)
    if code != UNSUPPORTED_VERSION or not isinstance(data, dict):
        return []
    versions = cast(dict[str, Any], data).get("supported")
    return cast(list[Any], versions) if isinstance(versions, list) else []


def _error_in(body: str) -> tuple[Any, Any]:
    try:
        error = jsontext.parse(body.encode("utf-8", "replace"))["error"]
        return error["code"], error.get("data")
    except (jsontext.NotJson, LookupError, TypeError, AttributeError):
        return None, None


def _may_be_older(error: Exception) -> bool:
    """Whether a refused `server/discover` leaves hope for the handshake."""
    if isinstance(error, HttpFailed):
        return error.reason.http_status in (400, 404, 405, 406, 415, 501)
    supported = _supported(error)
    return not supported or any(str(version) < MODERN for version in supported)


def _broken(text: str) -> SessionClosed:
    return SessionClosed(CloseReason(broken=text, text=text))
