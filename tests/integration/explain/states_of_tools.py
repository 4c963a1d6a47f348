"""What a server offers, and what of it the model gets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.fakes.mcp_stdio import tool
from tests.integration.explain.table import state
from tests.integration.explain.world import ECHO, World

AGAIN = "s --kind server --again --yes"
TOOL = "s/echo --again --yes"


def resource(name: str) -> dict[str, Any]:
    return {"uri": f"file:///{name}", "name": name}


RESOURCES = {"resources": [resource("notes")], "capabilities": {"tools": {}, "resources": {}}}


@state("inventory.list", "filtered out by enabled_tools", "correct its entry")
def the_list_of_allowed_tools_names_none_of_them(w: World) -> Iterator[str]:
    w.server(command=str(w.program("s-server")), enabled_tools=["Echo"])
    yield AGAIN
    w.replace('["Echo"]', '["echo"]')


@state("inventory.list", "filtered out by disabled_tools", "correct its entry")
def every_tool_is_off(w: World) -> Iterator[str]:
    w.server(command=str(w.program("s-server")), disabled_tools=["echo", "other"])
    yield AGAIN
    w.replace('["echo", "other"]', '["other"]')


@state("inventory.list", "no tools, resources or prompts", outcome="normal")
def a_server_offers_nothing(w: World) -> Iterator[str]:
    w.fake(spec={"tools": []})
    yield AGAIN
    w.fake()


@state("inventory.tool", "disabled_tools", "turn it on", typed=True)
def a_tool_is_off(w: World) -> Iterator[str]:
    w.server(command=str(w.program("s-server")), disabled_tools=["echo"])
    yield TOOL


@state("inventory.tool", "not in enabled_tools", "turn it on", typed=True)
def a_tool_is_not_among_those_that_are_on(w: World) -> Iterator[str]:
    w.server(command=str(w.program("s-server")), enabled_tools=["other"])
    yield TOOL


@state("inventory.tool", "for apps only", outcome="normal")
def a_tool_is_for_the_page_of_an_app(w: World) -> Iterator[str]:
    hidden = tool("echo", _meta={"ui": {"visibility": ["app"]}})
    w.fake(spec={"tools": [hidden, tool("other")]})
    yield TOOL
    w.fake()


@state("inventory.tool", "does not offer a tool of this name", "check again")
def a_tool_is_not_offered(w: World) -> Iterator[str]:
    w.fake(spec={"tools": [tool("other")]})
    yield TOOL
    w.fake()


@state("inventory.list", "Codex refuses all its tools", "correct the tool", who="author")
def one_tool_is_malformed(w: World) -> Iterator[str]:
    w.fake(spec={"tools": [{"name": "bad"}, tool("echo")]})
    yield TOOL
    w.fake()


@state("inventory.tool", "a resource, which nobody calls", outcome="normal")
def a_resource_is_no_tool(w: World) -> Iterator[str]:
    w.fake(spec={**ECHO, **RESOURCES})
    yield "s/resource:file:///notes --kind tool --again --yes"
    yield TOOL


@state("server.runtime", "exited 4", "correct its entry")
def the_server_of_a_tool_does_not_start(w: World) -> Iterator[str]:
    file = w.program("s-server")
    good = file.read_text()
    file.write_text("#!/bin/sh\nexit 4\n")
    w.server(command=str(file))
    yield TOOL
    file.write_text(good)


@state("server.enabled", "off, ", "turn it on", typed=True)
def the_server_of_a_tool_is_off(w: World) -> Iterator[str]:
    w.server(command=str(w.program("s-server")), enabled=False)
    yield TOOL
