"""Jackfield's own settings file."""

from __future__ import annotations

from pathlib import Path

from tui.settings import Settings, read_settings


def written(folder: Path, text: str) -> Settings:
    (folder / "settings.toml").write_text(text)
    return read_settings(folder)


def test_no_file_is_no_fault(tmp_path: Path):
    assert read_settings(tmp_path) == Settings()


def test_theme_and_ascii_are_taken(tmp_path: Path):
    assert written(tmp_path, 'theme = "paper"\nascii = true\n') == Settings(
        theme="paper", ascii=True
    )


def test_a_wrong_value_leaves_the_others_and_is_told(tmp_path: Path):
    settings = written(tmp_path, 'theme = "pink"\nascii = false\nspeed = 3\n')
    assert (settings.theme, settings.ascii) == (None, False)
    assert "theme must be one of dusk" in settings.fault
    assert "speed is not known" in settings.fault


def test_broken_toml_is_told_with_its_place(tmp_path: Path):
    settings = written(tmp_path, "theme = \n")
    assert settings.theme is None
    assert "settings.toml" in settings.fault
    assert "line 1" in settings.fault


def test_keys_and_the_real_cursor_are_taken(tmp_path: Path):
    settings = written(tmp_path, 'cursor = true\n[keys]\n"row.mend" = "f5"\n"app.quit" = 3\n')
    assert settings.cursor and settings.keys == {"row.mend": "f5"}
    assert 'keys.app.quit must be a text, such as "^g" or "f5"' in settings.fault


def test_keys_that_are_no_table_and_a_cursor_that_is_no_word_are_told(tmp_path: Path):
    settings = written(tmp_path, 'cursor = "yes"\nkeys = ["a"]\n')
    assert not settings.cursor and settings.keys == {}
    assert "cursor must be true or false" in settings.fault
    assert "keys must be a table" in settings.fault
