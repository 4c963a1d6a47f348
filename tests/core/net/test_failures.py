from __future__ import annotations

import errno as errors
import socket
import ssl

import anyio
import httpx
import pytest

from core.net.failures import net_failure
from core.net.http import HttpClients
from tests.fakes.mcp_http import FakeMcpHttp

pytestmark = pytest.mark.anyio


async def failure_of(url: str) -> tuple[int, str]:
    async with await HttpClients({}).client(timeout=2) as client:
        with anyio.fail_after(5), pytest.raises(httpx.HTTPError) as caught:
            await client.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
    failure = net_failure(caught.value)
    return failure.errno, failure.text


async def test_refused_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert await failure_of(f"http://127.0.0.1:{port}/") == (111, "Connection refused")
    assert await failure_of(f"http://localhost:{port}/") == (111, "Connection refused")


@pytest.mark.parametrize("mode", ["close", "reset", "truncated"])
async def test_connection_that_ends_too_early(mode: str) -> None:
    with FakeMcpHttp(plan={"ping": mode}) as server:
        assert (await failure_of(server.url))[0] == errors.ECONNRESET


async def test_plain_http_server_behind_an_https_url() -> None:
    with FakeMcpHttp() as server:
        number, text = await failure_of(server.url.replace("http:", "https:"))
    assert number == errors.EPROTO
    assert text.startswith("TLS: ")


def chained(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "number"),
    [
        (chained(httpx.ConnectError("x"), socket.gaierror(-2, "unknown")), errors.EHOSTUNREACH),
        (chained(httpx.ConnectError("x"), OSError(errors.ENETUNREACH, "x")), errors.ENETUNREACH),
        (
            chained(
                httpx.ConnectError("x"),
                chained(OSError("all failed"), ExceptionGroup("g", [OSError(111, "a")])),
            ),
            errors.ECONNREFUSED,
        ),
        (httpx.ConnectTimeout("x"), errors.ETIMEDOUT),
        (httpx.InvalidURL("x"), errors.EINVAL),
        (httpx.LocalProtocolError("x"), errors.EINVAL),
        (httpx.ProxyError("x"), errors.ECONNREFUSED),
        (httpx.ConnectError("x"), errors.ECONNREFUSED),
        (httpx.RemoteProtocolError("x"), errors.ECONNRESET),
    ],
)
def test_cause_below_an_exception_is_found(error: Exception, number: int) -> None:
    assert net_failure(error).errno == number


def test_untrusted_certificate_says_why() -> None:
    cause = ssl.SSLCertVerificationError(1, "long text")
    cause.verify_message = "self-signed certificate"
    failure = net_failure(chained(httpx.ConnectError("x"), cause))
    assert failure.text == "certificate not trusted: self-signed certificate"
