"""Proxies that speak SOCKS: refused in words, where they would be used."""

from __future__ import annotations

import httpx

from core.errors import InternalError

NOT_SUPPORTED = "SOCKS proxies are not supported"
_HINT = "name an http:// proxy in HTTPS_PROXY, or exempt the host in NO_PROXY"


def is_socks(proxy: str) -> bool:
    """Whether a proxy is to be spoken to in SOCKS, of any version."""
    return proxy.partition("://")[0].lower().startswith("socks")


class RefusedSocks(httpx.AsyncBaseTransport):
    """Fails every request; loopback and exempt hosts do not come here."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises InternalError."""
        raise InternalError(NOT_SUPPORTED, hint=_HINT)
