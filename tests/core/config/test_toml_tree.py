from __future__ import annotations

import tomli
from hypothesis import given
from hypothesis import strategies as st

from core.config.spans import place, value_range
from core.config.toml.fault import TomlFault
from core.config.toml.read import read_toml
from core.config.toml.tree import Node, build

TEXT = """\
# top
model = "x"

[mcp_servers.a]
  command = "c"
args = ["one",
  "two"]
env = { A = "1", B.C = "2" }

[mcp_servers.a.tools.t]
approval_mode = "auto"

[[skills.config]]
name = "s"
[[skills.config]]
name = "t"

[plugins]
"p@m".enabled = true
"""


def at(*path: str | int) -> tuple[int, int] | None:
    found = place(read_toml(TEXT), path)
    return (found.line, found.column) if found else None


def test_a_setting_is_at_its_key():
    assert at("mcp_servers", "a", "command") == (5, 3)


def test_a_table_is_at_its_header():
    assert at("mcp_servers", "a") == (4, 1)
    assert at("mcp_servers", "a", "tools", "t") == (10, 1)


def test_a_table_that_is_only_on_the_way_is_at_its_name():
    assert at("mcp_servers") == (4, 2)
    assert at("mcp_servers", "a", "tools") == (10, 16)


def test_items_of_arrays_and_tables_of_an_array_are_found():
    assert at("mcp_servers", "a", "args", 1) == (7, 3)
    assert at("skills", "config", 1, "name") == (16, 1)


def test_members_of_inline_tables_and_dotted_keys_are_found():
    assert at("mcp_servers", "a", "env", "A") == (8, 9)
    assert at("mcp_servers", "a", "env", "B", "C") == (8, 20)
    assert at("plugins", "p@m", "enabled") == (19, 7)


def test_what_is_not_there_has_no_place():
    assert at("nothing") is None
    assert at("mcp_servers", "a", "args", 2) is None
    assert at("model", "x") is None


def test_a_value_is_told_from_its_first_to_its_last_character():
    found = value_range(read_toml(TEXT), ("model",))
    assert (found.start.line, found.start.column, found.end.column) == (2, 9, 11)


def test_an_unknown_place_is_the_first_character():
    found = value_range(read_toml(TEXT), ("nothing",))
    assert (found.start.line, found.start.column) == (1, 1)


def keys_of(node: Node) -> object:
    if node.kind == "table":
        return {key: keys_of(child) for key, child in node.children.items()}
    if node.kind in ("array", "tables"):
        return [keys_of(item) for item in node.items]
    return None


def shape(value: object) -> object:
    if isinstance(value, dict):
        return {key: shape(member) for key, member in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return None


pieces = st.sampled_from(
    [
        "a = 1",
        "b.c = 'x'",
        "[t]",
        "[t.u]",
        "[[v]]",
        "[[v.w]]",
        "d = [1, { e = 2 }]",
        "f = { g.h = 1, i = [] }",
        '"q k" = """\nx"""',
        "# c",
        "",
        "t.z = 07:32:00",
        "a.x = 1",
        "k = {\n  l = 1,\n}",
        "m = [",
        "]",
    ]
)


@given(st.lists(pieces, max_size=8))
def test_the_tree_agrees_with_an_independent_parser(lines: list[str]):
    text = "\n".join(lines)
    try:
        expected = tomli.loads(text)
    except tomli.TOMLDecodeError:
        expected = None
    try:
        tree = build(text)
    except TomlFault:
        assert expected is None
    else:
        assert expected is not None
        assert keys_of(tree.root) == shape(expected)
