"""Marketplaces, entries, installed copies, switches, contents."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

from tests.integration.explain.table import state
from tests.integration.explain.world import World

PLUGIN = "p@m"


def entry(**members: Any) -> dict[str, Any]:
    """An entry of the plugin `p`."""
    return {"name": "p", "source": "./plugins/p", **members}


@state("marketplace.usable", "no such directory", "correct `source`")
def the_folder_of_a_marketplace_is_gone(w: World) -> Iterator[str]:
    w.marketplace("p")
    w.install()
    w.market.rename(w.root / "away")
    yield PLUGIN
    (w.root / "away").rename(w.market)


@state("marketplace.usable", "no marketplace file", "correct `source`")
def a_marketplace_has_no_file(w: World) -> Iterator[str]:
    file = w.marketplace("p")
    w.install()
    text = file.read_text()
    file.unlink()
    yield PLUGIN
    file.write_text(text)


@state("marketplace.usable", "at line 1", "correct the file")
def a_marketplace_file_is_no_json(w: World) -> Iterator[str]:
    file = w.marketplace("p")
    w.install()
    text = file.read_text()
    file.write_text(text[:-2])
    yield PLUGIN
    file.write_text(text)


@state("marketplace.usable", "byte order mark", "without a byte order mark")
def a_marketplace_file_begins_with_a_byte_order_mark(w: World) -> Iterator[str]:
    file = w.marketplace("p")
    w.install()
    text = file.read_text()
    file.write_text(text, encoding="utf-8-sig")
    yield PLUGIN
    file.write_text(text)


@state("marketplace.usable", "a link written out as text", "with symlinks")
def a_marketplace_file_is_a_link_as_text(w: World) -> Iterator[str]:
    file = w.marketplace("p")
    w.install()
    text = file.read_text()
    (w.market / "real.json").write_text(text)
    file.write_text("../../real.json")
    yield PLUGIN
    file.write_text(text)


@state("marketplace.usable", "m m", "rename it")
def a_marketplace_has_a_name_with_a_space(w: World) -> Iterator[str]:
    file = w.marketplace("p")
    w.install()
    text = file.read_text()
    file.write_text(text.replace('"m"', '"m m"'))
    yield "'p@m m'"
    file.write_text(text)
    yield PLUGIN


@state("marketplace.usable", "openai-curated", "rename it")
def a_marketplace_has_a_reserved_name(w: World) -> Iterator[str]:
    file = w.marketplace("p")
    w.install()
    text = file.read_text()
    file.write_text(text.replace('"m"', '"openai-curated"'))
    yield "p@openai-curated"
    file.write_text(text)
    yield PLUGIN


@state("marketplace.usable", "not among the sources", "allow m", who="administrator")
def a_marketplace_is_not_allowed(w: World) -> Iterator[str]:
    w.marketplace("p")
    w.install()
    w.required("[marketplaces]\nrestrict_to_allowed_sources = true\n")
    yield PLUGIN
    w.required("")


@state("marketplace.usable", "its marketplace is gone", "add its marketplace again")
def a_marketplace_was_taken_out_of_the_file(w: World) -> Iterator[str]:
    w.marketplace("p")
    table = f'[marketplaces.m]\nsource_type = "local"\nsource = {json.dumps(str(w.market))}'
    w.install()
    w.replace(table, "")
    yield PLUGIN
    w.more(table)


@state("marketplace.usable", "no longer offered", "offer it again", who="author")
def a_plugin_is_no_longer_offered(w: World) -> Iterator[str]:
    w.marketplace("p")
    w.install()
    w.marketplace("q")
    yield PLUGIN
    w.marketplace("p", "q")


@state("marketplace.usable", "has not been cloned", "fetch it", typed=True)
def a_git_marketplace_was_not_cloned(w: World) -> Iterator[str]:
    origin = w.root / "origin"
    w.marketplace("p", root=origin, name="m")
    for words in (
        ("init", "-q", "-b", "main"),
        ("add", "."),
        ("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one"),
    ):
        subprocess.run(["git", *words], cwd=origin, check=True)
    w.config(
        f'[marketplaces.m]\nsource_type = "git"\nsource = "file://{origin}"\n'
        '[plugins."p@m"]\nenabled = true\n'
    )
    yield PLUGIN
    w.install()


@state("plugin.entry", "its entry is left out", "write the path")
def a_source_leads_out_of_the_marketplace(w: World) -> Iterator[str]:
    w.plugin("p")
    w.marketplace(entry(source="plugins/p"))
    yield "p --kind plugin"
    w.marketplace(entry())
    w.install()


@state("plugin.entry", "its entry is left out", '"source": "url"')
def a_source_is_of_a_kind_that_codex_does_not_know(w: World) -> Iterator[str]:
    w.plugin("p")
    w.marketplace(entry(source={"source": "github", "repo": "a/b"}))
    yield "p --kind plugin"
    w.marketplace(entry())
    w.install()


@state("plugin.entry", "its entry is left out", "`CODEX`")
def a_plugin_is_for_other_products(w: World) -> Iterator[str]:
    w.plugin("p")
    w.marketplace(entry(policy={"products": ["CHATGPT"]}))
    yield "p --kind plugin"
    w.marketplace(entry())
    w.install()


@state("plugin.entry", "its entry is left out", "rename or remove")
def two_entries_have_one_name(w: World) -> Iterator[str]:
    w.plugin("p")
    w.marketplace(entry(), entry())
    w.install()
    yield "p@m#2"
    w.plugin("q")
    w.marketplace(entry(), {"name": "q", "source": "./plugins/q"})
    w.install("q@m")
    yield "q@m"


@state("plugin.entry", "its entry is left out", "rename it")
def a_plugin_has_a_name_that_is_not_allowed(w: World) -> Iterator[str]:
    w.plugin("p")
    w.marketplace({"name": "p!", "source": "./plugins/p"})
    yield "p! --kind plugin"
    w.marketplace(entry())
    w.install()
    yield PLUGIN


@state("plugin.entry", "its folder is missing", "correct the entry")
def the_folder_of_a_plugin_is_missing(w: World) -> Iterator[str]:
    w.marketplace(entry())
    yield PLUGIN
    w.plugin("p")
    w.install()


@state("plugin.entry", "no plugin.json", "add `.codex-plugin/plugin.json`")
def a_plugin_has_no_manifest(w: World) -> Iterator[str]:
    w.marketplace("p")
    shutil.rmtree(w.market / "plugins" / "p" / ".codex-plugin")
    yield PLUGIN
    w.plugin("p")
    w.install()


@state("plugin.entry", "plugin.json: ", "correct the entry")
def a_manifest_is_no_json(w: World) -> Iterator[str]:
    w.marketplace("p")
    w.plugin("p").write_text('{"name": "p",')
    yield PLUGIN
    w.plugin("p")
    w.install()


@state("plugin.entry", "plugin.json: ", "without a byte order mark")
def a_manifest_begins_with_a_byte_order_mark(w: World) -> Iterator[str]:
    w.marketplace("p")
    file = w.plugin("p")
    file.write_text(file.read_text(), encoding="utf-8-sig")
    yield PLUGIN
    w.plugin("p")
    w.install()


@state("plugin.entry", "does not match", "correct the entry")
def a_manifest_has_another_name_than_its_entry(w: World) -> Iterator[str]:
    w.marketplace("p")
    file = w.plugin("p")
    file.write_text(json.dumps({"name": "pp", "version": "1.0.0"}))
    yield PLUGIN
    w.plugin("p")
    w.install()


@state("plugin.entry", "would not install it", "correct the entry")
def a_version_is_a_path(w: World) -> Iterator[str]:
    w.marketplace("p")
    w.plugin("p", version="1/2")
    yield PLUGIN
    w.plugin("p")
    w.install()


@state("plugin.entry", "begins with `-`", "name a branch")
def a_ref_looks_like_an_option(w: World) -> Iterator[str]:
    w.plugin("p")
    source = {"source": "url", "url": "https://git.invalid/p.git", "ref": "-x"}
    w.marketplace(entry(source=source))
    yield PLUGIN
    w.marketplace(entry())
    w.install()


@state("plugin.entry", "does not offer it", outcome="normal")
def a_plugin_is_listed_and_not_offered(w: World) -> Iterator[str]:
    w.plugin("p")
    w.marketplace(entry(policy={"installation": "NOT_AVAILABLE"}))
    yield PLUGIN
    w.marketplace(entry())
    w.install()


@state("plugin.installed", "found, not installed", "install it", typed=True, outcome="normal")
def a_plugin_is_only_found(w: World) -> Iterator[str]:
    w.marketplace("p")
    yield PLUGIN


@state("plugin.installed", "no copy of it is installed", "install it", typed=True)
def a_plugin_is_enabled_and_not_installed(w: World) -> Iterator[str]:
    w.marketplace("p")
    w.more('[plugins."p@m"]\nenabled = true')
    yield PLUGIN


@state("plugin.installed", "installed copy: ", "install it anew", typed=True)
def an_installed_copy_is_broken(w: World) -> Iterator[str]:
    w.marketplace("p")
    w.install()
    (copied(w) / ".codex-plugin" / "plugin.json").write_text("{")
    yield PLUGIN


@state("plugin.installed", "installed copy: ", "install it anew", typed=True)
def an_installed_copy_has_lost_its_manifest(w: World) -> Iterator[str]:
    w.marketplace("p")
    w.install()
    shutil.rmtree(copied(w) / ".codex-plugin")
    yield PLUGIN


@state("plugin.installed", "not installed", "install it", typed=True, outcome="normal")
def a_copy_is_cached_that_nothing_configures(w: World) -> Iterator[str]:
    w.marketplace("p")
    w.install()
    w.replace('[plugins."p@m"]', '[plugins."q@m"]')
    yield PLUGIN


@state("plugin.enabled", "off, config.toml:", "turn it on", typed=True)
def a_plugin_is_off(w: World) -> Iterator[str]:
    w.marketplace("p")
    w.install()
    assert w.run("disable", PLUGIN)[0] == 0
    yield PLUGIN


@state("plugin.enabled", "decided by the project layer", "set enabled = true")
def a_plugin_is_off_in_the_project(w: World) -> Iterator[str]:
    w.marketplace("p")
    w.install()
    w.project('[plugins."p@m"]\nenabled = false\n', trust="trusted")
    yield PLUGIN
    w.project("")


@state("plugin.content", "agent", outcome="normal")
def codex_uses_nothing_of_a_plugin(w: World) -> Iterator[str]:
    w.marketplace("p")
    shutil.rmtree(w.market / "plugins" / "p" / "skills")
    agents = w.market / "plugins" / "p" / "agents"
    agents.mkdir()
    (agents / "a.md").write_text("---\nname: a\ndescription: b\n---\nDo.\n")
    w.install()
    yield PLUGIN
    w.skill(w.market / "plugins" / "p")
    w.plugin("p", version="1.1.0")
    assert w.run("update", PLUGIN)[0] == 0


@state("plugin.installed", "found, not installed", "install it", typed=True, outcome="normal")
def a_server_is_brought_by_a_plugin_that_is_not_installed(w: World) -> Iterator[str]:
    command = str(w.program("s-server"))
    w.plugin("p", servers={"s": {"command": command}})
    w.marketplace(entry())
    yield "p@m --again --yes"


@state("plugin.enabled", "off, config.toml:", "turn it on", typed=True)
def a_server_is_brought_by_a_plugin_that_is_off(w: World) -> Iterator[str]:
    command = str(w.program("s-server"))
    w.plugin("p", servers={"s": {"command": command}})
    w.marketplace(entry())
    w.install()
    assert w.run("disable", PLUGIN)[0] == 0
    yield "s --again --yes"


def copied(w: World) -> Any:
    """The installed copy."""
    (found,) = (w.codex / "plugins" / "cache" / "m" / "p").iterdir()
    return found
