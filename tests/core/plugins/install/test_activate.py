from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import InternalError
from core.plugins.install import activate as module
from core.plugins.install.activate import activate, exchange


class Cache:
    """A plugin directory, and one that is staged for it."""

    def __init__(self, root: Path) -> None:
        self.target = root / "p"
        self.staging = root / "plugin-install-0123456789ab"
        self.staging.mkdir()

    def staged(self, version: str) -> Path:
        tree = self.staging / "p"
        (tree / version).mkdir(parents=True)
        (tree / version / "which").write_text(f"new {version}")
        return tree

    def present(self, version: str) -> None:
        (self.target / version).mkdir(parents=True)
        (self.target / version / "which").write_text(f"old {version}")

    def activate(self, version: str) -> None:
        activate(str(self.staged(version)), str(self.target), version, str(self.staging))

    def content(self) -> dict[str, str]:
        return {path.name: (path / "which").read_text() for path in self.target.iterdir()}


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path)


@pytest.fixture(params=["exchange", "two renames"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the system's exchange of two paths, and as where there is none."""
    if request.param != "exchange":
        monkeypatch.setattr(module, "exchange", lambda one, other: False)


def test_the_first_copy_becomes_the_plugin(cache: Cache):
    cache.activate("1.0.0")
    assert cache.content() == {"1.0.0": "new 1.0.0"}


@pytest.mark.usefixtures("way")
def test_a_copy_of_the_same_version_takes_the_place_of_the_old_one(cache: Cache):
    cache.present("1.0.0")
    cache.activate("1.0.0")
    assert cache.content() == {"1.0.0": "new 1.0.0"}


@pytest.mark.usefixtures("way")
def test_another_version_drives_out_all_others(cache: Cache):
    cache.present("local")
    cache.present("1.0.0")
    cache.activate("0.9.0")
    assert cache.content() == {"0.9.0": "new 0.9.0"}


def test_files_beside_the_versions_stay(cache: Cache):
    cache.present("1.0.0")
    (cache.target / ".codex-remote-plugin-install.json").write_text("{}")
    cache.activate("2.0.0")
    assert (cache.target / ".codex-remote-plugin-install.json").exists()


def test_a_file_in_the_place_of_the_plugin_is_told_in_the_words_of_codex(cache: Cache):
    cache.target.write_text("a file")
    with pytest.raises(InternalError) as caught:
        cache.activate("1.0.0")
    assert caught.value.message == (
        "failed to install plugin: failed to activate updated plugin cache version: "
        "Not a directory (os error 20)"
    )
    assert cache.target.read_text() == "a file"


def test_a_link_in_the_place_of_the_plugin_is_replaced_and_what_it_points_to_untouched(
    cache: Cache, tmp_path: Path
):
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "1.0.0").mkdir(parents=True)
    (elsewhere / "1.0.0" / "which").write_text("theirs")
    cache.target.symlink_to(elsewhere)
    cache.activate("1.0.0")
    assert not cache.target.is_symlink()
    assert cache.content() == {"1.0.0": "new 1.0.0"}
    assert (elsewhere / "1.0.0" / "which").read_text() == "theirs"


def test_without_an_exchange_a_failed_switch_brings_the_old_copy_back(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
):
    cache.present("1.0.0")
    staged = cache.staged("1.0.0")
    monkeypatch.setattr(module, "exchange", lambda one, other: False)
    moved = module.move_aside

    def move_and_break(path: str, staging: str) -> str:
        former = moved(path, staging)
        staged.rename(cache.staging / "gone")
        return former

    monkeypatch.setattr(module, "move_aside", move_and_break)
    with pytest.raises(InternalError, match="failed to activate"):
        activate(str(staged), str(cache.target), "1.0.0", str(cache.staging))
    assert cache.content() == {"1.0.0": "old 1.0.0"}


def test_an_exchange_with_something_that_is_not_there_is_an_error(tmp_path: Path):
    (tmp_path / "one").mkdir()
    try:
        assert not exchange(str(tmp_path / "one"), str(tmp_path / "nothing"))
    except OSError as error:
        assert error.errno == 2
