from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from core.apps.entries import install_url, merge, read_page, unite
from core.apps.hosted_tools import Connector


def page(*apps: Any) -> Any:
    return read_page(json.dumps({"apps": apps, "next_token": None}).encode())


def listed(*apps: Any) -> Any:
    return merge(unite(page(*apps).entries), {})


@pytest.mark.parametrize(
    ("name", "app_id", "url"),
    [
        ("Alpha", "a", "https://chatgpt.com/apps/alpha/a"),
        ("Café & Co.", "café", "https://chatgpt.com/apps/caf----co/café"),
        ("  spaced  name ", "sp ace", "https://chatgpt.com/apps/spaced--name/sp ace"),
        ("!!!", "punct", "https://chatgpt.com/apps/app/punct"),
        ("1-2_3", "num", "https://chatgpt.com/apps/1-2-3/num"),
        ("数据", "cjk", "https://chatgpt.com/apps/app/cjk"),
        ("\u212aelvin \ufb01", "k", "https://chatgpt.com/apps/elvin/k"),
    ],
)
def test_the_install_page_is_computed_from_name_and_id(name: str, app_id: str, url: str) -> None:
    assert install_url(name, app_id) == url


def test_hidden_entries_are_left_out_and_blank_texts_made_regular() -> None:
    apps = listed(
        {"id": "hidden", "name": "Hidden", "visibility": "HIDDEN"},
        {"id": "hidden-not", "name": "Shown", "visibility": "hidden"},
        {"id": "blank", "name": "   ", "description": "  "},
        {"id": "padded", "name": "  Padded ", "description": " text "},
    )
    assert [(app.id, app.name, app.description) for app in apps] == [
        ("padded", "Padded", "text"),
        ("hidden-not", "Shown", None),
        ("blank", "blank", None),
    ]
    assert apps[-1].install_url == "https://chatgpt.com/apps/app/blank"


def test_the_first_of_two_alike_wins_and_is_filled_from_the_second() -> None:
    [app] = listed(
        {
            "id": "b",
            "name": "B",
            "branding": {"isDiscoverableApp": False, "developer": "d"},
            "labels": {"a": "1"},
            "appMetadata": {"categories": ["c"]},
        },
        {
            "id": "b",
            "name": "B2",
            "description": "second",
            "branding": {"isDiscoverableApp": True, "developer": "d2", "website": "w"},
            "labels": {"b": "2"},
            "appMetadata": {"version": "2", "categories": ["z"]},
        },
    )
    assert (app.name, app.description, app.labels) == ("B", "second", {"a": "1"})
    assert msgspec.to_builtins(app.branding) == {
        "category": None,
        "developer": "d",
        "website": "w",
        "privacyPolicy": None,
        "termsOfService": None,
        "isDiscoverableApp": True,
    }
    assert app.app_metadata is not None
    assert (app.app_metadata.categories, app.app_metadata.version) == (("c",), "2")


def test_members_are_taken_in_both_spellings_and_install_and_access_are_not_believed() -> None:
    [camel, snake] = listed(
        {"id": "1", "name": "One", "logoUrl": "l", "iconAssets": {"a": "b"}, "isAccessible": True},
        {
            "id": "2",
            "name": "Two",
            "logo_url": "l",
            "icon_assets": {"a": "b"},
            "install_url": "https://evil.example/",
            "app_metadata": {"screenshots": [{"user_prompt": "hi", "file_id": "f"}]},
        },
    )
    assert (camel.logo_url, camel.icon_assets, camel.is_accessible) == ("l", {"a": "b"}, False)
    assert (snake.logo_url, snake.install_url) == ("l", "https://chatgpt.com/apps/two/2")
    [picture] = snake.app_metadata.screenshots
    assert (picture.user_prompt, picture.file_id) == ("hi", "f")


@pytest.mark.parametrize(
    "entry",
    [
        {"id": "x"},
        {"name": "x"},
        {"id": 5, "name": "x"},
        {"id": "x", "name": None},
        {"id": "x", "name": "n", "description": 5},
        {"id": "x", "name": "n", "visibility": 3},
        {"id": "x", "name": "n", "labels": {"a": 1}},
        {"id": "x", "name": "n", "branding": {}},
        {"id": "x", "name": "n", "branding": {"is_discoverable_app": True}},
        {"id": "x", "name": "n", "logo_url": "a", "logoUrl": "b"},
        {"id": "x", "name": "n", "appMetadata": {"screenshots": [{"url": "a"}]}},
        "text",
    ],
)
def test_an_entry_that_cannot_be_used_is_told_with_its_place(entry: Any) -> None:
    read = page({"id": "good", "name": "Good"}, entry)
    assert [app.id for app in read.entries] == ["good"]
    assert len(read.bad) == 1
    assert read.bad[0].startswith("entry 2: ")


def test_every_member_is_written_null_included() -> None:
    [app] = listed({"id": "a", "name": "A"})
    assert list(msgspec.to_builtins(app)) == [
        "id",
        "name",
        "description",
        "logoUrl",
        "logoUrlDark",
        "iconAssets",
        "iconDarkAssets",
        "distributionChannel",
        "branding",
        "appMetadata",
        "labels",
        "installUrl",
        "isAccessible",
        "isEnabled",
        "pluginDisplayNames",
    ]


def test_linked_apps_come_first_then_names_and_ids_byte_by_byte() -> None:
    directory = unite(
        page(
            {"id": "lower", "name": "bb"},
            {"id": "Upper", "name": "Bb"},
            {"id": "café", "name": "Café"},
            {"id": "linked", "name": "zzz"},
            {"id": "emoji", "name": "🧾"},
        ).entries
    )
    merged = merge(directory, {"linked": Connector("Z"), "elsewhere": Connector("E")})
    assert [(app.id, app.is_accessible) for app in merged] == [
        ("linked", True),
        ("Upper", False),
        ("café", False),
        ("lower", False),
        ("emoji", False),
    ]


def test_the_tools_name_an_app_only_where_the_directory_does_not() -> None:
    directory = unite(page({"id": "a", "name": "a"}, {"id": "b", "name": "Named"}).entries)
    told = {"a": Connector("Alpha", "about a"), "b": Connector("Beta", "about b")}
    merged = merge(directory, told)
    assert [(app.name, app.description, app.install_url) for app in merged] == [
        ("Alpha", "about a", "https://chatgpt.com/apps/a/a"),
        ("Named", "about b", "https://chatgpt.com/apps/named/b"),
    ]


def test_without_a_directory_the_connectors_stand_for_themselves() -> None:
    merged = merge(None, {"a": Connector("Alpha"), "b": Connector()})
    assert [(app.id, app.name, app.is_accessible, app.install_url) for app in merged] == [
        ("a", "Alpha", True, "https://chatgpt.com/apps/alpha/a"),
        ("b", "b", True, "https://chatgpt.com/apps/b/b"),
    ]
