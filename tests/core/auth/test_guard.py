from __future__ import annotations

import httpx
import pytest

from core.auth.guard import Guard, Refused
from core.auth.outgoing import Outgoing, Step, Unanswered
from core.auth.sender import Sender
from core.seams import Redirects
from tests.conftest import NoHttp
from tests.fakes.oauth_server import FakeOAuth

pytestmark = pytest.mark.anyio

PUBLIC = "93.184.216.34"
MCP = httpx.URL("https://mcp.example/mcp")


class Names:
    """A resolver that counts."""

    def __init__(self, **known: list[str]) -> None:
        self.known = known
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        if host not in self.known:
            raise OSError
        return self.known[host]


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:a9fe:a9fe::]",
        "0.0.0.0",
        "2130706433",
        "0x7f.1",
        "127.0.0.1",
        "[::1]",
        "10.0.0.1",
        "100.64.0.1",
        "192.168.1.1",
        "224.0.0.1",
        "[fe80::1]",
        "[fc00::1]",
        "localhost",
        "metadata.google.internal",
    ],
)
async def test_no_stranger_sends_us_into_a_private_network(host: str) -> None:
    names = Names(localhost=["127.0.0.1"])
    with pytest.raises(Refused):
        await Guard(MCP, resolve=names).admit(httpx.URL(f"https://{host}/x"))
    assert set(names.asked) <= {"localhost"}


async def test_a_name_is_looked_up_once_and_every_answer_counts() -> None:
    names = Names(good=[PUBLIC, "2606:2800:220:1::1"], bad=[PUBLIC, "10.0.0.1"])
    guard = Guard(MCP, resolve=names)
    assert (await guard.admit(httpx.URL("https://good/x"))).address == PUBLIC
    with pytest.raises(Refused, match=r"^bad \(10\.0\.0\.1\) is no public address$"):
        await guard.admit(httpx.URL("https://bad/x"))
    with pytest.raises(Refused, match="not known"):
        await guard.admit(httpx.URL("https://gone/x"))
    assert names.asked == ["good", "bad", "gone"]


@pytest.mark.parametrize("url", ["http://good/x", "ftp://good/x", "https://u:p@good/x", "/x"])
async def test_only_https_without_a_password_is_asked(url: str) -> None:
    with pytest.raises(Refused):
        await Guard(MCP, resolve=Names(good=[PUBLIC])).admit(httpx.URL(url))


async def test_a_server_of_this_machine_may_have_its_sign_in_here() -> None:
    guard = Guard(httpx.URL("http://127.0.0.1:8000/mcp"), resolve=Names())
    await guard.admit(httpx.URL("http://127.0.0.1:9000/x"))
    await guard.admit(httpx.URL("http://localhost:9000/x"))
    with pytest.raises(Refused):
        await guard.admit(httpx.URL("https://10.0.0.1/x"))


async def test_hosts_that_the_person_named_are_let_through() -> None:
    guard = Guard(MCP, resolve=Names(), allowed=["auth.corp"])
    assert (await guard.admit(httpx.URL("https://auth.corp/x"))).address == ""
    assert (await guard.admit(httpx.URL("https://mcp.example/x"))).address == ""


async def test_behind_a_proxy_only_the_name_is_judged_and_that_is_told() -> None:
    names = Names()
    sender = Sender(
        http=NoHttp(),
        environ={"HTTPS_PROXY": "http://p:1", "NO_PROXY": "corp.example"},
        resolve=names,
    )
    guard = Guard(MCP, resolve=names, proxied=sender._proxied())
    assert "proxy" in (await guard.admit(httpx.URL("https://auth.example/x"))).note
    assert names.asked == []
    with pytest.raises(Refused):
        await guard.admit(httpx.URL("https://10.0.0.1/x"))
    with pytest.raises(Refused, match="not known"):
        await guard.admit(httpx.URL("https://a.corp.example/x"))


async def get(
    site: FakeOAuth,
    url: str,
    *,
    redirects: Redirects = "same-origin",
    headers: dict[str, str] | None = None,
) -> list[Step]:
    trail: list[Step] = []
    own = httpx.URL(site.url)
    async with await site.client() as client:
        guard = Guard(own, resolve=Names(**{"auth.example": [PUBLIC]}))
        sent = {"x-key": "secret"} if headers is None else headers
        out = Outgoing(client, guard, own, headers=sent, trail=trail, redirects=redirects)
        try:
            await out.get(httpx.URL(url))
        except Unanswered:
            pass
    return trail


async def test_the_address_that_was_checked_is_the_one_that_is_connected_to() -> None:
    site = FakeOAuth()
    await get(site, "https://auth.example/x")
    request = site.requests[0]
    assert request.url.host == PUBLIC and request.headers["host"] == "auth.example"
    assert request.extensions["sni_hostname"] == "auth.example"
    assert "x-key" not in request.headers


def moved(to: str) -> httpx.Response:
    return httpx.Response(307, headers={"location": to})


async def test_redirects_stay_within_the_origin_and_keep_the_headers() -> None:
    site = FakeOAuth()
    site.pages = {"/a": moved("/b"), "/b": moved("https://auth.example/c")}
    trail = await get(site, f"{site.host}/a")
    assert site.paths == ["/a", "/b"]
    assert [request.headers["x-key"] for request in site.requests] == ["secret", "secret"]
    assert [step.status for step in trail] == [307, 307]


async def test_an_agent_plugins_server_is_not_followed_while_headers_go_along() -> None:
    site = FakeOAuth()
    site.pages = {"/a": moved("/b")}
    trail = await get(site, f"{site.host}/a", redirects="same-origin-anonymous")
    assert site.paths == ["/a"]
    assert (trail[-1].status, trail[-1].note) == (
        307,
        "redirect not followed: configured headers would go along",
    )


async def test_an_agent_plugins_server_is_followed_within_its_origin_without_headers() -> None:
    site = FakeOAuth()
    site.pages = {"/a": moved("/b"), "/b": moved("https://auth.example/c")}
    trail = await get(site, f"{site.host}/a", redirects="same-origin-anonymous", headers={})
    assert site.paths == ["/a", "/b"]
    assert "another origin, https://auth.example" in trail[-1].note


async def test_an_enterprise_server_is_not_followed_at_all() -> None:
    site = FakeOAuth()
    site.pages = {"/a": moved("/b")}
    trail = await get(site, f"{site.host}/a", redirects="none", headers={})
    assert site.paths == ["/a"] and "not followed here" in trail[-1].note


async def test_redirects_have_an_end() -> None:
    site = FakeOAuth()
    site.pages = {"/a": moved("/a")}
    trail = await get(site, f"{site.host}/a")
    assert len(site.requests) == 4 and trail[-1].note == "too many redirects"
