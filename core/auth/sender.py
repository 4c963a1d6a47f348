"""Makes what sends the requests of a sign-in, for one server at a time."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.auth.guard import Guard, Resolve, resolve
from core.auth.outgoing import LIMIT, Outgoing, Step
from core.errors import CoreError
from core.net.proxies import proxy_routes
from core.ports import HttpFactory
from core.seams import SignInTarget

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, kw_only=True)
class Sender:
    """`environ` tells the proxies; `resolve` is asked for the addresses of strangers."""

    http: HttpFactory
    environ: Mapping[str, str]
    resolve: Resolve = resolve

    async def open(
        self,
        target: SignInTarget,
        *,
        trail: list[Step] | None = None,
        allowed: Collection[str] = (),
    ) -> AsyncGenerator[Outgoing]:
        """One, closed afterwards.

        Args:
            trail: Gets all that is asked and answered.
            allowed: Hosts that the guard lets pass.

        Raises:
            CoreError: The URL of the server is none.
        """
        import httpx

        url = server_url(target)
        guard = Guard(url, resolve=self.resolve, allowed=allowed, proxied=self._proxied())
        async with await self.http.client(timeout=LIMIT) as client:
            yield Outgoing(
                client,
                guard,
                url,
                headers=_headers(target, httpx.URL(target.url)),
                trail=[] if trail is None else trail,
                redirects=target.redirects,
            )

    def _proxied(self) -> _Proxied:
        return _Proxied(proxy_routes(self.environ))


class _Proxied:
    """Whether any proxy may serve a URL; where some hosts are exempt, those that are not."""

    def __init__(self, routes: Mapping[str, str | None]) -> None:
        self._schemes = {pattern.partition("://")[0] for pattern, proxy in routes.items() if proxy}
        self._direct = [pattern.partition("://")[2] for pattern, p in routes.items() if p is None]

    def __call__(self, url: httpx.URL) -> bool:
        if not self._schemes & {url.scheme, "all"}:
            return False
        return not any(_matches(url.host, pattern) for pattern in self._direct)


def _matches(host: str, pattern: str) -> bool:
    if pattern.startswith("*"):
        bare = pattern[1:].lstrip(".")
        return host == bare or host.endswith(f".{bare}")
    return host == pattern.strip("[]")


def server_url(target: SignInTarget) -> httpx.URL:
    """Without user info, which is sent as a header. Raises CoreError for what is no URL."""
    import httpx

    try:
        url = httpx.URL(target.url)
    except httpx.InvalidURL:
        raise CoreError("The URL is not valid") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise CoreError("The URL is not an http or https URL")
    return url.copy_with(username=None, password=None, fragment=None)


def _headers(target: SignInTarget, url: httpx.URL) -> dict[str, str]:
    import httpx

    headers = dict(target.headers)
    if url.userinfo and not any(name.lower() == "authorization" for name in headers):
        basic = httpx.BasicAuth(url.username, url.password)
        request = next(basic.auth_flow(httpx.Request("GET", url)))
        headers["authorization"] = request.headers["authorization"]
    return headers
