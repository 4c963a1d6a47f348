"""HTTP clients that share one TLS context, trust store and proxy setting."""

from __future__ import annotations

import importlib
import logging
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from core.errors import InternalError
from core.net.proxies import proxy_routes
from core.net.tls import trust_context

if TYPE_CHECKING:
    import httpx

# What `core.net.body` can unpack within bounds.
ACCEPT_ENCODING = "gzip, deflate"
CONNECT_TIMEOUT = 15.0


class HttpClients:
    """The `HttpFactory` of a real core.

    The TLS context is made once, in a thread, at the first client: it costs 20–40 ms.
    Clients follow no redirects, read no `.netrc` and keep at most eight idle connections.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._context: ssl.SSLContext | None = None
        self._making = anyio.Lock()
        # httpx logs each URL, user info and query included.
        for name in ("httpx", "httpcore"):
            logging.getLogger(name).setLevel(logging.WARNING)

    async def client(self, *, timeout: float = 30.0) -> httpx.AsyncClient:
        """A new client; whoever asks closes it.

        Args:
            timeout: Seconds for each read and each write; connecting has 15 s at most.

        Raises:
            InternalError: A proxy variable names a proxy that cannot be used. One that speaks
                SOCKS fails the requests that would go through it, with these words.
        """
        async with self._making:
            if self._context is None:
                self._context = await anyio.to_thread.run_sync(self._make)
        return self._client(self._context, timeout)

    def _make(self) -> ssl.SSLContext:
        importlib.import_module("httpx")  # takes 100 ms: here it holds up nobody
        return trust_context(self._environ)

    def _client(self, context: ssl.SSLContext, timeout: float) -> httpx.AsyncClient:
        import httpx

        from core.net.socks import is_socks, refused_socks

        limits = httpx.Limits(max_connections=None, max_keepalive_connections=8)

        def through(proxy: str) -> httpx.AsyncBaseTransport:
            if is_socks(proxy):
                return refused_socks()
            return httpx.AsyncHTTPTransport(verify=context, limits=limits, proxy=proxy)

        try:
            mounts = {
                pattern: through(proxy) if proxy else None
                for pattern, proxy in proxy_routes(self._environ).items()
            }
        except (ImportError, ValueError, httpx.InvalidURL):
            # The text of these may hold the proxy's password.
            raise InternalError("The proxy that the environment names cannot be used") from None
        return httpx.AsyncClient(
            verify=context,
            mounts=mounts,
            timeout=httpx.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT), pool=None),
            limits=limits,
            headers={"accept-encoding": ACCEPT_ENCODING},
            follow_redirects=False,
            trust_env=False,
        )
