from __future__ import annotations

import os

import anyio
import pytest

from core.errors import CoreError, InternalError, InvalidRequest
from core.plugins.install import putting as module
from tests.core.plugins.install.world import URL, Workshop, git
from tests.core.plugins.world import put, put_plugin

pytestmark = pytest.mark.anyio
COMMAND = "---\ndescription: D\n---\nbody\n"


async def test_installing_copies_the_plugin_and_enables_it(shop: Workshop):
    put_plugin(shop.home.home / "plugins/p", {"skills/a/SKILL.md": "x"}, version="1.0.0")
    installed = await shop.installer.install("m", shop.entry("./plugins/p"))
    assert installed.plugin_id == "p@m"
    assert installed.root == f"{shop.home.plugins_cache}/m/p/1.0.0"
    assert shop.cached() == ["m/p/1.0.0/.codex-plugin/plugin.json", "m/p/1.0.0/skills/a/SKILL.md"]
    assert shop.home.config_file.read_text() == '[plugins."p@m"]\nenabled = true\n'
    assert shop.leftovers() == []


async def test_installing_again_refreshes_the_copy_and_enables_it_again(shop: Workshop):
    source = put_plugin(shop.home.home / "plugins/p", {"old": "x"})
    entry = shop.entry("./plugins/p")
    await shop.installer.install("m", entry)
    put(shop.home.config_file, '[plugins."p@m"]\nenabled = false # off\n')
    (source / "old").unlink()
    put(source / "new", "y")
    await shop.installer.install("m", entry)
    assert shop.cached() == ["m/p/local/.codex-plugin/plugin.json", "m/p/local/new"]
    assert shop.home.config_file.read_text() == '[plugins."p@m"]\nenabled = true # off\n'


async def test_a_refused_plugin_leaves_no_trace(shop: Workshop):
    put_plugin(shop.home.home / "plugins/p", version="..")
    with pytest.raises(InvalidRequest):
        await shop.installer.install("m", shop.entry("./plugins/p"))
    assert not shop.home.plugins_cache.exists()
    assert not shop.home.config_file.exists()


async def test_a_version_that_is_too_long_for_a_directory_leaves_an_empty_marketplace(
    shop: Workshop,
):
    put_plugin(shop.home.home / "plugins/p", version="1" * 300)
    with pytest.raises(InternalError, match="Filename too long"):
        await shop.installer.install("m", shop.entry("./plugins/p"))
    assert list((shop.home.plugins_cache / "m").iterdir()) == []


async def test_commands_become_skills_of_the_copy_and_not_of_the_source(shop: Workshop):
    source = put_plugin(shop.home.home / "plugins/p", {"commands/do it.md": COMMAND})
    await shop.installer.install("m", shop.entry("./plugins/p"))
    skill = "m/p/local/.codex-plugin/migrated-command-skills/source-command-do-it/SKILL.md"
    assert skill in shop.cached()
    assert not (source / ".codex-plugin/migrated-command-skills").exists()


async def test_a_command_whose_skill_is_there_already_stays_a_command(shop: Workshop):
    skill = "---\nname: source-command-do\ndescription: own\n---\nx"
    files = {"commands/do.md": COMMAND, "skills/x/SKILL.md": skill}
    put_plugin(shop.home.home / "plugins/p", files)
    await shop.installer.install("m", shop.entry("./plugins/p"))
    assert not [path for path in shop.cached() if "migrated" in path]


async def test_curated_plugins_are_versioned_by_the_commit_of_the_snapshot(shop: Workshop):
    put_plugin(shop.home.home / "plugins/p", version="1.0.0")
    entry = shop.entry("./plugins/p")
    with pytest.raises(InvalidRequest, match="sha is not available"):
        await shop.installer.install("openai-curated", entry)
    put(shop.home.curated_sha_file, "0123abcd" * 5 + "\n")
    installed = await shop.installer.install("openai-curated", entry)
    assert installed.version == "0123abcd"


async def test_the_home_itself_can_be_a_plugin(shop: Workshop):
    put(shop.home.home / ".codex-plugin/plugin.json", '{"name": "p"}')
    with anyio.fail_after(10):
        await shop.installer.install("m", shop.entry("./"))
    assert "m/p/local/.codex-plugin/plugin.json" in shop.cached()
    assert not [path for path in shop.cached() if "plugin-install-" in path]


async def test_a_copy_in_progress_that_is_cancelled_leaves_the_old_one(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
):
    source = put_plugin(shop.home.home / "plugins/p", {"file": "old"})
    entry = shop.entry("./plugins/p")
    await shop.installer.install("m", entry)
    put(source / "file", "new")
    real = module.copy_tree
    with anyio.CancelScope() as scope:

        def copy_and_cancel(*arguments: str, **more: object) -> None:
            anyio.from_thread.run_sync(scope.cancel)
            real(*arguments, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(module, "copy_tree", copy_and_cancel)
        await shop.installer.install("m", entry)
    assert scope.cancelled_caught
    assert (shop.home.plugins_cache / "m/p/local/file").read_text() == "old"
    assert shop.leftovers() == []


async def test_uninstalling_removes_every_version_and_the_table_with_its_children(shop: Workshop):
    put_plugin(shop.home.home / "plugins/p")
    await shop.installer.install("m", shop.entry("./plugins/p"))
    put(shop.home.plugins_data / "p-m/keep", "x")
    settings = (
        '[plugins."p@m"]\nenabled = true\n\n[plugins."p@m".mcp_servers.s]\nenabled = false\n\n'
        '# kept\n[hooks.state."p@m:x"]\nenabled = false\n'
    )
    put(shop.home.config_file, settings)
    await shop.installer.uninstall("p@m")
    assert list((shop.home.plugins_cache / "m").iterdir()) == []
    assert shop.tables() == {"hooks": {"state": {"p@m:x": {"enabled": False}}}}
    assert (shop.home.plugins_data / "p-m/keep").exists()
    await shop.installer.uninstall("p@m")


async def test_uninstalling_where_the_configuration_is_broken_keeps_the_copy(shop: Workshop):
    put_plugin(shop.home.home / "plugins/p")
    await shop.installer.install("m", shop.entry("./plugins/p"))
    put(shop.home.config_file, "x = [\n")
    with pytest.raises(CoreError):
        await shop.installer.uninstall("p@m")
    assert shop.cached() == ["m/p/local/.codex-plugin/plugin.json"]


@pytest.mark.needs("git")
async def test_a_git_source_is_cloned_and_its_staging_emptied(shop: Workshop):
    plugin = {".codex-plugin/plugin.json": {"name": "p", "version": "2"}}
    shop.repository("p.git", plugin)
    entry = shop.entry({"source": "url", "url": f"{URL}p.git"})
    await shop.installer.install("m", entry, shop.progress)
    assert shop.cached() == ["m/p/2/.codex-plugin/plugin.json"]
    assert (shop.home.plugins_cache / "m/p/2/.git/HEAD").exists()
    assert shop.leftovers() == []
    assert any(share is not None and 0 < share < 1 for share, _ in shop.told)


@pytest.mark.needs("git")
async def test_a_directory_of_a_repository_is_the_plugin_unless_a_link_leads_there(
    shop: Workshop,
):
    path = shop.repository("p.git", {"sub/p/.codex-plugin/plugin.json": {"name": "p"}})
    (path / "link").symlink_to("sub")
    git(path, "add", "-A")
    git(path, "commit", "-qm", "link")
    source = {"source": "git-subdir", "url": f"{URL}p.git", "path": "sub/p"}
    await shop.installer.install("m", shop.entry(source))
    assert shop.cached() == ["m/p/local/.codex-plugin/plugin.json"]
    for missing in ("link/p", "nowhere"):
        with pytest.raises(InvalidRequest) as caught:
            await shop.installer.install("m", shop.entry({**source, "path": missing}))
        assert caught.value.message == "missing plugin.json"


@pytest.mark.needs("git")
async def test_a_repository_that_is_not_there_is_told_with_the_last_words_of_git(shop: Workshop):
    entry = shop.entry({"source": "url", "url": f"{URL}none.git"})
    with pytest.raises(InvalidRequest) as caught:
        await shop.installer.install("m", entry)
    message = caught.value.message
    assert message.startswith(f"git clone {URL}none.git {shop.home.plugins_staging}/")
    assert " failed with status exit status: 128\nstdout:\n\nstderr:\n" in message
    assert "fatal: " in message
    assert shop.leftovers() == []
    assert not shop.home.config_file.exists()


async def test_leftovers_of_a_killed_process_go_with_the_next_install(shop: Workshop):
    dead = shop.home.plugins_cache / "m/plugin-install-0123456789ab"
    put(dead / "p/local/half", "x")
    os.utime(dead, (1, 1))
    put_plugin(shop.home.home / "plugins/p")
    await shop.installer.install("m", shop.entry("./plugins/p"))
    assert shop.leftovers() == []
