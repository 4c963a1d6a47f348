"""`jackfield plugin` answers as `codex plugin` does (texts of Codex 0.171.0)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.core.cli.conftest import Said
from tests.core.cli.world import marketplace

Say = Callable[..., Said]


@pytest.fixture
def market(home: Path) -> Path:
    return marketplace(
        home / "mk",
        "mk",
        "p",
        {"name": "q", "source": "./plugins/q", "policy": {"installation": "NOT_AVAILABLE"}},
    )


def test_without_marketplaces_there_is_nothing(say: Say):
    assert say("plugin", "list") == (0, "No marketplace plugins found.\n", "")
    assert say("plugin", "list", "-m", "x") == (
        0,
        "No plugins found in marketplace `x`.\n",
        "",
    )
    assert say("plugin", "marketplace", "list")[1] == "No plugin marketplaces in scope.\n"
    assert say("plugin", "marketplace", "upgrade")[1] == (
        "No configured Git marketplaces to upgrade.\n"
    )
    assert say("plugin", "marketplace", "list", "--json")[1] == '{\n  "marketplaces": []\n}\n'


def test_a_marketplace_is_added_once_and_its_plugins_are_listed(say: Say, market: Path):
    root = f"Installed marketplace root: {market}\n"
    added = f"Added marketplace `mk` from {market}.\n{root}"
    assert say("plugin", "marketplace", "add", "../mk") == (0, added, "")
    again = f"Marketplace `mk` is already added from {market}.\n{root}"
    assert say("plugin", "marketplace", "add", str(market)) == (0, again, "")
    assert say("plugin", "marketplace", "list")[1] == f"MARKETPLACE  ROOT\nmk           {market}\n"
    assert say("plugin", "list")[1] == (
        f"Marketplace `mk`\n{market}/.agents/plugins/marketplace.json\n\n"
        "PLUGIN  STATUS         VERSION  SOURCE\n"
        f"p@mk    not installed           {market}/plugins/p\n"
        f"q@mk    not installed           {market}/plugins/q\n"
    )
    assert json.loads(say("plugin", "list", "--json")[1]) == {"installed": [], "available": []}
    found = json.loads(say("plugin", "list", "--json", "--available")[1])
    assert found["available"][0] == {
        "pluginId": "p@mk",
        "name": "p",
        "marketplaceName": "mk",
        "version": "1.0.0",
        "installed": False,
        "enabled": False,
        "source": {"source": "local", "path": f"{market}/plugins/p"},
        "marketplaceSource": {"sourceType": "local", "source": str(market)},
        "installPolicy": "AVAILABLE",
        "authPolicy": "ON_INSTALL",
    }


def test_a_plugin_is_added_and_removed(say: Say, market: Path, config: Path):
    say("plugin", "marketplace", "add", str(market))
    root = config.parent / "plugins" / "cache" / "mk" / "p" / "1.0.0"
    assert say("plugin", "add", "p@mk") == (
        0,
        f"Added plugin `p` from marketplace `mk`.\nInstalled plugin root: {root}\n",
        "",
    )
    assert '[plugins."p@mk"]\nenabled = true\n' in config.read_text()
    assert json.loads(say("plugin", "add", "p", "-m", "mk", "--json")[1]) == {
        "pluginId": "p@mk",
        "name": "p",
        "marketplaceName": "mk",
        "version": "1.0.0",
        "installedPath": str(root),
        "authPolicy": "ON_INSTALL",
    }
    assert "p@mk    installed, enabled  1.0.0    " in say("plugin", "list")[1]
    removed = (0, "Removed plugin `p` from marketplace `mk`.\n", "")
    assert say("plugin", "remove", "p@mk") == removed
    assert say("plugin", "remove", "p@mk") == removed
    assert not root.exists()
    assert "p@mk" not in config.read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["add", "p"], "plugin requires --marketplace unless passed as <plugin>@<marketplace>"),
        (["add", "p@zz"], "plugin `p` was not found in marketplace `zz`"),
        (["add", "zz@mk"], "plugin `zz` was not found in marketplace `mk`"),
        (
            ["add", "p@mk", "-m", "other"],
            "plugin id `p@mk` belongs to marketplace `mk`, but --marketplace specified `other`",
        ),
        (["add", "p", "-m", ""], "invalid marketplace name: must not be empty"),
        (["marketplace", "remove", "zz"], "marketplace `zz` is not configured or installed"),
        (
            ["marketplace", "upgrade", "mk"],
            "marketplace `mk` is not configured as a Git marketplace",
        ),
        (["marketplace", "add", " "], "marketplace source must not be empty"),
    ],
)
def test_failures_are_one_line(say: Say, market: Path, words: list[str], told: str):
    say("plugin", "marketplace", "add", str(market))
    assert say("plugin", *words) == (1, "", f"Error: {told}\n")


def test_an_install_that_is_refused_names_its_cause(say: Say, market: Path):
    say("plugin", "marketplace", "add", str(market))
    why = "plugin `q` is not available for install in marketplace `mk`"
    assert say("plugin", "add", "q@mk") == (
        1,
        "",
        f"Error: {why}\n\nCaused by:\n    {why}\n",
    )


def test_marketplaces_that_cannot_be_used_fail_the_list_but_not_the_others(
    say: Say, market: Path, home: Path, config: Path
):
    say("plugin", "marketplace", "add", str(market))
    broken = home / "broken" / ".agents" / "plugins" / "marketplace.json"
    broken.parent.mkdir(parents=True)
    broken.write_text("{")
    with config.open("a") as file:
        for name, root in (("brk", home / "broken"), ("gone", home / "gone")):
            file.write(f'[marketplaces.{name}]\nsource_type = "local"\nsource = "{root}"\n')
    lines = (
        f"- `gone` at {home}/gone: marketplace root does not contain a supported manifest\n"
        f"- `brk` at {broken}: invalid marketplace file `{broken}`: "
        "EOF while parsing an object at line 1 column 1\n"
    )
    assert say("plugin", "list") == (
        1,
        "",
        f"Error: failed to load configured marketplace snapshot(s):\n{lines}",
    )
    assert say("plugin", "marketplace", "list")[2] == (
        f"Error: failed to load marketplace(s):\n{lines}"
    )
    assert say("plugin", "list", "-m", "mk")[0] == 0
    assert say("plugin", "list", "--disable", "plugins")[1] == "No marketplace plugins found.\n"


def test_a_marketplace_is_removed_and_its_plugins_stay(say: Say, market: Path, config: Path):
    say("plugin", "marketplace", "add", str(market))
    say("plugin", "add", "p@mk")
    assert say("plugin", "marketplace", "remove", "mk", "--json") == (
        0,
        '{\n  "marketplaceName": "mk",\n  "installedRoot": null\n}\n',
        "",
    )
    assert "marketplaces" not in config.read_text()
    assert 'plugins."p@mk"' in config.read_text()
