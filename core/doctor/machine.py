"""What lies around: clock, spelling of text, proxies, certificates, the keyring."""

from __future__ import annotations

import codecs
import os
from collections.abc import AsyncGenerator, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from core.errors import CoreError
from core.net.proxies import proxy_routes
from core.ports import Deps, SecretStore
from core.protocol.facts import Evidence
from core.protocol.jackfield_doctor import Area, Check, Verdict

BUILT = 1_790_000_000.0
"""September 2026: a clock that is before this version was made is wrong."""
PROBE = ("jackfield", "doctor")
CA_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE")


def machine_checks(deps: Deps) -> Iterator[Check]:
    """Of the clock and the locale."""
    if deps.clock.now() < BUILT:
        yield _check(
            "machine.clock", "machine", "fault", "the clock is years behind",
            fix="set it: sign-ins and certificates are refused until then",
        )  # fmt: skip
    environ = deps.environ
    spelled = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    if not _is_utf8(spelled):
        yield _check(
            "machine.locale", "machine", "note",
            f"the locale {spelled or 'is not set and'} does not promise UTF-8",
            fix="export LANG=C.UTF-8; until then the panel draws with ASCII",
        )  # fmt: skip


def _is_utf8(spelled: str) -> bool:
    _, dot, encoding = spelled.partition(".")
    if not dot:
        return False
    try:
        return codecs.lookup(encoding.partition("@")[0]).name == "utf-8"
    except LookupError:
        return False


def network_checks(environ: Mapping[str, str]) -> Iterator[Check]:
    """Of proxies and certificates; nothing is sent."""
    routes = {pattern: proxy for pattern, proxy in proxy_routes(environ).items() if proxy}
    for pattern, proxy in routes.items():
        scheme, host = _proxy(proxy)
        if scheme.startswith("socks"):
            yield _check(
                f"network.proxy:{pattern}", "network", "fault",
                f"{pattern} goes through a SOCKS proxy, which is not supported",
                fix="name an HTTP proxy, or take it out of the environment",
            )  # fmt: skip
        elif not host:
            yield _check(
                f"network.proxy:{pattern}", "network", "fault",
                f"the proxy for {pattern} has no host", fix="write it as http://HOST:PORT",
            )  # fmt: skip
        else:
            yield _check(
                f"network.proxy:{pattern}", "network", "note", f"{pattern} goes through {host}"
            )
    if not routes:
        yield _check("network.proxy", "network", "ok", "no proxy is set")
    for name in CA_VARIABLES:
        if (path := environ.get(name)) and not os.path.exists(path):
            yield _check(
                f"network.ca:{name}", "network", "fault",
                f"{name} names a file that is not there", file=path,
                fix="correct it, or unset it: HTTPS fails with it",
            )  # fmt: skip


def _proxy(url: str) -> tuple[str, str]:
    """Scheme and host with port; never its user and password."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "", ""
    return parts.scheme.lower(), f"{parts.hostname or ''}{port}" if parts.hostname else ""


async def keyring_checks(secrets: SecretStore, credentials: Path) -> AsyncGenerator[Check]:
    """Whether the keyring answers; an item of ours that does not exist is asked for."""
    try:
        await secrets.get(*PROBE)
    except CoreError as error:
        absent = getattr(error, "state", "") == "absent"
        yield _check(
            "keyring.answers",
            "keyring",
            "note" if absent else "warning",
            error.message,
            fix=f"sign-ins are kept in {credentials} instead" if absent else error.hint,
        )
    else:
        yield _check("keyring.answers", "keyring", "ok", "the keyring answers")


def _check(
    id: str,
    area: Area,
    verdict: Verdict,
    finding: str,
    *,
    file: str | None = None,
    fix: str = "",
) -> Check:
    return Check(
        id=id, area=area, verdict=verdict, finding=finding, evidence=Evidence(file=file), fix=fix
    )
