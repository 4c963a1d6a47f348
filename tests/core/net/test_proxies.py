from __future__ import annotations

import httpx
import pytest

from core.net.http import HttpClients
from core.net.proxies import proxy_routes

pytestmark = pytest.mark.anyio


def test_without_variables_nothing_is_routed() -> None:
    assert proxy_routes({}) == {}
    assert proxy_routes({"NO_PROXY": "example.com"}) == {}


def test_small_spelling_wins_and_a_bare_host_is_a_proxy_over_http() -> None:
    routes = proxy_routes({"HTTPS_PROXY": "http://big:1", "https_proxy": "small:2"})
    assert routes["https://"] == "http://small:2"


def test_star_exempts_everything() -> None:
    assert proxy_routes({"HTTPS_PROXY": "http://p:1", "no_proxy": "a.com, *"}) == {}


@pytest.mark.parametrize(
    ("url", "proxied"),
    [
        ("https://other.org/", True),
        ("http://other.org/", False),
        ("https://example.com/", False),
        ("https://deep.example.com/", False),
        ("https://notexample.com/", True),
        ("https://10.0.0.1/", False),
        ("https://[2001:db8::1]/", False),
        ("https://127.0.0.1:8080/", False),
        ("https://localhost/", False),
        ("https://[::1]/", False),
    ],
)
async def test_each_url_goes_the_way_that_the_variables_say(url: str, proxied: bool) -> None:
    environ = {
        "HTTPS_PROXY": "http://proxy.corp:3128",
        "NO_PROXY": "example.com, 10.0.0.1,[2001:db8::1]",
    }
    async with await HttpClients(environ).client() as client:
        transport = client._transport_for_url(httpx.URL(url))
        assert (transport is not client._transport) == proxied


async def test_variables_of_the_process_itself_do_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.corp:3128")
    async with await HttpClients({}).client() as client:
        transport = client._transport_for_url(httpx.URL("https://other.org/"))
        assert transport is client._transport
