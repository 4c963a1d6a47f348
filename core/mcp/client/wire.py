"""HTTP below both HTTP transports: headers, authorization, redirects, refusals."""

from __future__ import annotations

import base64
import errno as errors
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote

from core.mcp.client.session import CloseReason, HttpFailed, SessionClosed
from core.net.body import excerpt
from core.net.failures import net_failure

if TYPE_CHECKING:
    import httpx

Authorize = Callable[[str | None], Awaitable[str | None]]
"""Given None: the bearer token to use now, or None. Given a token that was answered with 401:
one that may be better, or None. May raise CoreError, which fails the request."""

Refused = Callable[[int, Sequence[str]], Awaitable[None]]
"""Told the status and the challenges of an answer that is no success."""

Redirects = Literal["same-origin", "same-origin-anonymous", "none"]

MESSAGE_LIMIT = 64 << 20
# Configuration cannot speak for the protocol or for HTTP itself.
_NOT_CONFIGURABLE = frozenset(
    {
        "connection",
        "content-length",
        "last-event-id",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "transfer-encoding",
    }
)
_MOST_REDIRECTS = 5
_SEND_TIMEOUT = 30.0
_CONNECT_TIMEOUT = 15.0


@dataclass(frozen=True, kw_only=True)
class HttpTarget:
    """Where to connect.

    Attributes:
        url: User info in it becomes `Authorization: Basic`.
        headers: Sent with each request; those of the protocol and of `authorize` win.
        authorize: See `Authorize`; None = never a bearer token.
        refused: See `Refused`; asked about answers with a challenge only.
        redirects: `same-origin` keeps all headers; `same-origin-anonymous` follows only while
            neither headers nor authorization go along; others are refused.
        legacy_sse: Try the HTTP+SSE transport of 2024-11-05 after 400, 404 or 405.
        message_limit: Bytes of one answer or event.
        retry_delays: Seconds before each further try of the first request, after 5xx and
            connection errors.
    """

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    authorize: Authorize | None = field(default=None, repr=False)
    refused: Refused | None = field(default=None, repr=False)
    redirects: Redirects = "same-origin"
    legacy_sse: bool = False
    message_limit: int = MESSAGE_LIMIT
    retry_delays: tuple[float, ...] = (0.25, 1.0)


class Wire:
    """Sends requests to one server. Holds no lock while it does."""

    def __init__(self, client: httpx.AsyncClient, target: HttpTarget, user_agent: str) -> None:
        import httpx

        self._client, self._target = client, target
        self.redirects: Redirects = target.redirects
        try:
            url = httpx.URL(target.url)
        except httpx.InvalidURL:
            raise SessionClosed(_invalid("The URL is not valid")) from None
        if url.scheme not in ("http", "https") or not url.host:
            raise SessionClosed(_invalid("The URL is not an http or https URL"))
        self.url = url.copy_with(username=None, password=None, fragment=None)
        self.host = self.url.netloc.decode("ascii", "replace")
        self._fixed = httpx.Headers({"user-agent": user_agent})
        if url.userinfo:
            self._fixed["authorization"] = _basic(url)
        try:
            self._fixed.update(
                {
                    name: value
                    for name, value in target.headers.items()
                    if name.lower() not in _NOT_CONFIGURABLE
                }
            )
        except UnicodeError:
            raise SessionClosed(_invalid("A header is not valid", self.host)) from None
        self._rejected: str | None = None

    @asynccontextmanager
    async def send(
        self,
        verb: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        url: httpx.URL | None = None,
        replay: bool = True,
    ) -> AsyncGenerator[httpx.Response]:
        """One request; its streamed answer, which is 2xx.

        Args:
            headers: Of the protocol; they win over the configured ones.
            url: Another one than the server's own, on the same origin.
            replay: May be sent a second time with another token after 401.

        Raises:
            HttpFailed: Any other status, a redirect that is not followed, or no answer at all.
        """
        import httpx

        token = await self._token()
        try:
            response = await self._follow(verb, headers, body, url or self.url, token)
            try:
                if response.status_code == 401 and token is not None:
                    better = await self._better_than(token, ask=replay)
                    if better is not None:
                        await response.aclose()
                        response = await self._follow(verb, headers, body, url or self.url, better)
                if not response.is_success:
                    reason = await self.refusal(response)
                    if reason.challenge and self._target.refused is not None:
                        await self._target.refused(response.status_code, reason.challenge)
                    raise HttpFailed(reason)
                yield response
            finally:
                await response.aclose()
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise HttpFailed(self.lost(error)) from None
        except UnicodeError:
            text = f"{self.host}: a header is not valid"
            raise HttpFailed(_invalid(text, self.host)) from None

    def lost(self, error: Exception) -> CloseReason:
        """Why there is no answer."""
        failure = net_failure(error)
        text = f"{self.host}: {failure.text}"
        return CloseReason(errno=failure.errno, text=text, host=self.host)

    def broken(self, text: str, body: str = "") -> CloseReason:
        """An answer that is no MCP."""
        return CloseReason(broken=text, text=f"{self.host} {text}", host=self.host, body=body)

    async def refusal(self, response: httpx.Response) -> CloseReason:
        """All that an error answer says."""
        return CloseReason(
            http_status=response.status_code,
            text=f"{self.host} answered {response.status_code} {response.reason_phrase}".rstrip(),
            host=self.host,
            challenge=tuple(response.headers.get_list("www-authenticate")),
            retry_after=_retry_after(response.headers.get("retry-after", "")),
            body=await excerpt(response),
        )

    async def _token(self) -> str | None:
        if self._target.authorize is None:
            return None
        rejected, self._rejected = self._rejected, None
        return await self._target.authorize(rejected)

    async def _better_than(self, token: str, *, ask: bool) -> str | None:
        """A token to try again with; without asking, the next request asks."""
        if not ask or self._target.authorize is None:
            self._rejected = token
            return None
        better = await self._target.authorize(token)
        return better if better != token else None

    async def _follow(
        self,
        verb: str,
        headers: Mapping[str, str],
        body: bytes | None,
        url: httpx.URL,
        token: str | None,
    ) -> httpx.Response:
        import httpx

        sent = httpx.Headers(self._fixed)
        sent.update(dict(headers))
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        timeout = httpx.Timeout(
            None, connect=_CONNECT_TIMEOUT, write=_SEND_TIMEOUT, pool=_SEND_TIMEOUT
        )
        followed = 0
        while True:
            if self._client.is_closed:
                raise SessionClosed(CloseReason(text="The session was closed", host=self.host))
            request = self._client.build_request(
                verb, url, headers=sent, content=body, timeout=timeout
            )
            response = await self._client.send(request, stream=True)
            if not response.has_redirect_location:
                return response
            try:
                if followed == _MOST_REDIRECTS:
                    raise HttpFailed(self._not_followed(response, f"{followed} came before it"))
                url = self._next(response, verb, anonymous=self._is_anonymous(token))
                followed += 1
            finally:
                await response.aclose()

    def _is_anonymous(self, token: str | None) -> bool:
        return token is None and not self._target.headers and "authorization" not in self._fixed

    def _next(self, response: httpx.Response, verb: str, *, anonymous: bool) -> httpx.URL:
        """Where a redirect leads, if it may be followed."""
        there = response.request.url.join(response.headers["location"])
        policy, why = self.redirects, ""
        if origin(there) != origin(self.url):
            why = f"it leads to another origin, {_origin_text(there)}"
        elif policy == "none":
            why = "redirects are not followed here"
        elif policy == "same-origin-anonymous" and not anonymous:
            why = "configured headers would go along"
        elif verb != "GET" and response.status_code not in (307, 308):
            why = f"{response.status_code} would turn {verb} into GET"
        if why:
            raise HttpFailed(self._not_followed(response, why))
        return there.copy_with(username=None, password=None)

    def _not_followed(self, response: httpx.Response, why: str) -> CloseReason:
        text = f"{self.host} answered {response.status_code} with a redirect that is not followed"
        return CloseReason(http_status=response.status_code, text=f"{text}: {why}", host=self.host)


def mirrored_headers(method: str, params: Mapping[str, Any] | None) -> dict[str, str]:
    """The `Mcp-*` headers of a 2026-07-28 request (MCP 2026-07-28, Streamable HTTP)."""
    headers = {"mcp-method": method}
    key = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}.get(method)
    name = (params or {}).get(key) if key else None
    if isinstance(name, str):
        headers["mcp-name"] = _header_value(name)
    return headers


def _header_value(text: str) -> str:
    plain = all(" " <= char <= "~" for char in text) and text == text.strip()
    if plain and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode()}?="


def _basic(url: httpx.URL) -> str:
    userinfo = unquote(url.userinfo.decode("ascii", "replace"))
    user, _, password = userinfo.partition(":")
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """Scheme, host and port: what must stay the same where headers go along."""
    port = url.port or {"http": 80, "https": 443}.get(url.scheme)
    return url.scheme, url.host.lower(), port


def _origin_text(url: httpx.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}"


def _retry_after(value: str) -> float | None:
    if value.strip().isdigit():
        return float(value[:9])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _invalid(text: str, host: str = "") -> CloseReason:
    return CloseReason(errno=errors.EINVAL, text=text, host=host)
