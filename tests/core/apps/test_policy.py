"""The switches, as Codex 0.171.0 answers them for the same configurations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.apps.hosted_tools import app_tools
from core.apps.policy import AppPolicy
from core.config.model import Loaded
from core.config.paths import Home
from core.config.store import ConfigStore
from core.ports import Deps

Configure = Callable[..., Loaded]


@pytest.fixture
def config_of(deps: Deps) -> Configure:
    """The configuration of a user file and of what the administrator requires."""

    def load(text: str, requirements: str = "") -> Loaded:
        home = Home.of(deps)
        home.config_file.write_text(text)
        home.requirements_file.parent.mkdir(exist_ok=True)
        home.requirements_file.write_text(requirements)
        return ConfigStore(home, deps).load()

    return load


def one(app: str, name: str, hints: Any = None, title: str = "", **meta: Any) -> Any:
    raw: dict[str, Any] = {
        "name": name,
        "_meta": {"connector_id": app, "connector_name": app, **meta},
        "annotations": hints or {},
    }
    if title:
        raw["title"] = title
    return app_tools([raw])[0]


MILD: dict[str, Any] = {"destructiveHint": False, "openWorldHint": False}


@pytest.mark.parametrize(
    ("tool", "on"),
    [
        (one("a", "x"), False),
        (one("a", "x", {"readOnlyHint": True}), False),
        (one("a", "x", {"destructiveHint": False}), True),
        (one("b", "x", None, "Nice Title"), True),
        (one("b", "x", MILD), False),
        (one("c", "x"), True),
        (one("d", "x", {"readOnlyHint": True}), False),
        (one("d", "x", MILD), True),
        (one("e", "named"), True),
        (one("e", "other"), False),
    ],
)
def test_a_tool_is_decided_by_name_title_app_and_hints_in_this_order(
    config_of: Configure, tool: Any, on: bool
) -> None:
    policy = AppPolicy(
        config_of(
            """
            [apps._default]
            destructive_enabled = false
            [apps.b]
            default_tools_enabled = false
            tools."Nice Title".enabled = true
            [apps.c]
            default_tools_enabled = true
            [apps.d]
            destructive_enabled = true
            open_world_enabled = false
            [apps.e]
            tools.named.enabled = true
            """
        )
    )
    assert policy.tool(tool).on is on


def test_a_decision_names_its_place_and_reason(config_of: Configure) -> None:
    policy = AppPolicy(
        config_of("[apps._default]\nopen_world_enabled = false\n[apps.a]\nenabled = false")
    )
    assert policy.app("a").at.key == "apps.a.enabled"
    assert policy.app("a").reason == "off"
    decision = policy.tool(one("b", "x", {"destructiveHint": False}))
    assert decision.reason == "open-world tools are off"
    assert decision.at.key == "apps._default.open_world_enabled"


@pytest.mark.parametrize(
    ("ui", "visible"),
    [
        ({}, True),
        ({"visibility": None}, True),
        ({"visibility": "model"}, True),
        ({"visibility": ["model", "app"]}, True),
        ({"visibility": ["app"]}, False),
        ({"visibility": []}, False),
        ("nonsense", True),
    ],
)
def test_only_a_list_without_the_model_hides_a_tool_from_it(
    config_of: Configure, ui: Any, visible: bool
) -> None:
    tool = one("a", "x", ui=ui)
    assert AppPolicy(config_of("")).tool(tool).on is visible


def test_the_default_switch_counts_where_an_app_has_none_of_its_own(config_of: Configure) -> None:
    policy = AppPolicy(
        config_of("[apps._default]\nenabled = false\n[apps.a]\nenabled = true\n[apps.b]\n")
    )
    assert (policy.app("a").on, policy.app("b").on, policy.app("c").on) == (True, False, False)


def test_the_administrator_can_only_force_an_app_off(config_of: Configure) -> None:
    config = config_of("[apps.a]\nenabled = true", "[apps.a]\nenabled = false")
    decision = AppPolicy(config).app("a")
    assert (decision.on, decision.at.layer, decision.reason) == (False, "requirements", "by policy")
    config = config_of("[apps.a]\nenabled = false", "[apps.a]\nenabled = true")
    assert AppPolicy(config).app("a").on is False


@pytest.mark.parametrize(
    ("text", "requirements", "on"),
    [
        ("", "", True),
        ("features.apps = false", "", False),
        ("features.connectors = false", "", False),
        ("features = {apps = true, connectors = false}", "", True),
        ("features.apps = true", "features.apps = false", False),
    ],
)
def test_the_feature_has_two_spellings_and_the_administrators_word_is_last(
    config_of: Configure, text: str, requirements: str, on: bool
) -> None:
    assert AppPolicy(config_of(text, requirements)).feature().on is on


def test_tables_of_the_wrong_shape_count_as_absent(config_of: Configure) -> None:
    policy = AppPolicy(config_of('apps.a = 1\napps.b.enabled = "no"\napps.b.tools = []'))
    assert policy.app("a").on
    assert policy.app("b").on
    assert policy.tool(one("b", "x")).on
