"""Proxies that speak SOCKS: refused in words, where they would be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import InternalError

if TYPE_CHECKING:
    import httpx

NOT_SUPPORTED = "SOCKS proxies are not supported"
_HINT = "name an http:// proxy in HTTPS_PROXY, or exempt the host in NO_PROXY"


def is_socks(proxy: str) -> bool:
    """Whether a proxy is to be spoken to in SOCKS, of any version."""
    return proxy.partition("://")[0].lower().startswith("socks")


def refused_socks() -> httpx.AsyncBaseTransport:
    """What fails every request with InternalError; loopback and exempt hosts do not come here."""
    from httpx import AsyncBaseTransport

    class Refused(AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            raise InternalError(NOT_SUPPORTED, hint=_HINT)

    return Refused()
