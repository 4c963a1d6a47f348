"""plugin/list of the real app-server installs: what is configured and differs from its source.

Observed in Codex 0.171.0: every configured plugin of the listed marketplaces, disabled or not,
whose source has another version than the installed copy, or that has no copy, is installed.
Sources of git and npm plugins are fetched anew for every list. Failures keep the old copy.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.to_thread

from core.errors import CoreError
from core.plugins.install.installer import Installer
from core.plugins.listing import Found
from core.scope import RequestScope

log = logging.getLogger(__name__)
Changed = Callable[[str, RequestScope], Awaitable[None]]


class RefreshOnList:
    """Brings installed copies up to what was listed.

    Args:
        changed: Told once per refresh that has changed a copy.
        spawn: Starts background work.
    """

    def __init__(self, installer: Installer, changed: Changed, spawn: Callable[..., Any]) -> None:
        self._installer = installer
        self._changed = changed
        self._spawn = spawn
        self._turn = anyio.Lock()

    def start(self, found: Found, scope: RequestScope) -> None:
        """`run`, in the background."""
        self._spawn(self.run, found, scope)

    async def run(self, found: Found, scope: RequestScope) -> int:
        """Install what differs; how many copies have changed."""
        async with self._turn:
            copied = await self._copy(found)
        if copied:
            await self._changed("refresh", scope)
        return copied

    async def _copy(self, found: Found) -> int:
        taken: set[str] = set()
        copied = 0
        for read in found.reads:
            if not found.configures(read.market.name):
                continue
            for offer in await anyio.to_thread.run_sync(lambda one=read: one.offers):
                plugin_id = f"{offer.entry.name}@{read.market.name}"
                if plugin_id in taken or plugin_id not in found.states.switches:
                    continue
                taken.add(plugin_id)
                root = found.states.root(plugin_id)
                version = os.path.basename(root) if root is not None else None
                try:
                    done = await self._installer.copy(
                        read.market.name, offer.entry, unless_version=version
                    )
                except CoreError as error:
                    log.info("%s stays as it is: %s", plugin_id, error)
                    continue
                copied += done.copied
        return copied
