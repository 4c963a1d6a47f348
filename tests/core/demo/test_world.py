"""The demo world stands, behaves as promised, and leaves nothing behind."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from core.demo import DemoWorld, demo_world
from core.demo.backend import ACCOUNT, HOSTED, TOKEN
from core.demo.oauth import AuthorizationServer

pytestmark = pytest.mark.anyio
DIRECTORY = "/connectors/directory/list"
SIGNED_IN = f"Bearer {TOKEN}"


def ask(url: str, *, body: Any = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers={**headers})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


async def asked(url: str, *, body: Any = None, **headers: str) -> tuple[int, dict[str, str], Any]:
    with anyio.fail_after(10):
        status, answered, raw = await anyio.to_thread.run_sync(
            lambda: ask(url, body=body, **headers)
        )
    text = raw.decode()
    return status, answered, json.loads(text) if text.startswith(("{", "[")) else text


async def page(world: DemoWorld, number: int = 0) -> Any:
    query = f"?token={number}" if number else ""
    url = world.urls["backend"] + DIRECTORY + query
    status, _, answer = await asked(url, authorization=SIGNED_IN)
    assert status == 200
    return answer


async def reading(world: DemoWorld) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    number: int | None = 0
    while number is not None:
        answer = await page(world, number)
        entries |= {app["id"]: app for app in answer["apps"]}
        number = int(answer["next_token"]) if answer["next_token"] else None
    return entries


def hello(number: int = 0) -> dict[str, Any]:
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t"}}
    return {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}


@contextmanager
def program(world: DemoWorld, name: str) -> Iterator[subprocess.Popen[str]]:
    path = world.root / "programs" / f"{name}.py"
    process = subprocess.Popen(
        [sys.executable, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def talk(process: subprocess.Popen[str], *messages: Any, answers: int) -> list[Any]:
    assert process.stdin and process.stdout
    for message in messages:
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
    return [json.loads(process.stdout.readline()) for _ in range(answers)]


# --- the folder ---


async def test_everything_lies_in_one_folder_that_is_gone_afterwards() -> None:
    async with demo_world(delays=False) as world:
        root = world.root
        for path in (world.home, world.codex_home, world.cwd):
            assert path.is_dir()
            assert path.is_relative_to(root)
        for name in ("HOME", "CODEX_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
            assert Path(world.environ[name]).is_relative_to(root)
        urls = dict(world.urls)
    assert not root.exists()
    for name in ("backend", "issues", "search", "traces", "sign-in"):
        host, _, port = urls[name].removeprefix("http://").partition(":")
        with pytest.raises(OSError):
            socket.create_connection((host, int(port)), 1).close()


async def test_a_world_that_is_left_while_somebody_waits_ends_at_once() -> None:
    with anyio.fail_after(5):
        async with demo_world(gates=True) as world:
            url = world.urls["backend"] + DIRECTORY
            waiting = threading.Thread(target=ask, args=(url,), kwargs={"authorization": SIGNED_IN})
            waiting.start()
            assert await anyio.to_thread.run_sync(world.gates.wait_for, "directory/1")
        await anyio.to_thread.run_sync(waiting.join)
    assert not world.root.exists()
    assert not [it for it in threading.enumerate() if it.name == "demo site"]


async def test_the_persons_environment_stays_outside() -> None:
    environ = {
        "PATH": "/usr/bin",
        "TERM": "xterm-256color",
        "OPENAI_API_KEY": "sk-real",
        "HTTPS_PROXY": "http://proxy.example",
        "SSH_AUTH_SOCK": "/tmp/agent",
        "CODEX_HOME": "/home/real/.codex",
        "HOME": "/home/real",
    }
    async with demo_world(delays=False, environ=environ) as world:
        assert world.environ["TERM"] == "xterm-256color"
        assert "sk-real" not in world.environ.values()
        assert not {"HTTPS_PROXY", "SSH_AUTH_SOCK"} & world.environ.keys()
        assert "/home/real" not in json.dumps(dict(world.environ))


async def test_its_core_knows_no_keyring_and_no_system_files() -> None:
    async with demo_world(delays=False) as world:
        deps = world.deps()
        for folder in (deps.state_dir, deps.config_dir, deps.cache_dir, deps.system_dir, deps.cwd):
            assert folder.is_relative_to(world.root)
        await deps.secrets.set("service", "account", "kept")
        assert await deps.secrets.get("service", "account") == "kept"
        assert await deps.secrets.delete("service", "account")
        assert await deps.secrets.get("service", "account") is None


async def test_the_settings_are_whole_toml_with_comments_and_one_bad_table() -> None:
    async with demo_world(delays=False) as world:
        text = (world.codex_home / "config.toml").read_text()
        config = tomllib.loads(text)
        assert text.count("#") > 10
        assert {"command", "url"} <= config["mcp_servers"]["cache"].keys()
        assert config["mcp_servers"]["memory"]["enabled"] is False
        allowed = tomllib.loads((world.root / "etc" / "requirements.toml").read_text())
        usable = config["mcp_servers"].keys() - {"cache"}
        assert usable <= allowed["mcp_servers"].keys()
        project = tomllib.loads((world.cwd / ".codex" / "config.toml").read_text())
        assert list(project["mcp_servers"]) == ["repo-db"]
        assert "projects" not in config


async def test_marketplaces_are_of_every_kind() -> None:
    async with demo_world(delays=False) as world:
        source = world.home / "src"
        acme = json.loads((source / "acme-tools/.agents/plugins/marketplace.json").read_text())
        assert len(acme["plugins"]) == 13
        checkout = world.codex_home / ".tmp" / "marketplaces" / "northwind"
        claude = json.loads((checkout / ".claude-plugin" / "marketplace.json").read_text())
        assert len(claude["plugins"]) == 8
        with pytest.raises(json.JSONDecodeError, match="Expecting ',' delimiter"):
            json.loads((source / "legacy-plugins/.agents/plugins/marketplace.json").read_text())
        assert not (source / "old-shelf").exists()
        cache = world.codex_home / "plugins" / "cache"
        installed = sorted(
            str(path.parent.parent.relative_to(cache)) for path in cache.rglob("plugin.json")
        )
        assert installed == [
            "acme-tools/changelog-writer/1.0.0",
            "acme-tools/code-review/1.4.2",
            "acme-tools/db-migrations/3.2.1",
            "acme-tools/deploy-guard/2.1.0",
            "acme-tools/release-notes/0.9.0",
            "retired-shelf/old-linter/0.4.0",
        ]


# --- the backend ---


async def test_each_reading_of_the_directory_brings_something_new_changed_and_gone() -> None:
    async with demo_world(delays=False) as world:
        first = await reading(world)
        second = await reading(world)
        assert len(first) == len(second) == 64
        assert first.keys() - second.keys()
        assert second.keys() - first.keys()
        both = first.keys() & second.keys()
        assert {key for key in both if first[key] != second[key]} == {"calendar-desk", "log-river"}
        third = await reading(world)
        assert third["calendar-desk"] != second["calendar-desk"]


async def test_the_directory_has_nine_pages_and_asks_for_the_sign_in() -> None:
    async with demo_world(delays=False) as world:
        answer = await page(world)
        assert answer["next_token"] == "1"
        assert (await page(world, 8))["next_token"] is None
        status, _, _ = await asked(world.urls["backend"] + DIRECTORY, authorization="Bearer x")
        assert status == 401


async def test_a_page_waits_at_its_door_until_it_is_opened() -> None:
    async with demo_world(gates=True, delays=False) as world:
        answers: list[Any] = []

        async def ask_for_it() -> None:
            answers.append(await page(world))

        async with anyio.create_task_group() as group:
            group.start_soon(ask_for_it)
            assert await anyio.to_thread.run_sync(world.gates.wait_for, "directory/1")
            assert answers == []
            world.gates.release("directory/1")
        assert len(answers) == 1
        await page(world)
        world.gates.hold("directory/1")
        async with anyio.create_task_group() as group:
            group.start_soon(ask_for_it)
            assert await anyio.to_thread.run_sync(world.gates.wait_for, "directory/1")
            world.gates.release_all()
        assert len(answers) == 2


async def test_the_hosted_server_lists_the_tools_of_the_linked_apps() -> None:
    async with demo_world(delays=False) as world:
        url = world.urls["backend"] + HOSTED
        _, headers, answer = await asked(url, body=hello())
        assert answer["result"]["serverInfo"]["name"] == "codex-apps"
        session = headers["mcp-session-id"]
        names: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            params = {"cursor": cursor} if cursor else {}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}
            _, _, listed = await asked(url, body=message, **{"mcp-session-id": session})
            names += [tool["name"] for tool in listed["result"]["tools"]]
            cursor = listed["result"].get("nextCursor")
        assert len(names) == len(set(names)) == 62
        assert "boardroom_list_boards" in names


async def test_the_sign_in_is_made_up_and_another_person_is_another_account() -> None:
    async with demo_world(delays=False) as world:
        path = world.codex_home / "auth.json"
        stored = json.loads(path.read_text())
        assert stored["tokens"]["account_id"] == ACCOUNT
        assert path.stat().st_mode & 0o777 == 0o600
        world.sign_in(email="ops@example.com", user="ops")
        assert json.loads(path.read_text()) != stored


# --- the MCP servers ---


async def test_a_program_lists_and_calls() -> None:
    async with demo_world(delays=False) as world:
        with program(world, "atlas-docs") as process:
            listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            calling = {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "tools/call",
                "params": {"name": "count_words", "arguments": {"text": "a b"}},
            }
            first, listed, called = await anyio.to_thread.run_sync(
                lambda: talk(process, hello(), listing, calling, answers=3)
            )
        assert first["result"]["serverInfo"]["title"] == "Atlas Docs"
        assert listed["result"]["nextCursor"] == "5"
        assert all("demo" not in tool for tool in listed["result"]["tools"])
        assert called["result"]["structuredContent"] == {"words": 42}


async def test_a_program_asks_the_person_and_goes_by_the_answer() -> None:
    async with demo_world(delays=False) as world:
        with program(world, "billing") as process:
            calling = {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "tools/call",
                "params": {"name": "refund", "arguments": {"number": "7"}},
            }
            _, question = await anyio.to_thread.run_sync(
                lambda: talk(process, hello(), calling, answers=2)
            )
            assert question["method"] == "elicitation/create"
            answer = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}
            [called] = await anyio.to_thread.run_sync(lambda: talk(process, answer, answers=1))
        assert called["result"]["isError"]


async def test_a_gated_program_answers_once_its_door_is_open() -> None:
    async with demo_world(gates=True, delays=False) as world:
        with program(world, "browser-lab") as process:
            assert process.stdin
            process.stdin.write(json.dumps(hello()) + "\n")
            process.stdin.flush()
            world.gates.release("server/browser-lab")
            [answer] = await anyio.to_thread.run_sync(lambda: talk(process, answers=1))
        assert answer["result"]["serverInfo"]["name"] == "browser-lab"


async def test_one_program_dies_with_its_reason_on_stderr() -> None:
    async with demo_world(delays=False) as world:
        with program(world, "metrics") as process:
            _, errors = await anyio.to_thread.run_sync(process.communicate)
        assert process.returncode == 3
        assert errors.splitlines()[-1] == "boom: missing API key"


async def test_sites_refuse_and_flap_as_promised() -> None:
    async with demo_world(delays=False) as world:
        status, _, answer = await asked(world.urls["issues"] + "/mcp", body=hello())
        assert (status, answer["result"]["serverInfo"]["name"]) == (200, "issues")
        with pytest.raises(urllib.error.URLError, match="refused"):
            await asked(world.urls["wiki"] + "/mcp", body=hello())
    async with demo_world(delays=True) as world:
        statuses = [(await asked(world.urls["search"] + "/mcp", body=hello()))[0] for _ in range(9)]
        assert statuses == [503] * 8 + [200]


async def test_traces_wants_a_sign_in_that_one_can_make() -> None:
    async with demo_world(delays=False) as world:
        traces = world.urls["traces"]
        status, headers, _ = await asked(traces + "/mcp", body=hello())
        assert status == 401
        place = headers["www-authenticate"].split('resource_metadata="')[1].split('"')[0]
        _, _, resource = await asked(place)
        assert resource["resource"] == traces + "/mcp"
        [issuer] = resource["authorization_servers"]
        _, _, metadata = await asked(issuer + "/.well-known/oauth-authorization-server")
        assert metadata["issuer"] == issuer
        assert metadata["code_challenge_methods_supported"] == ["S256"]
        token = await anyio.to_thread.run_sync(_sign_in, metadata)
        status, _, _ = await asked(traces + "/mcp", body=hello(), authorization=f"Bearer {token}")
        assert status == 200


def _sign_in(metadata: dict[str, Any]) -> str:
    """Register, approve and trade the code in, as a client and a person together do."""
    import base64
    import hashlib
    from urllib.parse import parse_qs, urlencode, urlsplit

    _, _, raw = ask(metadata["registration_endpoint"], body={"redirect_uris": []})
    verifier = "v" * 43
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest())
    redirect = "http://127.0.0.1:9/callback"
    query = {
        "client_id": json.loads(raw)["client_id"],
        "redirect_uri": redirect,
        "state": "s",
        "code_challenge": challenge.rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    _, _, shown = ask(f"{metadata['authorization_endpoint']}?{urlencode(query)}")
    assert b"Approve" in shown

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *args: Any, **kwargs: Any) -> None:
            return None

    approve = metadata["issuer"] + "/approve?" + urlencode(query)
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.build_opener(Stay).open(approve, timeout=5)
    answered = parse_qs(urlsplit(caught.value.headers["location"]).query)
    caught.value.close()
    assert answered["state"] == ["s"]
    form = {
        "grant_type": "authorization_code",
        "code": answered["code"][0],
        "redirect_uri": redirect,
        "code_verifier": verifier,
    }
    request = urllib.request.Request(metadata["token_endpoint"], urlencode(form).encode())
    with urllib.request.urlopen(request, timeout=5) as answer:
        token = json.loads(answer.read())["access_token"]
    again = urllib.request.Request(metadata["token_endpoint"], urlencode(form).encode())
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(again, timeout=5)
    refused.value.close()
    return token


def test_the_authorization_server_returns_to_this_machine_only() -> None:
    from core.demo.http import Asked

    server = AuthorizationServer(scopes=())
    asked = Asked(
        method="GET",
        path="/approve",
        query={"redirect_uri": "https://elsewhere.example/"},
        headers={},
        body=b"",
    )
    assert server.respond(asked).status == 400
