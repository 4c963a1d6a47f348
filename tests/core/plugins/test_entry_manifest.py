"""What a marketplace entry says in place of a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.plugins.entries import Entry
from core.plugins.entry_manifest import entry_manifest
from core.plugins.marketplace_file import load
from tests.core.plugins.world import put_market


def entry(tmp_path: Path, **members: Any) -> Entry:
    path = put_market(tmp_path, {"name": "a", "source": "./a", **members})
    (found,) = load(str(path), str(tmp_path), home="/home/me").entries
    return found


def test_a_bare_entry_makes_no_manifest(tmp_path: Path):
    assert entry_manifest(entry(tmp_path), "/p") is None


def test_an_entry_describes_a_plugin_without_manifest(tmp_path: Path):
    found = entry_manifest(
        entry(
            tmp_path,
            version="1.2",
            category="Tools",
            displayName="Aye",
            author={"name": " Ann "},
            homepage="https://example.test",
            skills="./skills-here",
        ),
        "/p",
    )
    assert found is not None
    assert (found.name, found.version, found.skills) == ("a", "1.2", "./skills-here")
    assert found.interface is not None
    assert found.interface.display_name == "Aye"
    assert found.interface.developer_name == "Ann"
    assert found.interface.category == "Tools"
    assert found.interface.website_url == "https://example.test"


def test_an_entry_of_wrong_types_makes_no_manifest(tmp_path: Path):
    assert entry_manifest(entry(tmp_path, keywords=7), "/p") is None


def test_the_interface_of_an_entry_comes_before_its_plain_members(tmp_path: Path):
    found = entry_manifest(
        entry(tmp_path, displayName="plain", interface={"displayName": "own"}), "/p"
    )
    assert found is not None
    assert found.interface is not None
    assert found.interface.display_name == "own"
