from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import anyio
import pytest

from core.errors import CoreError
from core.mcp.auth_status import AuthJudge
from core.mcp.client.session import HttpFailed
from core.mcp.faults import StartFailed
from core.mcp.headers_helper import HeadersHelper
from core.mcp.links import Links, Plumbing
from core.mcp.spec import Endpoint, ServerSpec
from core.net.http import HttpClients
from core.process import Processes
from core.seams import SignInTarget
from core.threads.policy import CODEX, PANEL
from tests.conftest import NoHttp
from tests.fakes.mcp_http import FakeMcpHttp

pytestmark = pytest.mark.anyio


class Store:
    """A `BearerSource` that keeps what it was asked."""

    def __init__(self, status: str = "none") -> None:
        self._status = status
        self.asked: list[tuple[str, ...]] = []
        self.missed: list[tuple[str, ...]] = []

    async def bearer(self, target: SignInTarget) -> str | None:
        self.asked.append(("bearer", target.server, target.url))
        return "fresh-token"

    async def rejected(self, target: SignInTarget, token: str) -> str | None:
        self.asked.append(("rejected", target.server, token))
        return "renewed-token"

    async def status(self, target: SignInTarget) -> str:
        if self._status == "broken":
            raise CoreError("the keyring does not answer")
        return self._status

    async def why(self, target: SignInTarget) -> str:
        return ""

    async def ends(self, target: SignInTarget) -> tuple[float | None, bool]:
        return None, False

    async def insufficient(self, target: SignInTarget, scopes: Sequence[str]) -> None:
        self.missed.append(tuple(scopes))


class Probe:
    def __init__(self, answer: bool | None = False) -> None:
        self.answer = answer
        self.asked = 0

    async def offers_oauth(self, target: SignInTarget) -> bool | None:
        self.asked += 1
        return self.answer

    def forget(self, url: str) -> None: ...


class Printed:
    async def headers(self, command: str, cwd: str) -> dict[str, str]:
        if command == "fails":
            raise StartFailed("MCP HTTP headers helper exited with status exit status: 3")
        return {"x-a": "from-helper", "Authorization": "Helper h"}


def links(store: Store | None = None, policy: Any = CODEX, client: Any = None) -> Any:
    plumbing = Plumbing(
        processes=Processes(),
        http=NoHttp(),
        helper=cast("HeadersHelper", Printed()),
        version="1",
        bearer=store,
    )
    return Links(plumbing, policy, client)


def spec(**facts: Any) -> ServerSpec:
    return ServerSpec(name="s", target=Endpoint(url="https://h/mcp", **facts))


async def test_the_helper_wins_over_the_file_and_a_bearer_over_both() -> None:
    plain = spec(headers={"X-A": "file", "X-B": "b"}, helper="x")
    assert await links()._headers(plain, plain.target) == {
        "X-B": "b",
        "x-a": "from-helper",
        "Authorization": "Helper h",
    }
    assert plain.secrets.mask("from-helper") == "•••"
    bearer = spec(helper="x", bearer="tok", bearer_variable="T")
    headers = await links()._headers(bearer, bearer.target)
    assert headers["Authorization"] == "Bearer tok"


async def test_a_failing_helper_fails_the_start() -> None:
    with pytest.raises(StartFailed, match="helper exited"):
        async with links().session(spec(helper="fails"), threaded=True):
            pass


async def test_stored_tokens_are_used_where_nothing_else_authorises() -> None:
    store = Store()
    plain = spec()
    authorize = links(store)._authorize(plain, plain.target)
    assert await authorize(None) == "fresh-token"
    assert await authorize("fresh-token") == "renewed-token"
    assert store.asked == [("bearer", "s", "https://h/mcp"), ("rejected", "s", "fresh-token")]
    assert plain.secrets.mask("fresh-token renewed-token") == "••• •••"
    assert await links(Store("oAuth")).credentials(plain) == "oAuth"
    assert await links(Store("oAuth")).credentials(spec(bearer_variable="T")) == "none"


def test_servers_are_told_what_concerns_them() -> None:
    base = {"elicitation": {"form": {}, "url": {}}}
    auth_change = {"experimental": {"codex/auth-change": {}}}
    assert links().capabilities(threaded=False) == base
    assert links().capabilities(threaded=True) == base | auth_change
    assert links(policy=PANEL).capabilities(threaded=True) == base
    client = {"extensions": {"io.modelcontextprotocol/ui": {"a": {"b": 1}}, "other": {}}}
    assert links(client=client).capabilities(threaded=False)["extensions"] == {
        "io.modelcontextprotocol/ui": {"a": {"b": 1}}
    }
    for form in ({"mcpServerOpenaiFormElicitation": True}, {"extensions": {"openai/form": {}}}):
        extensions = links(client=form).capabilities(threaded=True)["extensions"]
        assert extensions == {"openai/form": {}}


@pytest.mark.parametrize(
    ("facts", "store", "offered", "status", "asked"),
    [
        ({}, None, False, "unsupported", 1),
        ({}, None, True, "notLoggedIn", 1),
        ({}, None, None, "unknown", 1),
        ({}, "oAuth", True, "oAuth", 0),
        ({}, "notLoggedIn", True, "notLoggedIn", 0),
        ({}, "unknown", True, "unknown", 0),
        ({}, "broken", True, "unknown", 0),
        ({"helper": "x"}, None, True, "unknown", 0),
        ({"bearer_variable": "T"}, "oAuth", True, "bearerToken", 0),
        ({"headers": {"authorization": "x"}}, "oAuth", True, "bearerToken", 0),
        ({"sign_in": False}, "oAuth", True, "unsupported", 0),
        ({"hosted": True, "headers": {"authorization": "x"}}, "oAuth", True, "unsupported", 0),
        ({"hosted": True, "bearer": "t"}, None, True, "bearerToken", 0),
    ],
)
async def test_how_a_server_is_authorised(
    facts: dict[str, Any], store: str | None, offered: bool | None, status: str, asked: int
) -> None:
    probe = Probe(offered)
    judge = AuthJudge(probe=probe, bearer=Store(store) if store else None)
    assert (await judge.state(spec(**facts))).status == status
    assert probe.asked == asked


async def test_what_is_not_used_is_not_asked() -> None:
    probe = Probe(True)
    judge = AuthJudge(probe=probe, bearer=Store("oAuth"))
    off = ServerSpec(name="s", target=Endpoint(url="https://h"), standing="disabled")
    assert (await judge.state(off)).status == "unsupported"
    unset = await judge.state(spec(bearer_variable="TOK"))
    assert unset.reason == "TOK is not set"
    assert probe.asked == 0


@pytest.mark.parametrize(
    ("policy", "facts", "speaks"),
    [
        (PANEL, {}, True),
        (CODEX, {}, False),
        (PANEL, {"hosted": True}, False),
        (PANEL, {"enterprise": True}, False),
    ],
)
async def test_the_older_http_transport_is_spoken_by_the_panel_only(
    policy: Any, facts: dict[str, Any], speaks: bool
) -> None:
    with anyio.fail_after(10), FakeMcpHttp(legacy=True) as server:
        plumbing = Plumbing(
            processes=Processes(),
            http=HttpClients({}),
            helper=cast("HeadersHelper", Printed()),
            version="1",
        )
        older = ServerSpec(name="s", target=Endpoint(url=server.url, **facts))
        async with Links(plumbing, policy).session(older, threaded=True) as session:
            if speaks:
                await session.open(deadline=5)
                assert (await session.request("tools/list", {}, deadline=5))["tools"]
            else:
                with pytest.raises(HttpFailed):
                    await session.open(deadline=5)
        assert bool(server.of("GET")) is speaks
