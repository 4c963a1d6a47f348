"""Which authorization server guards an MCP server, and what it can do.

Source: RFC 9728 (protected resource metadata), RFC 8414 and OpenID Connect Discovery
(authorization server metadata); places and order as observed in Codex 0.171.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from core.auth.outgoing import Answer, Outgoing, Unanswered, origin, plain
from core.errors import CoreError
from core.net.challenge import parameter, scopes

if TYPE_CHECKING:
    import httpx

MOST_SERVERS = 16
_RESOURCE = "/.well-known/oauth-protected-resource"
_SERVER, _OPENID = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"


class DiscoveryFailed(CoreError):
    """Nobody can say who guards the server.

    Attributes:
        url: Of the place that failed.
        changed: The metadata name another issuer than they should.
        nobody: There is no trace of an authorization server.
    """

    def __init__(
        self,
        cause: str,
        url: str,
        *,
        changed: bool = False,
        nobody: bool = False,
        hint: str = "",
    ) -> None:
        super().__init__(
            f"Metadata error: OAuth metadata discovery failed for {url}\n  Caused by: {cause}",
            hint=hint,
        )
        self.cause, self.url, self.changed, self.nobody = cause, url, changed, nobody


@dataclass(frozen=True, kw_only=True)
class AuthServer:
    """Metadata of an authorization server (RFC 8414).

    Attributes:
        base: Its own address, to which its endpoints may be relative.
        assumed: There are no metadata; the endpoints are the customary ones.
        auth_methods, pkce: None where the metadata do not say.
    """

    base: str
    issuer: str | None
    authorization_endpoint: str
    token_endpoint: str
    registration_endpoint: str | None = None
    revocation_endpoint: str | None = None
    device_endpoint: str | None = None
    scopes: tuple[str, ...] = ()
    auth_methods: tuple[str, ...] | None = None
    pkce: tuple[str, ...] | None = None
    answers_iss: bool = False
    client_documents: bool = False
    assumed: bool = False


@dataclass(frozen=True, kw_only=True)
class Discovered:
    """All that was found out.

    Attributes:
        challenge_scopes: Of the server's 401, None when it named none.
        resource: As its metadata spell it, or None.
        resource_scopes: Of its metadata.
        servers: Authorization servers that it names; the first usable one is `server`.
        warnings: What is not as it should be, and does not keep us from going on.
    """

    server: AuthServer
    challenge_scopes: tuple[str, ...] | None = None
    resource: str | None = None
    resource_scopes: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=())


async def discover(out: Outgoing, url: httpx.URL, *, assume: bool) -> Discovered:
    """Look in all places, first success wins.

    Args:
        assume: Without metadata take the customary endpoints on the server's own origin.

    Raises:
        DiscoveryFailed: An answer is missing or cannot be right, or there is nothing.
    """
    try:
        return await _Walk(out, url.copy_with(fragment=None)).walk(assume=assume)
    except Unanswered as error:
        raise DiscoveryFailed(
            f"HTTP request failed: {error.message}", error.url, hint=error.hint
        ) from None


async def offers_oauth(out: Outgoing, url: httpx.URL) -> bool:
    """Whether there are metadata in any of the places.

    Raises:
        CoreError: Nobody can say: no answer, a failing server, metadata that contradict
            themselves, or a stream that never ends.
    """
    walk = _Walk(out, url.copy_with(fragment=None))
    own = _decided(await walk.ask())
    if own.endless:
        raise DiscoveryFailed("the answer never ends", own.url)
    return await walk.server(own) is not None


class _Walk:
    def __init__(self, out: Outgoing, url: httpx.URL) -> None:
        self._out, self._url = out, url
        self._warnings: list[str] = []
        self._refused = ""
        self._told: dict[str, Any] = {}
        self._named: tuple[str, ...] = ()

    async def walk(self, *, assume: bool) -> Discovered:
        own = await self.ask()
        server = await self.server(own)
        if server is None:
            if not assume:
                cause = "the server names no authorization server"
                raise DiscoveryFailed(
                    f"{cause} ({self._refused})" if self._refused else cause,
                    plain(self._url),
                    nobody=True,
                    hint="it may want a bearer token: set bearer_token_env_var",
                )
            server = _customary(self._url)
        told = self._told
        return Discovered(
            server=server,
            challenge_scopes=scopes(_challenge(own)),
            resource=_text(told.get("resource")),
            resource_scopes=texts(told.get("scopes_supported")),
            servers=self._named,
            warnings=tuple(self._warnings),
        )

    async def ask(self) -> Answer:
        """The server itself, which may answer with a challenge."""
        return await self._get(self._url)

    async def server(self, own: Answer) -> AuthServer | None:
        """The first authorization server with metadata, given the answer to `ask`."""
        self._told = await self._resource(_challenge(own)) or {}
        self._named = texts(self._told.get("authorization_servers"))[:MOST_SERVERS]
        return await self._first(self._named)

    async def _get(self, url: httpx.URL) -> Answer:
        answer = await self._out.get(url)
        self._refused = self._refused or answer.note
        return answer

    async def _resource(self, challenge: tuple[str, ...]) -> dict[str, Any] | None:
        for place in self._resource_places(challenge):
            answer = _decided(await self._get(place))
            value = answer.value if answer.ok else None
            if value is not None and texts(value.get("authorization_servers")):
                if _text(value.get("resource")) is None:
                    self._warnings.append("the metadata lack resource (RFC 9728)")
                return value
        return None

    def _resource_places(self, challenge: tuple[str, ...]) -> list[httpx.URL]:
        if told := parameter(challenge, "resource_metadata"):
            return [_joined(self._url, told)]
        path = self._url.path.rstrip("/")
        paths = [_RESOURCE + path, path + _RESOURCE, _RESOURCE]
        return [_at(self._url, each) for each in dict.fromkeys(paths)]

    async def _first(self, named: tuple[str, ...]) -> AuthServer | None:
        if not named:
            return await self._metadata(self._url.copy_with(query=None), expected=None)
        failed: CoreError | None = None
        for text in named:
            try:
                found = await self._metadata(_joined(self._url, text), expected=text)
            except (Unanswered, DiscoveryFailed) as error:
                failed = failed or error
                continue
            if found is not None:
                return found
        if failed is not None:
            raise failed
        return None

    async def _metadata(self, server: httpx.URL, *, expected: str | None) -> AuthServer | None:
        path = server.path.rstrip("/")
        paths = [_SERVER + path, _OPENID + path, path + _OPENID, _SERVER]
        for each in dict.fromkeys(paths):
            answer = _decided(await self._get(_at(server, each)))
            value = answer.value if answer.ok else None
            if value is None:
                continue
            if _text(value.get("authorization_endpoint")) and _text(value.get("token_endpoint")):
                self._check_issuer(_text(value.get("issuer")), server, expected, answer.url)
                return _server(value, str(server))
        return None

    def _check_issuer(
        self, issuer: str | None, server: httpx.URL, expected: str | None, place: str
    ) -> None:
        if issuer is None:
            return
        if expected is not None:
            if issuer.rstrip("/") != expected.rstrip("/"):
                cause = f"Authorization server issuer mismatch: expected {expected}, received "
                raise DiscoveryFailed(cause + issuer[:200], place, changed=True)
            if issuer != expected:
                self._warnings.append("the issuer differs from its own metadata by a final slash")
        elif origin(_joined(server, issuer)) != origin(server):
            cause = "OAuth authorization server issuer does not match authorization metadata origin"
            raise DiscoveryFailed(cause, place, changed=True)


def _decided(answer: Answer) -> Answer:
    if answer.status >= 500 or answer.status == 429:
        raise DiscoveryFailed(f"HTTP {answer.status} {answer.phrase}".rstrip(), answer.url)
    return answer


def _at(url: httpx.URL, path: str) -> httpx.URL:
    return url.copy_with(raw_path=path.encode())


def _server(value: Mapping[str, Any], base: str) -> AuthServer:
    methods: Any = value.get("token_endpoint_auth_methods_supported")
    pkce: Any = value.get("code_challenge_methods_supported")
    return AuthServer(
        base=base,
        issuer=_text(value.get("issuer")),
        authorization_endpoint=str(value["authorization_endpoint"]),
        token_endpoint=str(value["token_endpoint"]),
        registration_endpoint=_text(value.get("registration_endpoint")),
        revocation_endpoint=_text(value.get("revocation_endpoint")),
        device_endpoint=_text(value.get("device_authorization_endpoint")),
        scopes=texts(value.get("scopes_supported")),
        auth_methods=texts(methods) if isinstance(methods, list) else None,
        pkce=texts(pkce) if isinstance(pkce, list) else None,
        answers_iss=value.get("authorization_response_iss_parameter_supported") is True,
        client_documents=value.get("client_id_metadata_document_supported") is True,
    )


def _customary(url: httpx.URL) -> AuthServer:
    def at(path: str) -> str:
        return str(_at(url.copy_with(username=None, password=None), path))

    return AuthServer(
        base=at("/"),
        issuer=None,
        authorization_endpoint=at("/authorize"),
        token_endpoint=at("/token"),
        registration_endpoint=at("/register"),
        assumed=True,
    )


def _challenge(answer: Answer) -> tuple[str, ...]:
    return answer.challenges if answer.status == 401 else ()


def _joined(base: httpx.URL, text: str) -> httpx.URL:
    import httpx

    try:
        return base.join(text)
    except httpx.InvalidURL:
        raise DiscoveryFailed("it names what is no URL", plain(base)) from None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def texts(value: Any) -> tuple[str, ...]:
    """The texts of a JSON list."""
    if not isinstance(value, list):
        return ()
    return tuple(each for each in cast("list[Any]", value) if isinstance(each, str))
