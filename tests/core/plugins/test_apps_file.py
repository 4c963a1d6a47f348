"""Apps that plugins name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.plugins.apps_file import PluginApp, plugin_apps, slug
from tests.core.plugins.world import manifest_at, put_plugin


def apps_of(root: Path, content: Any, **manifest: Any) -> tuple[PluginApp, ...]:
    return plugin_apps(manifest_at(put_plugin(root, {".app.json": content}, **manifest)))


def test_apps_come_in_file_order_each_once(tmp_path: Path):
    apps = {
        "x": {"id": "b", "category": " Tools "},
        "y": {"id": "a"},
        "z": {"id": "b"},
        "w": {"id": " "},
    }
    found = apps_of(tmp_path / "p", {"apps": apps})
    assert found == (PluginApp("b", "Tools"), PluginApp("a"))


def test_a_manifest_may_name_another_file(tmp_path: Path):
    root = put_plugin(
        tmp_path / "p", {"more.json": {"apps": {"x": {"id": "c"}}}}, apps="./more.json"
    )
    assert [app.id for app in plugin_apps(manifest_at(root))] == ["c"]


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        {"apps": []},
        {"apps": {"x": {"id": "a"}, "y": {"id": 7}}},
        {"apps": {"x": {"id": "a", "category": 7}}},
        b'{"apps": {"x": {"id": "\xff"}}}',
    ],
)
def test_one_wrong_type_and_there_are_none(tmp_path: Path, content: Any):
    assert apps_of(tmp_path / "p", content) == ()


def test_an_unknown_app_is_called_by_its_id():
    told = PluginApp("asdk_1", "Tools").summary()
    assert (told.name, told.category) == ("asdk_1", "Tools")
    assert told.install_url == "https://chatgpt.com/apps/asdk-1/asdk_1"


@pytest.mark.parametrize(
    ("name", "spelled"), [("Google Drive", "google-drive"), ("Ünï", "n"), ("??", "app")]
)
def test_addresses_carry_the_name(name: str, spelled: str):
    assert slug(name) == spelled
