"""The configuration, the managed requirements, the switches of Codex."""

from __future__ import annotations

from collections.abc import Iterator

from tests.integration.explain.table import state
from tests.integration.explain.world import World

AGAIN = "s --kind server --again --yes"


@state("features.configuration", "config.toml:", "correct it")
def a_line_of_the_configuration_is_no_toml(w: World) -> Iterator[str]:
    w.server()
    w.more("[mcp_servers.t\n")
    yield AGAIN
    w.replace("[mcp_servers.t\n", "")


@state("features.configuration", "config.toml:1", "correct it")
def a_lone_carriage_return_is_in_the_configuration(w: World) -> Iterator[str]:
    w.server()
    text = (w.codex / "config.toml").read_text().lstrip()
    (w.codex / "config.toml").write_bytes(b'model = "x"\r' + text.encode())
    yield AGAIN
    w.config(text)


@state("features.configuration", "codex_apps", "correct its entry")
def another_table_has_only_a_time_limit(w: World) -> Iterator[str]:
    w.server()
    w.more("[mcp_servers.codex_apps]\nstartup_timeout_sec = 60")
    yield AGAIN
    w.replace("[mcp_servers.codex_apps]\nstartup_timeout_sec = 60", "")


@state("features.configuration", "mcp_servers.t", "correct its entry")
def another_server_has_a_negative_limit(w: World) -> Iterator[str]:
    w.server()
    w.server("t", command="x", startup_timeout_sec=-1)
    yield AGAIN
    w.replace("startup_timeout_sec = -1", "")


@state("features.configuration", "no setting that Codex knows", "did you mean `mcp_servers`?")
def servers_stand_below_the_name_that_other_agents_use(w: World) -> Iterator[str]:
    command = w.program("s-server")
    w.config(f'[mcpServers.s]\ncommand = "{command}"\n')
    yield AGAIN
    w.replace("mcpServers", "mcp_servers")


@state("features.configuration", "legacy `profile", "correct it")
def a_legacy_profile_is_chosen(w: World) -> Iterator[str]:
    w.config('profile = "fast"\n')
    w.server()
    yield AGAIN
    w.replace('profile = "fast"', "")


@state("features.configuration", "Model provider `nobody` not found", "correct it")
def the_model_provider_is_unknown(w: World) -> Iterator[str]:
    w.config('model_provider = "nobody"\n')
    w.server()
    yield AGAIN
    w.replace('model_provider = "nobody"', "")


@state("features.configuration", "config.toml", "correct it")
def a_feature_is_no_switch(w: World) -> Iterator[str]:
    w.server()
    w.more('[features]\nplugins = "yes"')
    yield AGAIN
    w.replace('plugins = "yes"', "plugins = true")


@state("features.policy", "requirements cannot be read", "correct", who="administrator")
def the_requirements_are_no_toml(w: World) -> Iterator[str]:
    w.server()
    w.required("[mcp_servers\n")
    yield AGAIN
    w.required("")


@state("features.plugins", "plugins are off, config.toml:", "set features.plugins = true")
def plugins_are_turned_off(w: World) -> Iterator[str]:
    w.marketplace("p")
    w.install()
    w.more("[features]\nplugins = false")
    yield "p@m"
    w.replace("plugins = false", "plugins = true")


@state("features.plugins", "off by policy", "allow features.plugins", who="administrator")
def plugins_are_turned_off_by_policy(w: World) -> Iterator[str]:
    w.marketplace("p")
    w.install()
    w.required("[features]\nplugins = false\n")
    yield "p@m"
    w.required("")


@state("features.plugins", "plugins are off", "in the project layer")
def plugins_are_turned_off_in_the_project(w: World) -> Iterator[str]:
    w.marketplace("p")
    w.install()
    w.project("[features]\nplugins = false\n", trust="trusted")
    yield "p@m"
    w.project("")
