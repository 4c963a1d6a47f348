"""An authorization server on a private network, for a person who has one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from core.auth.probe import MetadataProbe
from core.errors import CoreError
from tests.core.auth.test_sign_in import Running
from tests.core.auth.world import World, world

pytestmark = pytest.mark.anyio
AUTH = "https://auth.corp"


async def names(host: str, port: int) -> list[str]:
    return {"auth.corp": ["10.0.0.6"], "two.corp": ["93.184.216.34", "10.0.0.6"]}.get(host, [])


def corporate(made: World, auth: str = AUTH) -> None:
    site = made.site
    site.resource = {"resource": site.url, "authorization_servers": [auth]}
    site.metadata = {
        name: value.replace(site.host, auth) if isinstance(value, str) else value
        for name, value in site.metadata.items()
    }
    sender = replace(made.layer.sender, resolve=names)
    object.__setattr__(made.layer.sign_ins, "sender", sender)
    made.layer.sender = sender


@pytest.mark.parametrize("auth", [AUTH, "https://two.corp"])
async def test_a_private_host_is_refused_named_and_never_contacted(
    tmp_path: Path, auth: str
) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            corporate(made, auth)
            with pytest.raises(CoreError, match="is no public address") as caught:
                await Running(made).begin()
            assert caught.value.data["blockedHost"] == auth.partition("://")[2]
            assert {request.headers["host"] for request in made.site.requests} == {"h.example"}


async def test_a_host_that_was_allowed_is_allowed_for_refreshes_and_questions_too(
    tmp_path: Path,
) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            corporate(made)
            probe = MetadataProbe(made.layer.open, made.clock)
            assert await probe.offers_oauth(made.target) is None
            run = Running(made)
            attempt = await run.begin(allowed=("auth.corp",))
            assert await attempt.pasted(made.site.person(attempt.url)) == ""
            await run.over.wait()
            made.clock.tick(4000)
            before = await made.stored()
            token = await made.layer.bearer.bearer(made.target)
            assert before is not None and token != before.access_token
            probe.forget(made.target.url)
            assert await probe.offers_oauth(made.target) is True


async def test_allowing_one_host_allows_no_other(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            made = world(tmp_path, tasks)
            corporate(made)
            made.site.metadata["token_endpoint"] = "https://169.254.169.254/token"
            run = Running(made)
            attempt = await run.begin(allowed=("auth.corp",))
            said = await attempt.pasted(made.site.person(attempt.url))
            await run.over.wait()
            assert "169.254.169.254 is no public address" in said
            assert not any(
                request.headers["host"].startswith("169.") for request in made.site.requests
            )
