"""Proxy and certificate settings count for every step of a sign-in, not for the first only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from core.auth.sender import Sender
from core.errors import CoreError
from core.net.http import HttpClients
from tests.core.auth.test_sign_in import Running
from tests.core.auth.world import World, world
from tests.fakes.oauth_server import HOST
from tests.fakes.tls_site import make_certificates, proxying, serving

pytestmark = pytest.mark.anyio
AUTH = "https://auth.example"


async def unknown(host: str, port: int) -> list[str]:
    raise AssertionError(f"{host} was looked up here, which is the proxy's business")


def wired(made: World, environ: dict[str, str]) -> None:
    """Real HTTP in place of the pretended one."""
    http: Any = HttpClients(environ)
    sender = Sender(http=http, environ=environ, resolve=unknown)
    object.__setattr__(made.layer.sign_ins, "sender", sender)
    made.layer.sender = sender


def made_elsewhere(made: World) -> None:
    """The authorization server has a name of its own."""
    site = made.site
    site.resource = {"resource": site.url, "authorization_servers": [AUTH]}
    site.metadata = {
        name: value.replace(HOST, AUTH) if isinstance(value, str) else value
        for name, value in site.metadata.items()
    } | {"revocation_endpoint": f"{AUTH}/revoke"}


async def test_every_step_goes_through_the_proxy_and_trusts_the_named_authority(
    tmp_path: Path,
) -> None:
    made_of = make_certificates(tmp_path, "h.example", "auth.example")
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            made_elsewhere(made)
            with serving(made.site._answer, made_of[1]) as port, proxying(port) as (proxy, asked):
                wired(made, {"HTTPS_PROXY": proxy, "SSL_CERT_FILE": str(made_of[0])})
                run = Running(made)
                attempt = await run.begin()
                notes = {step.note for step in attempt.trail if step.url.startswith(AUTH)}
                assert notes == {"through a proxy: only the name was checked"}
                assert await attempt.pasted(made.site.person(attempt.url)) == ""
                await run.over.wait()
                made.clock.tick(4000)
                before = await made.stored()
                token = await made.layer.bearer.bearer(made.target)
                assert before is not None and token != before.access_token
                assert await made.layer.sign_ins.sign_out(made.target) == (True, "")
    assert {target.split(":")[0] for target in asked} == {
        "CONNECT h.example",
        "CONNECT auth.example",
    }
    assert {"/register", "/token", "/revoke", "/mcp"} <= set(made.site.paths)
    assert made.site.asked("/token")[-1]["grant_type"] == "refresh_token"


async def test_an_authority_that_is_not_named_is_not_trusted(tmp_path: Path) -> None:
    made_of = make_certificates(tmp_path, "h.example")
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            with serving(made.site._answer, made_of[1]) as port, proxying(port) as (proxy, _):
                wired(made, {"HTTPS_PROXY": proxy})
                with pytest.raises(CoreError, match="certificate not trusted"):
                    await Running(made).begin()
            assert made.site.requests == []


async def test_a_proxy_is_not_sent_to_literals_of_private_networks(tmp_path: Path) -> None:
    made_of = make_certificates(tmp_path, "h.example")
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            made.site.resource = {"authorization_servers": ["https://10.1.2.3"]}
            with serving(made.site._answer, made_of[1]) as port, proxying(port) as (proxy, asked):
                wired(made, {"HTTPS_PROXY": proxy, "SSL_CERT_FILE": str(made_of[0])})
                with pytest.raises(CoreError, match=r"10\.1\.2\.3 is no public address") as caught:
                    await Running(made).begin()
            assert caught.value.data["blockedHost"] == "10.1.2.3"
            assert {target.split(":")[0] for target in asked} == {"CONNECT h.example"}


async def test_a_socks_proxy_is_told_in_words_and_in_the_trail(tmp_path: Path) -> None:
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            wired(made, {"ALL_PROXY": "socks5://127.0.0.1:1"})
            with pytest.raises(CoreError, match="SOCKS proxies are not supported") as caught:
                await Running(made).begin()
            assert caught.value.data["trail"][-1]["note"] == "SOCKS proxies are not supported"
