"""What is installed and enabled."""

from __future__ import annotations

from core.plugins.state import PluginStates
from tests.core.plugins.world import World, put


def states(world: World) -> PluginStates:
    return PluginStates(world.home, [world.configs.load(None)])


def test_installed_needs_a_table_and_a_copy(world: World):
    world.install("cached@m")
    world.install("both@m")
    world.switch("both@m")
    world.switch("configured@m")
    found = states(world)
    assert [found.installed(f"{name}@m") for name in ("cached", "configured", "both")] == [
        False,
        False,
        True,
    ]


def test_enabled_is_what_the_table_says_and_on_where_it_says_nothing(world: World):
    world.switch("on@m", True)
    world.switch("off@m", False)
    world.configure('[plugins."silent@m"]')
    found = states(world)
    enabled = {name: found.enabled(f"{name}@m") for name in ("on", "off", "silent", "absent")}
    assert enabled == {"on": True, "off": False, "silent": True, "absent": False}
    assert found.enabled_ids() == ("on@m", "silent@m")


def test_a_switch_says_where_it_stands(world: World):
    world.configure("model = 'x'")
    world.switch("a@m", False)
    place = states(world).switches["a@m"].place
    assert (place.file, place.line) == (str(world.home.config_file), 3)


def test_a_key_that_is_no_plugin_id_is_never_enabled(world: World):
    world.switch("nonsense")
    assert states(world).enabled_ids() == ()


def test_the_newest_copy_is_used_and_linked_directories_are_none(world: World):
    world.switch("a@m")
    older = world.install("a@m", copy="1.9.0")
    newer = world.install("a@m", copy="1.10.0")
    (newer.parent / "2.0.0").symlink_to(older)
    (newer.parent / "not a version").mkdir()
    put(newer.parent / "3.0.0", "a file")
    assert states(world).root("a@m") == str(newer)


def test_every_cached_plugin_is_known_configured_or_not(world: World):
    root = world.install("a@m")
    put(world.home.plugins_cache / "m" / "empty" / "note", "no version in here")
    put(world.home.plugins_cache / "stray", "no directory")
    assert list(states(world).cached_ids()) == [("a@m", str(root))]
