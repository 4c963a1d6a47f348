from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from core.errors import InternalError
from core.plugins.install.copying import copy_tree


def tree(root: Path) -> list[str]:
    return sorted(
        f"{path.relative_to(root)}{'/' if path.is_dir() else ''}" for path in root.rglob("*")
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    made = tmp_path / "source"
    made.mkdir()
    return made


@pytest.fixture
def target(tmp_path: Path) -> Path:
    made = tmp_path / "target"
    made.mkdir()
    return made


def test_files_and_directories_are_copied_hidden_and_empty_ones_too(source: Path, target: Path):
    (source / ".git" / "objects").mkdir(parents=True)
    (source / "node_modules" / "x").mkdir(parents=True)
    (source / "node_modules" / "x" / "index.js").write_bytes(b"\x00\xff" * 700_000)
    copy_tree(str(source), str(target))
    assert tree(target) == tree(source)
    assert (target / "node_modules/x/index.js").read_bytes() == b"\x00\xff" * 700_000


def test_permissions_are_kept_but_not_the_right_to_run_as_somebody_else(source: Path, target: Path):
    for name, mode in (("run", 0o755), ("private", 0o600), ("other", 0o6755)):
        (source / name).write_text("x")
        (source / name).chmod(mode)
    copy_tree(str(source), str(target))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in target.iterdir()}
    assert modes == {"run": 0o755, "private": 0o600, "other": 0o755}


def test_links_and_devices_are_left_out(source: Path, target: Path, tmp_path: Path):
    (tmp_path / "secret").write_text("secret")
    (source / "file").symlink_to(tmp_path / "secret")
    (source / "folder").symlink_to(tmp_path)
    (source / "broken").symlink_to("nowhere")
    os.mkfifo(source / "pipe")
    (source / "kept").write_text("x")
    copy_tree(str(source), str(target))
    assert tree(target) == ["kept"]


def test_a_source_that_holds_the_cache_does_not_copy_itself_for_ever(source: Path):
    staging = source / ".codex" / "plugins" / "cache" / "m" / "plugin-install-0123456789ab"
    target = staging / "p" / "local"
    target.mkdir(parents=True)
    (source / "file").write_text("x")
    copy_tree(str(source), str(target), without=str(staging))
    assert tree(target) == [
        ".codex/",
        ".codex/plugins/",
        ".codex/plugins/cache/",
        ".codex/plugins/cache/m/",
        "file",
    ]


def test_whoever_gives_up_is_heard_at_the_next_file(source: Path, target: Path):
    for number in range(10):
        (source / f"file{number}").write_text("x")
    seen: list[int] = []

    def tick() -> None:
        seen.append(1)
        if len(seen) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_tree(str(source), str(target), tick=tick)
    assert len(list(target.iterdir())) == 3


def test_a_source_that_is_gone_is_told_in_the_words_of_codex(tmp_path: Path, target: Path):
    with pytest.raises(InternalError) as caught:
        copy_tree(str(tmp_path / "gone"), str(target))
    assert caught.value.message == (
        "failed to install plugin: failed to read plugin source directory: "
        "No such file or directory (os error 2)"
    )
