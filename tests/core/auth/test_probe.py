from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from core.auth.probe import KEPT, KEPT_UNDECIDED, MetadataProbe
from core.auth.sender import Sender
from core.seams import SignInTarget
from tests.fakes.ports import FakeClock

pytestmark = pytest.mark.anyio

URL = "https://h.example/mcp"
METADATA = {
    "issuer": "https://h.example",
    "authorization_endpoint": "https://h.example/authorize",
    "token_endpoint": "https://h.example/token",
}
Answer = httpx.Response | Exception | dict[str, Any]
ADDRESSES = {"inside.example": "10.0.0.7", "meta.example": "169.254.169.254"}


class Body(httpx.AsyncByteStream):
    """A body that has not been read yet."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._content


class Site:
    """Answers by URL; 404 for what is not named. Keeps the requests."""

    def __init__(self, **pages: Answer) -> None:
        self.pages: dict[str, Answer] = pages
        self.requests: list[httpx.Request] = []

    async def client(self, *, timeout: float = 30.0) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(self._answer), timeout=timeout)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        # Strangers are connected to by the address that was checked.
        url = request.url.copy_with(host=request.headers["host"])
        answer = self.pages.get(str(url), httpx.Response(404))
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, dict):
            answer = httpx.Response(200, json=answer)
        return httpx.Response(
            answer.status_code, headers=answer.headers, stream=Body(answer.content)
        )

    @property
    def paths(self) -> list[str]:
        return [request.url.path for request in self.requests]


def site(pages: dict[str, Answer]) -> Site:
    made = Site()
    made.pages = pages
    return made


async def public(host: str, port: int) -> list[str]:
    return [ADDRESSES.get(host, "93.184.216.34")]


def probe_of(world: Site, clock: FakeClock | None = None) -> MetadataProbe:
    sender = Sender(http=world, environ={}, resolve=public)
    return MetadataProbe(sender.open, clock or FakeClock())


def target(url: str = URL, **facts: Any) -> SignInTarget:
    return SignInTarget(server="s", url=url, **facts)


async def asked(pages: dict[str, Answer], url: str = URL) -> bool | None:
    return await probe_of(site(pages)).offers_oauth(target(url))


def challenge(text: str) -> httpx.Response:
    return httpx.Response(401, headers={"www-authenticate": text})


async def test_a_server_without_metadata_offers_none_after_all_places_were_tried() -> None:
    world = site({URL: httpx.Response(405)})
    assert await probe_of(world).offers_oauth(target()) is False
    assert world.paths == [
        "/mcp",
        "/.well-known/oauth-protected-resource/mcp",
        "/mcp/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server/mcp",
        "/.well-known/openid-configuration/mcp",
        "/mcp/.well-known/openid-configuration",
        "/.well-known/oauth-authorization-server",
    ]
    assert {request.method for request in world.requests} == {"GET"}
    assert world.requests[0].headers["mcp-protocol-version"] == "2024-11-05"


@pytest.mark.parametrize(
    "place",
    [
        "/.well-known/oauth-authorization-server/mcp",
        "/.well-known/openid-configuration/mcp",
        "/mcp/.well-known/openid-configuration",
        "/.well-known/oauth-authorization-server",
    ],
)
async def test_metadata_of_the_server_itself_are_found_in_each_place(place: str) -> None:
    assert await asked({f"https://h.example{place}": METADATA}) is True


async def test_the_challenge_leads_to_the_authorization_server() -> None:
    told = "https://h.example/meta"
    assert await asked(
        {
            URL: challenge(f'Bearer realm="x", resource_metadata="{told}"'),
            told: {"authorization_servers": ["https://as.example/tenant"]},
            "https://as.example/.well-known/oauth-authorization-server/tenant": {
                **METADATA,
                "issuer": "https://as.example/tenant",
            },
        }
    )


async def test_an_issuer_that_does_not_fit_leaves_it_undecided() -> None:
    place = "https://h.example/.well-known/oauth-authorization-server"
    assert await asked({place: {**METADATA, "issuer": "https://evil.example"}}) is None
    assert await asked({place: {k: v for k, v in METADATA.items() if k != "issuer"}}) is True


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(500),
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        httpx.Response(200, headers={"content-type": "text/event-stream"}),
    ],
)
async def test_a_server_that_does_not_answer_leaves_it_undecided(answer: Answer) -> None:
    assert await asked({URL: answer}) is None


@pytest.mark.parametrize(
    "page",
    [httpx.Response(200, text="<html>"), httpx.Response(200, json=[1]), httpx.Response(403), {}],
)
async def test_pages_that_are_no_metadata_count_as_none(page: Answer) -> None:
    assert await asked({"https://h.example/.well-known/oauth-authorization-server": page}) is False


async def test_a_url_that_is_none_is_undecided() -> None:
    for url in ("not a url", "file:///x", "http://", "http://\x00"):
        world = site({})
        assert await probe_of(world).offers_oauth(target(url)) is None
        assert world.requests == []


async def test_configured_headers_stay_with_the_server_that_they_are_for() -> None:
    world = site(
        {
            "https://h.example/.well-known/oauth-protected-resource": {
                "authorization_servers": ["https://as.example"]
            },
        }
    )
    await probe_of(world).offers_oauth(target(headers={"x-key": "secret"}))
    seen = {request.headers["host"]: request.headers.get("x-key") for request in world.requests}
    assert seen == {"h.example": "secret", "as.example": None}


async def test_redirects_are_followed_on_the_same_origin_only() -> None:
    place = "https://h.example/.well-known/oauth-authorization-server"

    def moved(where: str) -> httpx.Response:
        return httpx.Response(302, headers={"location": where})

    assert await asked({place: moved("/there"), "https://h.example/there": METADATA}) is True
    assert (
        await asked({place: moved("https://o.example/"), "https://o.example/": METADATA}) is False
    )


async def test_an_agent_plugins_server_is_asked_without_following_its_headers() -> None:
    place = "https://h.example/.well-known/oauth-authorization-server"
    moved = httpx.Response(302, headers={"location": "/there"})
    for facts, offered in (
        ({"redirects": "same-origin-anonymous", "headers": {"x-key": "secret"}}, False),
        ({"redirects": "same-origin-anonymous"}, True),
        ({"redirects": "none"}, False),
    ):
        world = site({place: moved, "https://h.example/there": METADATA})
        assert await probe_of(world).offers_oauth(target(**facts)) is offered


@pytest.mark.parametrize(
    "place",
    [
        "https://169.254.169.254/latest",
        "https://[::ffff:169.254.169.254]/",
        "https://inside.example/",
        "https://meta.example/",
        "http://public.example/",
        "https://127.0.0.1/",
    ],
)
async def test_nobody_is_sent_into_a_private_network_by_a_challenge_or_by_metadata(
    place: str,
) -> None:
    resource = "https://h.example/.well-known/oauth-protected-resource"
    for pages in (
        {URL: challenge(f'Bearer resource_metadata="{place}"')},
        {resource: {"authorization_servers": [place]}},
    ):
        world = site(dict(pages))
        assert await probe_of(world).offers_oauth(target()) is None
        assert {request.headers["host"] for request in world.requests} == {"h.example"}


@pytest.mark.parametrize("text", ["https://[bad", "https://h.example:99999/", "//["])
async def test_what_is_named_and_is_no_url_is_no_offer(text: str) -> None:
    resource = "https://h.example/.well-known/oauth-protected-resource"
    assert not await asked({URL: challenge(f'Bearer resource_metadata="{text}"')})
    assert not await asked({resource: {"authorization_servers": [text]}})


@pytest.mark.parametrize(
    ("first", "kept"), [(httpx.Response(404), KEPT), (httpx.Response(500), KEPT_UNDECIDED)]
)
async def test_an_answer_is_kept_for_a_while_and_can_be_forgotten(
    first: httpx.Response, kept: float
) -> None:
    clock = FakeClock()
    world = site({URL: first})
    probe = probe_of(world, clock)
    ask: Callable[[], Any] = lambda: probe.offers_oauth(target())  # noqa: E731
    before = await ask()
    world.pages = {URL: challenge("Bearer"), f"{URL[:17]}/.well-known/openid-configuration": {}}
    count = len(world.requests)
    clock.tick(kept - 1)
    assert await ask() is before
    assert len(world.requests) == count
    clock.tick(2)
    await ask()
    assert len(world.requests) > count
    count = len(world.requests)
    probe.forget(URL)
    await ask()
    assert len(world.requests) > count
