from __future__ import annotations

import pytest

from core.config.strict import Kind, strict
from core.config.warnings import config_warnings
from core.errors import CoreError
from tests.core.config.conftest import TRUSTED, World


def refused(world: World, kind: Kind = "reload", cwd: str | None = None) -> tuple[int, str]:
    with pytest.raises(CoreError) as caught:
        strict(world.load(cwd), kind)
    return caught.value.code, caught.value.message.replace(str(world.root), "@")


FILE = "@/home/.codex/config.toml"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[plugins\n", "1:9: unclosed table, expected `]`"),
        ('[mcp_servers.a]\ncommand = "x"\nurl = "y"\n', "1:1: url is not supported for stdio"),
        ("[mcp_servers.a]\n", "1:1: invalid transport"),
        ('x = 1\n[mcp_servers.a.env]\nA = "1"\n', "2:14: invalid transport"),
        ('mcp_servers.a.env.A = "1"\n', "1:13: invalid transport"),
        ("mcp_servers = 1\n", "1:15: invalid type: integer `1`, expected a map"),
        (
            '[mcp_servers.a]\nurl = "http://x"\nauth = "bogus"\n',
            "3:8: unknown variant `bogus`, expected one of `oauth`, `chatgpt`, `ema_auth`",
        ),
        ('[mcp_servers.a]\nurl = "u"\nauth = 1\n', "3:8: wanted string or table"),
        (
            '[mcp_servers.a]\ncommand="x"\nargs=["a",1]\n',
            "3:11: invalid type: integer `1`, expected a string",
        ),
        (
            '\n\n[plugins]\n[plugins."p@m"]\nenabled = "yes"\n',
            '3:1: invalid type: string "yes", expected a boolean',
        ),
        (
            '[plugins."p@m"]\nenabled = "yes"\n',
            '1:2: invalid type: string "yes", expected a boolean',
        ),
        (
            "[apps._default]\nenabled = 1\n",
            "2:11: invalid type: integer `1`, expected a boolean",
        ),
        ("[apps.a]\nenabled = 1\n", "1:2: invalid type: integer `1`, expected a boolean"),
        (
            'marketplaces.m.source_type="svn"\n',
            "1:28: unknown variant `svn`, expected `git` or `local`",
        ),
        ('[[skills.config]]\nname = "a"\n', "1:1: missing field `enabled`"),
        ("service_tier = 1\n", "1:16: invalid type: integer `1`, expected a string"),
        (
            'sandbox_mode = "x"\n',
            "1:16: unknown variant `x`, expected one of `read-only`, `workspace-write`, "
            "`danger-full-access`",
        ),
        (
            '[mcp_enterprise_managed_auth.idp]\nissuer = "i"\nclient_id = "c"\nfoo = 1\n',
            "4:7: unknown field `foo`, expected one of `issuer`, `client_id`, `client_secret`, "
            "`token_endpoint_auth_method`",
        ),
        (
            'model_providers.openai.name = "x"\n',
            "1:1: model_providers contains reserved built-in provider IDs: `openai`. Built-in "
            "providers cannot be overridden. Rename your custom provider (for example, "
            "`openai-custom`).",
        ),
    ],
)
def test_a_reload_is_refused_with_file_place_and_words(world: World, text: str, told: str):
    world.user(text)
    assert refused(world) == (-32603, f"failed to reload config: {FILE}:{told}")


def test_the_first_fault_of_the_file_is_told(world: World):
    world.user('[plugins."p@m"]\nenabled = 1\n[mcp_servers.b]\n[mcp_servers.a]\n')
    assert refused(world)[1].endswith("1:2: invalid type: integer `1`, expected a boolean")


def test_each_request_has_its_own_beginning(world: World):
    world.user("[mcp_servers.a]\n")
    assert refused(world, "thread") == (
        -32600,
        f"failed to load configuration: {FILE}:1:1: invalid transport",
    )
    assert refused(world, "refresh")[1].startswith("failed to refresh MCP servers: @/")
    assert refused(world, "read") == (
        -32603,
        "invalid configuration: invalid transport\nin `mcp_servers.a`\n",
    )
    strict(world.load(), "layers")


def test_reading_layers_minds_broken_toml_only(world: World):
    world.user("a = [")
    told = f"failed to read configuration layers: {FILE}:1:6: unclosed array, expected `]`"
    assert refused(world, "layers")[1] == told
    assert refused(world, "read")[1] == told


def test_a_fault_of_layers_together_has_no_place(world: World):
    world.user(TRUSTED + '[mcp_servers.x]\ncommand = "c"\n')
    world.project('[mcp_servers.x]\nurl = "u"\n')
    strict(world.load())
    assert refused(world, cwd="repo")[1] == (
        "failed to reload config: url is not supported for stdio\nin `mcp_servers.x`\n"
    )


def test_a_broken_project_file_is_told_with_its_line(world: World):
    world.user(TRUSTED)
    world.project("bad = [\n")
    assert refused(world, cwd="repo")[1] == (
        "failed to reload config: Error parsing project config file @/repo/.codex/config.toml: "
        "TOML parse error at line 1, column 8\n  |\n1 | bad = [\n  |        ^\n"
        "unclosed array, expected `]`\n"
    )


def test_what_is_no_file_is_told(world: World):
    world.file.mkdir()
    assert refused(world)[1] == (
        f"failed to reload config: Failed to read config file {FILE}: path `{FILE}` is not a file"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('model_provider = "nope"\n', "Model provider `nope` not found"),
        (
            'profile = "x"\n',
            'legacy `profile = "x"` config is no longer supported; use `--profile x` with '
            "`x.config.toml` instead",
        ),
    ],
)
def test_what_codex_finds_late_has_no_place(world: World, text: str, told: str):
    world.user(text)
    assert refused(world)[1] == f"failed to reload config: {told}"
    assert refused(world, "read")[1] == f"failed to resolve feature override precedence: {told}"


def test_a_right_configuration_is_not_refused(world: World):
    world.user('model = "m"\nunknown = 1\n[mcp_servers.a]\ncommand = "c"\n')
    strict(world.load())


def test_broken_requirements_are_told(world: World):
    world.required("a = b")
    assert (
        refused(world)[1]
        .replace(str(world.home.requirements_file), "R")
        .endswith("a = b\n  |     ^\nstring values must be quoted, expected literal string\n")
    )


# --- the notifications after the handshake ---


def warned(world: World, cwd: str | None = None) -> list[dict[str, object]]:
    return config_warnings(world.load(cwd))


def test_a_refused_configuration_is_warned_of_with_its_range(world: World):
    world.user('a = 1\n[mcp_servers.x]\ncommand = "a"\nurl = "x"\n')
    assert warned(world) == [
        {
            "summary": "Invalid configuration; using defaults.",
            "details": f"{world.file}:2:1: url is not supported for stdio",
            "path": str(world.file),
            "range": {"start": {"line": 2, "column": 1}, "end": {"line": 2, "column": 15}},
        }
    ]


def test_unknown_keys_are_warned_of_three_at_most(world: World):
    world.user('d = 1\nb = 2\n[mcp_servers.x]\ncommand = "c"\nbogus = 1\n[features]\nfoo = true\n')
    (warning,) = warned(world)
    assert warning["summary"] == (
        "Codex is ignoring 4 unrecognized configuration settings. Check for typos or deprecated "
        f"settings.\n  user ({world.file}): `b` is ignored.\n  user ({world.file}): `d` is ignored."
        f"\n  user ({world.file}): `features.foo` is ignored.\n  ... and 1 more ignored settings."
    )


def test_one_unknown_key_is_warned_of_in_the_singular(world: World):
    world.user("x = 1\n")
    (warning,) = warned(world)
    assert "ignoring 1 unrecognized configuration setting." in str(warning["summary"])


def test_untrusted_folders_and_forbidden_keys_are_warned_of(world: World):
    world.user("")
    world.project('notify = ["x"]\n')
    (warning,) = warned(world, "repo")
    assert str(warning["summary"]).startswith("Project-local config, hooks, and exec policies are")
    world.user(TRUSTED)
    (warning,) = warned(world, "repo")
    assert "Ignored unsupported project-local config keys" in str(warning["summary"])
    assert str(warning["summary"]).count("notify") == 1


def test_a_pinned_setting_is_warned_of(world: World):
    world.user("")
    world.required('chatgpt_base_url = "http://r"\nmodel_provider = "ollama"\n')
    (warning,) = warned(world)
    assert warning["summary"] == (
        "Configured value for `chatgpt_base_url` is overridden by the required value "
        f'"http://r" from {world.home.requirements_file}.'
    )
