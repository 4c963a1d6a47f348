"""Brings the source of a marketplace entry onto this disk, into a directory that goes again."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial

import anyio
import anyio.to_thread

from core.config.paths import Home
from core.errors import InternalError, InvalidRequest
from core.plugins.entries import Entry
from core.plugins.install.staging import staged, sweep
from core.plugins.layout import os_reason
from core.plugins.sources.git import Git, GitFailed
from core.plugins.sources.npm import Npm, NpmFailed
from core.process import Processes
from core.protocol.plugins import GitSource, NpmSource

PREFIX = "marketplace-plugin-source-"
ABANDONED = 3600.0
"""Seconds after which a staging directory of another program counts as left behind."""

Progress = Callable[[float | None, str], None]


class SourceFetcher:
    """Clones and downloads with the person's own git and npm.

    Args:
        environ: The environment that git and npm start from.
    """

    def __init__(self, home: Home, processes: Processes, environ: Mapping[str, str]) -> None:
        self._home = home
        self._git = Git(processes, environ)
        self._npm = Npm(processes, environ)

    @asynccontextmanager
    async def fetched(self, entry: Entry, progress: Progress) -> AsyncGenerator[str | None]:
        """The directory of the plugin for as long as the block lasts; None when it has no such.

        Raises:
            InvalidRequest: git or npm failed, in the words of Codex 0.171.0.
            InternalError: Nothing can be staged.
        """
        folder = str(self._home.plugins_staging)
        await anyio.to_thread.run_sync(partial(sweep, folder, PREFIX, theirs_after=ABANDONED))
        try:
            staging = staged(folder, PREFIX, short=True)
            async with staging as place:
                try:
                    root = await self._fetch(entry, place, progress)
                except (GitFailed, NpmFailed) as error:
                    raise InvalidRequest(str(error)) from None
                yield root
        except OSError as error:
            what = "failed to create marketplace plugin source staging directory"
            raise InternalError(f"failed to install plugin: {what}: {os_reason(error)}") from None

    async def _fetch(self, entry: Entry, place: str, progress: Progress) -> str | None:
        match entry.source:
            case GitSource() as source:
                await self._git.clone(
                    source.url,
                    place,
                    ref=source.ref_name,
                    sha=source.sha,
                    progress=progress,
                )
                return await anyio.to_thread.run_sync(_below, place, source.path or "")
            case NpmSource() as source:
                return await self._npm.fetch(source, place, progress)
            case _:
                return None


def _below(root: str, path: str) -> str | None:
    """A directory inside a clone; None when the way there leads over a link."""
    here = root
    for part in path.split("/"):
        if part in ("", "."):
            continue
        here = f"{here}/{part}"
        if part == ".." or os.path.islink(here):
            return None
    return here
