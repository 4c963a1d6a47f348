"""The redirect's end on this machine: a listener that answers one browser and tells it the truth.

Source: RFC 8252 section 7.3 (loopback redirects), RFC 9700 section 4 (mix-up, injection).
"""

from __future__ import annotations

import errno
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from secrets import token_urlsafe
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import anyio
import anyio.to_thread
from anyio.abc import SocketAttribute, SocketListener, SocketStream

from core.auth.grants import callback_id
from core.auth.guard import is_loopback
from core.auth.port_holder import port_holder
from core.errors import CoreError

if TYPE_CHECKING:
    import httpx

DONE = "Authentication complete. You may close this window."
INVALID = "Invalid OAuth callback"
USED = "This address works once. Open the page from Jackfield again."
_BEGIN = "/begin/"
_PHRASES = {200: "OK", 302: "Found", 400: "Bad Request"}
_MOST_BYTES = 16 << 10
_READ_LIMIT = 5.0
_WRITE_LIMIT = 1.0
_HEADERS = (
    "content-type: text/plain; charset=utf-8\r\n"
    "content-security-policy: default-src 'none'\r\n"
    "referrer-policy: no-referrer\r\n"
    "cache-control: no-store\r\n"
    "x-content-type-options: nosniff\r\n"
    "connection: close\r\n"
)


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """What a redirect brought along."""

    code: str = ""
    state: str = ""
    issuer: str = ""
    error: str = ""
    description: str = ""

    @staticmethod
    def of_query(query: str) -> Arrival:
        """Members that come more than once count as absent (RFC 6749 section 3.1)."""
        members = parse_qs(query, keep_blank_values=True)
        once = {name: values[0] for name, values in members.items() if len(values) == 1}
        return Arrival(
            code=once.get("code", ""),
            state=once.get("state", ""),
            issuer=once.get("iss", ""),
            error=once.get("error", ""),
            description=once.get("error_description", ""),
        )


Arrived = Callable[[Arrival], Awaitable[tuple[int, str]]]
"""What the browser is told: status and text, or 302 and where to go."""


@dataclass(kw_only=True)
class Redirect:
    """Where the browser is sent back to.

    Attributes:
        uri: As the authorization server is told.
        bound: Port that is listened on.
        everywhere: The listener takes connections from other machines.
        page: Where `link` leads.
    """

    uri: str
    listener: SocketListener
    everywhere: bool
    bound: int
    page: Callable[[], str] = field(default=lambda: "", repr=False)
    _links: set[str] = field(default_factory=set[str], repr=False)
    _busy: int = 0
    _idle: anyio.Event = field(default_factory=anyio.Event)

    def link(self) -> str:
        """An address of ours that leads to the page, once.

        What a browser is started with can be seen by every user of the machine; the page's own
        address holds what ties the answer to this sign-in.
        """
        word = token_urlsafe(16)
        self._links.add(word)
        return f"http://127.0.0.1:{self.bound}{_BEGIN}{word}"

    async def serve(self, arrived: Arrived) -> None:
        """Answer until cancelled; requests that are not the redirect end nothing."""

        async def one(stream: SocketStream) -> None:
            async with stream:
                request = b""
                with anyio.move_on_after(_READ_LIMIT):
                    request = await _request(stream)
                self._busy += 1
                try:
                    status, text = await self._answer(request, arrived)
                    with anyio.move_on_after(_WRITE_LIMIT, shield=True):
                        await _respond(stream, status, text)
                finally:
                    self._busy -= 1
                    self._idle.set()

        await self.listener.serve(_quietly(one))

    async def _answer(self, request: bytes, arrived: Arrived) -> tuple[int, str]:
        path, query = _asked(request, self._hosts())
        if path.startswith(_BEGIN):
            word = path.removeprefix(_BEGIN)
            if word not in self._links:
                return 400, USED
            self._links.discard(word)
            return 302, self.page()
        if self.everywhere:
            path, query = _asked(request, None)
        if path != (urlsplit(self.uri).path or "/"):
            return 400, INVALID
        return await arrived(Arrival.of_query(query))

    async def settle(self) -> None:
        """Wait until whoever came has got a page; a second at most."""
        with anyio.move_on_after(_WRITE_LIMIT):
            while self._busy:
                self._idle = anyio.Event()
                await self._idle.wait()

    def _hosts(self) -> frozenset[str]:
        port = self.bound
        named = urlsplit(self.uri).netloc.lower()
        return frozenset({f"127.0.0.1:{port}", f"localhost:{port}", named})


def _quietly(
    one: Callable[[SocketStream], Awaitable[None]],
) -> Callable[[SocketStream], Awaitable[None]]:
    async def handle(stream: SocketStream) -> None:
        try:
            await one(stream)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream):
            pass  # the browser went away

    return handle


async def _request(stream: SocketStream) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head and len(head) < _MOST_BYTES:
        head += await stream.receive(_MOST_BYTES)
    return head


def _asked(request: bytes, hosts: frozenset[str] | None) -> tuple[str, str]:
    """Path and query of a GET for one of the hosts; empty for any other request."""
    lines = request.split(b"\r\n\r\n", 1)[0].decode("latin-1").split("\r\n")
    parts = lines[0].split(" ")
    if len(parts) != 3 or parts[0] != "GET":
        return "", ""
    named = [line.partition(":")[2].strip() for line in lines[1:] if line.lower()[:5] == "host:"]
    if hosts is not None and (len(named) != 1 or named[0].lower() not in hosts):
        return "", ""
    path, _, query = parts[1].partition("?")
    return path, query


async def _respond(stream: SocketStream, status: int, text: str) -> None:
    where, body = (f"location: {text}\r\n", b"") if status == 302 else ("", text.encode())
    head = (
        f"HTTP/1.1 {status} {_PHRASES[status]}\r\n{_HEADERS}{where}"
        f"content-length: {len(body)}\r\n\r\n"
    )
    await stream.send(head.encode() + body)
    await stream.send_eof()


async def listen(
    server: str, *, url: str | None, port: int | None, plain_path: bool, wanted: int | None = None
) -> Redirect:
    """Bind before the URL is built.

    Args:
        server: URL of the MCP server, as configured.
        url, port: As configured, or None.
        plain_path: The answer names its issuer, so that the path need not tell servers apart.
        wanted: A port that would be good to have; another one does too.

    Raises:
        CoreError: The settings are wrong or the port is taken; in the wire's words.
    """
    if port == 0:
        raise CoreError("invalid MCP OAuth callback port `0`: port must be between 1 and 65535")
    configured = _configured(url)
    everywhere = configured is not None and not is_loopback(configured.host)
    host = "0.0.0.0" if everywhere else "127.0.0.1"
    listener = await _bind(host, port, wanted)
    bound = listener.extra(SocketAttribute.local_port)
    tail = "" if plain_path else f"/{callback_id(server)}"
    if configured is None:
        uri = f"http://127.0.0.1:{bound}/callback{tail}"
    else:
        uri = _extended(configured, tail, bound)
    return Redirect(uri=uri, listener=listener, everywhere=everywhere, bound=bound)


async def _bind(host: str, port: int | None, wanted: int | None) -> SocketListener:
    for each in (port,) if port else (wanted, 0) if wanted else (0,):
        try:
            made = await anyio.create_tcp_listener(local_host=host, local_port=each or 0)
            return made.listeners[0]  # type: ignore[return-value]
        except OSError as error:
            if each == wanted and port is None:
                continue
            taken = error.errno == errno.EADDRINUSE
            text = "Address in use" if taken else "Cannot assign requested address"
            holder = await anyio.to_thread.run_sync(port_holder, each or 0) if taken else ""
            raise CoreError(
                f"{text} (os error {error.errno})",
                hint=f"port {each} is used by {holder or 'another program'}" if taken else "",
            ) from None
    raise CoreError("no port is free")


def _configured(url: str | None) -> httpx.URL | None:
    import httpx

    if url is None:
        return None
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = None
    if parsed is None or parsed.scheme not in ("http", "https") or not parsed.host:
        raise CoreError(f"invalid MCP OAuth callback URL `{url}`")
    return parsed


def _extended(url: httpx.URL, tail: str, port: int) -> str:
    """A loopback redirect may come with any port (RFC 8252): it gets ours when it has none."""
    path = url.path.rstrip("/")
    if not path.endswith(tail):
        path += tail
    if is_loopback(url.host) and url.port is None and url.scheme == "http":
        url = url.copy_with(port=port)
    return str(url.copy_with(raw_path=path.encode() + (b"?" + url.query if url.query else b"")))
