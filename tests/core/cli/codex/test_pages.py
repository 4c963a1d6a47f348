from __future__ import annotations

import pytest

from core.cli.codex.mcp_words import ADD, LIST, LOGIN
from core.cli.codex.pages import page
from core.cli.codex.plugin_words import ADD as PLUGIN_ADD
from core.cli.codex.plugin_words import MARKETPLACE


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


def test_a_short_page_puts_explanations_beside_where_there_is_room():
    assert page(LIST, long=False) == (
        "Usage: codex mcp list [OPTIONS]\n\n"
        "Options:\n"
        "  -c, --config <key=value>  Override a configuration value that would otherwise be loaded "
        "from\n"
        "                            `~/.codex/config.toml`. Use a dotted path (`foo.bar.baz`) to "
        "override\n"
        "                            nested values. The `value` portion is parsed as TOML. If it "
        "fails to\n"
        "                            parse as TOML, the raw string is used as a literal\n"
        "      --json                Output the configured servers as JSON\n"
        "      --enable <FEATURE>    Enable a feature (repeatable). Equivalent to `-c "
        "features.<name>=true`\n"
        "      --disable <FEATURE>   Disable a feature (repeatable). Equivalent to `-c "
        "features.<name>=false`\n"
        "  -h, --help                Print help (see more with '--help')"
    )


def test_a_short_page_puts_them_below_where_there_is_none():
    shown = page(ADD, long=False)
    assert (
        "Arguments:\n  <NAME>        Name for the MCP server configuration\n"
        "  [COMMAND]...  Command to launch the MCP server. Use --url for a streamable HTTP server\n"
    ) in shown
    assert (
        "      --oauth-client-registration <AUTO|CIMD|DCR>\n"
        "          OAuth client-registration strategy for the immediate login only "
        "[possible values: auto,\n          cimd, dcr]\n"
    ) in shown


def test_a_long_page_has_every_paragraph():
    shown = page(LOGIN, long=True)
    assert (
        "          as TOML. If it fails to parse as TOML, the raw string is used as a literal.\n"
        "          \n"
        '          Examples: - `-c model="o3"` - `-c \'sandbox_permissions=["disk-full-read-access"]\'`'
        " - `-c\n          shell_environment_policy.inherit=all`\n\n"
    ) in shown
    assert (
        "          OAuth client-registration strategy for this login only\n          \n"
        "          [possible values: auto, cimd, dcr]\n\n  -h, --help\n"
        "          Print help (see a summary with '-h')"
    ) in shown


def test_a_page_ends_with_examples():
    shown = page(PLUGIN_ADD, long=True)
    assert shown.startswith(
        "Install a plugin from a configured or remote marketplace.\n\n"
        "Pass either `PLUGIN@MARKETPLACE` or pass `PLUGIN` with `--marketplace MARKETPLACE`.\n\n"
        "Usage: codex plugin add [OPTIONS] <PLUGIN[@MARKETPLACE]>\n\n"
    )
    assert shown.endswith(
        "\n\nExamples:\n  codex plugin add sample@debug\n"
        "  codex plugin add sample --marketplace debug"
    )


def test_a_family_lists_its_commands():
    assert (
        "Commands:\n"
        "  add      Add a local or Git marketplace to the configured marketplace sources\n"
        "  list     List plugin marketplaces Codex is currently considering and their roots\n"
        "  upgrade  Refresh configured Git marketplace snapshots\n"
        "  remove   Remove a configured marketplace source by name\n"
        "  help     Print this message or the help of the given subcommand(s)\n"
    ) in page(MARKETPLACE, long=False)
