"""A home into which plugins can be installed, and git repositories to install them from."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.config.edit import ConfigEditor
from core.config.paths import Home
from core.config.store import ConfigStore
from core.plugins.entries import Entry
from core.plugins.install.installer import Installer
from core.plugins.marketplace_file import Marketplace, load
from core.plugins.marketplaces.adding import MarketplaceAdder
from core.plugins.marketplaces.removing import MarketplaceRemover
from core.plugins.marketplaces.upgrading import MarketplaceUpgrader
from core.plugins.sources.fetch import SourceFetcher
from core.plugins.sources.git import Git
from core.ports import Deps
from core.process import Processes
from core.service.config import ConfigService
from tests.core.plugins.world import put, put_market

URL = "https://git.test/"
"""Where the repositories of a test seem to be; git reads it as the test's own folder."""


@dataclass
class Workshop:
    """Everything that installs, over a home of the test's own."""

    deps: Deps
    home: Home
    configs: ConfigStore
    config: ConfigService
    processes: Processes
    repositories: Path
    told: list[tuple[float | None, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        state = self.deps.state_dir
        self.git = Git(self.processes, self.deps.environ)
        fetcher = SourceFetcher(self.home, self.processes, self.deps.environ)
        self.installer = Installer(self.home, self.config, fetcher, state)
        self.adder = MarketplaceAdder(self.home, self.configs, self.config, self.git, self.deps)
        self.remover = MarketplaceRemover(self.home, self.configs, self.config, state)
        self.upgrader = MarketplaceUpgrader(
            self.home, self.configs, self.git, self.installer, state
        )

    def progress(self, share: float | None, note: str) -> None:
        self.told.append((share, note))

    def market(self, root: Path, *entries: Any, name: str = "m") -> Marketplace:
        path = put_market(root, *entries, name=name)
        return load(str(path), str(root), home=str(self.home.home))

    def entry(self, source: Any, name: str = "p", **more: Any) -> Entry:
        """An entry of a marketplace `m` at the home."""
        market = self.market(self.home.home, {"name": name, "source": source, **more})
        assert len(market.entries) == 1, market.skipped
        return market.entries[0]

    def cached(self) -> list[str]:
        """Files of the plugin cache, `.git` and empty directories aside."""
        base = self.home.plugins_cache
        paths = (path.relative_to(base) for path in base.rglob("*") if path.is_file())
        return sorted(str(path) for path in paths if ".git" not in path.parts)

    def leftovers(self) -> list[str]:
        """What is staged somewhere."""
        folders = (
            *self.home.plugins_cache.glob("*/plugin-install-*"),
            *self.home.plugins_staging.glob("*"),
            *(self.home.marketplaces_dir / ".staging").glob("*"),
        )
        return sorted(str(path) for path in folders)

    def tables(self) -> dict[str, Any]:
        file = self.home.config_file
        return tomllib.loads(file.read_text()) if file.exists() else {}

    def repository(self, name: str, *commits: dict[str, Any], tag: str | None = None) -> Path:
        """A repository; every commit adds files, the first may be tagged."""
        path = self.repositories / name
        if not path.exists():
            path.mkdir(parents=True)
            git(path, "init", "-q", "-b", "main")
        for number, files in enumerate(commits):
            for file, content in files.items():
                if content is None:
                    (path / file).unlink()
                else:
                    put(path / file, content)
            git(path, "add", "-A")
            git(path, "commit", "-q", "-m", str(number))
            if tag is not None and not number:
                git(path, "tag", tag)
        return path


def git(folder: Path, *arguments: str) -> str:
    """Our own git, without anybody's configuration."""
    names = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
    env = {f"GIT_{name}": "test@example.com" for name in names}
    env |= {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=env, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@asynccontextmanager
async def workshop(deps: Deps, root: Path) -> AsyncGenerator[Workshop]:
    """Everything that installs; its processes end with the block."""
    repositories = root / "repositories"
    settings = root / "gitconfig"
    url = json.dumps(f"file://{repositories}/")
    settings.write_text(f"[url {url}]\n\tinsteadOf = {URL}\n")
    environ = {**deps.environ, "GIT_CONFIG_GLOBAL": str(settings), "GIT_CONFIG_NOSYSTEM": "1"}
    deps = replace(deps, environ=environ)
    home, processes = Home.of(deps), Processes()
    configs = ConfigStore(home, deps)
    config = ConfigService(configs, ConfigEditor(configs, deps), deps, lambda event: None)
    try:
        yield Workshop(deps, home, configs, config, processes, repositories)
    finally:
        await processes.aclose()
