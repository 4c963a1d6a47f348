from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from core.config.edit import ConfigEditor
from core.config.edit_plan import Edit
from core.config.replace import Changed, replace_file
from core.config.toml.read import read_toml
from core.config.version import version_of
from core.errors import ConfigWriteError, CoreError, InternalError
from tests.conftest import REPO
from tests.core.config.conftest import World

pytestmark = pytest.mark.anyio


def leftovers(world: World) -> list[str]:
    """Names in CODEX_HOME that are not Codex' own."""
    return sorted(set(os.listdir(world.home.codex_home)) - {"config.toml"})


async def test_a_write_creates_the_file_for_its_owner_only(world: World):
    result = await world.editor.write([Edit("model", "x")])
    assert world.text() == 'model = "x"\n'
    assert stat.S_IMODE(world.file.stat().st_mode) == 0o600
    assert result.changed and result.file == world.file
    assert leftovers(world) == []


async def test_the_version_is_a_hash_of_what_the_file_says(world: World):
    result = await world.editor.write([Edit("model", "x")])
    assert result.version == version_of({"model": "x"})
    assert version_of({}) == (
        "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    )
    assert result.version == world.load().user.version


async def test_a_write_that_changes_nothing_leaves_the_file_alone(world: World):
    world.user('model = "x"\n')
    before = world.file.stat()
    result = await world.editor.write([Edit("model", "x"), Edit("profile", None)])
    assert not result.changed
    assert world.file.stat().st_ino == before.st_ino
    assert world.editor.backups.list() == []


async def test_a_batch_is_written_whole_or_not_at_all(world: World):
    world.user('[plugins."p@m"]\nenabled = false\n')
    with pytest.raises(ConfigWriteError) as caught:
        await world.editor.write(
            [Edit('plugins."p@m".enabled', True), Edit('plugins."r@m".enabled', 3)]
        )
    assert caught.value.message == (
        "Invalid configuration: invalid type: integer `3`, expected a boolean\nin `plugins`\n"
    )
    assert caught.value.data == {"config_write_error_code": "configValidationError"}
    assert world.text() == '[plugins."p@m"]\nenabled = false\n'


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            Edit("marketplaces.q.source_type", "svn"),
            "Invalid configuration: unknown variant `svn`, expected `git` or `local`\n"
            "in `marketplaces.q.source_type`\n",
        ),
        (
            Edit("model", 1.5),
            "Invalid configuration: invalid type: floating point `1.5`, expected a string\n"
            "in `model`\n",
        ),
        (
            Edit("mcp_servers.a", {"command": "c", "url": "u"}),
            "Invalid configuration: url is not supported for stdio\nin `mcp_servers.a`\n",
        ),
        (Edit("", 1), "keyPath must not be empty"),
    ],
)
async def test_a_result_that_is_no_configuration_is_refused(world: World, edit: Edit, message: str):
    with pytest.raises(ConfigWriteError) as caught:
        await world.editor.write([edit])
    assert caught.value.message == message
    assert not world.file.exists()


async def test_an_older_version_is_a_conflict(world: World):
    world.user('model = "x"\n')
    version = world.load().user.version
    await world.editor.write([Edit("model", "y")], expected_version=version)
    with pytest.raises(ConfigWriteError) as caught:
        await world.editor.write([Edit("model", "z")], expected_version=version)
    assert caught.value.message == (
        "Configuration was modified since last read. Fetch latest version and retry."
    )
    assert caught.value.reason == "configVersionConflict"
    assert world.text() == 'model = "y"\n'


async def test_only_the_user_s_file_is_written(world: World):
    project = world.project("")
    for file in (world.root / "x.toml", project, Path("relative.toml")):
        with pytest.raises(ConfigWriteError, match="Only writes to the user config are allowed"):
            await world.editor.write([Edit("model", "x")], file=file)
    await world.editor.write([Edit("model", "x")], file=world.home.codex_home / "." / "config.toml")
    assert world.text() == 'model = "x"\n'


async def test_a_project_s_file_is_written_when_that_is_asked_for(world: World):
    project = world.project("# mine\n")
    await world.editor.write([Edit("model", "p")], file=project, project_file=True)
    assert project.read_text() == '# mine\nmodel = "p"\n'


async def test_nothing_is_written_in_read_only_mode(world: World):
    deps = replace(world.deps, read_only=True)
    with pytest.raises(ConfigWriteError, match="read-only"):
        await ConfigEditor(world.store, deps).write([Edit("model", "x")])
    assert not world.file.exists()


async def test_broken_toml_is_refused_with_its_place(world: World):
    world.user('model = "x"\nbad = [\n')
    with pytest.raises(InternalError) as caught:
        await world.editor.write([Edit("model", "y")], tolerant=True)
    assert caught.value.message == (
        f"failed to load configuration: {world.file}:2:8: unclosed array, expected `]`"
    )
    assert caught.value.evidence is not None and caught.value.evidence.line == 2


async def test_another_bad_table_stands_in_the_way_only_of_strict_writers(world: World):
    world.user('[mcp_servers.bad]\n\n[plugins."p@m"]\nenabled = true\n')
    with pytest.raises(ConfigWriteError, match="invalid transport"):
        await world.editor.write([Edit('plugins."p@m".enabled', False)])
    await world.editor.write([Edit('plugins."p@m".enabled', False)], tolerant=True)
    assert world.text() == '[mcp_servers.bad]\n\n[plugins."p@m"]\nenabled = false\n'
    with pytest.raises(ConfigWriteError):
        await world.editor.write([Edit("mcp_servers.worse", {"url": 1})], tolerant=True)


async def test_a_pinned_feature_cannot_be_written_otherwise(world: World):
    file = world.required("[features]\nplugins = false\napps = false\n")
    with pytest.raises(ConfigWriteError) as caught:
        await world.editor.write([Edit("features.plugins", True)])
    assert caught.value.message == (
        "Invalid configuration: invalid value for `features`: `features.plugins=true` is not in "
        f"the allowed set [apps=false, plugins=false] (set by {file})"
    )
    await world.editor.write([Edit("features.plugins", False)])


async def test_a_managed_setting_cannot_be_written(world: World):
    world.required('chatgpt_base_url = "http://r"\n')
    with pytest.raises(ConfigWriteError) as caught:
        await world.editor.write([Edit("chatgpt_base_url", "http://w")])
    assert caught.value.reason == "configRequirementReadonly"


async def test_a_chain_of_symlinks_stays_and_its_end_is_replaced(world: World):
    target = world.write(world.root / "dotfiles/codex.toml", 'model = "x" # mine\n')
    target.chmod(0o640)
    (world.root / "middle").symlink_to(target)
    world.file.symlink_to(world.root / "middle")
    await world.editor.write([Edit("model", "y")])
    assert world.file.is_symlink() and (world.root / "middle").is_symlink()
    assert target.read_text() == 'model = "y" # mine\n'
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert sorted(os.listdir(target.parent)) == ["codex.toml"]


async def test_a_dangling_symlink_gets_its_target(world: World):
    world.file.symlink_to(world.root / "later" / "codex.toml")
    await world.editor.write([Edit("model", "y")])
    assert (world.root / "later/codex.toml").read_text() == 'model = "y"\n'


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
async def test_what_is_no_file_is_refused(world: World, make):
    make(world.file)
    with pytest.raises(InternalError, match="is not a file"):
        await world.editor.write([Edit("model", "y")])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
async def test_a_read_only_folder_is_refused_and_nothing_is_left(world: World):
    world.user('model = "x"\n')
    world.home.codex_home.chmod(0o555)
    try:
        with pytest.raises(InternalError, match="failed to persist config.toml"):
            await world.editor.write([Edit("model", "y")])
    finally:
        world.home.codex_home.chmod(0o755)
    assert leftovers(world) == []


async def test_a_missing_codex_home_is_made(world: World):
    world.home.codex_home.rmdir()
    await world.editor.write([Edit("model", "x")])
    assert world.text() == 'model = "x"\n'


async def test_locks_and_copies_lie_among_our_own_files(world: World):
    world.user('model = "x"\n')
    await world.editor.write([Edit("model", "y")])
    assert leftovers(world) == []
    assert list((world.deps.state_dir / "locks").iterdir())
    assert list((world.deps.state_dir / "backups").iterdir())


async def test_what_was_written_between_reading_and_replacing_is_kept(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    world.user('model = "x"\n')
    seen: list[bytes | None] = []
    real = replace_file

    def interrupted(target: str, before: bytes | None, after: bytes) -> None:
        if not seen:
            world.file.write_text('model = "x"\nother = 1 # theirs\n')
        seen.append(before)
        real(target, before, after)

    monkeypatch.setattr("core.config.edit.replace_file", interrupted)
    await world.editor.write([Edit("model", "y")])
    assert world.text() == 'model = "y"\nother = 1 # theirs\n'
    assert len(seen) == 2


def test_replacing_refuses_when_the_file_is_another(world: World):
    world.user("a = 1\n")
    with pytest.raises(Changed):
        replace_file(str(world.file), b"a = 0\n", b"a = 2\n")
    with pytest.raises(Changed):
        replace_file(str(world.file), None, b"a = 2\n")
    assert world.text() == "a = 1\n"
    assert leftovers(world) == []


def test_what_a_killed_process_left_is_swept_up(world: World):
    world.user("a = 1\n")
    stale = world.home.codex_home / ".config.toml.jackfield-0123"
    stale.write_text("x")
    os.utime(stale, (1, 1))
    fresh = world.home.codex_home / ".config.toml.jackfield-4567"
    fresh.write_text("x")
    replace_file(str(world.file), b"a = 1\n", b"a = 2\n")
    assert leftovers(world) == [fresh.name]


def test_two_threads_lose_nothing(world: World):
    def many(name: str) -> None:
        for number in range(8):
            world.editor.write_now([Edit(f"{name}.k{number}", number)])

    threads = [threading.Thread(target=many, args=(name,)) for name in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = {f"k{number}": number for number in range(8)}
    assert read_toml(world.text()).value == {"a": expected, "b": expected, "c": expected}


_WRITER = """
import sys
from pathlib import Path
from core.config.edit import ConfigEditor
from core.config.edit_plan import Edit
from core.config.paths import Home
from core.config.store import ConfigStore

class Deps:
    read_only = False
    state_dir = Path(sys.argv[2])
    class clock:
        now = staticmethod(lambda: 0.0)

home = Home(Path(sys.argv[1]), Path(sys.argv[1]) / ".codex", Path("/nowhere"))
editor = ConfigEditor(ConfigStore(home, Deps), Deps)
for number in range(10):
    editor.write_now([Edit(f"{sys.argv[3]}.k{number}", number)])
"""


def test_two_processes_lose_nothing(world: World):
    world.user("# shared\n")
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, world.home.home, world.deps.state_dir, name],
            cwd=REPO,
        )
        for name in ("a", "b", "c")
    ]
    assert [writer.wait(timeout=50) for writer in writers] == [0, 0, 0]
    expected = {f"k{number}": number for number in range(10)}
    assert read_toml(world.text()).value == {"a": expected, "b": expected, "c": expected}
    assert world.text().startswith("# shared\n")
    assert leftovers(world) == []


# --- taking back ---


async def test_undo_restores_the_very_bytes(world: World):
    text = '# c\n[plugins."a@m"] # h\nenabled = true\n'
    world.user(text)
    result = await world.editor.write([Edit('plugins."a@m"', None), Edit("model", "x")])
    written = world.text()
    again = await world.editor.take_back(result.undo)
    assert world.text() == text
    await world.editor.take_back(again.undo)
    assert world.text() == written


async def test_undo_keeps_what_others_wrote_since(world: World):
    world.user('[plugins."a@m"]\nenabled = true\n')
    result = await world.editor.write([Edit('plugins."a@m".enabled', False)])
    world.user(world.text() + "\n[theirs]\nx = 1 # new\n")
    await world.editor.take_back(result.undo)
    assert world.text() == '[plugins."a@m"]\nenabled = true\n\n[theirs]\nx = 1 # new\n'


async def test_undo_of_a_new_table_takes_the_table_away(world: World):
    world.user("a = 1\n")
    result = await world.editor.write([Edit('plugins."a@m".enabled', False)])
    world.user(world.text() + "b = 1\n")
    await world.editor.take_back(result.undo)
    assert world.load().value.get("plugins", {}) == {}


# --- reading back ---


async def test_a_write_that_is_still_there_is_kept(world: World):
    result = await world.editor.write([Edit("a.b", 1)])
    world.user(world.text() + "c = 2\n")
    assert await world.editor.recheck(result) == "kept"


async def test_a_write_that_somebody_undid_without_seeing_it_is_written_once_more(world: World):
    world.user("x = 1\n")
    result = await world.editor.write([Edit("a.b", 1)])
    world.user("x = 2 # theirs\n")
    assert await world.editor.recheck(result) == "rewritten"
    assert read_toml(world.text()).value == {"x": 2, "a": {"b": 1}}
    assert "# theirs" in world.text()


async def test_somebody_s_own_choice_stays(world: World):
    world.user("a = 1\n")
    result = await world.editor.write([Edit("a", 2)])
    world.user("a = 3\n")
    assert await world.editor.recheck(result) == "lost"
    assert world.text() == "a = 3\n"


async def test_a_file_that_broke_since_is_told_and_left(world: World):
    result = await world.editor.write([Edit("a", 2)])
    world.user("a = [\n")
    assert await world.editor.recheck(result) == "lost"
    assert world.text() == "a = [\n"


async def test_our_own_content_is_known(world: World):
    await world.editor.write([Edit("a", 2)])
    assert world.editor.is_own(str(world.file), b"a = 2\n")
    assert not world.editor.is_own(str(world.file), b"a = 3\n")
    assert not world.editor.is_own(str(world.file), None)


async def test_errors_never_carry_the_content(world: World):
    world.user('[mcp_servers.a]\nurl = "u"\nhttp_headers = { K = "sesame" }\n')
    with pytest.raises(CoreError) as caught:
        await world.editor.write([Edit("mcp_servers.a.command", "c")])
    result = await world.editor.write([Edit("model", "m")])
    assert "sesame" not in str(caught.value)
    assert "sesame" not in repr(result.undo)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Edit("a.b", True), Edit("a", None)),
        (Edit("a", {"b": True}), Edit("a.b", False)),
        (Edit("a.b", True), Edit("a.b", None)),
    ],
)
async def test_what_we_have_changed_again_ourselves_is_not_written_once_more(
    world: World, first: Edit, second: Edit
):
    world.user("x = 1\n")
    result = await world.editor.write([first])
    again = await world.editor.write([second])
    after = world.text()
    assert await world.editor.recheck(result) == "kept"
    assert await world.editor.recheck(again) == "kept"
    assert world.text() == after


async def test_a_later_write_of_another_value_does_not_hide_that_one_was_undone(world: World):
    world.user("x = 1\n")
    result = await world.editor.write([Edit("a", 1)])
    world.user("x = 1\n")
    await world.editor.write([Edit("b", 2)])
    assert await world.editor.recheck(result) == "rewritten"
    assert read_toml(world.text()).value == {"x": 1, "a": 1, "b": 2}
