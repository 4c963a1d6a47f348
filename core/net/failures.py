"""What went wrong on the way, in words and as an errno."""

from __future__ import annotations

import errno as errors
import os
import socket
import ssl
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class NetFailure:
    """Why there is no answer.

    Attributes:
        errno: A POSIX number; ECONNRESET when the other side just went, EHOSTUNREACH for a name
            that nobody knows, EPROTO for TLS.
        text: A few words, without the URL and without secrets.
    """

    errno: int
    text: str


def net_failure(error: BaseException) -> NetFailure:
    """The cause below an httpx exception."""
    import httpx

    cause = _os_error(error)
    if isinstance(cause, socket.gaierror):
        return NetFailure(errno=errors.EHOSTUNREACH, text="the host name is not known")
    if isinstance(cause, ssl.SSLCertVerificationError):
        return NetFailure(
            errno=errors.EPROTO, text=f"certificate not trusted: {cause.verify_message}"
        )
    if isinstance(cause, ssl.SSLError):
        reason = (cause.reason or "failed").replace("_", " ").lower()
        return NetFailure(errno=errors.EPROTO, text=f"TLS: {reason}")
    if cause is not None and cause.errno:
        return NetFailure(errno=cause.errno, text=os.strerror(cause.errno))
    if isinstance(error, httpx.TimeoutException):
        return NetFailure(errno=errors.ETIMEDOUT, text=os.strerror(errors.ETIMEDOUT))
    if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL | httpx.LocalProtocolError):
        return NetFailure(errno=errors.EINVAL, text="the URL or a header is not valid")
    if isinstance(error, httpx.ProxyError):
        return NetFailure(errno=errors.ECONNREFUSED, text="the proxy refused")
    if isinstance(error, httpx.ConnectError):
        return NetFailure(errno=errors.ECONNREFUSED, text="no connection")
    return NetFailure(errno=errors.ECONNRESET, text="the connection was closed too early")


def _os_error(error: BaseException | None) -> OSError | None:
    """The deepest OSError of the chain that says something."""
    found: OSError | None = None
    while error is not None:
        if isinstance(error, OSError) and (error.errno or isinstance(error, ssl.SSLError)):
            found = error
        # Where several addresses were tried, each failed in its own way; one is enough.
        failed: tuple[BaseException, ...] = getattr(error, "exceptions", ())
        error = failed[-1] if failed else error.__cause__ or error.__context__
    return found
