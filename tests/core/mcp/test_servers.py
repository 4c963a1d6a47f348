from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.config.paths import Home
from core.config.store import ConfigStore
from core.mcp.servers import ServerSet
from core.mcp.spec import Endpoint, Program, ServerSpec
from core.ports import Deps
from core.protocol.facts import Evidence
from core.seams import DeclaredServer, DeclaredServers, HostedServer

Servers = dict[str, ServerSpec]
Read = Callable[..., Servers]


@pytest.fixture
def read(deps: Deps, tmp_path: Path) -> Read:
    def read(
        config: str = "",
        *,
        plugins: tuple[DeclaredServer, ...] = (),
        hosted: HostedServer | None = None,
        environ: Mapping[str, str] | None = None,
        requirements: str = "",
        project: str = "",
        cwd: Path | None = None,
    ) -> Servers:
        here = replace(deps, environ={**deps.environ, **(environ or {})})
        home = Home.of(here)
        home.codex_home.mkdir(exist_ok=True)
        home.config_file.write_text(textwrap.dedent(config))
        if requirements:
            home.requirements_file.parent.mkdir(exist_ok=True)
            home.requirements_file.write_text(textwrap.dedent(requirements))
        folder = cwd or deps.cwd
        if project:
            (folder / ".codex").mkdir(exist_ok=True)
            (folder / ".codex" / "config.toml").write_text(textwrap.dedent(project))
        loaded = ConfigStore(home, here).load(folder)
        servers = DeclaredServers(servers=plugins)
        found = ServerSet(
            loaded=loaded, declared=servers, environ=here.environ, base=folder, hosted=hosted
        )
        return {spec.name: spec for spec in found.specs()}

    return read


def declared(name: str, plugin_id: str, root: Path = Path("/p"), **entry: Any) -> DeclaredServer:
    return DeclaredServer(
        name=name,
        plugin_id=plugin_id,
        entry=entry or {"command": plugin_id},
        root=root,
        origin=Evidence(file=f"/cache/{plugin_id}/.mcp.json", line=3, layer="plugin"),
    )


def program(spec: ServerSpec) -> Program:
    assert isinstance(spec.target, Program)
    return spec.target


def endpoint(spec: ServerSpec) -> Endpoint:
    assert isinstance(spec.target, Endpoint)
    return spec.target


# --- what is in the set


def test_servers_stand_in_byte_order_of_their_names(read: Read) -> None:
    names = ("b", "A", "é", "a-b", "a_b", "a")
    config = "\n".join(f'[mcp_servers."{name}"]\ncommand = "x"' for name in names)
    assert list(read(config)) == ["A", "a", "a-b", "a_b", "b", "é"]


def test_the_configuration_wins_over_plugins_and_says_who_lost(read: Read) -> None:
    servers = read('[mcp_servers.one]\ncommand = "mine"', plugins=(declared("one", "p@m"),))
    assert program(servers["one"]).argv == ("mine",)
    assert servers["one"].plugin_id is None
    (note,) = servers["one"].problems
    assert (note.rule, note.severity) == ("name-clash", "note")
    assert note.message == "one: plugin p@m brings it too; config.toml:1 wins"


def test_of_two_plugins_the_alphabetically_first_wins(read: Read) -> None:
    servers = read(plugins=(declared("one", "z@m"), declared("one", "a@m")))
    assert servers["one"].plugin_id == "a@m"
    assert servers["one"].environment_id == "local"
    assert servers["one"].problems[0].message == "one: plugin z@m brings it too; plugin a@m wins"


def test_the_policy_table_of_a_plugin_counts_over_its_entry(read: Read) -> None:
    servers = read(
        """
        [plugins."p@m".mcp_servers.off]
        enabled = false
        [plugins."p@m".mcp_servers.less]
        disabled_tools = ["t"]
        command = "evil"
        """,
        plugins=(declared("off", "p@m"), declared("less", "p@m")),
    )
    assert servers["off"].standing == "disabled"
    assert servers["off"].enabled_at.key == "plugins.p@m.mcp_servers.off.enabled"
    assert not servers["less"].allows("t")
    assert program(servers["less"]).argv == ("p@m",), "only policy, never another program"


def test_a_plugin_entry_that_codex_drops_is_a_row_with_its_rule(read: Read) -> None:
    servers = read(plugins=(declared("bad", "p@m", command="x", url="y"),))
    assert servers["bad"].standing == "invalid"
    assert servers["bad"].reason == ".mcp.json:3 — both command and url are set"
    assert servers["bad"].problems[0].codex == "leaves the server out, says nothing"


def test_a_relative_cwd_of_a_plugin_is_taken_from_its_folder(read: Read, deps: Deps) -> None:
    root = Path("/cache/p")
    servers = read(
        plugins=(
            declared("there", "p@m", root, command="x", cwd="."),
            declared("here", "p@m", root, command="x"),
        )
    )
    assert program(servers["there"]).cwd == "/cache/p/."
    assert program(servers["here"]).cwd == str(deps.cwd)


def test_a_broken_table_is_a_row_of_its_own_and_hides_no_other(read: Read) -> None:
    servers = read(
        """
        [mcp_servers.good]
        command = "x"

        [mcp_servers.both]
        command = "x"
        url = "y"

        [mcp_servers.neither]
        startup_timeout_sec = 60

        [mcp_servers.typed]
        command = "x"
        args = "-y"
        """
    )
    assert servers["good"].usable
    reasons = {name: servers[name].reason for name in ("both", "neither", "typed")}
    assert reasons["both"] == "config.toml:5 — both command and url are set"
    assert reasons["neither"] == "config.toml:9 — neither command nor url is set"
    assert reasons["typed"] == (
        'config.toml:14 — args: invalid type: string "-y", expected a sequence'
    )
    assert all(servers[name].standing == "invalid" for name in reasons)


def test_the_name_of_the_hosted_server_is_reserved(read: Read) -> None:
    config = '[mcp_servers.codex_apps]\ncommand = "x"'
    assert read(config)["codex_apps"].reason == "config.toml:1 — the name is reserved"
    hosted = HostedServer(url="https://apps.example/mcp", bearer_token="t0ken-of-ours")
    spec = read(config, hosted=hosted)["codex_apps"]
    assert spec.usable and endpoint(spec).url == "https://apps.example/mcp"
    assert [problem.rule for problem in spec.problems] == ["reserved"]
    assert spec.secrets.mask("t0ken-of-ours") != "t0ken-of-ours"


def test_servers_of_an_untrusted_project_are_shown_and_cannot_be_used(
    read: Read, deps: Deps
) -> None:
    project = '[mcp_servers.theirs]\ncommand = "x"\nargs = ["--token", "s3cret-value"]'
    spec = read(project=project)["theirs"]
    assert (spec.standing, spec.usable) == ("untrusted", False)
    assert spec.reason == f"project folder {deps.cwd}"
    assert spec.shown_target() == ("x --token •••", "secrets masked")
    assert spec.origin.layer == "project" and spec.origin.line == 1


def test_servers_of_a_trusted_project_belong_to_it(read: Read, deps: Deps) -> None:
    config = f'[projects."{deps.cwd}"]\ntrust_level = "trusted"'
    spec = read(config, project='[mcp_servers.theirs]\ncommand = "x"')["theirs"]
    assert spec.usable
    assert spec.scope == f"project:{deps.cwd}"


def test_a_server_that_is_both_ours_and_an_untrusted_projects_is_ours(read: Read) -> None:
    spec = read(
        '[mcp_servers.one]\ncommand = "ours"', project='[mcp_servers.one]\ncommand = "theirs"'
    )["one"]
    assert program(spec).argv == ("ours",)


# --- what may not be used


def test_a_server_that_is_off_says_who_switched_it_off(read: Read) -> None:
    spec = read('[mcp_servers.one]\ncommand = "x"\nenabled = false')["one"]
    assert (spec.standing, spec.reason) == ("disabled", "by you")
    assert (spec.enabled_at.line, spec.enabled_at.key) == (3, "mcp_servers.one.enabled")


def test_a_blocked_server_names_the_file_and_the_rule(read: Read) -> None:
    servers = read(
        """
        [mcp_servers.listed]
        command = "good"
        [mcp_servers.other]
        command = "x"
        [mcp_servers.wrong]
        command = "evil"
        """,
        requirements="""
        [mcp_servers.listed.identity]
        command = "good"
        [mcp_servers.wrong.identity]
        command = "fine"
        """,
    )
    assert servers["listed"].usable
    assert servers["other"].reason == "requirements.toml:2 does not list it"
    assert servers["wrong"].reason == "requirements.toml:4 lists it with another command or URL"
    assert {servers[name].standing for name in ("other", "wrong")} == {"blocked"}


def test_requirements_that_cannot_be_read_block_everything(read: Read) -> None:
    servers = read(
        '[mcp_servers.one]\ncommand = "x"',
        requirements="[mcp_servers.web]\nfoo = 1\n",
        plugins=(declared("two", "p@m"),),
    )
    assert {spec.standing for spec in servers.values()} == {"blocked"}
    assert "cannot be read, so nothing is started" in servers["one"].reason


def test_another_environment_is_not_here(read: Read) -> None:
    spec = read('[mcp_servers.one]\ncommand = "x"\nenvironment_id = "nope"')["one"]
    assert spec.standing == "elsewhere"
    assert spec.start_fault == "MCP server `one` references unknown environment id `nope`"


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        (
            '[mcp_servers."a b"]\ncommand = "x"',
            "Invalid MCP server name 'a b': must match pattern ^[a-zA-Z0-9_:@/.-]+$",
        ),
        (
            '[mcp_servers.one]\ncommand = "x"\nenv_vars = [{ name = "B", source = "remote" }]',
            "env_vars entry `B` uses source `remote`, which requires remote MCP stdio",
        ),
        (
            '[mcp_servers.one]\nurl = "http://h"\nbearer_token_env_var = "UNSET"',
            "Environment variable UNSET for MCP server 'one' is not set",
        ),
        (
            '[mcp_servers.one]\nurl = "http://h"\nbearer_token_env_var = "EMPTY"',
            "Environment variable EMPTY for MCP server 'one' is empty",
        ),
    ],
)
def test_what_makes_every_start_fail_is_known_before(read: Read, table: str, fault: str) -> None:
    (spec,) = read(table, environ={"EMPTY": ""}).values()
    assert spec.start_fault == fault


# --- what is started


def test_a_process_gets_little_of_our_environment(read: Read, deps: Deps) -> None:
    spec = read(
        """
        [mcp_servers.one]
        command = "x"
        env_vars = ["FOO", "UNSET", { name = "BAR", source = "local" }]
        env = { A = "$HOME", FOO = "over", TERM = "own" }
        """,
        environ={
            "FOO": "f",
            "BAR": "b",
            "TZ": "UTC",
            "PIP_CERT": "/c",
            "HTTPS_PROXY": "p",
            "SSH_AUTH_SOCK": "s",
            "TERM": "xterm",
        },
    )["one"]
    target = program(spec)
    assert target.env == {
        "HOME": deps.environ["HOME"],
        "PATH": deps.environ["PATH"],
        "TZ": "UTC",
        "PIP_CERT": "/c",
        "FOO": "over",
        "BAR": "b",
        "A": "$HOME",
        "TERM": "own",
    }
    assert target.env_names == ("A", "FOO", "TERM", "UNSET", "BAR")


def test_a_relative_cwd_is_taken_from_the_threads_directory(read: Read, deps: Deps) -> None:
    servers = read(
        """
        [mcp_servers.rel]
        command = "x"
        cwd = "sub"
        [mcp_servers.abs]
        command = "x"
        cwd = "/abs"
        """
    )
    assert program(servers["rel"]).cwd == str(deps.cwd / "sub")
    assert program(servers["abs"]).cwd == "/abs"


def test_headers_come_from_the_file_and_from_variables_that_are_set(read: Read) -> None:
    spec = read(
        """
        [mcp_servers.one]
        url = "http://h/mcp"
        http_headers = { X-A = "1" }
        env_http_headers = { X-B = "SET", X-C = "UNSET" }
        bearer_token_env_var = "TOK"
        """,
        environ={"SET": "from-env", "TOK": "bearer-value"},
    )["one"]
    target = endpoint(spec)
    assert target.headers == {"X-A": "1", "X-B": "from-env"}
    assert target.bearer == "bearer-value"
    assert target.env_names == ("TOK", "SET", "UNSET")
    assert spec.secrets.mask("from-env bearer-value") == "••• •••"


def test_secrets_never_show_in_the_repr_of_a_server(read: Read) -> None:
    config = """
        [mcp_servers.p]
        command = "x"
        args = ["--token", "s3cret-value"]
        env = { API_KEY = "s3cret-value" }
        [mcp_servers.w]
        url = "http://u:s3cret-value@h"
        http_headers = { X-Key = "s3cret-value" }
        http_headers_helper = "echo s3cret-value"
        bearer_token_env_var = "TOK"
        """
    servers = read(config, environ={"TOK": "s3cret-value"})
    assert "s3cret-value" not in repr(servers)


def test_any_part_of_an_entry_changes_its_fingerprint_only_some_its_link(read: Read) -> None:
    base = '[mcp_servers.one]\ncommand = "x"\n'
    old = read(base)["one"]
    filtered = read(base + 'disabled_tools = ["t"]\n')["one"]
    moved = read(base + 'args = ["-v"]\n')["one"]
    assert read(base)["one"].fingerprint == old.fingerprint
    assert filtered.fingerprint != old.fingerprint and filtered.link == old.link
    assert moved.fingerprint != old.fingerprint and moved.link != old.link
