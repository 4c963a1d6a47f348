import re

import pytest

from tui.commands import COMMANDS, Offer
from tui.keys import read_keys, show_key
from tui.registry import Registry
from tui.signs import Glyphs
from tui.widgets.row_list import RowList

TABS = ("marketplaces", "apps", "tools", "servers", "activity")

# The fixed table of the design: what people have learned must not move.
FIXED = {
    "1": "tab.marketplaces",
    "5": "tab.activity",
    "slash": "list.filter",
    "f": "list.next-view",
    "F": "list.previous-view",
    "enter": "row.details",
    "e": "row.explain",
    "m": "row.mend",
    "r": "row.refresh",
    "R": "list.refresh",
    "z": "app.undo",
    "ctrl+p": "app.palette",
    "question_mark": "app.help",
    "escape": "app.back",
    "q": "app.quit",
    "space": "row.switch",
    "x": "row.remove",
    "a": "list.add",
    "E": "row.edit",
    "o": "row.open",
    "c": "row.copy",
    "C": "row.copy-json",
    "ctrl+x": "row.cancel",
    "A": "app.account",
    "W": "app.workspace",
    "exclamation_mark": "app.errors",
    "i": "plugins.install",
    "u": "plugins.update",
    "U": "plugins.update-all",
    "p": "plugins.pin",
    "s": "servers.sign-in",
    "S": "servers.sign-out",
    "t": "tools.try",
    "v": "servers.traffic",
    "w": "list.write",
    "n": "threads.new",
    "ctrl+o": "app.jump",
    "j": "list.down",
    "k": "list.up",
    "g": "list.first",
    "G": "list.last",
    "h": "list.fold",
    "l": "list.unfold",
}


@pytest.mark.parametrize(("key", "id"), FIXED.items())
def test_every_key_means_what_it_always_meant(key: str, id: str) -> None:
    owners = [c.id for c in COMMANDS if key in c.keys.split(",") and not c.id.startswith("form.")]
    assert owners == [id]


def test_ids_are_unique_and_labels_are_three_words_at_most() -> None:
    assert len({command.id for command in COMMANDS}) == len(COMMANDS)
    for command in COMMANDS:
        assert re.fullmatch(r"[a-z]+\.[a-z-]+", command.id)
        assert 0 < len(command.label.split()) <= 3, command.id
        assert command.tooltip
        assert not command.label.endswith(".")


def test_no_two_commands_of_one_place_share_a_key() -> None:
    for tab in TABS:
        seen: dict[str, str] = {}
        for command in COMMANDS:
            if command.id.startswith("form.") or (command.tabs and tab not in command.tabs):
                continue
            for key in filter(None, command.keys.split(",")):
                assert key not in seen, f"{tab}: {key} is {seen.get(key)} and {command.id}"
                seen[key] = command.id


def test_every_key_is_one_that_terminals_can_send() -> None:
    for command in COMMANDS:
        if command.keys:
            assert read_keys(command.keys) == command.keys


def test_escape_never_quits() -> None:
    registry = Registry()
    assert [b.action for b in registry.bindings() if "escape" in b.key] == ["command('app.back')"]
    assert [b.action for b in registry.bindings() if b.key == "q"] == ["command('app.quit')"]


def test_bindings_carry_the_ids_that_a_keymap_names() -> None:
    registry = Registry()
    bound = {binding.id: binding for binding in registry.bindings() + registry.list_bindings()}
    assert bound["row.mend"].key == "m"
    assert bound["row.mend"].tooltip
    assert bound["list.down"].action == "list_move(1)"
    assert {"row.details", "list.up"} <= {binding.id for binding in registry.list_bindings()}
    assert not any(id and id.startswith("form.") for id in bound)


def test_a_list_has_an_action_for_each_of_its_bindings() -> None:
    for binding in Registry().list_bindings():
        name = binding.action.partition("(")[0]
        assert hasattr(RowList, f"action_{name}"), binding.action


def test_the_key_line_shows_what_applies_and_mending_first() -> None:
    hints = Registry().key_line(
        [
            Offer("row.switch", "disable"),
            Offer("row.remove", why="comes with a plugin"),
            Offer("no.such", "never"),
            Offer("activity.pause", "pause"),
            Offer("row.mend", "sign in again"),
            Offer("row.explain"),
        ]
    )
    assert [hint[:2] for hint in hints] == [
        ("m", "sign in again"),
        ("space", "disable"),
        ("e", "explain"),
    ]


def test_the_key_line_greys_what_would_apply_were_it_allowed() -> None:
    registry = Registry()
    why = "started read-only"
    greyed = registry.key_line([Offer("row.switch", "disable (read-only)", why, greyed=True)])
    assert greyed == [("space", "disable (read-only)", True)]
    assert registry.key_line([Offer("row.switch", "disable", why)]) == []


def test_a_keymap_moves_a_key_everywhere_at_once() -> None:
    registry = Registry(keymap={"row.mend": "M", "row.explain": "m"})
    assert registry.problems == ()
    hints = registry.key_line([Offer("row.mend"), Offer("row.explain")])
    assert [hint[:2] for hint in hints] == [("M", "mend"), ("m", "explain")]
    rows = {row.text: row.keys for group in registry.help("servers") for row in group.rows}
    assert rows["mend what the row says"] == ("M",)
    assert {b.id: b.key for b in registry.bindings()}["row.mend"] == "M"
    assert registry.keymap == {"row.mend": "M", "row.explain": "m"}


@pytest.mark.parametrize(
    ("id", "keys", "problem"),
    [
        ("row.nothing", "a", "row.nothing is no command"),
        ("row.mend", "alt+m", "row.mend: 'alt+m' is no key"),
        ("row.mend", "", "row.mend: '' is no key"),
        ("row.mend", "q", "row.mend: q is the key of app.quit"),
        ("plugins.pin", "^p", "plugins.pin: ^p is the key of app.palette"),
    ],
)
def test_a_bad_keymap_is_said_and_left_out(id: str, keys: str, problem: str) -> None:
    registry = Registry(keymap={id: keys})
    assert registry.problems == (problem,)
    assert registry.keymap == {}
    assert registry.key("row.mend") == "m"


def test_commands_of_different_tabs_may_share_a_key() -> None:
    registry = Registry(keymap={"threads.new": "i"})
    assert registry.problems == ()
    assert registry.key("threads.new") == "i"


def test_the_help_has_the_open_tab_and_no_other() -> None:
    groups = {group.title: group.rows for group in Registry().help("servers", "MCP servers")}
    here = [row.text for row in groups["Here: MCP servers"]]
    assert here[:3] == ["sign in; sign out", "try a tool", "traffic and stderr"]
    assert not {"update; update all", "pin the version"} & {*here}
    assert ("1 – 5",) == groups["Everywhere"][0].keys
    moves = {row.text: row.keys for row in groups["Lists"]}
    assert moves["move"] == ("↑↓", "j k")
    assert moves["fold, unfold"] == ("←→", "h l")
    ascii_moves = Registry().help("servers", glyphs=Glyphs(ascii=True))[1].rows[0]
    assert ascii_moves.keys == ("up down", "j k")


def test_everything_bound_is_in_the_help_of_some_tab() -> None:
    registry = Registry()
    shown = {row.text for tab in TABS for group in registry.help(tab) for row in group.rows}
    assert {c.row or c.label for c in COMMANDS if c.keys} == shown


def test_the_palette_leaves_out_moving_and_other_tabs() -> None:
    ids = {command.id for command in Registry().in_palette("apps")}
    assert {"row.mend", "servers.sign-in", "theme.paper", "app.quit"} <= ids
    assert not {"list.down", "plugins.install", "form.submit", "app.palette"} & ids


@pytest.mark.parametrize(
    ("spelt", "names"),
    [
        ("^x", "ctrl+x"),
        ("ctrl+x", "ctrl+x"),
        ("?", "question_mark"),
        ("!", "exclamation_mark"),
        ("/", "slash"),
        ("esc", "escape"),
        ("j, ↓", "j,down"),
        ("F5", None),
        ("f5", "f5"),
        ("^", None),
        ("shift+x", None),
        ("é", None),
        ("   ", None),
    ],
)
def test_keys_are_read_as_people_write_them(spelt: str, names: str | None) -> None:
    assert read_keys(spelt) == names


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("ctrl+p", "^p"),
        ("question_mark", "?"),
        ("escape", "esc"),
        ("up,down", "↑↓"),
        ("g,home", "g home"),
        ("f5", "f5"),
    ],
)
def test_keys_are_shown_as_people_read_them(name: str, shown: str) -> None:
    assert show_key(name) == shown
