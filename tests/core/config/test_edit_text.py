from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.config.edit_plan import Edit, apply_edits, equivalent
from core.config.edit_text import TextEditor
from core.config.keypath import format_key_path
from core.config.toml.fault import TomlFault
from core.config.toml.read import read_toml
from core.errors import ConfigWriteError


def edited(text: str, *edits: tuple[str, Any] | tuple[str, Any, str]) -> str:
    """The text after edits; the value read back is always the one that was asked for."""
    read = read_toml(text)
    plan = apply_edits(
        read.value, [Edit(e[0], e[1], e[2] if len(e) > 2 else "replace") for e in edits]
    )  # type: ignore[arg-type]
    editor = TextEditor(read)
    for path, value in plan.changes:
        if value is None:
            editor.clear(path)
        else:
            editor.set(path, value)
    assert equivalent(read_toml(editor.text).value, plan.tree)
    return editor.text


PLUGIN = 'plugins."b@m".enabled'


@pytest.mark.parametrize(
    ("text", "edits", "expected"),
    [
        # switching keeps what is around the value
        ('[plugins."b@m"]\n  enabled   =   true # why\n', [(PLUGIN, False)],
         '[plugins."b@m"]\n  enabled   =   false # why\n'),
        ('plugins."b@m".enabled=true\n', [(PLUGIN, False)], 'plugins."b@m".enabled=false\n'),
        ('plugins = { "b@m" = { enabled = true } } # x\n', [(PLUGIN, False)],
         'plugins = { "b@m" = { enabled = false } } # x\n'),
        # new tables stand with their family, after comments that belong to it
        ('# top\n\n# about a\n[plugins."a@m"]\nenabled = true # yes\n\n# tail\n', [(PLUGIN, False)],
         '# top\n\n# about a\n[plugins."a@m"]\nenabled = true # yes\n\n[plugins."b@m"]\n'
         "enabled = false\n\n# tail\n"),
        ('[plugins."a@m"]\nenabled = true\n# off for now: x = 1\n\n[zed]\nx=1\n', [(PLUGIN, True)],
         '[plugins."a@m"]\nenabled = true\n# off for now: x = 1\n\n[plugins."b@m"]\n'
         "enabled = true\n\n[zed]\nx=1\n"),
        ("[zed]\nx=1", [(PLUGIN, True)], '[zed]\nx=1\n\n[plugins."b@m"]\nenabled = true\n'),
        ("", [(PLUGIN, True)], '[plugins."b@m"]\nenabled = true\n'),
        ('plugins = {"a@m"={enabled=true}}\n', [(PLUGIN, True)],
         'plugins = {"a@m"={enabled=true}, "b@m" = { enabled = true }}\n'),
        ("[a.b]\nx = 1\n", [("a.y", 1)], "[a]\ny = 1\n\n[a.b]\nx = 1\n"),
        # new keys stand at the end of their table
        ("[a]\nx = 1 # c\n# trailing\n\n# about b\n[b]\n", [("a.k", 1)],
         "[a]\nx = 1 # c\nk = 1\n# trailing\n\n# about b\n[b]\n"),
        ("[a]\n\n[b]\n", [("a.k", 1)], "[a]\nk = 1\n\n[b]\n"),
        ("  [a]\n  x = 1\n", [("a.k", 1)], "  [a]\n  x = 1\n  k = 1\n"),
        ("# k\nz = 1\n\n[t]\n", [("model", "y")], '# k\nz = 1\nmodel = "y"\n\n[t]\n'),
        ("# about t\n[t]\n", [("model", "y")], '# about t\nmodel = "y"\n\n[t]\n'),
        ("# c\n\n# about t\n[t]\n", [("model", "y")], '# c\n\nmodel = "y"\n\n# about t\n[t]\n'),
        ("# only\n", [("model", "y")], '# only\nmodel = "y"\n'),
        ('m.x.command = "c"\nq = 1\n', [("m.x.cwd", "/")],
         'm.x.command = "c"\nm.x.cwd = "/"\nq = 1\n'),
        ("x = { }\n", [("x.a", 1)], "x = { a = 1 }\n"),
        ("x = {\n  a = 1, # c\n}\n", [("x.b", 2)], "x = {\n  a = 1, b = 2 # c\n}\n"),
        ("x = { a.b = 1 }\n", [("x.a.c", 2)], "x = { a.b = 1, a.c = 2 }\n"),
        # what goes takes only its own along
        ("# k\nmodel = 'x' # c\n# l\nz = 1\n", [("model", None)], "# k\n# l\nz = 1\n"),
        ('a = 1\n\n# about p\n[plugins."b@m"] # h\n# in\nenabled = true\n# after\n\n# B\n[b]\n',
         [('plugins."b@m"', None)], "a = 1\n# after\n\n# B\n[b]\n"),
        ("# the file\n[t]\nx = 1\n\n[u]\n", [("t", None)], "# the file\n\n[u]\n"),
        ("x=1\n[p.a]\ny=1\n[p.a.b]\nz=1\n\n[q]\n[p.a.c]\nw=1\n# end\n", [("p.a", None)],
         "x=1\n\n[q]\n# end\n"),
        ("x = {a = 1,b = 2, c = 3}\n", [("x.b", None)], "x = {a = 1,c = 3}\n"),
        ("x = {a = 1,b = 2, c = 3}\n", [("x.c", None)], "x = {a = 1,b = 2}\n"),
        ("x = {a = 1}\n", [("x.a", None)], "x = {}\n"),
        ("x = {a.b = 1, a.c = 2, d = 3}\n", [("x.a", None)], "x = {d = 3}\n"),
        ("[p]\nx.a = 1\nx.b = 2\ny.a = 3\n", [("p.x", None)], "[p]\ny.a = 3\n"),
        # lists keep the items that stay, with their comments
        ("a = [\n 1, # one\n 2,\n]\n", [("a", [1, 2, 3])], "a = [\n 1, # one\n 2,\n 3,\n]\n"),
        ("a = [\n 1, # one\n 2, # two\n 3 # three\n]\n", [("a", [1, 3])],
         "a = [\n 1, # one\n 3 # three\n]\n"),
        ("a = [\n 1, # one\n 2, # two\n]\n", [("a", [1])], "a = [\n 1, # one\n]\n"),
        ("a = ['x', 'y', 'z']\n", [("a", ["x", "z"])], "a = ['x', 'z']\n"),
        ("a = ['x', 'y', 'z']\n", [("a", ["x"])], "a = ['x']\n"),
        ("a = ['x', 'y']\n", [("a", ["x", "w"])], "a = ['x', \"w\"]\n"),
        ("a = []\n", [("a", ["x"])], 'a = ["x"]\n'),
        ("a = [1, 2]\n", [("a", [2, 1])], "a = [2, 1]\n"),
        # arrays of tables
        ('[[s]]\nn = "a"\n\n[[s]]\nn = "b"\n# c\n', [("s", [{"n": "a"}])], '[[s]]\nn = "a"\n# c\n'),
        ('[[s]]\nn = "a"\n', [("s", [{"n": "a"}, {"n": "b", "e": False}])],
         '[[s]]\nn = "a"\n\n[[s]]\nn = "b"\ne = false\n'),
        ('[[s]]\nn = "a"\n[s.sub]\nx = 1\n[[s]]\nn = "b"\n[s.sub]\nx = 2\n',
         [("s", [{"n": "a", "sub": {"x": 1}}])], '[[s]]\nn = "a"\n[s.sub]\nx = 1\n'),
        # line ends and a BOM stay
        ("[a]\r\nx=1\r\n[b]\r\ny=1\r\n", [("a.k", 1), ("c.z", "p\nq"), ("b.y", 2)],
         '[a]\r\nx=1\r\nk = 1\r\n[b]\r\ny=2\r\n\r\n[c]\r\nz = "p\\nq"\r\n'),
        ("\ufeffa=1\n", [("b", 1)], "\ufeffa=1\nb = 1\n"),
        ("\ufeff[t]\n", [("b", 1)], "\ufeffb = 1\n\n[t]\n"),
        # tables replace values and the other way round
        ("[a]\nx=1\ny=2\n", [("a.y", {"z": 1})], "[a]\nx=1\n\n[a.y]\nz = 1\n"),
        ("[a]\nx=1\n[a.b]\ny=1\n", [("a.b", 5)], "[a]\nx=1\nb = 5\n"),
        ("", [("a", {"b": {"c": {}}})], "[a.b.c]\n"),
        ("[s]\na=1\n", [("s", {})], "[s]\n"),
        ("s.a=1\n", [("s", {})], "[s]\n"),
        # TOML 1.1
        ('a = "\\e\\x41"\nx = {\n b = 1,\n}\n', [("x.b", 2)], 'a = "\\e\\x41"\nx = {\n b = 2,\n}\n'),
    ],
)  # fmt: skip
def test_an_edit_changes_nothing_else(text: str, edits: list[Any], expected: str):
    assert edited(text, *edits) == expected


def test_a_replaced_table_keeps_the_text_of_what_stays():
    text = '[m.x]\ncommand="c" # cmd\nargs=["a"]\n\n[m.x.env]\nA="1"\n\n[other]\n'
    assert edited(text, ("m.x", {"command": "d", "on": True})) == (
        '[m.x]\ncommand="d" # cmd\non = true\n\n[other]\n'
    )


def test_an_upsert_merges_into_a_table():
    text = '[m.x]\ncommand="c"\n\n[m.x.env]\nA="1" # a\n'
    assert edited(text, ("m.x", {"env": {"B": "2"}}, "upsert")) == (
        '[m.x]\ncommand="c"\n\n[m.x.env]\nA="1" # a\nB = "2"\n'
    )


@pytest.mark.parametrize(
    ("value", "spelt"),
    [
        ('a"b', "'a\"b'"),
        ("a'b", '"a\'b"'),
        ("a\\b", "'a\\b'"),
        ("a\"'b", '"a\\"\'b"'),
        ("a\nb", '"""\na\nb"""'),
        ("\x01\x7f\x1b", '"\\u0001\\u007F\\u001B"'),
        ("é\u2028\U0001f389", '"é\u2028\U0001f389"'),
        (1.0, "1.0"),
        (1e20, "1e+20"),
        (True, "true"),
        ([], "[]"),
        ([{"a": 1}, {"b c": [2]}], '[{ a = 1 }, { "b c" = [2] }]'),
    ],
)
def test_values_are_spelt_as_codex_spells_them_where_that_loses_nothing(value: Any, spelt: str):
    assert edited("", ("k", value)) == f"k = {spelt}\n"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([None], "invalid value: invalid type: null, expected any valid TOML value"),
        ({"a": {"b": None}}, "invalid value: invalid type: null, expected any valid TOML value"),
        (2**63, "invalid value: u64 value was too large"),
        ("\ud800", "invalid value: lone surrogate in a text"),
    ],
)
def test_what_toml_cannot_hold_is_refused(value: Any, message: str):
    with pytest.raises(ConfigWriteError, match=re.escape(message)):
        apply_edits({}, [Edit("a", value)])


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("model.x", "cannot set value on non-table parent"),
        ("profile", "`profile` is a legacy config selector"),
        ("profiles.x.model", "`profiles` contains legacy config profile tables"),
    ],
)
def test_paths_that_codex_refuses_are_refused(path: str, message: str):
    with pytest.raises(ConfigWriteError, match=re.escape(message)):
        apply_edits({"model": "m"}, [Edit(path, "x")])


def test_undo_deletes_what_was_new_and_restores_what_was_not():
    tree = {"plugins": {"a@m": {"enabled": True}}}
    plan = apply_edits(
        tree, [Edit('plugins."a@m".enabled', False), Edit('plugins."b@m".enabled', True)]
    )
    assert apply_edits(plan.tree, plan.undo).tree == tree
    assert plan.undo == (
        Edit('plugins."b@m"', None),
        Edit('plugins."a@m".enabled', True),
    )


# --- whatever the document, whatever the edit ---

names = st.sampled_from(["a", "b", "c d", "é", "x.y"])
scalars = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=6),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=6,
)
lines = st.sampled_from(
    [
        "a = 1 # one",
        "b = 'two'",
        '"c d" = [1, 2] # list',
        "é = { a = 1, b.c = 2 } # inline",
        "a.b = 1",
        'b."c d".a = true',
        "[a]",
        "[a.b] # header",
        '["c d"]',
        "[[é]]",
        "[[é.a]]",
        "# comment",
        "",
        "  ",
        "  b = 3",
        "a = [\n  1, # in\n  2,\n]",
        'b = """\nmulti\n# no comment\n"""',
        "a = {\n  b = 1, # in\n}",
    ]
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = "\n".join(draw(st.lists(lines, max_size=10)))
    if draw(st.booleans()):
        text += "\n"
    text = text.replace("\n", newline)
    return ("\ufeff" if draw(st.booleans()) else "") + text


edits = st.tuples(st.lists(names, min_size=1, max_size=3), st.one_of(st.none(), values))


def untouched_lines(text: str, path: list[str]) -> list[str]:
    """Lines that say nothing at or around a path: comments and entries of other tables."""
    return [
        line
        for line in re.split(r"\r?\n", text.removeprefix("\ufeff"))
        if re.fullmatch(r"# comment|\[\[é\.a\]\]", line) and path[0] != "é"
    ]


@given(documents(), edits)
def test_any_edit_reads_back_and_leaves_the_rest(text: str, edit: tuple[list[str], Any]):
    path, value = edit
    try:
        before = read_toml(text)
    except TomlFault:
        assume(False)
        return
    original = copy.deepcopy(before.value)
    try:
        after = edited(text, (format_key_path(path), value))
    except ConfigWriteError:
        return
    assert before.value == original
    if value is None and after == text:
        return
    assert after.startswith("\ufeff") == text.startswith("\ufeff")
    if "\r\n" in text:
        assert "\n" not in after.replace("\r\n", "")
    kept = untouched_lines(after, path)
    for line in untouched_lines(text, path):
        # A comment right above a table that goes may go with it.
        assert line in kept or value is None or not isinstance(value, dict)
    unrelated = {key: member for key, member in original.items() if key != path[0]}
    result = read_toml(after).value
    assert all(
        equivalent({key: result.get(key, {})}, {key: member}) for key, member in unrelated.items()
    )


@given(documents(), edits)
def test_an_edit_and_its_undo_leave_the_same_value(text: str, edit: tuple[list[str], Any]):
    path, value = edit
    try:
        before = read_toml(text)
        plan = apply_edits(before.value, [Edit(format_key_path(path), value)])
        after = edited(text, (format_key_path(path), value))
    except (TomlFault, ConfigWriteError):
        assume(False)
        return
    undone = apply_edits(read_toml(after).value, plan.undo).tree
    assert equivalent(undone, before.value)


@given(st.text(alphabet="abc=[]{}.'\"#\n \t1,", max_size=30), edits)
def test_odd_texts_are_edited_rightly_or_not_at_all(text: str, edit: tuple[list[str], Any]):
    path, value = edit
    try:
        read_toml(text)
    except TomlFault:
        assume(False)
        return
    try:
        edited(text, (format_key_path(path), value))
    except ConfigWriteError:
        pass
