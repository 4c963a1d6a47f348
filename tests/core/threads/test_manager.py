from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from core.errors import CoreError, InternalError, InvalidRequest, PeerError
from core.mcp.client.session import CloseReason, HttpFailed, SessionClosed
from core.ports import Deps
from core.protocol.facts import Evidence
from core.seams import DeclaredServer
from tests.core.mcp.fakes import FakeMaker, Script, tool
from tests.core.threads.world import PANEL, World, world
from tests.fakes.ports import FakeClock

pytestmark = pytest.mark.anyio

ONE = '[mcp_servers.one]\ncommand = "one"\n'
TWO = '[mcp_servers.two]\ncommand = "two"\n'
NOBODY = "67e55044-10b1-426f-9247-bb680e5fe0c8"


@pytest.fixture
async def here(deps: Deps) -> AsyncGenerator[World]:
    maker = FakeMaker(one=Script(), two=Script())
    async with world(replace(deps, clock=FakeClock(auto=False)), ONE + TWO, maker=maker) as made:
        yield made


def died(code: int = 3) -> SessionClosed:
    return SessionClosed(CloseReason(exit_code=code))


# --- thread/start


async def test_the_answer_comes_first_then_started_then_the_startup_states(here: World) -> None:
    client = here.client()
    result = await client.call("thread/start")
    assert client.log[0] == ("answer", "thread/start")
    assert client.log[1] == ("thread/started", {"thread": result["thread"]})
    await here.until(lambda: client.startup("two") == ["starting", "ready"])
    first = [params for method, params in client.log[2:4] if method.startswith("mcpServer/")]
    assert [(p["name"], p["status"]) for p in first] == [("one", "starting"), ("two", "starting")]
    assert first[0] == {
        "threadId": result["thread"]["id"],
        "name": "one",
        "environmentId": None,
        "status": "starting",
        "error": None,
        "failureReason": None,
    }


async def test_every_declared_member_of_the_answer_is_there(here: World, deps: Deps) -> None:
    result = await here.client().call("thread/start", model="m", ephemeral=True)
    cwd = str(deps.cwd)
    thread = result.pop("thread")
    assert result == {
        "model": "m",
        "modelProvider": "openai",
        "serviceTier": None,
        "disabledPluginIds": [],
        "cwd": cwd,
        "runtimeWorkspaceRoots": [cwd],
        "instructionSources": [],
        "approvalPolicy": "on-request",
        "approvalsReviewer": "user",
        "sandbox": {"type": "readOnly", "networkAccess": False},
        "activePermissionProfile": {"id": ":read-only", "extends": None},
        "reasoningEffort": None,
        "multiAgentMode": "explicitRequestOnly",
    }
    assert thread["sessionId"] == thread["id"] and thread["turns"] == []
    assert (thread["ephemeral"], thread["path"], thread["status"]) == (True, None, {"type": "idle"})
    assert thread["environments"] == [
        {"environmentId": "local", "cwd": cwd, "runtimeWorkspaceRoots": [cwd]}
    ]


async def test_trust_parameters_and_configuration_choose_the_sandbox(
    here: World, deps: Deps
) -> None:
    client = here.client()

    async def chosen(**params: Any) -> tuple[Any, str, Any]:
        result = await client.call("thread/start", **params)
        profile = result["activePermissionProfile"]
        return result["approvalPolicy"], result["sandbox"]["type"], profile and profile["id"]

    assert await chosen() == ("on-request", "readOnly", ":read-only")
    assert await chosen(sandbox="danger-full-access") == ("on-request", "dangerFullAccess", None)
    here.write(f'[projects."{deps.cwd}"]\ntrust_level = "trusted"')
    assert await chosen() == ("on-request", "workspaceWrite", ":workspace")
    here.write(f'[projects."{deps.cwd}"]\ntrust_level = "untrusted"')
    assert await chosen() == ("untrusted", "workspaceWrite", ":workspace")
    here.write('sandbox_mode = "read-only"\napproval_policy = "never"')
    assert await chosen() == ("never", "readOnly", None)
    assert await chosen(
        approvalPolicy="on-request", config={"sandbox_mode": "workspace-write"}
    ) == (
        "on-request",
        "workspaceWrite",
        None,
    )
    granular = {"granular": {"sandbox_approval": True, "rules": True, "mcp_elicitations": False}}
    policy, _, _ = await chosen(approvalPolicy=granular)
    assert policy["granular"]["skill_approval"] is False


async def test_a_relative_directory_is_taken_from_ours(here: World, deps: Deps) -> None:
    result = await here.client().call("thread/start", cwd="a/../b")
    assert result["cwd"] == str(deps.cwd / "b")


async def test_the_threads_own_configuration_counts_over_the_files(here: World) -> None:
    client = here.client()
    thread = await client.start(config={"mcp_servers.own.command": "own"})
    await here.until(lambda: client.startup("own") == ["starting", "ready"])
    rows = await client.call("mcpServerStatus/list", threadId=thread)
    assert [row["name"] for row in rows["data"]] == ["one", "own", "two"]


async def test_a_configuration_that_codex_refuses_starts_nothing(here: World) -> None:
    here.write("[mcp_servers.a]\n")
    client = here.client()
    with pytest.raises(InvalidRequest) as caught:
        await client.call("thread/start")
    file = here.codex_home / "config.toml"
    assert caught.value.message == f"failed to load configuration: {file}:1:1: invalid transport"
    here.write("")
    with pytest.raises(InvalidRequest, match="Model provider `nope` not found"):
        await client.call("thread/start", modelProvider="nope")
    assert await client.call("thread/loaded/list") == {"data": [], "nextCursor": None}


async def test_required_servers_are_waited_for(deps: Deps) -> None:
    maker = FakeMaker(one=Script())
    gate = maker.scripts["one"].gate("initialize")
    async with world(deps, ONE + "required = true\n" + TWO, maker=maker) as here:
        client = here.client()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.start)
            await here.until(lambda: "two" in maker.sessions)
            await anyio.wait_all_tasks_blocked()
            assert client.log == [], "nothing is told before the answer"
            gate.set()
        await here.until(lambda: client.startup("one") == ["starting", "ready"])
        assert [method for method, _ in client.log[:2]] == ["answer", "thread/started"]


async def test_a_failing_required_server_means_no_thread_and_no_word(deps: Deps) -> None:
    missing = SessionClosed(CloseReason(errno=2, text="No such file or directory: two"))
    maker = FakeMaker(one=Script(refuse=[died()]), two=Script(refuse=[missing]))
    config = ONE + "required = true\n" + TWO + "required = true\n"
    config += '[mcp_servers.good]\ncommand = "good"\n'
    config += '[mcp_servers.off]\ncommand = "off"\nrequired = true\nenabled = false\n'
    async with world(deps, config, maker=maker) as here:
        client = here.client()
        with pytest.raises(InternalError) as caught:
            await client.call("thread/start")
        closed = "connection closed: initialize response"
        assert caught.value.message == (
            "error creating thread: Fatal error: Failed to initialize session: "
            "required MCP servers failed to initialize: "
            f"one: handshaking with MCP server failed: {closed}: {closed}; "
            "two: No such file or directory (os error 2)"
        )
        assert client.log == [("answer", "thread/start")]
        assert await client.call("thread/loaded/list") == {"data": [], "nextCursor": None}
        assert maker.latest("good").closed_by_us


async def test_a_failing_server_that_is_not_required_harms_nobody(deps: Deps) -> None:
    maker = FakeMaker(one=Script(refuse=[died()]))
    async with world(deps, ONE + TWO, maker=maker) as here:
        client = here.client()
        await client.start()
        await here.until(lambda: client.startup("one") == ["starting", "failed"])
        await here.until(lambda: client.startup("two") == ["starting", "ready"])


# --- loaded threads


async def test_threads_are_listed_page_by_page(here: World) -> None:
    client = here.client()
    ids = sorted([await client.start() for _ in range(3)])
    first = await client.call("thread/loaded/list", limit=2)
    assert first == {"data": ids[:2], "nextCursor": ids[1]}
    rest = await client.call("thread/loaded/list", cursor=ids[1])
    assert rest == {"data": ids[2:], "nextCursor": None}
    assert (await client.call("thread/loaded/list", limit=0))["data"] == ids[:1]
    with pytest.raises(InvalidRequest, match="invalid cursor: x"):
        await client.call("thread/loaded/list", cursor="x")


async def test_who_unsubscribes_hears_no_more_and_the_thread_stays(here: World) -> None:
    client, other = here.client(1), here.client(2)
    thread = await client.start()
    await here.until(lambda: client.startup("two") == ["starting", "ready"])
    told = len(client.log)
    said = [await each.call("thread/unsubscribe", threadId=thread) for each in (client, other)]
    assert [each["status"] for each in said] == ["unsubscribed", "notSubscribed"]
    assert (await client.call("thread/unsubscribe", threadId=NOBODY))["status"] == "notLoaded"
    await client.call("config/mcpServer/reload")
    assert all(method == "answer" for method, _ in client.log[told:])
    assert (await client.call("thread/loaded/list"))["data"] == [thread]


async def test_a_client_that_has_gone_is_told_nothing(here: World) -> None:
    client = here.client()
    await client.start()
    here.threads.connection_closed(1)
    told = len(client.log)
    await here.client(2).call("config/mcpServer/reload")
    assert len(client.log) == told


async def test_archiving_cancels_starts_under_way_in_the_real_order(deps: Deps) -> None:
    maker = FakeMaker(one=Script())
    maker.scripts["one"].gate("initialize")
    async with world(deps, ONE + TWO, maker=maker) as here:
        client = here.client()
        thread = await client.start()
        await here.until(lambda: client.startup("two") == ["starting", "ready"])
        told = len(client.log)
        assert await client.call("thread/archive", threadId=thread) == {}
        assert [
            (method, params.get("status") if isinstance(params, dict) else params)
            for method, params in client.log[told:]
        ] == [
            ("mcpServer/startupStatus/updated", "cancelled"),
            ("thread/status/changed", {"type": "notLoaded"}),
            ("answer", "thread/archive"),
            ("thread/archived", None),
        ]
        await here.until(lambda: maker.latest("one").closed_by_us)
        with pytest.raises(InvalidRequest, match=f"no rollout found for thread id {thread}"):
            await client.call("thread/archive", threadId=thread)


async def test_an_ephemeral_thread_cannot_be_archived(here: World) -> None:
    client = here.client()
    thread = await client.start(ephemeral=True)
    with pytest.raises(InvalidRequest, match="no rollout found"):
        await client.call("thread/archive", threadId=thread)


async def test_other_owners_get_the_configuration_of_a_thread(here: World) -> None:
    thread = await here.client().start(config={"model": "own"})
    assert here.threads.config_of(thread).get("model") == "own"
    with pytest.raises(InvalidRequest, match=f"thread not found: {NOBODY}"):
        here.threads.config_of(NOBODY)
    with pytest.raises(InvalidRequest, match="invalid thread id"):
        here.threads.config_of("x")


async def test_rows_of_threads_come_and_go(here: World, deps: Deps) -> None:
    thread = await here.client().start()
    (row,) = here.threads.rows.current.rows.values()
    assert (row.id, row.cwd, row.mine) == (thread, str(deps.cwd), False)
    await here.client().call("thread/archive", threadId=thread)
    assert not here.threads.rows.current.rows


# --- config/mcpServer/reload


async def test_an_edit_alone_changes_nothing_until_the_reload(here: World) -> None:
    client = here.client()
    thread = await client.start()
    await here.until(lambda: client.startup("one") == ["starting", "ready"])
    here.write(ONE + '[mcp_servers.new]\ncommand = "new"\n')
    with pytest.raises(InternalError, match="unknown MCP server 'new'"):
        await client.call("mcpServer/tool/call", threadId=thread, server="new", tool="t")
    assert await client.call("config/mcpServer/reload") == {}
    await here.until(lambda: client.startup("new") == ["starting", "ready"])
    assert client.startup("one") == ["starting", "ready", "ready"]
    with pytest.raises(InternalError, match="unknown MCP server 'two'"):
        await client.call("mcpServer/tool/call", threadId=thread, server="two", tool="t")


async def test_a_refused_reload_leaves_all_running_and_tells_ready_again(here: World) -> None:
    client = here.client()
    await client.start()
    await here.until(lambda: client.startup("two") == ["starting", "ready"])
    here.write("mcp_servers = 1\n")
    with pytest.raises(InternalError) as caught:
        await client.call("config/mcpServer/reload")
    assert caught.value.message == (
        f"failed to refresh MCP servers: {here.codex_home}/config.toml:1:15: "
        "invalid type: integer `1`, expected a map"
    )
    assert client.startup("two") == ["starting", "ready", "ready"]


async def test_without_a_thread_only_broken_text_is_noticed(here: World) -> None:
    client = here.client()
    here.write("mcp_servers = 1\n")
    assert await client.call("config/mcpServer/reload") == {}
    here.write("[[[\n")
    with pytest.raises(InternalError, match="failed to refresh MCP servers: .*:1:3: unquoted"):
        await client.call("config/mcpServer/reload")


# --- mcpServerStatus/list


async def test_names_of_servers_and_tools_come_back_unchanged(deps: Deps) -> None:
    config = '[mcp_servers.some-server]\ncommand="a"\n[mcp_servers.some_server]\ncommand="b"\n'
    maker = FakeMaker(**{"some-server": Script(tools=[tool("look-up.raw")])})
    async with world(deps, config, maker=maker) as here:
        rows = (await here.client().call("mcpServerStatus/list"))["data"]
    assert [(row["name"], list(row["tools"])) for row in rows] == [
        ("some-server", ["look-up.raw"]),
        ("some_server", ["t"]),
    ]


async def test_a_list_without_thread_uses_connections_of_its_own(here: World) -> None:
    client = here.client()
    await client.call("mcpServerStatus/list")
    rows = (await client.call("mcpServerStatus/list"))["data"]
    assert [row["runtimeStatus"] for row in rows] == [None, None]
    assert len(here.maker.sessions["one"]) == 2
    assert all(session.closed_by_us for session in here.maker.sessions["one"])
    assert client.startup("one") == []


async def test_only_the_servers_of_the_page_are_started(here: World) -> None:
    client = here.client()
    page = await client.call("mcpServerStatus/list", limit=1)
    assert [row["name"] for row in page["data"]] == ["one"]
    assert page["nextCursor"] == "1"
    assert list(here.maker.sessions) == ["one"]
    rest = await client.call("mcpServerStatus/list", cursor="1", limit=0)
    assert ([row["name"] for row in rest["data"]], rest["nextCursor"]) == (["two"], None)
    assert (await client.call("mcpServerStatus/list", cursor="2"))["data"] == []


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"cursor": "3"}, "cursor 3 exceeds total MCP servers 2"),
        ({"cursor": "x"}, "invalid cursor: x"),
        ({"cursor": "-1"}, "invalid cursor: -1"),
        ({"cursor": " 1"}, "invalid cursor:  1"),
        ({"cursor": ""}, "invalid cursor: "),
        ({"cursor": "٣"}, "invalid cursor: ٣"),
        ({"environmentId": "local"}, "environmentId requires serverName and threadId"),
        ({"threadId": NOBODY}, f"thread not found: {NOBODY}"),
    ],
)
async def test_bad_requests_are_refused_in_the_real_words(
    here: World, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        await here.client().call("mcpServerStatus/list", **params)
    assert caught.value.message == message


async def test_status_list_returns_raw_server_and_tool_names(deps: Deps) -> None:
    config = (
        '[mcp_servers."some-server"]\ncommand = "a"\n[mcp_servers.some_server]\ncommand = "b"\n'
    )
    tools = [tool("look-up.raw"), tool("look_up_raw"), tool("Look Up/raw")]
    maker = FakeMaker(**{"some-server": Script(tools=tools), "some_server": Script(tools=tools)})
    async with world(deps, config, maker=maker) as here:
        rows = (await here.client().call("mcpServerStatus/list"))["data"]
        assert [row["name"] for row in rows] == ["some-server", "some_server"]
        for row in rows:
            assert set(row["tools"]) == {"look-up.raw", "look_up_raw", "Look Up/raw"}
            assert {name: told["name"] for name, told in row["tools"].items()} == {
                name: name for name in row["tools"]
            }


async def test_tools_and_auth_only_skips_slow_inventory_calls(deps: Deps) -> None:
    maker = FakeMaker(one=Script(capabilities={"tools": {}, "resources": {}}))
    for method in ("resources/list", "resources/templates/list"):
        maker.scripts["one"].gate(method)
    async with world(deps, ONE, maker=maker) as here:
        with anyio.fail_after(2):
            result = await here.client().call("mcpServerStatus/list", detail="toolsAndAuthOnly")
    assert result["data"][0]["resources"] == result["data"][0]["resourceTemplates"] == []
    assert maker.latest("one").methods == ["initialize", "tools/list"]


async def test_failing_resource_lists_are_empty_lists(deps: Deps) -> None:
    replies: dict[str, Any] = {
        "resources/list": [{"resources": [{"uri": "r://1"}]}],
        "resources/templates/list": [PeerError(-32603, "no")],
    }
    async with world(deps, ONE, maker=FakeMaker(one=Script(replies=replies))) as here:
        (row,) = (await here.client().call("mcpServerStatus/list"))["data"]
    assert (row["resources"], row["resourceTemplates"]) == ([], [])
    assert row["toolsError"] is None


async def test_a_failed_server_has_its_own_row_and_the_others_are_whole(deps: Deps) -> None:
    refused = PeerError(-32603, "list failed")
    maker = FakeMaker(one=Script(replies={"tools/list": [refused]}))
    async with world(deps, ONE + TWO, maker=maker) as here:
        one, two = (await here.client().call("mcpServerStatus/list"))["data"]
    assert one["toolsError"] == "MCP startup failed: Mcp error: -32603: list failed"
    assert (one["serverInfo"], one["serverCapabilities"]) == (None, {"tools": {}})
    assert list(two["tools"]) == ["t"] and two["serverInfo"]["version"] == "1"


async def test_with_a_thread_states_are_its_own_and_live_connections_are_used_again(
    deps: Deps,
) -> None:
    config = ONE + TWO + '[mcp_servers.off]\ncommand = "off"\nenabled = false\n'
    async with world(deps, config, maker=FakeMaker(one=Script(refuse=[died()]))) as here:
        client = here.client()
        thread = await client.start()
        await here.until(lambda: client.startup("one") == ["starting", "failed"])
        await here.until(lambda: client.startup("two") == ["starting", "ready"])
        here.write(config + '[mcp_servers.added]\ncommand = "added"\n')
        rows = (await client.call("mcpServerStatus/list", threadId=thread))["data"]
        assert {row["name"]: row["runtimeStatus"] for row in rows} == {
            "added": None,
            "off": "disabled",
            "one": "failed",
            "two": "connected",
        }
        opened = {name: len(sessions) for name, sessions in here.maker.sessions.items()}
        assert opened == {"one": 2, "two": 1, "added": 1}


async def test_an_entry_that_has_changed_is_asked_over_a_connection_of_its_own(deps: Deps) -> None:
    maker = FakeMaker(two=Script())
    async with world(deps, TWO, maker=maker) as here:
        client = here.client()
        thread = await client.start()
        await here.until(lambda: client.startup("two") == ["starting", "ready"])
        here.write(TWO + "startup_timeout_sec = 7\n")
        await client.call("mcpServerStatus/list", threadId=thread)
        assert len(maker.sessions["two"]) == 2


async def test_lists_that_nobody_promised_are_asked_for_once_over_a_kept_connection(
    deps: Deps,
) -> None:
    promised = Script(capabilities={"tools": {}, "resources": {}})
    maker = FakeMaker(one=promised, two=Script())
    async with world(deps, ONE + TWO, maker=maker) as here:
        client = here.client()
        thread = await client.start()
        for name in ("one", "two"):
            await here.until(lambda name=name: client.startup(name) == ["starting", "ready"])
        for _ in range(3):
            await client.call("mcpServerStatus/list", threadId=thread)
        asked = {
            name: maker.latest(name).methods.count("resources/list") for name in maker.sessions
        }
        assert asked == {"one": 3, "two": 1}


async def test_one_server_of_a_thread_is_asked_over_its_live_connection(deps: Deps) -> None:
    maker = FakeMaker(one=Script())
    gate = maker.scripts["one"].gate("initialize")
    async with world(deps, ONE, maker=maker) as here:
        client = here.client()
        thread = await client.start()
        got: list[Any] = []

        async def ask() -> None:
            got.append(await client.call("mcpServerStatus/list", threadId=thread, serverName="one"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            assert got == [], "the answer waits while the server is starting"
            gate.set()
        (row,) = got[0]["data"]
        assert (row["runtimeStatus"], list(row["tools"])) == ("connected", ["t"])
        assert len(maker.sessions["one"]) == 1
        maker.latest("one").die(CloseReason(exit_code=1))
        await here.until(lambda: here.threads.get(thread).runtime.connections["one"].ended)
        (row,) = (await client.call("mcpServerStatus/list", threadId=thread, serverName="one"))[
            "data"
        ]
        assert (row["runtimeStatus"], list(row["tools"])) == ("failed", ["t"])


async def test_tools_of_a_plugin_say_so(here: World) -> None:
    here.plugins.servers.append(
        DeclaredServer(
            name="brought",
            plugin_id="p@m",
            entry={"command": "x"},
            root=Path("/p"),
            origin=Evidence(layer="plugin"),
            display_name="The Plugin",
        )
    )
    here.maker.scripts["brought"] = Script(tools=[tool("a"), tool("b", description="Does b ")])
    result = await here.client().call("mcpServerStatus/list", serverName="brought")
    (row,) = result["data"]
    assert (row["pluginId"], row["environmentId"]) == ("p@m", "local")
    assert row["tools"]["a"]["description"] == "This tool is part of plugin `The Plugin`."
    assert row["tools"]["b"]["description"] == ("Does b. This tool is part of plugin `The Plugin`.")


# --- calls


async def test_a_call_names_its_thread_and_leaves_out_what_is_null(here: World) -> None:
    client = here.client()
    thread = await client.start()
    here.maker.scripts["one"].replies["tools/call"] = [
        {"content": [{"type": "text", "text": "x", "odd": 1}], "structuredContent": None}
    ]
    result = await client.call(
        "mcpServer/tool/call",
        threadId=thread.upper(),
        server="one",
        tool="t",
        _meta={"k": 1, "threadId": "theirs"},
    )
    assert result == {"content": [{"type": "text", "text": "x"}], "structuredContent": None}
    assert here.maker.latest("one").asked[-1] == (
        "tools/call",
        {"name": "t"},
        {"k": 1, "threadId": thread},
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"server": "no"}, "unknown MCP server 'no'"),
        ({"environmentId": "e"}, "unknown MCP server 'one (environment e)'"),
        ({"tool": "off"}, "tool 'off' is disabled for MCP server 'one'"),
        (
            {"arguments": [1]},
            "tool call failed for `one/t`: MCP tool arguments must be a JSON object, got [1]",
        ),
        (
            {"_meta": "é"},
            'tool call failed for `one/t`: MCP tool request _meta must be a JSON object, got "é"',
        ),
    ],
)
async def test_refused_calls_never_reach_the_server(
    here: World, params: dict[str, Any], message: str
) -> None:
    here.write(ONE + 'disabled_tools = ["off"]\n')
    client = here.client()
    thread = await client.start()
    with pytest.raises(InternalError) as caught:
        await client.call(
            "mcpServer/tool/call", **{"threadId": thread, "server": "one", "tool": "t", **params}
        )
    assert caught.value.message == message
    sessions = here.maker.sessions.get("one", [])
    assert all("tools/call" not in session.methods for session in sessions)


async def test_the_servers_own_error_is_passed_on(here: World) -> None:
    client = here.client()
    thread = await client.start()
    here.maker.scripts["one"].replies["tools/call"] = [PeerError(-32000, "tool err", {"x": 1})]
    with pytest.raises(PeerError) as caught:
        await client.call("mcpServer/tool/call", threadId=thread, server="one", tool="t")
    assert (caught.value.code, caught.value.data) == (-32000, {"x": 1})


async def failing_call(here: World, reply: Any) -> str:
    client = here.client()
    thread = await client.start()
    here.maker.scripts["one"].replies["tools/call"] = [reply]
    with pytest.raises(InternalError) as caught:
        await client.call("mcpServer/tool/call", threadId=thread, server="one", tool="t")
    return caught.value.message.removeprefix("tool call failed for `one/t`: ")


async def test_failures_of_calls_have_the_real_words(here: World) -> None:
    assert await failing_call(here, {"content": [{"type": "odd"}]}) == "Unexpected response type"
    assert await failing_call(here, died()) == "Transport closed"
    failed = HttpFailed(CloseReason(http_status=500, body="forced"))
    assert await failing_call(here, failed) == (
        "Transport send error: Transport [streamable_http] error: "
        "unexpected server response: HTTP 500: forced"
    )


async def test_a_slow_tool_is_given_up_and_the_connection_stays(here: World) -> None:
    here.write(ONE + "tool_timeout_sec = 0.05\n")
    client = here.client()
    thread = await client.start()
    here.maker.scripts["one"] = Script(replies={"tools/call": [{"content": []}]})
    gate = here.maker.scripts["one"].gate("tools/call")
    call = {"threadId": thread, "server": "one", "tool": "t"}
    with pytest.raises(InternalError, match="timed out awaiting tools/call after 50ms"):
        await client.call("mcpServer/tool/call", **call)
    gate.set()
    assert await client.call("mcpServer/tool/call", **call) == {"content": []}
    assert len(here.maker.sessions["one"]) == 1


async def test_a_challenge_in_a_call_is_a_result_that_says_so(here: World) -> None:
    client = here.client()
    thread = await client.start()
    here.maker.scripts["one"].replies["tools/call"] = [
        HttpFailed(CloseReason(http_status=401, challenge=('Bearer realm="x"',)))
    ]
    result = await client.call("mcpServer/tool/call", threadId=thread, server="one", tool="t")
    assert result == {
        "content": [{"type": "text", "text": "Authentication required"}],
        "isError": True,
        "_meta": {"mcp/www_authenticate": ['Bearer realm="x"']},
    }


async def test_a_call_waits_for_a_start_and_repeats_its_failure(deps: Deps) -> None:
    maker = FakeMaker(one=Script(refuse=[died()]))
    gate = maker.scripts["one"].gate("initialize")
    async with world(deps, ONE, maker=maker) as here:
        client = here.client()
        thread = await client.start()
        errors: list[str] = []

        async def call() -> None:
            try:
                await client.call("mcpServer/tool/call", threadId=thread, server="one", tool="t")
            except CoreError as error:
                errors.append(error.message)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await anyio.wait_all_tasks_blocked()
            assert errors == []
            gate.set()
        assert errors[0].startswith("failed to get client: MCP startup failed: handshaking")


# --- resources


async def test_a_resource_is_read_with_and_without_a_thread(here: World) -> None:
    contents = [{"uri": "r://1", "text": "x", "odd": 1}, {"uri": "r://2", "blob": "AA"}]
    here.maker.scripts["one"] = Script(replies={"resources/read": [{"contents": contents}]})
    client = here.client()
    thread = await client.start()
    for more in ({}, {"threadId": thread}):
        result = await client.call("mcpServer/resource/read", server="one", uri="r://1", **more)
        assert result == {
            "contents": [{"uri": "r://1", "text": "x"}, {"uri": "r://2", "blob": "AA"}],
            "originCallId": None,
        }
    await client.call("mcpServer/resource/read", server="one", uri="r://1", connectorId="c")
    assert here.maker.latest("one").asked[-1][2] == {
        "x-codex-turn-metadata": {"mcp_request_meta": {"selected_connector_ids": ["c"]}}
    }


@pytest.mark.parametrize(
    ("params", "code", "message"),
    [
        ({"originCallId": "x"}, -32600, "originCallId requires threadId"),
        (
            {"target": {"connectorId": "c", "linkId": None}},
            -32600,
            "target requires unscoped codex_apps, a connectorId, and a real linkId or null",
        ),
        (
            {"_meta": {"threadId": 1}},
            -32600,
            "reserved resource read metadata key: threadId",
        ),
        ({"server": "zz"}, -32603, "unknown MCP server 'zz'"),
        (
            {"server": "two"},
            -32603,
            "failed to get client: MCP startup failed: No such file or directory (os error 2)",
        ),
        (
            {"uri": "odd"},
            -32603,
            "resources/read failed for `one` (odd): Unexpected response type",
        ),
    ],
)
async def test_refused_reads_have_the_real_words(
    here: World, params: dict[str, Any], code: int, message: str
) -> None:
    here.maker.scripts["one"] = Script(replies={"resources/read": [{"contents": [{"uri": "x"}]}]})
    here.maker.scripts["two"] = Script(refuse=[SessionClosed(CloseReason(errno=2))])
    with pytest.raises(CoreError) as caught:
        await here.client().call(
            "mcpServer/resource/read", **{"server": "one", "uri": "u", **params}
        )
    assert (caught.value.code, caught.value.message) == (code, message)


# --- elicitation


ASK = {
    "message": "Sure?",
    "requestedSchema": {"type": "object", "properties": {"ok": {"type": "boolean"}}},
}


async def test_a_question_reaches_the_client_between_two_states(here: World) -> None:
    client = here.client()
    client.answer = {"action": "accept", "content": {"ok": True}, "_meta": {"z": 1}}
    thread = await client.start()
    await here.until(lambda: client.startup("one") == ["starting", "ready"])
    told = len(client.log)
    with anyio.fail_after(5):
        answer = await here.maker.latest("one").ask(1, "elicitation/create", ASK)
    assert answer == {"action": "accept", "content": {"ok": True}, "_meta": {"z": 1}}
    active = {"type": "active", "activeFlags": ["waitingOnApproval"]}
    assert [each for each in client.log[told:] if not each[0].startswith("mcpServer/startup")] == [
        ("thread/status/changed", {"threadId": thread, "status": active}),
        (
            "mcpServer/elicitation/request",
            {
                "threadId": thread,
                "turnId": None,
                "serverName": "one",
                "environmentId": None,
                "mode": "form",
                "_meta": None,
                "message": "Sure?",
                "requestedSchema": ASK["requestedSchema"],
            },
        ),
        ("thread/status/changed", {"threadId": thread, "status": {"type": "idle"}}),
    ]


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ({"action": "cancel"}, "cancel"),
        ({"action": "odd"}, "decline"),
        ("nonsense", "decline"),
        (PeerError(-32000, "no"), "decline"),
        (LookupError(), "decline"),
    ],
)
async def test_what_is_no_answer_counts_as_a_refusal(here: World, answer: Any, action: str) -> None:
    client = here.client()
    client.answer = answer
    await client.start()
    await here.until(lambda: client.startup("one") == ["starting", "ready"])
    with anyio.fail_after(5):
        said = await here.maker.latest("one").ask(1, "elicitation/create", ASK)
    assert said == {"action": action}


async def test_a_thread_that_never_asks_declines_by_itself(here: World) -> None:
    client = here.client()
    client.answer = {"action": "accept"}
    await client.start(approvalPolicy="never")
    await here.until(lambda: client.startup("one") == ["starting", "ready"])
    with anyio.fail_after(5):
        said = await here.maker.latest("one").ask(1, "elicitation/create", ASK)
    assert said == {"action": "decline"}
    assert "mcpServer/elicitation/request" not in [method for method, _ in client.log]


# --- the end


async def test_leaving_ends_all_servers_whatever_they_do(deps: Deps) -> None:
    maker = FakeMaker(one=Script(takes=0.2), two=Script(takes=0.2))
    maker.scripts["two"].gate("initialize")
    with anyio.fail_after(2):
        async with world(deps, ONE + TWO, maker=maker) as here:
            for _ in range(3):
                await here.client().start()
            await here.until(lambda: len(maker.sessions.get("two", [])) == 3)
        assert maker.open_now == 0


async def test_an_error_inside_comes_out_as_it_is(deps: Deps) -> None:
    with pytest.raises(ZeroDivisionError):
        async with world(deps, ONE) as here:
            await here.client().start()
            _ = 1 / 0


async def test_panel_and_wire_have_connections_of_their_own(here: World) -> None:
    await here.panel.open(consent_all=True)
    await here.until_status(one="connected")
    rows = (await here.client(policy=PANEL).call("mcpServerStatus/list"))["data"]
    assert [row["runtimeStatus"] for row in rows] == ["connected", "connected"]
    assert len(here.maker.sessions["one"]) == 1, "the panel's list uses what is there"
    await here.client().call("mcpServerStatus/list")
    assert len(here.maker.sessions["one"]) == 2
