"""One load of the app list: directory and hosted tools at the same time, each step told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import anyio
import anyio.to_thread

from core.apps.directory import (
    SOURCE,
    WORKSPACE_SOURCE,
    Directory,
    DirectoryReader,
    PageCame,
)
from core.apps.disk import DiskCache
from core.apps.entries import DirectoryPage
from core.apps.snapshots import Committed, ToolSnapshots
from core.errors import CoreError
from core.net.backend import BackendFailed, open_backend
from core.ports import Clock, HttpFactory
from core.seams import BackendAccount, HostedServer, HostedTools
from core.threads.policy import ThreadPolicy

TOOLS, ACCOUNT = "tools", "account"


@dataclass(frozen=True, kw_only=True)
class Errand:
    """What to load, and for whom.

    Attributes:
        strict: One entry that cannot be used fails the directory, as on the wire.
        originator: Name of the client that asks, told to the backend.
        directory, tools: Which of the two is needed.
    """

    account: BackendAccount
    server: HostedServer
    policy: ThreadPolicy
    strict: bool
    originator: str = "jackfield"
    directory: bool = True
    tools: bool = True


class Steps(Protocol):
    """Told of a load as it goes; calls may overlap."""

    async def page(self, source: str, page: DirectoryPage, done: int) -> None: ...
    async def directory(self, directory: Directory) -> None: ...
    async def tools(self, committed: Committed) -> None: ...
    async def failed(self, source: str, failure: CoreError) -> None: ...


@dataclass
class Outcome:
    """What came of a load."""

    directory: Directory | None = None
    tools: Committed | None = None
    failures: dict[str, CoreError] = field(default_factory=dict[str, CoreError])


class Loader:
    """Runs loads. Every source has the same deadline, in seconds, from the load's beginning."""

    def __init__(
        self,
        *,
        http: HttpFactory,
        clock: Clock,
        hosted: HostedTools,
        snapshots: ToolSnapshots,
        disk: DiskCache,
        deadline: float,
    ) -> None:
        self._http, self._clock, self._hosted = http, clock, hosted
        self._snapshots, self._disk, self._deadline = snapshots, disk, deadline

    async def run(
        self,
        errand: Errand,
        steps: Sequence[Steps],
        still: Callable[[], Awaitable[bool]],
    ) -> Outcome:
        """Load what is needed; a source that fails is told to the steps and leaves the other be.

        Args:
            still: Asked before anything is kept: is it still the same account?
        """
        load = _Load(self, errand, steps, still)
        async with anyio.create_task_group() as group:
            if errand.directory:
                group.start_soon(load.guard, SOURCE, load.read_directory)
            if errand.tools:
                group.start_soon(load.guard, TOOLS, load.list_tools)
        return load.result

    async def list_tools(
        self, errand: Errand, still: Callable[[], Awaitable[bool]]
    ) -> Committed | None:
        """One tools/list, committed as the new snapshot; None when the account has changed.

        Raises:
            CoreError: The hosted server's failure; the old snapshot stays.
        """
        told = await self._hosted.list_hosted_tools(
            errand.server, policy=errand.policy, deadline=self._deadline
        )
        return await self._snapshots.commit(errand.account, told) if await still() else None

    async def tools_within_deadline(
        self, errand: Errand, still: Callable[[], Awaitable[bool]]
    ) -> Committed | None:
        """As `list_tools`, and no answer in time is a failure too."""
        with anyio.move_on_after(self._deadline):
            return await self.list_tools(errand, still)
        raise late(self._deadline)

    @property
    def deadline(self) -> float:
        return self._deadline

    async def read_directory(
        self, errand: Errand, came: PageCame
    ) -> tuple[Directory, CoreError | None]:
        """The whole directory, and why the workspace's own list is missing from it."""
        async with open_backend(
            self._http, errand.account, originator=errand.originator, deadline=self._deadline
        ) as backend:
            reader = DirectoryReader(backend, strict=errand.strict, came=came)
            directory = await reader.read(self._clock, workspace=errand.account.workspace)
        return directory, reader.refused

    async def keep(self, account: BackendAccount, directory: Directory) -> None:
        """Write the directory to disk for the next start."""
        await anyio.to_thread.run_sync(self._disk.save_directory, account, directory)


def late(deadline: float) -> BackendFailed:
    """No answer in `deadline` seconds."""
    return BackendFailed(
        f"timed out after {deadline:g} seconds", f"no answer within {deadline:g} s"
    )


class _Load:
    def __init__(
        self,
        loader: Loader,
        errand: Errand,
        steps: Sequence[Steps],
        still: Callable[[], Awaitable[bool]],
    ) -> None:
        self._loader, self._errand, self._steps, self._still = loader, errand, steps, still
        self.result = Outcome()

    async def guard(self, source: str, work: Callable[[], Awaitable[None]]) -> None:
        failure: CoreError | None = None
        with anyio.move_on_after(self._loader.deadline) as scope:
            try:
                await work()
            except CoreError as error:
                failure = error
        if scope.cancelled_caught:
            failure = late(self._loader.deadline)
        if failure is not None:
            await self._fail(source, failure)

    async def _fail(self, source: str, failure: CoreError) -> None:
        self.result.failures[source] = failure
        for steps in self._steps:
            await steps.failed(source, failure)

    async def _page(self, source: str, page: DirectoryPage, done: int) -> None:
        for steps in self._steps:
            await steps.page(source, page, done)

    async def read_directory(self) -> None:
        directory, refused = await self._loader.read_directory(self._errand, self._page)
        if refused is not None:
            await self._fail(WORKSPACE_SOURCE, refused)
        if not await self._still():
            return
        self.result.directory = directory
        for steps in self._steps:
            await steps.directory(directory)
        await self._loader.keep(self._errand.account, directory)

    async def list_tools(self) -> None:
        committed = await self._loader.list_tools(self._errand, self._still)
        if committed is None:
            return
        self.result.tools = committed
        for steps in self._steps:
            await steps.tools(committed)
