from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from core.auth.attempt import Attempt
from core.net.challenge import missing_scopes, parameter, scopes
from tests.core.auth.test_sign_in import Running, asked
from tests.core.auth.world import World, world

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("status", "challenge", "missing"),
    [
        (403, 'Bearer error="insufficient_scope", scope="a b a"', ("a", "b")),
        (403, "Bearer error=insufficient_scope", ()),
        (401, 'Bearer error="insufficient_scope", scope="a"', None),
        (403, 'Bearer error="invalid_token", scope="a"', None),
        (403, 'Bearer error_description="error=insufficient_scope"', None),
        (403, "", None),
    ],
)
def test_only_a_403_that_says_so_asks_for_more(
    status: int, challenge: str, missing: tuple[str, ...] | None
) -> None:
    assert missing_scopes(status, [challenge] if challenge else []) == missing


def test_parameters_of_challenges_are_read_in_both_forms() -> None:
    told = ["Negotiate", 'Bearer realm="x", resource_metadata="https://h/m"', "Other scope=one"]
    assert parameter(told, "resource_metadata") == "https://h/m"
    assert scopes(told) == ("one",)
    assert scopes(["Bearer"]) is None


async def sign_in(made: World, **wishes: object) -> Attempt:
    run = Running(made)
    attempt = await run.begin(**wishes)
    assert await attempt.pasted(made.site.person(attempt.url)) == ""
    await run.over.wait()
    return attempt


async def test_what_a_server_misses_is_told_asked_for_and_gone_once_granted(
    tmp_path: Path,
) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            bearer, told = made.layer.bearer, list[str]()
            bearer.standings.listen(told.append)
            await sign_in(made)
            await bearer.insufficient(made.target, ("write",))
            await bearer.insufficient(made.target, ("write",))
            assert told == ["oa"]
            assert await bearer.status(made.target) == "oAuth"
            assert await bearer.why(made.target) == "the server wants +write: sign in again"
            run = Running(made)
            attempt = await run.begin()
            assert asked(attempt)["scope"] == ["read write"]
            assert (attempt.scopes_before, attempt.missing) == (("read",), ("write",))
            await attempt.pasted(made.site.person(attempt.url))
            await run.over.wait()
            assert await bearer.why(made.target) == ""


async def test_a_refresh_does_not_make_a_narrow_grant_wide(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            await sign_in(made)
            await made.layer.bearer.insufficient(made.target, ("write",))
            made.clock.tick(4000)
            await made.layer.bearer.bearer(made.target)
            assert "+write" in await made.layer.bearer.why(made.target)


async def test_what_was_asked_for_in_vain_is_not_asked_for_in_a_loop(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            await sign_in(made)
            bearer = made.layer.bearer
            await bearer.insufficient(made.target, ("write",))
            made.site.grants["scope"] = "read"
            await sign_in(made)
            await bearer.insufficient(made.target, ("write",))
            assert await bearer.why(made.target) == (
                "the server wants +write, which was asked for and not granted"
            )


async def test_a_server_that_refuses_what_it_got_is_told_as_that(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            await sign_in(made)
            await made.layer.bearer.insufficient(made.target, ("read",))
            assert await made.layer.bearer.why(made.target) == "the server refuses what was granted"


async def test_configured_and_chosen_scopes_are_never_widened(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            from dataclasses import replace

            made = world(tmp_path, tasks)
            await sign_in(made)
            await made.layer.bearer.insufficient(made.target, ("admin",))
            configured = await Running(made).begin(target=replace(made.target, scopes=("read",)))
            chosen = await Running(made).begin(scopes=("read",))
            for attempt in (configured, chosen):
                assert asked(attempt)["scope"] == ["read"] and attempt.missing == ("admin",)
                attempt.cancel()
