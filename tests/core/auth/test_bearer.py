from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from core.auth.bearer import RefreshFailed
from core.auth.grants import Grant
from core.errors import CoreError, SignInNeeded
from tests.core.auth.world import world

pytestmark = pytest.mark.anyio


async def test_a_good_token_is_used_as_it_is(tmp_path: Path) -> None:
    made = world(tmp_path)
    assert await made.layer.bearer.bearer(made.target) is None
    await made.store(expires_at=int((made.clock.now() + 31) * 1000))
    assert await made.layer.bearer.bearer(made.target) == "old"
    assert await made.layer.bearer.status(made.target) == "oAuth"
    assert made.site.requests == []


async def test_half_a_minute_before_its_end_a_token_is_refreshed_and_stored(
    tmp_path: Path,
) -> None:
    made = world(tmp_path)
    await made.store(expires_at=int((made.clock.now() + 29) * 1000))
    token = await made.layer.bearer.bearer(made.target)
    stored = await made.stored()
    assert stored is not None and stored.access_token == token != "old"
    assert stored.refresh_token != "known"
    assert stored.expires_at == int((made.clock.now() + 3600) * 1000)
    assert made.site.asked("/token") == [
        {
            "grant_type": "refresh_token",
            "refresh_token": "known",
            "resource": made.site.url,
            "client_id": "c1",
        }
    ]


async def test_many_at_once_refresh_once(tmp_path: Path) -> None:
    made, tokens = world(tmp_path), []
    await made.store()

    async def ask() -> None:
        tokens.append(await made.layer.bearer.bearer(made.target))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(ask)
    assert len(set(tokens)) == 1
    assert len(made.site.asked("/token")) == 1


async def test_two_cores_on_one_home_do_not_use_one_refresh_token_twice(tmp_path: Path) -> None:
    one, other = world(tmp_path), world(tmp_path)
    other.layer.sender = one.layer.sender
    other.layer.bearer._opens = one.layer.bearer._opens
    await one.store()
    tokens: list[str | None] = []

    async def ask(bearer: object) -> None:
        tokens.append(await bearer.bearer(one.target))  # type: ignore[attr-defined]

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, one.layer.bearer)
        tasks.start_soon(ask, other.layer.bearer)
    assert len(set(tokens)) == 1
    assert len(one.site.asked("/token")) == 1


async def test_what_another_program_has_refreshed_is_adopted(tmp_path: Path) -> None:
    made = world(tmp_path)
    old = await made.store()
    made.site.refresh_tokens.clear()
    await made.store(access_token="theirs", expires_at=None)
    assert await made.layer.bearer.rejected(made.target, old.access_token) == "theirs"
    assert made.site.requests == []


async def test_an_outage_logs_nobody_out(tmp_path: Path) -> None:
    made = world(tmp_path)
    grant = await made.store()
    made.site.pages["/token"] = httpx.Response(503)
    with pytest.raises(RefreshFailed, match="^OAuth token refresh failed: Server returned error"):
        await made.layer.bearer.bearer(made.target)
    assert await made.stored() == grant
    assert await made.layer.bearer.status(made.target) == "oAuth"
    del made.site.pages["/token"]
    assert await made.layer.bearer.bearer(made.target) != "old"


async def test_a_refused_refresh_token_is_taken_out_and_asked_about_once(tmp_path: Path) -> None:
    made = world(tmp_path)
    await made.store(refresh_token="revoked")
    for _ in range(2):
        with pytest.raises(SignInNeeded, match="^OAuth authorization required$"):
            await made.layer.bearer.bearer(made.target)
    stored = await made.stored()
    assert stored is not None and stored.refresh_token is None and stored.access_token == "old"
    assert await made.layer.bearer.status(made.target) == "notLoggedIn"
    assert len(made.site.asked("/token")) == 1


async def test_without_a_refresh_token_the_end_is_the_end(tmp_path: Path) -> None:
    made = world(tmp_path)
    await made.store(refresh_token=None)
    with pytest.raises(SignInNeeded, match="^Token expired$"):
        await made.layer.bearer.bearer(made.target)
    assert await made.layer.bearer.status(made.target) == "notLoggedIn"


@pytest.mark.parametrize(
    ("issuer", "words"),
    [
        (None, "OAuth refresh credentials for server oa are missing an authorization server"),
        ("https://before.example", "OAuth authorization server issuer changed for server oa;"),
    ],
)
async def test_a_refresh_token_goes_to_its_own_issuer_only(
    tmp_path: Path, issuer: str | None, words: str
) -> None:
    made = world(tmp_path)
    grant = await made.store(issuer=issuer)
    with pytest.raises(SignInNeeded, match=words):
        await made.layer.bearer.bearer(made.target)
    assert made.site.asked("/token") == []
    assert await made.stored() == grant


async def test_a_rejected_token_is_refreshed_although_it_has_not_expired(tmp_path: Path) -> None:
    made = world(tmp_path)
    await made.store(expires_at=None)
    token = await made.layer.bearer.rejected(made.target, "old")
    assert token not in (None, "old")
    assert await made.layer.bearer.bearer(made.target) == token


async def test_a_rejected_token_without_another_means_a_new_sign_in(tmp_path: Path) -> None:
    made = world(tmp_path)
    await made.store(expires_at=None, refresh_token=None)
    assert await made.layer.bearer.rejected(made.target, "old") is None
    assert await made.layer.bearer.status(made.target) == "notLoggedIn"


async def test_a_store_that_cannot_be_read_authorises_nothing_and_says_so(tmp_path: Path) -> None:
    made = world(tmp_path)
    made.home.mkdir()
    (made.home / ".credentials.json").write_text("{not json")
    assert await made.layer.bearer.bearer(made.target) is None
    assert await made.layer.bearer.status(made.target) == "unknown"


async def test_a_caller_that_goes_does_not_lose_the_new_tokens(tmp_path: Path) -> None:
    made = world(tmp_path)
    await made.store()
    answered = made.site._token
    with anyio.CancelScope() as scope:

        def answer(form: dict[str, str]) -> httpx.Response:
            scope.cancel()
            return answered(form)

        made.site._token = answer  # type: ignore[method-assign]
        await made.layer.bearer.bearer(made.target)
    stored = await made.stored()
    assert stored is not None and stored.refresh_token in made.site.refresh_tokens


@pytest.mark.parametrize("spelled", ["known/+ token", "known%2F%2B%20token", "known%2F%2B+token"])
async def test_what_a_server_repeats_of_our_secrets_is_not_passed_on(
    tmp_path: Path, spelled: str
) -> None:
    made = world(tmp_path)
    await made.store(refresh_token="known/+ token")
    told = {"error": "server_error", "error_description": f"no {spelled} here"}
    made.site.pages["/token"] = httpx.Response(400, json=told)
    with pytest.raises(CoreError) as caught:
        await made.layer.bearer.bearer(made.target)
    assert caught.value.message == (
        "OAuth token refresh failed: Server returned error response: server_error: no … here"
    )


async def test_nothing_is_refreshed_that_could_not_be_stored_because_we_only_read(
    tmp_path: Path,
) -> None:
    made = world(tmp_path)
    await made.store()
    made.layer.credentials._read_only = True
    with pytest.raises(CoreError, match="nothing is written: read-only"):
        await made.layer.bearer.bearer(made.target)
    assert await made.layer.bearer.status(made.target) == "oAuth"
    assert made.site.requests == []
    assert "read-only" in await made.layer.bearer.why(made.target)


async def test_new_tokens_that_cannot_be_stored_now_are_used_and_stored_later(
    tmp_path: Path,
) -> None:
    made = world(tmp_path)
    await made.store()
    replace_file, fails = made.layer.credentials.replace, [True]

    async def replace(grant: Grant, place: Any) -> None:
        if fails:
            raise CoreError("failed to write OAuth tokens: No space left on device")
        await replace_file(grant, place)

    made.layer.credentials.replace = replace  # type: ignore[method-assign]
    bearer = made.layer.bearer
    token = await bearer.bearer(made.target)
    assert token == "access-2" and (await made.stored()) is not None
    assert await bearer.bearer(made.target) == token
    assert len(made.site.asked("/token")) == 1
    assert "No space left" in await bearer.why(made.target)
    made.clock.tick(4000)  # the next refresh uses what could not be stored, not what is there
    token = await bearer.bearer(made.target)
    assert made.site.asked("/token")[-1]["refresh_token"] == "refresh-1"
    fails.clear()
    assert await bearer.bearer(made.target) == token
    stored = await made.stored()
    assert stored is not None and stored.access_token == token
    assert await bearer.why(made.target) == ""


async def test_tokens_that_were_not_stored_make_way_for_a_new_sign_in(tmp_path: Path) -> None:
    made = world(tmp_path)
    await made.store()
    keep = made.layer.credentials.replace

    async def replace(grant: Grant, place: Any) -> None:
        raise CoreError("failed to write OAuth tokens: No space left on device")

    made.layer.credentials.replace = replace  # type: ignore[method-assign]
    await made.layer.bearer.bearer(made.target)
    made.layer.credentials.replace = keep  # type: ignore[method-assign]
    await made.store(access_token="newer", expires_at=None)
    assert await made.layer.bearer.bearer(made.target) == "newer"
    stored = await made.stored()
    assert stored is not None and stored.access_token == "newer"
