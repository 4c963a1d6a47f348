"""Constructed broken states: each a real home, explained by the command line, mended, and explained
again. What the table holds is in the modules of states.
"""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from tests.integration.explain import (  # noqa: F401
    states_of_apps,
    states_of_files,
    states_of_plugins,
    states_of_servers,
    states_of_sign_ins,
    states_of_tools,
)
from tests.integration.explain.table import TABLE, State
from tests.integration.explain.world import World

EXIT = {"works": 0, "notFound": 1, "stopped": 3, "normal": 4, "unknown": 5, "ambiguous": 6}


def test_the_table_is_long_enough():
    assert len({state.name for state in TABLE}) >= 60


@pytest.mark.parametrize("state", [pytest.param(state, id=state.name) for state in TABLE])
def test_the_first_stop_is_named_and_what_mends_it_does(world: World, state: State):
    steps = state.build(world)
    words = shlex.split(next(steps))
    told = world.explain(*words)
    assert (told["outcome"], told["code"]) == (state.outcome, EXIT[state.outcome]), told
    check = told["chain"][told["stop"]]
    assert check["id"] == state.stop, told
    assert state.finding in check["finding"], check
    assert check["finding"] in told["verdict"]
    assert_path(told)
    if state.mends:
        action = offered(check, state.mends)
        assert action.get("who", "you") == state.who
        assert bool(action.get("cli")) >= state.typed
        if state.typed:
            world.carry_out(action)
    words = shlex.split(next(steps, None) or shlex.join(words))
    after = world.explain(*words)
    assert (after["outcome"], after["code"]) == (state.after, EXIT[state.after]), after


def assert_path(told: dict[str, Any]) -> None:
    """All before the stop is passed, or unknown; nothing behind it was reached."""
    before = [check["status"] for check in told["chain"][: told["stop"]]]
    behind = [check["status"] for check in told["chain"][told["stop"] + 1 :]]
    assert set(before) <= {"pass", "normal", "unknown"}, told
    if told["chain"][told["stop"]]["id"] == "features.configuration":
        return  # here the rest is read all the same
    if told["outcome"] in ("stopped", "normal"):
        assert set(behind) <= {"notReached"}, told


def offered(check: dict[str, Any], label: str) -> dict[str, Any]:
    found = [action for action in check.get("actions", ()) if label in action["label"]]
    assert found, check
    return found[0]
