from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.config import wire
from core.config.schema import KNOWN, check_tree, without
from core.config.unknown import unknown_keys
from core.config.version import version_of
from tests.core.config.conftest import TRUSTED, World


def test_every_member_is_there_null_when_unset(world: World):
    config = wire.effective_config(world.load())
    assert set(config) == KNOWN | {"client_search_provider"}
    assert len(config) == 110
    assert config["model"] is None
    assert config["chatgpt_base_url"] == "https://chatgpt.com/backend-api/"
    assert config["mcp_servers"] == {} and config["plugins"] == {}
    assert config["features"]["remote_plugin"] is True
    assert "plugins" not in config["features"]


def test_tables_of_ours_are_told_in_codex_shape(world: World):
    world.user(
        """
[mcp_servers.x]
command = "c"
env_vars = ["Q", { name = "R" }, { name = "S", source = "remote" }]
required = true
startup_timeout_ms = 100
tool_timeout_sec = 3
tools = { t = { output_token_limit = 5 }, u = {} }
name = "n"
[mcp_servers.y]
url = "u"
auth = "oauth"
enabled = false
oauth = { callback_port = 7 }
scopes = []
[plugins."p@m"]
zz = 1
[plugins."q@m".mcp_servers.a]
enabled = false
zz = 1
[marketplaces.m]
source_type = "git"
source = "x"
[apps._default]
enabled = false
[apps.a]
enabled = true
tools.t.enabled = false
[projects."/y"]
[sandbox_workspace_write]
network_access = true
[features]
plugins = false
zz = true
"""
    )
    config = wire.effective_config(world.load())
    assert config["mcp_servers"] == {
        "x": {
            "command": "c",
            "args": [],
            "env_vars": ["Q", {"name": "R"}, {"name": "S", "source": "remote"}],
            "environment_id": "local",
            "enabled": True,
            "required": True,
            "startup_timeout_sec": 0.1,
            "tool_timeout_sec": 3.0,
            "tools": {"t": {"output_token_limit": 5}, "u": {}},
        },
        "y": {
            "url": "u",
            "environment_id": "local",
            "enabled": False,
            "tool_timeout_sec": None,
            "oauth": {"callback_port": 7},
            "scopes": [],
        },
    }
    assert config["plugins"] == {
        "p@m": {},
        "q@m": {"mcp_servers": {"a": {"enabled": False}}},
    }
    assert config["marketplaces"] == {
        "m": {
            "auto_update": False,
            "last_updated": None,
            "last_revision": None,
            "source_type": "git",
            "source": "x",
            "ref": None,
            "sparse_paths": None,
        }
    }
    assert config["apps"]["_default"]["enabled"] is False
    assert config["apps"]["a"]["tools"] == {"t": {"enabled": False, "approval_mode": None}}
    assert config["apps"]["a"]["links"] is None
    assert config["projects"] == {"/y": {"trust_level": None}}
    assert config["sandbox_workspace_write"] == {
        "writable_roots": [],
        "network_access": True,
        "exclude_tmpdir_env_var": False,
        "exclude_slash_tmp": False,
    }
    assert config["features"]["plugins"] is False
    assert config["features"]["zz"] is True
    assert config["features"]["network_proxy"] is None


def test_requirements_show_in_features_and_settings_but_not_in_apps(world: World):
    world.user('chatgpt_base_url = "http://u"\n')
    world.required(
        "[features]\nremote_plugin = false\n[apps.a]\nenabled = false\n"
        '[mcp_servers.s.identity]\nurl = "u"\n'
    )
    config = wire.effective_config(world.load())
    assert config["features"]["remote_plugin"] is False
    assert config["apps"] is None
    world.required('chatgpt_base_url = "http://r"\n')
    loaded = world.load()
    assert wire.effective_config(loaded)["chatgpt_base_url"] == "http://r"
    assert "chatgpt_base_url" not in wire.origins(loaded)


def test_origins_name_the_layer_of_every_leaf(world: World):
    world.system('[mcp_servers.x]\nrequired = true\nargs = ["s", "t"]\n')
    world.user(TRUSTED + '[mcp_servers.x]\ncommand = "c"\nzz = {}\n[plugins."p@m"]\nfoo = 1\n')
    project = world.project('[mcp_servers.x]\nargs = ["p"]\n')
    loaded = world.load("repo")
    origins = wire.origins(loaded)
    assert set(origins) == {
        "mcp_servers.x.required",
        "mcp_servers.x.command",
        "mcp_servers.x.args.0",
        "plugins.p@m.foo",
        f"projects.{world.root}/repo.trust_level",
    }
    assert origins["mcp_servers.x.args.0"] == {
        "name": {"type": "project", "dotCodexFolder": str(project.parent)},
        "version": loaded.layers[-1].version,
    }
    assert origins["mcp_servers.x.required"]["name"]["type"] == "system"
    assert origins["plugins.p@m.foo"]["name"] == {
        "type": "user",
        "file": str(world.file),
        "profile": None,
    }


def test_layers_are_told_highest_first_with_why_one_does_not_count(world: World):
    world.user("a = nan\nb = 2020-01-01T00:00:00Z\n[mcp_servers.x]\ntool_timeout_sec = 5\n")
    world.project('model = "p"\nnotify = ["x"]\n')
    layers = wire.layers(world.load("repo"))
    assert [layer["name"]["type"] for layer in layers] == ["project", "user", "system"]
    assert layers[0]["config"] == {"model": "p"}
    assert layers[0]["disabledReason"].startswith("To load project-local config")
    assert layers[1]["config"]["a"] is None
    assert layers[1]["config"]["b"] == {"$__toml_private_datetime": "2020-01-01T00:00:00Z"}
    assert isinstance(layers[1]["config"]["mcp_servers"]["x"]["tool_timeout_sec"], float)
    assert "disabledReason" not in layers[1]
    json.dumps(layers, allow_nan=False)


def test_without_requirements_there_are_none(world: World):
    world.user('model = "m"\n')
    assert wire.requirements(world.load()) is None


def test_a_forced_login_method_counts_as_a_requirement(world: World):
    world.user('forced_login_method = "api"\n')
    told = wire.requirements(world.load())
    assert told is not None and told["allowedLoginMethods"] == ["api"]


def test_requirements_are_told_with_every_member(world: World):
    world.required('[mcp_servers.s.identity]\nurl = "u"\n[features]\napps = false\n')
    told = wire.requirements(world.load())
    assert told is not None and len(told) == 34
    assert told["allowedLoginMethods"] == ["api", "chatgpt"]
    assert told["featureRequirements"] == {"apps": False}
    assert told["models"] is None


@pytest.mark.parametrize(
    ("value", "version"),
    [
        ({}, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
        ({"model": "x"}, "78b0e11c6754fc9671c2034f4a068d3a0e53c1c22a5a33900dd46bc8cd9136f3"),
    ],
)
def test_versions_are_those_of_codex(value: dict[str, Any], version: str):
    assert version_of(value) == f"sha256:{version}"


@pytest.mark.parametrize(
    ("value", "spelt"),
    [
        (1.0, "1.0"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e+16"),
        (1e-5, "0.00001"),
        (1.5e-5, "0.000015"),
        (1e-6, "1e-6"),
        (-0.0, "-0.0"),
        (float("nan"), "null"),
    ],
)
def test_floats_are_hashed_as_serde_writes_them(value: float, spelt: str):
    from hashlib import sha256

    expected = sha256(f'{{"a":{spelt}}}'.encode()).hexdigest()
    assert version_of({"a": value}) == f"sha256:{expected}"


# --- whatever a file says ---

keys = st.sampled_from(
    [
        *sorted(KNOWN),
        "state",
        "config",
        "enabled",
        "command",
        "url",
        "idp",
        "x",
        "tools",
        "_default",
    ]
)
anything = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=12,
)


@given(st.dictionaries(keys, anything, max_size=5))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_tree_can_be_judged_and_what_remains_is_right(tree: dict[str, Any]):
    before = repr(tree)
    kept = without(tree, check_tree(tree))
    assert repr(tree) == before
    assert check_tree(kept) == []
    unknown_keys(tree)
