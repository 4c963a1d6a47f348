"""The app directory of the backend: all its pages, one after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import quote

import anyio
import anyio.to_thread
import msgspec

from core.apps.entries import DirectoryPage, read_page, unite
from core.errors import CoreError
from core.net.backend import Backend, unreadable
from core.ports import Clock
from core.protocol.app_info import AppInfo

PUBLIC = "/connectors/directory/list"
WORKSPACE = "/connectors/directory/list_workspace"
PAGES_LIMIT = 1000

SOURCE, WORKSPACE_SOURCE = "directory", "workspace"

PageCame = Callable[[str, DirectoryPage, int], Awaitable[None]]
"""Awaited after each page: its source, the page, how many pages of that source so far."""


@dataclass(frozen=True, kw_only=True)
class Directory:
    """A directory that was read to its end.

    Attributes:
        entries: United, without the hidden ones, in the backend's order.
        pages: Of the public list; what a later reading may expect.
        at: When it was read, seconds since the epoch.
        bad: Entries that cannot be used, each with its page: `page 2, entry 3: …`.
    """

    entries: tuple[AppInfo, ...]
    pages: int
    at: float
    bad: tuple[str, ...] = ()


class DirectoryReader:
    """Reads the public list and, where the account has one, the workspace's own beside it.

    Attributes:
        refused: Why the workspace's list is missing; no failure of the whole, as observed in
            Codex 0.171.0.
    """

    def __init__(self, backend: Backend, *, strict: bool, came: PageCame) -> None:
        self._backend, self._strict, self._came = backend, strict, came
        self._lists: dict[str, list[AppInfo]] = {SOURCE: [], WORKSPACE_SOURCE: []}
        self._bad: list[str] = []
        self._failure: CoreError | None = None
        self.refused: CoreError | None = None

    async def read(self, clock: Clock, *, workspace: bool) -> Directory:
        """All pages of all lists.

        Raises:
            BackendFailed: A page of the public list did not come, or is unreadable; with
                `strict` also for one entry that is.
        """
        pages = 0
        async with anyio.create_task_group() as group:
            if workspace:
                group.start_soon(self._read_workspace)
            try:
                pages = await self._read_list(SOURCE, PUBLIC)
            except CoreError as failure:
                self._failure = failure
                group.cancel_scope.cancel()
        if self._failure is not None:
            raise self._failure
        entries = [*self._lists[SOURCE], *self._lists[WORKSPACE_SOURCE]]
        united = await anyio.to_thread.run_sync(unite, entries)
        return Directory(entries=united, pages=pages, at=clock.now(), bad=tuple(self._bad))

    async def _read_workspace(self) -> None:
        try:
            await self._read_list(WORKSPACE_SOURCE, WORKSPACE)
        except CoreError as failure:
            self.refused = failure

    async def _read_list(self, source: str, path: str) -> int:
        host = self._backend.host
        token: str | None = None
        seen: set[str] = set()
        for number in range(1, PAGES_LIMIT + 1):
            page = await _page(self._backend, path, token, number)
            if self._strict and page.bad:
                raise unreadable(f"page {number} of {host}, {page.bad[0]}")
            self._lists[source] += page.entries
            self._bad += (f"page {number}, {words}" for words in page.bad)
            await self._came(source, page, number)
            token = page.next_token
            if token is None:
                return number
            if token in seen:
                raise unreadable(f"the pages of {host} go round in a circle")
            seen.add(token)
        raise unreadable(f"{host} has more than {PAGES_LIMIT} pages")


async def _page(backend: Backend, path: str, token: str | None, number: int) -> DirectoryPage:
    query = f"token={quote(token, safe='')}&external_logos=true" if token else "external_logos=true"
    body = await backend.get(f"{path}?{query}")
    try:
        return await anyio.to_thread.run_sync(read_page, body)
    except msgspec.DecodeError as error:
        raise unreadable(f"page {number} of {backend.host} is unreadable: {error}") from error
