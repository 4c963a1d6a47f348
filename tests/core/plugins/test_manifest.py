"""Plugin manifests: which one counts, what it says, why one cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.plugins.agent_plugins import install_version
from core.plugins.manifest import below, read_manifest
from core.plugins.manifest_file import ManifestFault
from core.protocol.plugins import PluginInterface
from tests.core.plugins.world import manifest_at, put, put_plugin

PLACES = (".codex-plugin", ".claude-plugin", ".cursor-plugin")
AGENT = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"


def fault_at(root: Path) -> ManifestFault:
    found = read_manifest(str(root))
    assert isinstance(found, ManifestFault), found
    return found


def test_the_first_of_the_places_counts(tmp_path: Path):
    root = tmp_path / "p"
    for place in reversed(PLACES):
        put_plugin(root, place=f"{place}/plugin.json", version=place)
        assert manifest_at(root).version == place
    put(root / "plugin.json", {"$schema": AGENT, "name": "p", "version": "9"})
    assert manifest_at(root).version == "9"


def test_a_root_manifest_without_the_schema_is_none(tmp_path: Path):
    root = tmp_path / "p"
    put(root / "plugin.json", {"name": "p"})
    assert read_manifest(str(root)) is None


def test_a_directory_without_manifest_has_none(tmp_path: Path):
    assert read_manifest(str(tmp_path)) is None
    assert read_manifest(str(tmp_path / "gone")) is None


def test_a_broken_manifest_hides_those_after_it(tmp_path: Path):
    root = put_plugin(tmp_path / "p", place=".claude-plugin/plugin.json")
    put(root / ".codex-plugin/plugin.json", "{\n  oops")
    fault = fault_at(root)
    assert (fault.rule, fault.line, fault.column) == ("json", 2, 3)
    assert fault.message == "key must be a string"


def test_a_linked_manifest_counts_for_nothing_and_hides_those_after_it(tmp_path: Path):
    root = put_plugin(tmp_path / "p", place=".claude-plugin/plugin.json")
    put(tmp_path / "real.json", {"name": "p"})
    (root / ".codex-plugin").mkdir()
    (root / ".codex-plugin/plugin.json").symlink_to(tmp_path / "real.json")
    assert fault_at(root).rule == "symlink"


def test_a_linked_manifest_folder_counts_for_nothing(tmp_path: Path):
    root = put_plugin(tmp_path / "p", place="real/plugin.json")
    (root / ".codex-plugin").symlink_to(root / "real")
    assert fault_at(root).rule == "symlink"


@pytest.mark.parametrize(
    ("text", "rule", "message"),
    [
        (b"\xef\xbb\xbf{}", "encoding", "it begins with a byte order mark"),
        (b'{"name": "\xff"}', "encoding", "it is not UTF-8"),
        (b'{"name": 7}', "type", "invalid type: integer `7`, expected a string"),
        (b'{"keywords": "a"}', "type", 'invalid type: string "a", expected a sequence'),
        (b'{"version": 1}', "type", "invalid type: integer `1`, expected a string"),
        (b'{"interface": []}', "ok", ""),
        (b'{"name": "p", "name": "p"}', "type", "duplicate field `name`"),
        (
            b'{"interface": {"websiteURL": "a", "websiteUrl": "b"}}',
            "type",
            "duplicate field `websiteUrl`",
        ),
    ],
)
def test_a_manifest_that_cannot_be_used_says_why(
    tmp_path: Path, text: bytes, rule: str, message: str
):
    root = tmp_path / "p"
    put(root / ".codex-plugin/plugin.json", text)
    if rule == "ok":
        manifest_at(root)
        return
    fault = fault_at(root)
    assert (fault.rule, fault.message) == (rule, message)


def test_unknown_members_may_have_any_type(tmp_path: Path):
    root = put_plugin(tmp_path / "p", author=7, homepage=["x"], license={"a": 1})
    assert manifest_at(root).name == "p"


@pytest.mark.parametrize("written", ["", "   ", None])
def test_a_manifest_without_a_name_takes_the_folders(tmp_path: Path, written: str | None):
    content = {} if written is None else {"name": written}
    put(tmp_path / "p/.codex-plugin/plugin.json", content)
    assert manifest_at(tmp_path / "p").name == "p"


@pytest.mark.parametrize(("written", "version"), [(" 1.0 ", "1.0"), ("", None), ("  ", None)])
def test_versions_are_trimmed_and_empty_ones_are_none(
    tmp_path: Path, written: str, version: str | None
):
    assert manifest_at(put_plugin(tmp_path / "p", version=written)).version == version


def shown(root: Path, **interface: Any) -> PluginInterface | None:
    return manifest_at(put_plugin(root, interface=interface)).interface


def test_interface_paths_lie_below_the_plugin_or_are_dropped(tmp_path: Path):
    root = tmp_path / "p"
    interface = shown(
        root,
        logo="./assets/logo.png",
        composerIcon="assets/icon.png",
        logoDark="./../x.png",
        screenshots=["./a.png", "b.png", "./c//d.png"],
    )
    assert interface is not None
    assert interface.logo == f"{root}/assets/logo.png"
    assert (interface.composer_icon, interface.logo_dark) == (None, None)
    assert interface.screenshots == (f"{root}/a.png", f"{root}/c/d.png")


@pytest.mark.parametrize("name", ["websiteUrl", "websiteURL"])
def test_both_spellings_of_addresses_are_taken(tmp_path: Path, name: str):
    interface = shown(tmp_path / "p", **{name: "https://example.test"})
    assert interface is not None
    assert interface.website_url == "https://example.test"


def test_an_interface_that_says_nothing_is_none(tmp_path: Path):
    assert shown(tmp_path / "p", logo="outside.png", other=1) is None


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("  do   it \n", ("do it",)),
        (["a", 7, "", "b", "x" * 513, "c", "d"], ("a", "b", "c")),
        (["", 7], None),
        (7, None),
    ],
)
def test_up_to_three_prompts_are_kept(tmp_path: Path, written: Any, kept: tuple[str, ...] | None):
    interface = shown(tmp_path / "p", defaultPrompt=written, displayName="P")
    assert interface is not None
    assert interface.default_prompt == kept


@pytest.mark.parametrize("path", [None, "", "./", "a", "/a", "./../a", "./a/../b", ".//a", "./a\0"])
def test_paths_that_could_leave_the_plugin_are_dropped(path: str | None):
    assert below(path, "/p") is None


def test_paths_below_are_made_plain():
    assert below("./a/./b//c", "/p") == "/p/a/b/c"
    assert below("./a", "") is None


# --- the Agent Plugins format ---


def agent(root: Path, **members: Any) -> Path:
    put(root / "plugin.json", {"$schema": AGENT, "name": "p", **members})
    return root


def test_an_agent_manifest_makes_its_own_interface(tmp_path: Path):
    root = agent(
        tmp_path / "p",
        version=" 2.0 ",
        description="about",
        homepage="https://example.test",
        author={"name": "Ann"},
        keywords=["k"],
    )
    manifest = manifest_at(root)
    assert (manifest.version, manifest.keywords) == ("2.0", ("k",))
    assert manifest.interface == PluginInterface(
        display_name="p",
        short_description="about",
        long_description="about",
        developer_name="Ann",
        category="Other",
        website_url="https://example.test",
    )


def test_an_agent_manifest_takes_the_extension_before_the_overlay(tmp_path: Path):
    root = agent(tmp_path / "p")
    put(root / ".codex-plugin/plugin.json", {"interface": {"displayName": "overlay"}})
    interface = manifest_at(root).interface
    assert interface is not None
    assert interface.display_name == "overlay"
    agent(root, extensions={"com.openai": {"interface": {"displayName": "extension"}}})
    interface = manifest_at(root).interface
    assert interface is not None
    assert interface.display_name == "extension"


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"name": "P"}, "`P` is no name"),
        ({"name": "a--b"}, "`a--b` is no name"),
        ({"name": 7}, "`name` is missing"),
        ({"version": 1}, "`version` is no string"),
        ({"keywords": [1]}, "`keywords` is no list of strings"),
        ({"author": {"nick": "x"}}, "`author.nick` is not known"),
        ({"extensions": {"com.openai": {"keywords": 7}}}, "wrong type"),
    ],
)
def test_an_agent_manifest_that_breaks_its_schema_is_refused(
    tmp_path: Path, members: dict[str, Any], message: str
):
    assert message in fault_at(agent(tmp_path / "p", **members)).message


def test_an_older_agent_schema_is_refused_and_named(tmp_path: Path):
    root = tmp_path / "p"
    put(root / "plugin.json", {"$schema": AGENT.replace("1.0.0", "0.9.0"), "name": "p"})
    assert fault_at(root).message == f"`$schema` is not {AGENT}"


def test_a_schema_with_escaped_slashes_is_seen(tmp_path: Path):
    root = tmp_path / "p"
    text = json.dumps({"$schema": AGENT, "name": "p"}).replace("/", "\\/")
    put(root / "plugin.json", text)
    assert manifest_at(root).agent_plugins


@pytest.mark.parametrize(
    ("written", "directory"),
    [(None, "1.0.0"), ("2.0-rc+x", "2.0-rc+x"), ("1/2", "agent-plugins-d939926f05444b0f4495fb96")],
)
def test_an_agent_plugin_is_installed_under_its_version_or_a_digest(
    tmp_path: Path, written: str | None, directory: str
):
    root = agent(tmp_path / "p", **({} if written is None else {"version": written}))
    assert install_version(manifest_at(root)) == directory
