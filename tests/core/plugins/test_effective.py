"""What enabled plugins contribute to a thread."""

from __future__ import annotations

from pathlib import Path

from core.plugins.effective import EffectivePlugins
from core.seams import NamedApp
from tests.core.plugins.world import World, put, put_plugin

MCP = {"mcpServers": {"b": {"command": "b"}, "a": {"url": "https://a.test"}, "no": 7}}


def plugins(world: World) -> EffectivePlugins:
    return EffectivePlugins(world.home, world.configs)


def test_servers_of_enabled_installed_plugins_are_declared_by_id_and_name(world: World):
    root = world.install("p@m", {".mcp.json": MCP}, interface={"displayName": "Pea"})
    world.install("off@m", {".mcp.json": MCP})
    world.install("unconfigured@m", {".mcp.json": MCP})
    world.switch("p@m")
    world.switch("off@m", False)
    declared = plugins(world).declared_servers(None)
    assert [(server.plugin_id, server.name) for server in declared.servers] == [
        ("p@m", "a"),
        ("p@m", "b"),
    ]
    first = declared.servers[0]
    assert (first.root, first.display_name, first.agent_plugins) == (root, "Pea", False)
    assert (first.origin.file, first.origin.line) == (f"{root}/.mcp.json", 1)
    (problem,) = declared.problems
    assert problem.message == "server `no`: it is no object"


def test_the_configuration_says_more_on_a_plugins_servers(world: World):
    world.install("p@m", {".mcp.json": MCP})
    world.configure(
        '[plugins."p@m".mcp_servers.a]\nenabled = false\ndisabled_tools = ["x"]\nurl = "other"'
    )
    (server, _) = plugins(world).declared_servers(None).servers
    assert server.entry == {"url": "https://a.test", "enabled": False, "disabled_tools": ["x"]}


def test_a_server_has_the_line_that_declares_it(world: World):
    text = '{\n  "mcpServers": {\n    "a": {"command": "a"},\n    "b": {"command": "b"}\n  }\n}'
    world.install("p@m", {".mcp.json": text})
    world.switch("p@m")
    servers = plugins(world).declared_servers(None).servers
    assert [server.origin.line for server in servers] == [3, 4]


def test_one_broken_plugin_is_told_and_takes_no_other_down(world: World):
    world.install("good@m", {".mcp.json": {"a": {"command": "a"}}})
    manifest = put(world.home.plugins_cache / "m/bad/local/.codex-plugin/plugin.json", "{\nx")
    world.install("torn@m", {".mcp.json": "{"})
    for name in ("good", "bad", "torn"):
        world.switch(f"{name}@m")
    declared = plugins(world).declared_servers(None)
    assert [server.plugin_id for server in declared.servers] == ["good@m"]
    problems = {problem.subject: problem for problem in declared.problems}
    assert problems["bad@m"].evidence.file == str(manifest)
    assert problems["bad@m"].evidence.line == 2
    assert problems["torn@m"].message == "EOF while parsing an object at line 1 column 1"


def test_an_agent_plugins_data_lies_in_a_place_of_its_own(world: World):
    root = world.home.plugins_cache / "m/p/1.0.0"
    schemas = "https://agent-plugins.org/schemas/1.0.0"
    put(root / "plugin.json", {"$schema": f"{schemas}/plugin.schema.json", "name": "p"})
    servers = {"a": {"type": "stdio", "command": "a"}}
    put(root / "mcp.json", {"$schema": f"{schemas}/mcp.schema.json", "mcpServers": servers})
    world.switch("p@m")
    (server,) = plugins(world).declared_servers(None).servers
    assert server.agent_plugins
    data = Path(server.entry["env"]["PLUGIN_DATA"])
    assert data.parent == world.home.plugins_data / "agent-plugins"
    assert not data.exists()


def test_apps_carry_the_name_of_their_plugin(world: World):
    apps = {"apps": {"x": {"id": "a1", "category": "Tools"}}}
    world.install("p@m", {".app.json": apps}, interface={"displayName": "Pea"})
    world.install("q@m", {".app.json": apps})
    world.switch("p@m")
    world.switch("q@m")
    assert plugins(world).named_apps(None) == (
        NamedApp(app_id="a1", plugin_id="p@m", plugin_display_name="Pea", category="Tools"),
        NamedApp(app_id="a1", plugin_id="q@m", plugin_display_name="q", category="Tools"),
    )


def test_nothing_counts_where_plugins_are_turned_off(world: World):
    world.install("p@m", {".mcp.json": MCP})
    world.switch("p@m")
    world.configure("[features]\nplugins = false")
    assert plugins(world).declared_servers(None).servers == ()


def test_a_plugin_that_is_replaced_is_read_anew(world: World):
    world.install("p@m", {".mcp.json": {"a": {"command": "a"}}})
    world.switch("p@m")
    effective = plugins(world)
    assert [server.name for server in effective.declared_servers(None).servers] == ["a"]
    put_plugin(world.home.plugins_cache / "m/p/local", {".mcp.json": {"b": {"command": "b"}}})
    assert [server.name for server in effective.declared_servers(None).servers] == ["b"]
