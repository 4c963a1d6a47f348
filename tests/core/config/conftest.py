"""A Codex home of files, and what reads it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.config.edit import ConfigEditor
from core.config.model import Loaded
from core.config.paths import Home
from core.config.store import ConfigStore
from core.ports import Deps


class World:
    """Files below one folder; `@` in a text stands for that folder."""

    def __init__(self, root: Path, deps: Deps) -> None:
        self.root = root
        self.deps = deps
        self.home = Home.of(deps)
        self.store = ConfigStore(self.home, deps)
        self.editor = ConfigEditor(self.store, deps)

    @property
    def file(self) -> Path:
        return self.home.config_file

    def write(self, path: Path, text: str | bytes) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        path.write_bytes(data.replace(b"@ROOT@", os.fsencode(self.root)))
        return path

    def user(self, text: str | bytes) -> Path:
        return self.write(self.file, text)

    def system(self, text: str) -> Path:
        return self.write(self.home.system_config_file, text)

    def required(self, text: str) -> Path:
        return self.write(self.home.requirements_file, text)

    def project(self, text: str, folder: str = "repo") -> Path:
        """A repository's config.toml; the repository is made where it is missing."""
        head = self.root / "repo" / ".git" / "HEAD"
        if not head.exists():
            self.write(head, "ref: refs/heads/main\n")
        return self.write(self.root / folder / ".codex" / "config.toml", text)

    def load(self, cwd: str | None = None, overrides: Mapping[str, Any] | None = None) -> Loaded:
        return self.store.load(self.root / cwd if cwd is not None else None, overrides)

    def text(self) -> str:
        return self.file.read_bytes().decode()


TRUSTED = '[projects."@ROOT@/repo"]\ntrust_level = "trusted"\n'


@pytest.fixture
def world(tmp_path: Path, deps: Deps) -> World:
    made = World(tmp_path, deps)
    made.home.codex_home.mkdir(parents=True, exist_ok=True)
    return made
