"""What is told as normal, and what a name means."""

from __future__ import annotations

import json
import os

import anyio
import pytest

from core.compose import open_core
from core.deps import real_deps
from core.method_table import JACKFIELD_EXPLAIN, JACKFIELD_REFRESH
from core.protocol.events import RefreshFinished
from core.protocol.jackfield import RefreshParams
from core.protocol.jackfield_explain import ExplainParams
from tests.fakes.chatgpt_backend import tool as hosted_tool
from tests.fakes.mcp_stdio import tool
from tests.integration.explain.states_of_tools import RESOURCES
from tests.integration.explain.world import World

AGAIN = ("s", "--kind", "server", "--again", "--yes")


def test_a_server_of_resources_only_is_no_fault(world: World):
    world.fake(spec={**RESOURCES, "tools": []})
    told = world.explain(*AGAIN)
    assert (told["outcome"], told["code"]) == ("works", 0), told
    check = told["chain"][-1]
    assert (check["id"], check["status"]) == ("inventory.list", "normal")
    assert "1 resource" in check["finding"]
    assert check["finding"] in told["verdict"]


@pytest.mark.anyio
async def test_a_listed_app_without_a_snapshot_is_no_fault(world: World):
    backend = world.backend(hosted_tool("a"))
    backend.statuses[backend.HOSTED] = 500
    async with open_core(real_deps(dict(os.environ), world.work)) as core:
        client = core.client()
        with anyio.fail_after(20):
            async with client.subscribe() as events:
                asked = await client.call(JACKFIELD_REFRESH, RefreshParams(domain="apps"))
                async for event in events:
                    if isinstance(event, RefreshFinished) and event.id == asked.refresh_id:
                        break
            told = await client.call(JACKFIELD_EXPLAIN, ExplainParams(target="a", kind="app"))
            assert told.outcome == "normal" and told.stop is not None
            assert told.chain[told.stop].id == "snapshot.committed"
            assert "app/installed is empty" in told.verdict and "two caches" in told.verdict
            backend.statuses.clear()
            params = ExplainParams(target="a", kind="app", again=True)
            assert (await client.call(JACKFIELD_EXPLAIN, params)).outcome == "works"


def test_filtered_tools_are_counted_while_others_are_left(world: World):
    world.server(command=str(world.program("s-server")), disabled_tools=["other"])
    told = world.explain(*AGAIN)
    assert told["outcome"] == "works"
    assert told["chain"][-1]["finding"].startswith("1 tools, 1 filtered")


def test_hooks_that_codex_has_not_been_told_to_trust_are_no_fault(world: World):
    world.marketplace("p")
    hooks = world.market / "plugins" / "p" / "hooks"
    hooks.mkdir()
    run = [{"hooks": [{"type": "command", "command": "true"}]}]
    (hooks / "hooks.json").write_text(json.dumps({"hooks": {"SessionStart": run}}))
    world.install()
    told = world.explain("p@m")
    assert told["outcome"] == "works"
    assert "1 of 1 hooks do not run before Codex is told to: sessionStart" in told["verdict"]


def test_what_only_codex_stumbles_over_hides_nothing_behind_it(world: World):
    world.server("t", command="x", startup_timeout_sec=-1)
    world.server(command="mytool")
    told = world.explain("s")
    assert told["chain"][told["stop"]]["id"] == "features.configuration"
    assert [check["id"] for check in told["chain"] if check["status"] == "fail"] == [
        "features.configuration",
        "server.program",
    ]
    assert told["verdict"].endswith("; apart from that, mytool is not on PATH.")


def test_a_name_of_several_things_is_asked_about(world: World):
    world.marketplace("s")
    world.server()
    told = world.explain("s")
    assert (told["outcome"], told["code"]) == ("ambiguous", 6)
    assert {(each["kind"], each["id"]) for each in told["candidates"]} == {
        ("plugin", "s@m"),
        ("server", "s"),
    }
    assert world.explain("s", "--kind", "server")["kind"] == "server"
    assert world.explain("s@m")["kind"] == "plugin"


def test_a_name_that_nothing_has_is_answered_with_what_is_like_it(world: World):
    world.server("traces")
    told = world.explain("trace")
    assert (told["outcome"], told["code"]) == ("notFound", 1)
    assert told["candidates"] == [
        {
            "kind": "server",
            "id": "traces",
            "name": "traces",
            "about": told["candidates"][0]["about"],
        }
    ]


def test_nothing_is_started_by_explaining(world: World):
    trace = world.root / "started"
    program = world.root / "bin" / "s-server"
    program.write_text(f"#!/bin/sh\ntouch {trace}\nexit 1\n")
    program.chmod(0o755)
    world.server(command=str(program))
    assert world.explain("s")["outcome"] == "unknown"
    assert world.explain("s", "--again")["outcome"] == "unknown"
    assert not trace.exists()
    assert world.explain("s", "--again", "--yes")["outcome"] == "stopped"
    assert trace.exists()


def test_secrets_are_in_no_part_of_the_answer(world: World):
    script = world.root / "bin" / "s-server"
    script.write_text('#!/bin/sh\necho "bad key $KEY" >&2\nexit 3\n')
    script.chmod(0o755)
    world.server(command=str(script), env={"KEY": "hunter2-hunter2"})
    code, out, err = world.run("explain", *AGAIN)
    assert code == 3
    assert "bad key" in out
    assert "hunter2" not in out + err


def test_a_person_reads_the_path_with_the_stop_and_its_way_out(world: World):
    world.server(command="mytool")
    code, out, _ = world.run("explain", "s")
    assert code == 3
    first, *rest = out.splitlines()
    assert first == "The model cannot use it: mytool is not on PATH."
    stop = next(line for line in rest if "mytool is not on PATH" in line)
    assert "✗" in stop or " x " in stop
    assert any(line.strip().startswith("mends it  install mytool") for line in rest)
    assert sum("not reached" in line for line in rest) == 2


def test_what_a_server_says_cannot_drive_the_terminal(world: World):
    world.fake(spec={"tools": [tool("e\x1b[2J"), tool("echo")]})
    _, out, _ = world.run("explain", "s/echo", "--again", "--yes")
    assert "\x1b" not in out
