"""Names of plugins and marketplaces, and which version directory counts."""

from __future__ import annotations

import pytest

from core.plugins.names import (
    greatest_version,
    is_version,
    marketplace_name_fault,
    plugin_name_fault,
    split_id,
)


@pytest.mark.parametrize("name", ["a", "A_b-c.d", "1", "-", "_"])
def test_names_that_plugins_may_have(name: str):
    assert plugin_name_fault(name) == ""


@pytest.mark.parametrize("name", ["", ".a", "a.", "a..b", "a b", "ä", "a/b", "a@b", "a\n"])
def test_names_that_plugins_may_not_have(name: str):
    assert plugin_name_fault(name).startswith("invalid plugin name: only ASCII letters")


@pytest.mark.parametrize("name", ["a.b", "a b", "ä", "a\n"])
def test_names_that_marketplaces_may_not_have(name: str):
    assert marketplace_name_fault(name).startswith("invalid marketplace name: only ASCII")


@pytest.mark.parametrize(
    ("plugin_id", "names"),
    [
        ("a@m", ("a", "m")),
        ("a", None),
        ("@m", None),
        ("a@", None),
        ("a@m@n", None),
        ("a.@m", None),
        ("a@m.n", None),
    ],
)
def test_an_id_is_a_plugin_at_a_marketplace(plugin_id: str, names: tuple[str, str] | None):
    assert split_id(plugin_id) == names


@pytest.mark.parametrize(
    ("versions", "used"),
    [
        ([], None),
        (["1.0.0", "local", "9.0.0"], "local"),
        (["1.9.0", "1.10.0"], "1.10.0"),
        (["1.0.0", "1.0.0-rc.1"], "1.0.0"),
        (["1.0.0-rc.2", "1.0.0-rc.10"], "1.0.0-rc.10"),
        (["1.0.0-1", "1.0.0-a"], "1.0.0-a"),
        (["1.0.0", "1.0.0+b"], "1.0.0+b"),
        (["abc", "abd"], "abd"),
        (["2", "10"], "2"),
        (["1.0.0", "a1b2c3"], "a1b2c3"),
    ],
)
def test_the_greatest_version_is_used_and_local_before_all(versions: list[str], used: str | None):
    assert greatest_version(versions) == used
    assert greatest_version(reversed(versions)) == used


@pytest.mark.parametrize(("name", "fit"), [("1.0+b_c-d", True), ("..", False), ("a b", False)])
def test_not_every_directory_is_a_version(name: str, fit: bool):
    assert is_version(name) is fit
