"""Command lines that cannot be read, and what the real one says to them (Codex 0.171.0)."""

from __future__ import annotations

import pytest

from core.cli.codex.likeness import alike, likeness
from core.cli.codex.mcp_words import MCP
from core.cli.codex.plugin_words import PLUGIN
from core.cli.codex.reader import HelpAsked, read
from core.cli.codex.usage import MORE, Unreadable
from core.cli.codex.words import Command

ADD = "Usage: codex mcp add [OPTIONS] <NAME> (--url <URL> | -- <COMMAND>...)"


def refusal(family: Command, line: str) -> str:
    with pytest.raises(Unreadable) as caught:
        read(family, line.split())
    text = str(caught.value)
    assert text.endswith(f"\n\n{MORE}")
    return text.removesuffix(f"\n\n{MORE}")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("foo", "error: unrecognized subcommand 'foo'\n\nUsage: codex mcp [OPTIONS] <COMMAND>"),
        (
            "logou x",
            "error: unrecognized subcommand 'logou'\n\n"
            "  tip: some similar subcommands exist: 'login', 'logout'\n\n"
            "Usage: codex mcp [OPTIONS] <COMMAND>",
        ),
        (
            "-c x=1",
            "error: 'codex mcp' requires a subcommand but one was not provided\n"
            "  [subcommands: list, get, add, remove, login, logout, help]\n\n"
            "Usage: codex mcp [OPTIONS] <COMMAND>",
        ),
        (
            "--json list",
            "error: unexpected argument '--json' found\n\n  tip: 'list --json' exists\n\n"
            "Usage: codex mcp [OPTIONS] <COMMAND>",
        ),
        (
            "-- list",
            "error: unexpected argument 'list' found\n\n"
            "  tip: subcommand 'list' exists; to use it, remove the '--' before it\n\n"
            "Usage: codex mcp [OPTIONS] <COMMAND>",
        ),
        (
            "get",
            "error: the following required arguments were not provided:\n  <NAME>\n\n"
            "Usage: codex mcp get <NAME>",
        ),
        (
            "get a b",
            "error: unexpected argument 'b' found\n\nUsage: codex mcp get [OPTIONS] <NAME>",
        ),
        (
            "get --json=1 a",
            "error: unexpected value '1' for '--json' found; no more were expected\n\n"
            "Usage: codex mcp get --json <NAME>",
        ),
        (
            "logout a --x",
            "error: unexpected argument '--x' found\n\n"
            "  tip: to pass '--x' as a value, use '-- --x'\n\nUsage: codex mcp logout <NAME>",
        ),
        (
            "get --jso a",
            "error: unexpected argument '--jso' found\n\n"
            "  tip: a similar argument exists: '--json'\n\nUsage: codex mcp get --json <NAME>",
        ),
        (
            "get --json -x a",
            "error: unexpected argument '-x' found\n\n"
            "  tip: to pass '-x' as a value, use '-- -x'\n\nUsage: codex mcp get [OPTIONS] <NAME>",
        ),
        (
            "list --json --json",
            "error: the argument '--json' cannot be used multiple times\n\n"
            "Usage: codex mcp list [OPTIONS]",
        ),
        (
            "list -c",
            "error: a value is required for '--config <key=value>' but none was supplied",
        ),
        (
            "list -c --json",
            "error: a value is required for '--config <key=value>' but none was supplied",
        ),
        (
            "list -c -x",
            "error: unexpected argument '-x' found\n\nUsage: codex mcp list [OPTIONS]",
        ),
        (
            "add",
            "error: the following required arguments were not provided:\n"
            f"  <COMMAND|--url <URL>>\n  <NAME>\n\n{ADD}",
        ),
        (
            "add -- x",
            "error: the following required arguments were not provided:\n"
            f"  <COMMAND|--url <URL>>\n\n{ADD}",
        ),
        (
            "add x --url u -- c",
            "error: the argument '--url <URL>' cannot be used with '[COMMAND]...'\n\n" + ADD,
        ),
        (
            "add x --env A -- c",
            "error: invalid value 'A' for '--env <KEY=VALUE>': "
            "environment entries must be in KEY=VALUE form",
        ),
        (
            "add x --oauth-client-registration foo --url u",
            "error: invalid value 'foo' for '--oauth-client-registration <AUTO|CIMD|DCR>'\n"
            "  [possible values: auto, cimd, dcr]",
        ),
        (
            "add x --oauth-client-secret s -- c",
            "error: the following required arguments were not provided:\n"
            f"  --url <URL>\n  --oauth-client-id <CLIENT_ID>\n\n{ADD}",
        ),
        (
            "add x --oauth-client-secret s",
            "error: the following required arguments were not provided:\n"
            f"  --oauth-client-id <CLIENT_ID>\n  <COMMAND|--url <URL>>\n\n{ADD}",
        ),
        (
            "add --ur x",
            "error: unexpected argument '--ur' found\n\n"
            "  tip: a similar argument exists: '--url'\n"
            f"  tip: to pass '--ur' as a value, use '-- --ur'\n\n{ADD}",
        ),
        (
            "help add x",
            f"error: unrecognized subcommand 'x'\n\n{ADD}",
        ),
    ],
)
def test_lines_of_mcp_that_cannot_be_read(line: str, told: str):
    assert refusal(MCP, line) == told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "list -m x --available",
            "error: the following required arguments were not provided:\n  --json\n\n"
            "Usage: codex plugin list --json --marketplace <MARKETPLACE> --available",
        ),
        (
            "add -m x --json",
            "error: the following required arguments were not provided:\n"
            "  <PLUGIN[@MARKETPLACE]>\n\n"
            "Usage: codex plugin add --marketplace <MARKETPLACE> --json <PLUGIN[@MARKETPLACE]>",
        ),
        (
            "re",
            "error: unrecognized subcommand 're'\n\n"
            "  tip: some similar subcommands exist: 'marketplace', 'remove'\n\n"
            "Usage: codex plugin [OPTIONS] <COMMAND>",
        ),
        (
            "marketplace add x --sparse a --ref r --foo",
            "error: unexpected argument '--foo' found\n\n"
            "  tip: to pass '--foo' as a value, use '-- --foo'\n\n"
            "Usage: codex plugin marketplace add --sparse <PATH> --ref <REF> <SOURCE>",
        ),
    ],
)
def test_lines_of_plugin_that_cannot_be_read(line: str, told: str):
    assert refusal(PLUGIN, line) == told


def test_options_may_stand_before_and_after_the_command_and_add_up():
    given = read(MCP, ["-ca=1", "get", "--config=b=2", "x", "-c", "c=3"])
    assert given.command.path == "codex mcp get"
    assert given.texts("config") == ["a=1", "b=2", "c=3"]
    assert given.text("name") == "x"


def test_a_command_takes_all_that_follows_as_it_is():
    assert read(MCP, ["add", "x", "c", "--", "-d", "--url"]).texts("command") == [
        "c",
        "--",
        "-d",
        "--url",
    ]
    given = read(MCP, ["add", "--env", "A=1", "x", "--env=B=", "--", "c", "--env"])
    assert given.texts("command") == ["c", "--env"]
    assert given.texts("env") == ["A=1", "B="]


def test_scopes_are_parted_at_commas_and_add_up():
    given = read(MCP, ["login", "a", "--scopes", "x, y", "--scopes="])
    assert given.texts("scopes") == ["x", " y", ""]


def test_after_two_dashes_everything_is_an_operand():
    assert read(MCP, ["get", "--", "-x"]).text("name") == "-x"
    assert read(MCP, ["get", "-"]).text("name") == "-"


@pytest.mark.parametrize(
    ("words", "path", "long", "wrong"),
    [
        ([], "codex mcp", False, True),
        (["-h"], "codex mcp", False, False),
        (["help"], "codex mcp", True, False),
        (["list", "-hx"], "codex mcp list", False, False),
        (["get", "a", "--help"], "codex mcp get", True, False),
        (["help", "add"], "codex mcp add", True, False),
        (["help", "help"], "codex mcp help", False, False),
    ],
)
def test_help_can_be_asked_for_everywhere(words: list[str], path: str, long: bool, wrong: bool):
    with pytest.raises(HelpAsked) as caught:
        read(MCP, words)
    asked = caught.value
    assert (asked.command.path, asked.long, asked.wrong) == (path, long, wrong)


def test_likeness_is_jaros():
    assert round(likeness("martha", "marhta"), 4) == 0.9444
    assert round(likeness("dixon", "dicksonx"), 4) == 0.7667
    assert likeness("", "a") == 0.0
    assert likeness("abc", "xyz") == 0.0
    assert alike("lis", ["get", "list"]) == ["list"]
