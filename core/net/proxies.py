"""Which proxy serves which URL, by the variables that everybody knows."""

from __future__ import annotations

import ipaddress
import sys
import urllib.request
from collections.abc import Mapping

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def proxy_routes(environ: Mapping[str, str]) -> dict[str, str | None]:
    """URL patterns as httpx mounts them, each with its proxy or None for a direct connection.

    `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, the small spelling first. Loopback
    is never sent to a proxy, which would be another machine. Without any variable, macOS and
    Windows settings count.
    """
    found = {scheme: _variable(environ, f"{scheme}_proxy") for scheme in ("http", "https", "all")}
    if not any(found.values()) and sys.platform in ("darwin", "win32"):
        system = urllib.request.getproxies()
        found = {scheme: system.get(scheme, "") for scheme in found}
    proxies: dict[str, str | None] = {
        f"{scheme}://": proxy if "://" in proxy else f"http://{proxy}"
        for scheme, proxy in found.items()
        if proxy
    }
    exempt = [host.strip() for host in _variable(environ, "no_proxy").split(",")]
    if not proxies or "*" in exempt:
        return {}
    direct = [f"all://{host}" for host in _LOOPBACK]
    direct += [_pattern(host) for host in exempt if host]
    return proxies | dict.fromkeys(direct)


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.upper()) or ""


def _pattern(host: str) -> str:
    if "://" in host:
        return host
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        # As curl has it, `example.com` exempts what is below it too.
        return f"all://{host}" if host == "localhost" else f"all://*{host}"
    return f"all://[{address}]" if address.version == 6 else f"all://{address}"
