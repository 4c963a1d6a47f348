"""Where a stranger's metadata may send us: never into networks that only we can reach."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from core.errors import CoreError

if TYPE_CHECKING:
    import httpx

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Addresses of a host name. Raises OSError."""

_METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "instance-data"})
_NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))


class Refused(CoreError):
    """An address that is not contacted. Attributes: host: Which one, to be allowed by name."""

    def __init__(self, message: str, host: str = "") -> None:
        super().__init__(message, hint="allow the host for this server" if host else "")
        self.host = host


@dataclass(frozen=True)
class Admitted:
    """`address`: what to connect to in place of the name, or ""; `note`: what was not checked."""

    address: str = ""
    note: str = ""


async def resolve(host: str, port: int) -> list[str]:
    """Ask the system. Raises OSError."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Guard:
    """Judges URLs that were discovered on behalf of one MCP server.

    Source: RFC 9728 section 7.7 and the MCP security best practices on SSRF.

    Args:
        url: Of the MCP server, which the person has named: its host is not judged.
        allowed: Further hosts that the person has named for it.
        proxied: Whether a proxy connects to a URL; then only names and literals are judged.
    """

    def __init__(
        self,
        url: httpx.URL,
        *,
        resolve: Resolve = resolve,
        allowed: Collection[str] = (),
        proxied: Callable[[httpx.URL], bool] = lambda url: False,
    ) -> None:
        self._url, self._resolve, self._proxied = url, resolve, proxied
        self._allowed = frozenset(host.lower() for host in allowed) | {url.host.lower()}
        self._local = is_loopback(url.host)

    def check_form(self, url: httpx.URL) -> None:
        """What needs no resolver: also for pages that a browser is to open. Raises Refused."""
        if url.scheme not in ("http", "https") or not url.host:
            raise Refused(f"a {url.scheme or 'relative'} URL is no address of an OAuth server")
        if url.userinfo:
            raise Refused(f"the URL at {url.host} carries a user name")
        if url.scheme == "http" and not (self._local and is_loopback(url.host)):
            raise Refused(f"{url.host} is asked for over plain http")

    async def admit(self, url: httpx.URL) -> Admitted:
        """Where to connect for `url`. Raises Refused."""
        own = (url.scheme, url.host, url.port) == (self._url.scheme, self._url.host, self._url.port)
        if not own:
            self.check_form(url)
        elif url.userinfo:
            raise Refused(f"the URL at {url.host} carries a user name")
        host = url.host.lower().rstrip(".")
        if host in self._allowed:
            return Admitted()
        if self._local and is_loopback(host):
            return Admitted()
        if host in _METADATA_NAMES:
            raise Refused(f"{host} is a metadata service", host)
        literal = literal_address(host)
        if literal is not None:
            self._check(literal, host)
            return Admitted()
        if self._proxied(url):
            return Admitted(note="through a proxy: only the name was checked")
        return Admitted(await self._address(host, url.port or 443))

    async def _address(self, host: str, port: int) -> str:
        try:
            found = await self._resolve(host, port)
        except (OSError, UnicodeError):
            found = []
        if not found:
            raise Refused(f"the host name {host} is not known")
        for text in found:
            self._check(ipaddress.ip_address(text.partition("%")[0]), host)
        return found[0]

    def _check(self, address: Address, host: str) -> None:
        if not is_public(address):
            shown = "" if host == str(address) else f" ({address})"
            raise Refused(f"{host}{shown} is no public address", host)


def is_public(address: Address) -> bool:
    """Reachable by everybody; what it embeds counts too."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if any(address in network for network in _NAT64):
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if address.teredo is not None:
            return False
        if inner is not None:
            return is_public(inner)
        if address.is_site_local:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def literal_address(host: str) -> Address | None:
    """An address as URLs spell it, in the old spellings of IPv4 too; None for a name."""
    try:
        return ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host)) if host else None
    except (OSError, UnicodeError):
        return None


def is_loopback(host: str) -> bool:
    """This machine, by literal or by the name that always means it."""
    host = host.lower().rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    literal = literal_address(host)
    return literal is not None and literal.is_loopback
