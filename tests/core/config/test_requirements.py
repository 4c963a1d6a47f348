from __future__ import annotations

from typing import Any

import pytest

from core.config.layers import CloudFragment
from core.config.server_entry import ServerEntry, parse_server
from tests.core.config.conftest import World


def stdio(command: str = "c", *args: str) -> ServerEntry:
    return parse_server("s", {"command": command, "args": list(args)})


def http(url: str) -> ServerEntry:
    return parse_server("s", {"url": url})


def allowed(world: World, name: str, entry: ServerEntry, plugin: str | None = None) -> bool:
    return world.load().requirements.allows_server(name, entry, plugin).allowed


def test_without_requirements_everything_is_allowed(world: World):
    required = world.load().requirements
    assert not required.closed and required.empty
    assert required.allows_server("s", stdio()).rule == "none"


def test_servers_must_be_listed_and_fit(world: World):
    file = world.required('[mcp_servers.s.identity]\ncommand = "c"\n')
    verdict = world.load().requirements.allows_server("s", stdio("c", "any"))
    assert (verdict.allowed, verdict.rule) == (True, "listed")
    assert not allowed(world, "s", stdio("other"))
    assert not allowed(world, "s", http("c"))
    verdict = world.load().requirements.allows_server("t", stdio())
    assert (verdict.rule, verdict.evidence.file) == ("not-listed", str(file))
    verdict = world.load().requirements.allows_server("s", stdio("other"))
    assert (verdict.rule, verdict.evidence.line) == ("identity", 1)


@pytest.mark.parametrize(
    ("identity", "fitting", "not_fitting"),
    [
        ('url = "https://x/mcp"', "https://x/mcp", "https://x/mcp2"),
        ('url = { match = "exact", value = "u" }', "u", "uu"),
        ('url = { match = "prefix", value = "https://x/" }', "https://x/y", "http://x/"),
        ('url = { match = "regex", expression = "u|v" }', "v", "uv"),
    ],
)
def test_urls_are_matched(world: World, identity: str, fitting: str, not_fitting: str):
    world.required(f"[mcp_servers.s.identity]\n{identity}\n")
    assert allowed(world, "s", http(fitting))
    assert not allowed(world, "s", http(not_fitting))
    assert not allowed(world, "s", stdio(fitting))


def test_arguments_must_match_one_to_one(world: World):
    world.required(
        '[mcp_servers.s.identity.command]\nexecutable = "c"\n'
        'args = [{ match = "prefix", value = "-" }, { match = "regex", expression = "a.*" }]\n'
    )
    assert allowed(world, "s", stdio("c", "-x", "abc"))
    assert not allowed(world, "s", stdio("c", "-x"))
    assert not allowed(world, "s", stdio("c", "-x", "abc", "more"))
    assert not allowed(world, "s", stdio("c", "x", "abc"))


def test_a_command_beats_a_url_in_one_identity(world: World):
    world.required('[mcp_servers.s.identity]\ncommand = "c"\nurl = "u"\n')
    assert allowed(world, "s", stdio())
    assert not allowed(world, "s", http("u"))


def test_an_empty_list_lets_nothing_start_plugins_included(world: World):
    world.required("mcp_servers = {}\n")
    verdict = world.load().requirements.allows_server("s", stdio(), "p@m")
    assert (verdict.allowed, verdict.rule) == (False, "empty-list")
    assert not allowed(world, "s", stdio())


def test_a_filled_list_does_not_touch_plugin_servers(world: World):
    world.required('[mcp_servers.s.identity]\ncommand = "c"\n')
    assert allowed(world, "other", stdio(), "p@m")


def test_any_plugin_rule_makes_plugin_servers_need_their_own(world: World):
    world.required('[plugins."p@m".mcp_servers.one.identity]\ncommand = "c"\n')
    assert allowed(world, "one", stdio(), "p@m")
    assert not allowed(world, "two", stdio(), "p@m")
    assert not allowed(world, "one", stdio(), "q@m")
    assert allowed(world, "one", stdio())


def test_pinned_features_and_apps_stand_above_all_layers(world: World):
    world.user("[features]\nplugins = true\n[apps.a]\nenabled = true\n")
    file = world.required("[features]\nplugins = false\n\n[apps.a]\nenabled = false\n")
    loaded = world.load()
    assert loaded.feature("plugins") is False
    assert loaded.get("features", "plugins") is False
    assert loaded.get("apps", "a", "enabled") is False
    origin = loaded.origin("features", "plugins")
    assert (origin.file, origin.line, origin.layer) == (str(file), 2, "requirements")
    assert loaded.origin("apps", "a", "enabled").line == 5


def test_a_pinned_setting_wins(world: World):
    world.user('chatgpt_base_url = "http://u"\n')
    world.required('chatgpt_base_url = "http://r"\n')
    loaded = world.load()
    assert loaded.get("chatgpt_base_url") == "http://r"
    assert loaded.without_requirements("chatgpt_base_url") == "http://u"
    assert loaded.origin("chatgpt_base_url").layer == "requirements"


def test_login_methods_are_told_in_codex_order(world: World):
    world.required('allowed_login_methods = ["chatgpt", "api"]\n')
    assert world.load().requirements.login_methods == ("api", "chatgpt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[[", "unquoted keys cannot be empty"),
        ("[mcp_servers.web]\nfoo = 1\n", "missing field `identity`\nin `mcp_servers.web`"),
        (
            "[mcp_servers.a]\nidentity = 1\n",
            "data did not match any variant of untagged enum RawMcpServerIdentity\n"
            "in `mcp_servers.a.identity`",
        ),
        (
            '[mcp_servers.a.identity]\nurl = { match = "bogus", value = "x" }\n',
            "data did not match any variant",
        ),
        (
            '[mcp_servers.web.identity]\nurl = { match = "regex", expression = "(" }\n',
            "invalid requirement for MCP server `web` (set by ",
        ),
        (
            '[mcp_servers.a.identity.command]\nexecutable = "x"\n'
            'args = [{ match = "regex", expression = "[" }]\n',
            "invalid argument matcher at index 0: invalid regex `[`",
        ),
        ("mcp_servers = 1\n", "invalid type: integer `1`, expected a map\nin `mcp_servers`"),
        ("[features]\nx = 1\n", "invalid type: integer `1`, expected a boolean\nin `features`"),
        ("allowed_login_methods = []\n", "do not permit any usable login method"),
        ("[marketplaces]\nx = 1\n", "unknown field `x`"),
        ("feature_requirements = {}\nfeatures = {}\n", "duplicate field `features`"),
    ],
)
def test_requirements_that_cannot_be_read_close_everything(world: World, text: str, message: str):
    file = world.required(text)
    loaded = world.load()
    required = loaded.requirements
    assert required.closed
    assert required.broken is not None and message in required.broken.message
    assert required.broken in loaded.problems
    assert required.broken.evidence.file == str(file)
    verdict = required.allows_server("s", stdio())
    assert (verdict.allowed, verdict.rule) == (False, "unreadable")
    assert not required.allows_server("s", stdio(), "p@m").allowed


def test_a_directory_in_the_place_of_requirements_closes_everything(world: World):
    world.home.requirements_file.mkdir(parents=True)
    assert world.load().requirements.closed


def test_mended_requirements_open_again(world: World):
    world.required("bad = [")
    assert world.load().requirements.closed
    world.required("")
    assert not world.load().requirements.closed


def test_requirements_that_leave_are_gone(world: World):
    file = world.required("mcp_servers = {}\n")
    assert not allowed(world, "s", stdio())
    file.unlink()
    assert allowed(world, "s", stdio())


def test_requirements_of_the_workspace_come_on_top(world: World):
    world.required("[features]\nplugins = true\napps = false\n")
    world.store.set_cloud(requirements=[CloudFragment("1", "w", "[features]\nplugins = false\n")])
    assert world.load().requirements.features == {"plugins": False, "apps": False}


def test_requirements_of_the_workspace_that_could_not_be_had_close_everything(world: World):
    world.store.set_cloud(broken="Failed to load cloud config bundle")
    assert world.load().requirements.closed


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("bogus = 1\n", ("bogus",)),
        ('[mcp_servers.a]\nidentity = { url = "x" }\nz = 1\n', ("mcp_servers.a.z",)),
        ('plugins."p@m".enabled = false\n', ("plugins.p@m.enabled",)),
        ("mcp_server_matchers = 1\n", ("mcp_server_matchers",)),
    ],
)
def test_unknown_requirements_are_told_and_ignored(world: World, text: str, unknown: Any):
    world.required(text)
    required = world.load().requirements
    assert not required.closed
    assert required.unknown == unknown
