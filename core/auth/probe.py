"""Does a server offer OAuth? Asked without signing in, and without changing anything.

Source: RFC 9728 (protected resource metadata), RFC 8414 and OpenID Connect Discovery
(authorization server metadata); which places are looked at, and what counts as undecided, was
observed in Codex 0.171.0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import anyio

from core.errors import CoreError
from core.net.body import BodyUnreadable, read_capped
from core.ports import Clock, HttpFactory

if TYPE_CHECKING:
    import httpx

LIMIT = 5.0
"""Seconds for all requests of one probe together."""
KEPT, KEPT_UNDECIDED = 600.0, 30.0
_VERSION = {"mcp-protocol-version": "2024-11-05"}
_RESOURCE = "/.well-known/oauth-protected-resource"
_SERVER, _OPENID = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
_MOST_BYTES = 1 << 20
_MOST_REDIRECTS = 3
_METADATA_PARAMETER = re.compile(r'resource_metadata\s*=\s*(?:"([^"]*)"|([^\s,"]+))', re.IGNORECASE)


class _Undecided(Exception):
    """Nobody can say: no answer, a failing server, metadata that contradict themselves."""


@dataclass
class _Known:
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    answer: bool | None = None
    until: float = 0.0


class MetadataProbe:
    """The `AuthProbe` of a core."""

    def __init__(self, http: HttpFactory, clock: Clock) -> None:
        self._http, self._clock = http, clock
        self._known: dict[str, _Known] = {}

    async def offers_oauth(self, url: str, headers: Mapping[str, str]) -> bool | None:
        """See `core.seams.AuthProbe`."""
        known = self._known.setdefault(url, _Known())
        async with known.lock:
            if known.until <= self._clock.monotonic():
                known.answer = await self._decide(url, headers)
                kept = KEPT_UNDECIDED if known.answer is None else KEPT
                known.until = self._clock.monotonic() + kept
            return known.answer

    def forget(self, url: str) -> None:
        """See `core.seams.AuthProbe`."""
        if known := self._known.get(url):
            known.until = 0.0

    async def _decide(self, url: str, headers: Mapping[str, str]) -> bool | None:
        import httpx

        try:
            place = httpx.URL(url)
            if place.scheme not in ("http", "https") or not place.host:
                return None
            with anyio.fail_after(LIMIT):
                async with await self._http.client(timeout=LIMIT) as client:
                    return await _Round(client, place, headers).found()
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, UnicodeError):
            return None
        except (_Undecided, TimeoutError, CoreError):
            return None


class _Round:
    """One walk over the places where metadata may lie."""

    def __init__(
        self, client: httpx.AsyncClient, url: httpx.URL, headers: Mapping[str, str]
    ) -> None:
        self._client, self._headers = client, headers
        self._url = url.copy_with(fragment=None)

    async def found(self) -> bool:
        challenge = await self._challenge()
        servers = await self._servers(challenge)
        for server in servers or [self._url.copy_with(query=None)]:
            if await self._metadata(server, named=bool(servers)):
                return True
        return False

    async def _challenge(self) -> str:
        """The `WWW-Authenticate` of the server itself; "" when it asks for nothing."""
        response, _ = await self._get(self._url)
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            raise _Undecided  # it never ends, so it says nothing about what would come
        if response.status_code != 401:
            return ""
        return ", ".join(response.headers.get_list("www-authenticate"))

    async def _servers(self, challenge: str) -> list[httpx.URL]:
        """Authorization servers that the protected resource names."""
        for place in self._resource_places(challenge):
            _, metadata = await self._get(place)
            named = metadata.get("authorization_servers") if metadata else None
            if isinstance(named, list):
                texts = [each for each in cast("list[Any]", named) if isinstance(each, str)]
                return [place.join(text) for text in texts]
        return []

    def _resource_places(self, challenge: str) -> list[httpx.URL]:
        if told := _METADATA_PARAMETER.search(challenge):
            return [self._url.join(told[1] or told[2] or "")]
        path = self._url.path.rstrip("/")
        paths = [_RESOURCE + path, path + _RESOURCE, _RESOURCE]
        return [self._url.copy_with(raw_path=each.encode()) for each in dict.fromkeys(paths)]

    async def _metadata(self, server: httpx.URL, *, named: bool) -> bool:
        path = server.path.rstrip("/")
        paths = [_SERVER + path, _OPENID + path, path + _OPENID, _SERVER]
        for each in dict.fromkeys(paths):
            place = server.copy_with(raw_path=each.encode())
            _, metadata = await self._get(place)
            if metadata and "authorization_endpoint" in metadata and "token_endpoint" in metadata:
                self._check_issuer(metadata.get("issuer"), server, named=named)
                return True
        return False

    def _check_issuer(self, issuer: object, server: httpx.URL, *, named: bool) -> None:
        if not isinstance(issuer, str):
            return
        told = server.join(issuer)
        fits = (
            str(told).rstrip("/") == str(server).rstrip("/")
            if named
            else _origin(told) == _origin(server)
        )
        if not fits:
            raise _Undecided

    async def _get(self, url: httpx.URL) -> tuple[httpx.Response, dict[str, Any] | None]:
        """The answer, and its JSON object when it is a good one."""
        for _ in range(_MOST_REDIRECTS + 1):
            own = _origin(url) == _origin(self._url)
            headers = {**_VERSION, **(self._headers if own else {})}
            request = self._client.build_request("GET", url, headers=headers)
            response = await self._client.send(request, stream=True)
            try:
                if not response.has_redirect_location:
                    return response, await _object_of(response)
                there = url.join(response.headers["location"])
                if _origin(there) != _origin(url):
                    return response, None
                url = there
            finally:
                await response.aclose()
        raise _Undecided


async def _object_of(response: httpx.Response) -> dict[str, Any] | None:
    if response.status_code >= 500:
        raise _Undecided
    if not response.is_success:
        return None
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        return None
    try:
        value: Any = json.loads(await read_capped(response, _MOST_BYTES))
    except (BodyUnreadable, ValueError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    port = url.port or {"http": 80, "https": 443}.get(url.scheme)
    return url.scheme, url.host.lower(), port
