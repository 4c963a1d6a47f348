from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import anyio
import httpx
import pytest

from core.auth.attempt import Attempt
from core.auth.beginning import Wishes
from core.auth.callback import DONE
from core.auth.grants import callback_id
from core.errors import CoreError
from core.threads.policy import CODEX, PANEL
from tests.core.auth.world import World, world
from tests.fakes.ports import FakeClock

pytestmark = pytest.mark.anyio


class Running:
    """An attempt with what became of it."""

    def __init__(self, made: World) -> None:
        self.made = made
        self.over = anyio.Event()

    async def begin(self, policy: Any = PANEL, target: Any = None, **wishes: Any) -> Attempt:
        owner = self.made.layer.sign_ins
        wanted = Wishes(**wishes)
        return await owner.begin(target or self.made.target, wanted, policy, self._ended)

    def _ended(self, attempt: Attempt) -> None:
        self.over.set()


async def visit(attempt: Attempt, query: str, **headers: str) -> httpx.Response:
    assert attempt.redirect is not None
    async with httpx.AsyncClient(trust_env=False) as browser:
        return await browser.get(f"{attempt.redirect.uri}?{query}", headers=headers)


def asked(attempt: Attempt) -> dict[str, list[str]]:
    return parse_qs(urlsplit(attempt.url).query)


async def test_a_sign_in_from_discovery_to_stored_tokens(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            run = Running(made)
            attempt = await run.begin()
            query = asked(attempt)
            assert query["tenant"] == ["1"] and query["scope"] == ["read"]
            assert query["code_challenge_method"] == ["S256"]
            assert query["resource"] == [made.site.url]
            assert attempt.redirect is not None
            port = attempt.redirect.bound
            redirect = f"http://127.0.0.1:{port}/callback/{callback_id(made.site.url)}"
            assert query["redirect_uri"] == [redirect]
            assert made.site.clients["client-1"] == {
                "client_name": "Jackfield",
                "redirect_uris": [redirect],
                "grant_types": ["authorization_code", "refresh_token"],
                "token_endpoint_auth_method": "none",
                "response_types": ["code"],
                "application_type": "native",
            }
            page = await visit(attempt, made.site.person(attempt.url))
            assert (page.status_code, page.text) == (200, DONE)
            assert page.headers["content-security-policy"] == "default-src 'none'"
            await run.over.wait()
    stored = await made.stored()
    assert stored is not None and stored.issuer == made.site.host
    assert stored.scopes == ("read",) and attempt.store == "file"
    assert [step.status for step in attempt.trail][:2] == [401, 200]
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # past TIME_WAIT
        free.bind(("127.0.0.1", port))


async def test_wrong_requests_do_not_end_an_attempt(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            run = Running(made)
            attempt = await run.begin()
            right = made.site.person(attempt.url)
            assert attempt.redirect is not None
            base = f"http://127.0.0.1:{attempt.redirect.bound}"
            async with httpx.AsyncClient(trust_env=False) as browser:
                wrong = [
                    await browser.get(f"{base}/favicon.ico"),
                    await browser.get(f"{base}/callback?{right}"),
                    await browser.post(f"{attempt.redirect.uri}?{right}"),
                    await browser.get(attempt.redirect.uri),
                    await visit(attempt, right, host="evil.example"),
                    await visit(attempt, "code=stolen&state=guessed"),
                    await visit(attempt, f"{right}&iss=https://evil.example"),
                    await visit(attempt, "error=%3Cscript%3E&state=guessed"),
                ]
            assert {page.status_code for page in wrong} == {400}
            assert not any("script" in page.text for page in wrong)
            assert made.site.asked("/token") == [] and attempt.stage == "waiting"
            assert (await visit(attempt, right)).status_code == 200
            await run.over.wait()


async def test_a_refusal_is_told_in_the_words_of_the_wire_and_not_on_the_page(
    tmp_path: Path,
) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            run = Running(made)
            attempt = await run.begin()
            state = asked(attempt)["state"][0]
            page = await visit(
                attempt, f"error=access_denied&error_description=no+way&state={state}"
            )
            assert page.status_code == 400 and "no way" not in page.text
            await run.over.wait()
    assert attempt.error == "OAuth provider returned `access_denied`: no way"
    assert await made.stored() is None


async def test_a_failed_exchange_is_not_called_a_success(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            run = Running(made)
            attempt = await run.begin()
            made.site.pages["/token"] = httpx.Response(503)
            page = await visit(attempt, made.site.person(attempt.url))
            assert page.status_code == 400 and "failed" in page.text
            await run.over.wait()
    assert attempt.error == "failed to handle OAuth callback"
    assert "503" in attempt.reason


async def test_nobody_comes_or_the_person_gives_up(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            late, unwanted = Running(made), Running(made)
            first = await late.begin(timeout=1.0)
            second = await unwanted.begin()
            assert made.layer.sign_ins.cancel(second.id) is True
            assert made.layer.sign_ins.cancel(second.id) is False
            await unwanted.over.wait()
            await late.over.wait()
    assert (second.stage, first.stage) == ("cancelled", "failed")
    assert first.error == "timed out waiting for OAuth callback"


async def test_a_redirect_may_be_pasted_in_any_form_and_reasons_are_given(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            for form in ("http://127.0.0.1:1/callback?{}", "?{}", "{}", "code"):
                run = Running(made)
                attempt = await run.begin()
                query = made.site.person(attempt.url)
                assert "no code" in await attempt.pasted("http://127.0.0.1/callback")
                assert "another sign-in" in await attempt.pasted("code=x&state=y")
                text = dict(parse_qsl(query))["code"] if form == "code" else form.format(query)
                assert await attempt.pasted(text) == ""
                await run.over.wait()
                assert await attempt.pasted(text) == "nothing waits for it any more"
    assert await made.stored() is not None


async def test_a_registered_client_is_used_again_with_its_port(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            ports: list[int] = []
            for _ in range(2):
                run = Running(made)
                attempt = await run.begin()
                assert attempt.redirect is not None
                ports.append(attempt.redirect.bound)
                await attempt.pasted(made.site.person(attempt.url))
                await run.over.wait()
            assert ports[0] == ports[1] and len(made.site.clients) == 1


async def test_the_wire_says_who_the_real_one_is_and_knows_clients_by_document(
    tmp_path: Path,
) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            plain = await Running(made).begin(CODEX)
            assert made.site.clients["client-1"]["client_name"] == "Codex"
            made.site.metadata |= {
                "client_id_metadata_document_supported": True,
                "token_endpoint_auth_methods_supported": ["none"],
            }
            known = await Running(made).begin(CODEX)
            middle = callback_id(made.site.url)
            document = f"https://chatgpt.com/oauth/codex/{middle}/client.json"
            assert known.client.client_id == document
            made.site.metadata["authorization_response_iss_parameter_supported"] = True
            named = await Running(made).begin(CODEX)
            assert named.client.client_id == "https://chatgpt.com/oauth/codex/client.json"
            assert named.redirect is not None and named.redirect.uri.endswith("/callback")
            for attempt in (plain, known, named):
                attempt.cancel()


async def test_what_cannot_be_begun_says_why_and_keeps_the_trail(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            run = Running(made)
            del made.site.metadata["registration_endpoint"]
            with pytest.raises(CoreError, match="registration not supported") as caught:
                await run.begin()
            assert "client id" in caught.value.hint
            assert caught.value.data["trail"][0]["status"] == 401
            made.site.metadata["code_challenge_methods_supported"] = ["plain"]
            with pytest.raises(CoreError, match="PKCE"):
                await run.begin()
            made.site.metadata["code_challenge_methods_supported"] = ["S256"]
            made.site.metadata["issuer"] = "https://other.example"
            with pytest.raises(CoreError, match="issuer mismatch"):
                await run.begin()


@pytest.mark.parametrize(
    "page", ["javascript:alert(1)", "file:///etc/passwd", "https://u:p@h.example/a", "http://h/a"]
)
async def test_a_browser_is_sent_to_web_pages_only(tmp_path: Path, page: str) -> None:
    async with anyio.create_task_group() as tasks:
        made = world(tmp_path, tasks)
        made.site.metadata["authorization_endpoint"] = page
        with pytest.raises(CoreError):
            await Running(made).begin()


async def test_a_taken_port_is_named_and_not_replaced(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            with pytest.raises(CoreError, match=r"^Address in use \(os error 98\)$") as caught:
                await Running(made).begin(target=replace(made.target, callback_port=port))
    assert caught.value.hint.startswith(f"port {port} is used by ")
    assert made.site.clients == {}


async def test_a_device_code_is_polled_for_at_its_own_pace(tmp_path: Path) -> None:
    clock = FakeClock(auto=False)
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks, clock=clock)
            made.site.metadata["device_authorization_endpoint"] = f"{made.site.host}/device"
            made.site.device_answers = ["authorization_pending", "slow_down"]
            run = Running(made)
            attempt = await run.begin(device=True)
            assert attempt.device is not None and attempt.device.user_code == "WXYZ"
            for seconds, polls in ((4.9, 0), (0.2, 1), (5, 2), (9.8, 2), (0.2, 3)):
                await clock.advance(seconds)
                assert len(made.site.asked("/token")) == polls
            await run.over.wait()
    assert attempt.stage == "done" and await made.stored() is not None


async def test_signing_out_revokes_both_tokens_and_leaves_nothing(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        made = world(tmp_path, tasks)
        await made.store()
        assert await made.layer.sign_ins.sign_out(made.target) == (
            True,
            "the authorization server offers no revocation",
        )
        assert await made.stored() is None
        made.site.metadata["revocation_endpoint"] = f"{made.site.host}/revoke"
        await made.store()
        assert await made.layer.sign_ins.sign_out(made.target) == (True, "")
        assert made.site.revoked == ["known", "old"]
        made.site.pages["/mcp"] = httpx.Response(500)
        assert await made.layer.sign_ins.sign_out(made.target) == (False, "")
        assert not (made.home / ".credentials.json").exists()


async def test_without_the_resource_indicator_it_is_left_out_at_refreshes_too(
    tmp_path: Path,
) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            run = Running(made)
            attempt = await run.begin(resource=False)
            assert "resource" not in asked(attempt)
            await attempt.pasted(made.site.person(attempt.url))
            await run.over.wait()
    made.clock.tick(3600)
    assert await made.layer.bearer.bearer(made.target)
    assert [("resource" in form) for form in made.site.asked("/token")] == [False, False]


async def test_secrets_are_in_no_repr(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        made = world(tmp_path, tasks)
        attempt = await Running(made).begin()
        shown = repr(attempt) + repr(attempt.trail)
        assert attempt.proof.state not in shown and attempt.proof.verifier not in shown
        attempt.cancel()


async def test_the_address_that_browsers_get_leads_to_the_page_once_and_says_nothing(
    tmp_path: Path,
) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            attempt = await Running(made).begin()
            assert attempt.redirect is not None
            link, other = attempt.redirect.link(), attempt.redirect.link()
            secrets = asked(attempt)
            assert secrets["state"][0] not in link and secrets["code_challenge"][0] not in link
            async with httpx.AsyncClient(trust_env=False) as browser:
                foreign = await browser.get(link, headers={"host": "evil.example"})
                first, second = await browser.get(link), await browser.get(link)
                guessed = await browser.get(link[:-4] + "xxxx")
                third = await browser.get(other)
            assert [foreign.status_code, guessed.status_code, second.status_code] == [400] * 3
            assert "once" in second.text and attempt.url not in second.text
            for page in (first, third):
                assert (page.status_code, page.headers["location"]) == (302, attempt.url)
                assert page.headers["referrer-policy"] == "no-referrer"
                assert page.headers["cache-control"] == "no-store"
            assert attempt.stage == "waiting"
            attempt.cancel()


async def test_where_the_answer_may_come_from_anywhere_the_link_still_works_here_only(
    tmp_path: Path,
) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            target = replace(made.target, callback_url="https://box.example/cb")
            run = Running(made)
            attempt = await run.begin(target=target)
            redirect = attempt.redirect
            assert redirect is not None and redirect.everywhere
            base = f"http://127.0.0.1:{redirect.bound}"
            path = urlsplit(redirect.uri).path
            async with httpx.AsyncClient(trust_env=False) as browser:
                begun = await browser.get(redirect.link())
                assert begun.headers["location"] == attempt.url
                answer = made.site.person(attempt.url)
                page = await browser.get(f"{base}{path}?{answer}", headers={"host": "box.example"})
            assert page.status_code == 200
            await run.over.wait()
