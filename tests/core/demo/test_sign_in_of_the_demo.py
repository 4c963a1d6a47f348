"""The demo's sign-in, made whole: its page approves by itself, and signing out revokes."""

from __future__ import annotations

import html
import json
import re
from urllib.parse import urljoin

import anyio
import httpx
import pytest

from core import method_table as methods
from core.compose import open_core
from core.demo import demo_world
from core.demo.world import DemoSecrets
from core.protocol.events import Event, LoginCompleted
from core.protocol.jackfield import NameParams, PanelStartParams
from core.protocol.login import LoginIdParams, LoginPasteParams, LoginStartParams

pytestmark = pytest.mark.anyio
REFRESH = re.compile(r"http-equiv=refresh content='\d+;url=([^']+)'")


async def approved(link: str) -> str:
    """What the address bar shows after the page has approved."""
    async with httpx.AsyncClient(trust_env=False) as browser:
        page = await browser.get(link)
        found = REFRESH.search(page.text)
        assert found is not None
        answer = await browser.get(urljoin(link, html.unescape(found[1])))
        return answer.headers["location"]


@pytest.mark.parametrize("pasted", [False, True], ids=["browser", "paste"])
async def test_it_is_made_by_browser_or_paste_kept_in_a_file_and_taken_back(pasted: bool) -> None:
    with anyio.fail_after(50):
        async with demo_world(delays=False) as world, open_core(world.deps()) as core:
            client, ended = core.client(), anyio.Event()

            def heard(event: Event) -> None:
                if isinstance(event, LoginCompleted):
                    ended.set()

            core.hub.listen(heard)
            await client.call(methods.JACKFIELD_PANEL_START, PanelStartParams(consent_all=True))
            begun = await client.call(
                methods.JACKFIELD_LOGIN_START, LoginStartParams(name="traces")
            )
            came = await approved(begun.url)
            if pasted:
                params = LoginPasteParams(login_id=begun.login_id, text=came)
                assert (await client.call(methods.JACKFIELD_LOGIN_PASTE, params)).accepted
            else:
                async with httpx.AsyncClient(trust_env=False) as browser:
                    assert (await browser.get(came)).status_code == 200
            await ended.wait()
            params = LoginIdParams(login_id=begun.login_id)
            state = await client.call(methods.JACKFIELD_LOGIN_STATE, params)
            assert (state.stage, state.store) == ("done", "file")
            kept = json.loads((world.codex_home / ".credentials.json").read_text())
            assert [entry["server_name"] for entry in kept.values()] == ["traces"]
            assert isinstance(world.deps().secrets, DemoSecrets)
            known = await client.call(
                methods.JACKFIELD_LOGIN_CREDENTIALS, NameParams(name="traces")
            )
            assert known.state == "oAuth" and known.renewable
            out = await client.call(methods.JACKFIELD_LOGIN_SIGN_OUT, NameParams(name="traces"))
            assert (out.removed, out.revoked, out.note) == (True, True, "")
