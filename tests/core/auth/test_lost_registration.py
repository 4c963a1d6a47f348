from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx
import pytest

from core.auth.attempt import Attempt
from core.auth.client_store import Registration
from core.auth.grants import store_key
from core.errors import SignInNeeded
from core.threads.policy import CODEX
from tests.core.auth.test_sign_in import Running, visit
from tests.core.auth.world import World, world

pytestmark = pytest.mark.anyio


def client_in(url: str) -> str:
    return parse_qs(urlsplit(url).query)["client_id"][0]


async def signed_in(made: World) -> Attempt:
    run = Running(made)
    attempt = await run.begin()
    assert await attempt.pasted(made.site.person(attempt.url)) == ""
    await run.over.wait()
    return attempt


async def test_a_client_that_was_forgotten_is_registered_anew_before_a_page_is_opened(
    tmp_path: Path,
) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            await signed_in(made)
            made.site.lost.add("client-1")
            run = Running(made)
            attempt = await run.begin()
            second = client_in(attempt.url)
            assert second != "client-1" and second in made.site.clients
            assert [(step.verb, step.status) for step in attempt.trail][-2:] == [
                ("GET", 400),
                ("POST", 201),
            ]
            await attempt.pasted(made.site.person(attempt.url))
            await run.over.wait()
            stored = await made.stored()
            assert stored is not None and stored.client_id == second


async def test_a_client_that_is_forgotten_meanwhile_costs_the_browser_one_more_round(
    tmp_path: Path,
) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            run = Running(made)
            attempt = await run.begin()
            first = attempt.url
            made.site.lost.add("client-1")
            page = await visit(attempt, made.site.person(attempt.url))
            assert page.status_code == 302 and page.headers["location"] == attempt.url
            assert client_in(attempt.url) != "client-1" and attempt.stage == "waiting"
            members = [parse_qs(urlsplit(url).query) for url in (first, attempt.url)]
            assert members[0]["state"] != members[1]["state"]
            assert members[0]["code_challenge"] != members[1]["code_challenge"]
            page = await visit(attempt, made.site.person(attempt.url))
            assert page.status_code == 200
            await run.over.wait()
    assert attempt.succeeded and len(made.site.clients) == 2


async def test_whoever_pastes_is_told_to_open_the_page_again(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            run = Running(made)
            attempt = await run.begin()
            made.site.lost.add("client-1")
            assert "open the page again" in await attempt.pasted(made.site.person(attempt.url))
            assert await attempt.pasted(made.site.person(attempt.url)) == ""
            await run.over.wait()


async def test_it_is_registered_anew_once_and_not_for_ever(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            run = Running(made)
            attempt = await run.begin()
            made.site.pages["/token"] = httpx.Response(401, json={"error": "invalid_client"})
            await attempt.pasted(made.site.person(attempt.url))
            assert attempt.stage == "waiting"
            await attempt.pasted(made.site.person(attempt.url))
            await run.over.wait()
    assert attempt.stage == "failed" and "invalid_client" in attempt.reason
    assert len(made.site.clients) == 2


async def test_a_client_of_the_configuration_is_never_replaced(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            from dataclasses import replace

            made = world(tmp_path, tasks)
            run = Running(made)
            attempt = await run.begin(target=replace(made.target, client_id="ours"))
            made.site.lost.add("ours")
            await attempt.pasted(made.site.person(attempt.url))
            await run.over.wait()
    assert attempt.stage == "failed" and made.site.clients == {}


async def test_the_wire_fails_as_the_real_one_does(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            run = Running(made)
            attempt = await run.begin(CODEX)
            made.site.lost.add("client-1")
            await visit(attempt, made.site.person(attempt.url))
            await run.over.wait()
    assert attempt.error == "failed to handle OAuth callback"
    assert len(made.site.clients) == 1


async def test_a_refresh_that_finds_the_client_forgotten_forgets_it_too(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            await signed_in(made)
            made.site.lost.add("client-1")
            made.clock.tick(4000)
            with pytest.raises(SignInNeeded):
                await made.layer.bearer.bearer(made.target)
            assert await made.layer.clients.get(store_key("oa", made.site.url)) is None
            made.site.blind = True
            attempt = await Running(made).begin()
            assert client_in(attempt.url) != "client-1"
            attempt.cancel()


async def test_a_client_whose_secret_has_expired_is_not_used_again(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            key = store_key("oa", made.site.url)
            for ends, reused in ((made.clock.now() + 60, True), (made.clock.now() - 1, False)):
                known = await signed_in(made)
                assert known.redirect is not None
                await made.layer.clients.put(
                    key,
                    Registration(
                        issuer=made.site.host,
                        client_id="kept",
                        redirect=known.redirect.uri,
                        secret="s3cret",
                        secret_ends=ends,
                        method="client_secret_basic",
                    ),
                )
                attempt = await Running(made).begin()
                assert (client_in(attempt.url) == "kept") is reused
                attempt.cancel()
                await made.layer.clients.remove(key)


async def test_when_a_secret_ends_is_taken_from_the_registration(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            told = {
                "client_id": "c9",
                "client_secret": "s3cret",
                "client_secret_expires_at": made.clock.now() + 100,
                "token_endpoint_auth_method": "client_secret_basic",
            }
            made.site.pages["/register"] = httpx.Response(201, json=told)
            (await Running(made).begin()).cancel()
            key = store_key("oa", made.site.url)
            kept = await made.layer.clients.get(key)
            assert kept is not None and kept.secret == "s3cret"
            made.clock.tick(101)
            assert await made.layer.clients.get(key) is None
