from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import anyio
import httpx
import pytest

from core.errors import InternalError
from core.net.http import HttpClients
from tests.fakes.mcp_http import FakeMcpHttp

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]


async def test_all_clients_share_one_tls_context(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    clients = HttpClients({})
    real = clients._make

    def make() -> object:
        made.append(1)
        return real()

    monkeypatch.setattr(clients, "_make", make)
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(_use, clients)
    assert len(made) == 1


async def _use(clients: HttpClients) -> None:
    async with await clients.client():
        pass


async def test_redirects_are_not_followed() -> None:
    with FakeMcpHttp(plan={"ping": "redirect"}) as server:
        async with await HttpClients({}).client() as client:
            body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            response = await client.post(server.url, json=body)
    assert response.status_code == 307
    assert len(server.requests) == 1


async def test_only_packings_that_can_be_read_within_bounds_are_offered() -> None:
    with FakeMcpHttp() as server:
        async with await HttpClients({}).client() as client:
            await client.post(server.url, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert server.requests[0].headers["accept-encoding"] == "gzip, deflate"


async def test_read_timeout_is_the_one_asked_for() -> None:
    with FakeMcpHttp(plan={"ping": "slow-headers"}) as server:
        async with await HttpClients({}).client(timeout=0.05) as client:
            with anyio.fail_after(2), pytest.raises(httpx.ReadTimeout):
                await client.post(server.url, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})


@pytest.mark.parametrize("proxy", ["gopher://secret@p:1", "http://secret:pw@host:port"])
async def test_unusable_proxy_is_refused_without_its_password(proxy: str) -> None:
    with pytest.raises(InternalError, match="proxy") as caught:
        await HttpClients({"HTTPS_PROXY": proxy}).client()
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("proxy", ["socks5://u:secret@p:1", "SOCKS4://p:1", "socks5h://p:1"])
async def test_a_socks_proxy_is_refused_in_words_and_only_where_it_would_be_used(
    proxy: str,
) -> None:
    with FakeMcpHttp() as server:
        async with await HttpClients({"ALL_PROXY": proxy}).client() as client:
            with pytest.raises(InternalError) as caught:
                await client.get("https://mcp.example/")
            assert caught.value.message == "SOCKS proxies are not supported"
            assert "HTTPS_PROXY" in caught.value.hint and "secret" not in str(caught.value)
            body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            assert (await client.post(server.url, json=body)).status_code == 200


async def test_urls_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    clients = HttpClients({})
    with FakeMcpHttp() as server:
        async with await clients.client() as client:
            url = server.url.replace("http://", "http://user:canary@")
            await client.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert "canary" not in caplog.text


def test_importing_the_module_does_not_load_httpx() -> None:
    source = "import sys, core.net.http, core.net.body, core.net.failures; sys.exit('httpx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", source], cwd=ROOT).returncode == 0
