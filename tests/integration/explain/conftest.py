from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.cli import verb_run
from core.ports import Deps
from tests.integration.explain.world import World


@pytest.fixture
def world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[World]:
    """A home, a project, and a folder for what an administrator requires."""
    real = verb_run.deps_of

    def deps_of(given: object) -> Deps:
        return replace(real(given), system_dir=tmp_path / "system")  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(verb_run, "deps_of", deps_of)
    world = World(tmp_path, monkeypatch, capsys)
    with world.ends:
        yield world
