from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli.main import main

Said = tuple[int, str, str]
"""Exit code, stdout, stderr."""


@pytest.fixture
def config(home: Path) -> Path:
    """An empty config.toml of a home that is there."""
    file = home / ".codex" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    file.touch()
    return file


@pytest.fixture
def say(
    home: Path, config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Said]:
    """Runs a command line in a working directory of its own."""
    work = home / "work"
    work.mkdir()
    monkeypatch.chdir(work)

    def run(*words: str) -> Said:
        code = main(words)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run
