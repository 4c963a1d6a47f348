from __future__ import annotations

import pytest

from core.protocol.rows import InstalledRow, ServerRow, ToolRow
from tests.tui import world
from tests.tui.views.support import PLACE, cell, page_of, store_of, text, whole
from tui.store import ViewStore
from tui.views.tool_page import kind_of
from tui.views.tools import ToolsView, tool_facts


def view_of(store: ViewStore | None = None) -> ToolsView:
    return ToolsView(store or whole(), PLACE)


def facts(tool: ToolRow, server: ServerRow | None = None, app: InstalledRow | None = None):
    return tool_facts(tool, server, app, world.NOW, PLACE)


def tool(**more: object) -> ToolRow:
    return ToolRow(id="s/t", name="t", owner="s", **more)  # type: ignore[arg-type]


UP = ServerRow(id="s", name="s", status="connected")


def test_found_enabled_connected_and_callable_are_four_facts():
    view = view_of()
    row = view.row("github/delete_repo")
    shown = {key: cell(row, key) for key in ("found", "enabled", "connected", "state")}
    assert shown == {
        "found": "12:40",
        "enabled": "off",
        "connected": "yes",
        "state": "off       in disabled_tools, config.toml:47",
    }


def test_rows_of_apps_say_that_they_come_from_the_snapshot():
    row = view_of().row("boardroom/list_boards")
    assert (cell(row, "found"), cell(row, "connected")) == ("snapshot", "snapshot")
    assert cell(row, "server") == "Boardroom"


def test_a_tool_of_an_app_does_not_depend_on_any_server():
    row = ToolRow(id="a/t", name="t", owner="a", source="app", callable=True)
    assert facts(row, None, InstalledRow(id="a", name="A")).callable.word == "yes"


@pytest.mark.parametrize(
    ("tool", "server", "shown"),
    [
        (tool(callable=True), UP, ("works", "yes")),
        (tool(callable=True), None, ("unknown", "not known")),
        (tool(filtered=True), UP, ("off", "off")),
        (tool(visible=False), UP, ("none", "hidden")),
        (tool(reason="no schema"), UP, ("problem", "unusable")),
        (tool(reason="blocked by requirements.toml:3"), UP, ("policy", "blocked")),
        (
            tool(callable=True),
            ServerRow(id="s", name="s", status="authenticationRequired"),
            ("needs", "sign-in"),
        ),
        (
            tool(callable=True),
            ServerRow(id="s", name="s", status="failed", reason="exited 3"),
            ("failed", "failed"),
        ),
    ],
)
def test_the_first_thing_that_stops_a_tool_is_its_state(
    tool: ToolRow, server: ServerRow | None, shown: tuple[str, str]
):
    state = facts(tool, server).callable
    assert (state.sign, state.word) == shown


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("off, config.toml:12", ("off", "off", "config.toml:12")),
        ("off: in disabled_tools", ("off", "off", "in disabled_tools")),
        ("destructive tools are off, config.toml:9",
         ("off", "off", "destructive tools are off, config.toml:9")),
        ("by policy, requirements.toml:3", ("policy", "blocked", "by policy, requirements.toml:3")),
        ("unusable: inputSchema is no object", ("problem", "unusable", "inputSchema is no object")),
        ("something else", ("problem", "unusable", "something else")),
    ],
)  # fmt: skip
def test_the_reason_that_the_core_gives_decides_the_state(reason: str, shown: tuple[str, str, str]):
    row = ToolRow(id="a/t", name="t", owner="a", source="app", reason=reason)
    told = facts(row, None, InstalledRow(id="a", name="A"))
    assert tuple(told.callable) == shown
    assert told.enabled.word == ("on" if shown[0] == "problem" else shown[1])


def test_a_tool_whose_app_is_off_is_off():
    row = ToolRow(id="a/t", name="t", owner="a", source="app")
    state = facts(row, None, InstalledRow(id="a", name="A", enabled=False)).callable
    assert (state.sign, state.reason) == ("off", "its app is turned off")


def test_resources_and_prompts_are_not_tools():
    rows = [tool(), ToolRow(id="s/r", name="r", owner="s", kind="resource")]
    assert list(view_of(store_of(inventory=rows)).keys("all")) == ["s/t"]


def test_tools_stand_by_owner_then_name():
    assert list(view_of().keys("all")) == [
        "boardroom/archive_card",
        "boardroom/list_boards",
        "github/create_issue",
        "github/delete_repo",
        "github/read_media",
        "metrics/query",
    ]


def test_counts_agree_with_the_views():
    view = view_of()
    assert view.counts() == {
        name: len(list(view.keys(name))) for name in ("all", "works", "off", "stopped")
    }
    assert view.counts() == {"all": 6, "works": 2, "off": 1, "stopped": 3}


def test_what_a_tool_can_destroy_is_toned_with_care():
    parts = view_of().row("github/delete_repo").cells["effect"]
    assert parts == [("destroys", "care")]


def test_the_details_end_with_the_checks_and_the_one_that_fails_says_why():
    page = page_of(view_of(), "metrics/query")
    checks = page[page.index("May the model call it?") :].splitlines()[1:]
    assert [check[:2] for check in checks] == ["● ", "● ", "✗ ", "● ", "● "]
    assert "server connected" in checks[2] and "exited 3" in checks[2]


def test_the_details_show_parameters_from_the_schema():
    view = view_of()
    schema = {
        "required": ["repo"],
        "properties": {
            "repo": {"type": "string", "description": "owner/name"},
            "labels": {"type": "array", "items": {"type": "string"}},
        },
    }
    view.details["github/create_issue"] = {"declaration": {"inputSchema": schema}}
    page = page_of(view, "github/create_issue")
    assert "2, 1 required" in page
    assert "repo *" in page and "owner/name" in page and "string[]" in page
    assert "mcp__github__create_issue" in page


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, "string"),
        ({"type": "string", "format": "date"}, "date"),
        ({"enum": ["a"]}, "enum"),
        ({"type": ["string", "null"]}, "string or null"),
        ({"type": "array", "items": {"type": "number"}}, "number[]"),
        ({"type": "array"}, "any[]"),
        ({}, "any"),
    ],
)
def test_the_kind_of_a_parameter_in_a_word(schema: dict[str, object], kind: str):
    assert kind_of(schema) == kind


def test_hostile_schemas_do_not_break_the_page():
    view = view_of()
    for schema in ({"properties": ["x"], "required": 3}, "no", {"properties": {"a": 3}}):
        view.details["github/create_issue"] = {"declaration": {"inputSchema": schema}}
        assert "create_issue" in page_of(view, "github/create_issue")
    view.details["github/create_issue"] = {"declaration": None}
    assert "create_issue" in page_of(view, "github/create_issue")


def test_the_peek_says_what_each_request_costs():
    peek = view_of().peek("github/create_issue")
    assert text(peek.right) == "writes, 412 tokens in every request"
