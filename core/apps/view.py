"""Through whose configuration a list of apps is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from core.apps.policy import AppPolicy
from core.seams import NamedApp, PluginApps

if TYPE_CHECKING:
    from core.config.model import Loaded


@dataclass(frozen=True)
class View:
    """A configuration, the apps that its plugins name, and its switches."""

    loaded: Loaded
    named: tuple[NamedApp, ...]

    @cached_property
    def policy(self) -> AppPolicy:
        return AppPolicy(self.loaded)


class Views:
    """Makes views; reading the plugins' files happens in a thread."""

    def __init__(self, load: Callable[[Path | None], Loaded], plugins: PluginApps) -> None:
        self._load, self._plugins = load, plugins

    async def at(self, cwd: Path | None) -> View:
        """Of a directory, or of the user's configuration alone."""
        return await anyio.to_thread.run_sync(lambda: self._view(self._load(cwd)))

    async def of(self, loaded: Loaded) -> View:
        """Of a thread's own configuration."""
        return await anyio.to_thread.run_sync(self._view, loaded)

    def _view(self, loaded: Loaded) -> View:
        return View(loaded, self._plugins.named_apps(loaded.cwd))
