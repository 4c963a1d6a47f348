"""Our own verbs, on a real home with real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli.mcp import OWN
from tests.conftest import REPO
from tests.core.cli.conftest import Said
from tests.core.cli.world import marketplace, server_table
from tests.fakes.mcp_stdio import tool

Say = Callable[..., Said]
ECHO = {"tools": [tool("echo", description="says \x1b[31mit\u202e")]}


@pytest.fixture
def servers(config: Path) -> Path:
    """A good server, one whose program is missing, one that is off."""
    config.write_text(
        server_table("good", spec=ECHO)
        + '[mcp_servers.good.env]\nTOKEN = "hunter2-hunter2"\n\n'
        + '[mcp_servers.bad]\ncommand = "no-such-program"\n\n'
        + '[mcp_servers.off]\ncommand = "x"\nenabled = false\n'
    )
    return config


def test_servers_are_not_started_before_somebody_agrees(say: Say, servers: Path):
    code, out, err = say("list", "servers")
    assert (code, err) == (0, "")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert lines["good"].split()[1] == "review"
    assert "--yes does" in lines["good"]
    assert lines["off"].split()[1] == "disabled"


def test_servers_are_told_as_they_answer(say: Say, servers: Path):
    code, out, _ = say("list", "servers", "--yes", "--json")
    rows = {row["id"]: row for row in map(json.loads, out.splitlines())}
    assert code == 0
    assert rows["good"]["status"] == "connected"
    assert rows["good"]["tools"] == 1
    assert rows["bad"]["status"] in ("failed", "waiting")
    assert "no-such-program" in rows["bad"]["reason"]
    assert "hunter2" not in out


def test_nothing_waits_for_a_server_that_never_answers(say: Say, config: Path):
    config.write_text(server_table("mute", "mute") + server_table("good", spec=ECHO))
    code, out, _ = say("list", "servers", "--yes", "--deadline", "1.5")
    assert code == 0
    _, first, last = out.splitlines()
    assert first.split()[:2] == ["good", "connected"]
    assert last.split()[:2] == ["mute", "starting"]


def test_what_servers_say_cannot_drive_the_terminal(say: Say, servers: Path):
    code, out, err = say("list", "tools", "--yes")
    assert code == 0
    assert "says \\x1b[31mit\\u202e" in out
    assert err.startswith("bad: ")
    code, out, _ = say("list", "tools", "--yes", "--json")
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert json.loads(out)["description"] == "says \x1b[31mit\u202e"


def test_only_the_server_that_is_asked_for_is_started(say: Say, servers: Path):
    code, out, err = say("mcp", "tools", "good", "--yes")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == ["TOOL", "good/echo"]
    assert say("mcp", "tools", "nope", "--yes")[0] == 1


def test_reconnecting_fails_when_one_server_does(say: Say, servers: Path):
    assert say("mcp", "reconnect", "good", "--yes")[0] == 0
    code, out, _ = say("mcp", "reconnect", "--yes")
    assert code == 1
    assert "off" not in [line.split()[0] for line in out.splitlines()]


def test_a_tool_is_called_with_pairs_or_an_object(say: Say, servers: Path):
    code, out, err = say("mcp", "call", "good/echo", "a=1", "b=x y", "c:=[true]", "--yes")
    assert (code, err) == (0, "")
    assert json.loads(out)["arguments"] == {"a": 1, "b": "x y", "c": [True]}
    code, out, _ = say("mcp", "call", "good/echo", '{"k": "v"}', "--yes", "--json")
    assert code == 0
    result = json.loads(out)
    assert result["outcome"] == "answered"
    assert json.loads(result["content"][0]["text"])["arguments"] == {"k": "v"}


def test_a_tool_that_says_it_failed_has_an_exit_code_of_its_own(say: Say, config: Path):
    failing = {"content": [{"type": "text", "text": "no\x07"}], "isError": True}
    config.write_text(server_table("s", spec={"tools": [tool("t")], "calls": {"t": failing}}))
    assert say("mcp", "call", "s/t", "--yes") == (3, "no\\x07\n", "")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["good/echo", "nonsense"], 2, "'nonsense' is neither a JSON object nor KEY=VALUE"),
        (["good/echo", "a:=["], 2, "a: no JSON"),
        (["good/echo", "{"], 2, "the arguments: no JSON"),
        (["nope/echo"], 1, "Error: no server has a tool nope/echo"),
        (["good/echo"], 1, "agree to it with --yes"),
        (["bad/x", "--yes"], 1, "no-such-program"),
    ],
)
def test_calls_that_cannot_be_made(say: Say, servers: Path, words: list[str], code: int, told: str):
    got, out, err = say("mcp", "call", *words)
    assert (got, out) == (code, "")
    assert told in err


def test_a_resource_is_read(say: Say, config: Path):
    spec = {
        "resources": [{"uri": "f://a", "name": "a"}],
        "results": {"resources/read": {"contents": [{"uri": "f://a", "text": "hello\n"}]}},
    }
    config.write_text(server_table("s", spec=spec))
    assert say("mcp", "read", "s", "f://a", "--yes") == (0, "hello\n", "")


def test_members_of_a_server_are_edited_in_place(say: Say, servers: Path):
    before = servers.read_text()
    edit = ("mcp", "edit", "good", "--set", "startup_timeout_sec=4", "--set", "env.NEW=it is")
    code, out, _ = say(*edit)
    assert code == 0
    assert out.startswith("good is changed: ")
    after = servers.read_text()
    assert "startup_timeout_sec = 4\n" in after
    assert 'TOKEN = "hunter2-hunter2"\nNEW = "it is"\n' in after
    unset = (
        "mcp",
        "edit",
        "good",
        "--unset",
        "startup_timeout_sec",
        "--unset",
        "env.NEW",
        "--json",
    )
    code, out, _ = say(*unset)
    assert code == 0
    assert "hunter2" not in out
    assert servers.read_text() == before
    assert say("mcp", "edit", "good")[0] == 2
    code, _, err = say("mcp", "edit", "good", "--set", "startup_timeout_sec=true")
    assert code == 1
    assert "invalid type: boolean" in err
    assert servers.read_text() == before


def test_servers_and_tools_are_switched_in_the_users_file(say: Say, servers: Path):
    assert say("disable", "good")[1].startswith("good is off: config.toml:")
    assert say("disable", "good")[1].startswith("good is off already: config.toml:")
    assert say("enable", "good")[0] == 0
    code, out, _ = say("disable", "good/echo", "--json")
    told = json.loads(out)
    assert code == 0
    assert (told["kind"], told["enabled"], told["written"]) == ("tool", False, True)
    assert 'disabled_tools = ["echo"]\n' in servers.read_text()
    code, _, err = say("enable", "nope")
    assert code == 1
    assert err.startswith("Error: nothing here is called nope\n")


def test_a_layer_that_decides_otherwise_is_named_and_nothing_is_written(
    say: Say, home: Path, config: Path
):
    work = home / "work"
    (work / ".git").mkdir()
    (work / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (work / ".codex").mkdir()
    (work / ".codex" / "config.toml").write_text("[mcp_servers.s]\nenabled = false\n")
    text = f'[projects."{work}"]\ntrust_level = "trusted"\n[mcp_servers.s]\ncommand = "x"\n'
    config.write_text(text)
    code, out, err = say("enable", "s")
    assert code == 3
    assert "(project) decides" in out
    assert err == "--force writes the user's config.toml nevertheless\n"
    assert config.read_text() == text
    assert say("enable", "s", "--force")[0] == 3
    assert "enabled = true" in config.read_text()


def test_plugins_are_installed_switched_and_uninstalled(say: Say, home: Path, config: Path):
    root = marketplace(home / "mk", "mk", "p", "q")
    code, out, _ = say("marketplace", "add", str(root))
    assert (code, out) == (0, f"mk is added: {root}\n")
    code, out, err = say("install", "p", "nope", "q@mk")
    assert code == 1
    assert len(out.splitlines()) >= 2
    assert err == "Error: nope: plugin `nope` was not found in any marketplace\n"
    rows = [json.loads(line) for line in say("list", "plugins", "--json")[1].splitlines()]
    assert {row["id"]: row["state"] for row in rows} == dict.fromkeys(("p@mk", "q@mk"), "enabled")
    assert say("disable", "p@mk")[0] == 0
    assert '[plugins."p@mk"]\nenabled = false\n' in config.read_text()
    shown = json.loads(say("show", "p", "--json")[1])
    assert (shown["kind"], shown["row"]["pluginId"]) == ("plugin", "p@mk")
    assert say("uninstall", "p") == (0, "p@mk is uninstalled\n", "")
    assert say("uninstall", "p")[0] == 1
    assert say("uninstall", "p@mk")[0] == 0
    assert say("update", "--check", "--no-fetch") == (0, "Everything is up to date.\n", "")


def test_marketplaces_are_listed_removed_and_told_when_unusable(say: Say, home: Path, config: Path):
    root = marketplace(home / "mk", "mk", "p")
    say("marketplace", "add", str(root))
    with config.open("a") as file:
        file.write('[marketplaces.gone]\nsource_type = "local"\nsource = "/no/such"\n')
    code, out, err = say("marketplace", "list")
    assert code == 1
    assert out.splitlines()[1].split() == ["mk", "1", "local", str(root)]
    assert err.startswith("Error: gone at /no/such: ")
    assert say("marketplace", "remove", "gone") == (0, "gone is removed\n", "")
    assert say("list", "marketplaces")[1].splitlines()[1].split()[:2] == ["mk", "listed"]
    assert say("marketplace", "upgrade")[0] == 0


def test_a_server_is_shown_with_its_secrets_masked(say: Say, servers: Path):
    code, out, _ = say("show", "good")
    assert code == 0
    assert out.startswith("kind: server\nid: good\n")
    assert "TOKEN: *****" in out
    assert "hunter2" not in out
    code, _, err = say("show", "nothing-of-that-name")
    assert code == 1
    assert err == "Error: nothing here is called nothing-of-that-name\n"


def test_events_are_json_lines(say: Say, servers: Path):
    code, out, _ = say("events", "--yes")
    assert code == 0
    types = {json.loads(line)["type"] for line in out.splitlines()}
    assert {"servers/changed", "refresh/finished"} <= types
    assert "hunter2" not in out


def test_every_verb_of_ours_under_mcp_has_help(say: Say):
    for name in OWN:
        code, out, _ = say("mcp", name, "--help")
        assert code == 0
        assert out.startswith(f"usage: jackfield mcp {name} ")
        assert "Exit codes: 0 " in " ".join(out.split())


def run_in_process(*words: str, stdout: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tui", *words],
        env={**os.environ, "PYTHONPATH": str(REPO)},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
    )


def test_a_reader_that_goes_away_is_no_trouble(home: Path, servers: Path):
    read, write = os.pipe()
    os.close(read)
    with run_in_process("list", "servers", stdout=write) as process:
        os.close(write)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (141, b"")


def test_an_interrupt_ends_servers_too(home: Path, servers: Path):
    with run_in_process("events", "--follow", "--yes", "--no-state") as process:
        assert process.stdout is not None
        pids: list[int] = []
        for line in process.stdout:
            event = json.loads(line)
            if event["type"] == "server/happened" and event["what"] == "ready":
                pids = _children(process.pid)
                break
        assert pids
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, b"")
    assert not [pid for pid in pids if _alive(pid)]


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += map(int, (task / "children").read_text().split())
    return found


def _alive(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
