"""marketplace/add: a directory is recorded, a repository is cloned, looked at and recorded."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from core.config.edit_plan import Edit
from core.config.keypath import format_key_path
from core.config.paths import Home
from core.config.replace import file_lock
from core.config.store import ConfigStore
from core.errors import InternalError, InvalidRequest
from core.plugins.allowed import SourcePolicy
from core.plugins.install.installer import ConfigWriter, Progress, no_progress
from core.plugins.install.staging import staged, sweep
from core.plugins.layout import os_reason
from core.plugins.marketplaces.roots import (
    PREFIX,
    Configured,
    checkout_of,
    configured,
    holds_marketplace,
    read_root,
    staging_folder,
)
from core.plugins.marketplaces.source_text import GitPlace, LocalPlace, marketplace_source
from core.plugins.sources.fetch import ABANDONED
from core.plugins.sources.git import Git, GitFailed
from core.ports import Deps


@dataclass(frozen=True)
class Added:
    """A configured marketplace. `already`: it was so before, and nothing was changed."""

    name: str
    root: str
    already: bool


class MarketplaceAdder:
    """Adds marketplaces to the user's configuration."""

    def __init__(
        self, home: Home, configs: ConfigStore, config: ConfigWriter, git: Git, deps: Deps
    ) -> None:
        self._home = home
        self._configs = configs
        self._config = config
        self._git = git
        self._deps = deps

    async def add(
        self,
        source: str,
        ref: str | None = None,
        sparse: Sequence[str] = (),
        progress: Progress = no_progress,
    ) -> Added:
        """Add what a person has written.

        Raises:
            CoreError: In the words of Codex 0.171.0; nothing was changed.
        """
        read = partial(
            marketplace_source,
            source,
            ref,
            tuple(sparse),
            cwd=str(self._deps.cwd),
            home=str(self._home.home),
        )
        place = await anyio.to_thread.run_sync(read)
        try:
            await anyio.to_thread.run_sync(self._prepare)
            await anyio.to_thread.run_sync(self._demand, place)
            if isinstance(place, LocalPlace):
                return await self._add_local(place)
            return await self._add_git(place, progress)
        except OSError as error:
            what = "failed to create marketplace staging directory"
            raise InternalError(f"{what}: {os_reason(error)}") from None

    def _prepare(self) -> None:
        os.makedirs(self._home.marketplaces_dir, exist_ok=True)
        sweep(staging_folder(self._home), PREFIX, theirs_after=ABANDONED)

    def _demand(self, place: LocalPlace | GitPlace) -> None:
        policy = SourcePolicy(self._home, self._configs.load(None))
        if fault := policy.place_fault(place):
            raise InvalidRequest(fault, evidence=policy.evidence)

    def _known(self) -> dict[str, Configured]:
        return configured(self._configs.load(None))

    async def _add_local(self, place: LocalPlace) -> Added:
        market = await anyio.to_thread.run_sync(read_root, self._home, place.root)
        known = (await anyio.to_thread.run_sync(self._known)).get(market.name)
        if known is not None:
            if known.kind == "local" and _same_directory(known.source, place.root):
                return Added(market.name, place.root, True)
            raise _taken(market.name)
        await self._record(market.name, {"source_type": "local", "source": place.root})
        return Added(market.name, place.root, False)

    async def _add_git(self, place: GitPlace, progress: Progress) -> Added:
        if (already := await anyio.to_thread.run_sync(self._already, place)) is not None:
            return already
        async with staged(staging_folder(self._home), PREFIX, short=True) as staging:
            checkout = f"{staging}/checkout"
            try:
                await self._git.clone(
                    place.url, checkout, ref=place.ref, sparse=place.sparse, progress=progress
                )
            except GitFailed as error:
                raise InternalError(str(error)) from None
            market = await anyio.to_thread.run_sync(read_root, self._home, checkout)
            known = (await anyio.to_thread.run_sync(self._known)).get(market.name)
            if known is not None and not _same(known, place):
                raise _taken(market.name)
            root = checkout_of(self._home, market.name)
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._move, checkout, root, market.name)
                await self._record_moved(market.name, root, place)
        return Added(market.name, root, False)

    def _already(self, place: GitPlace) -> Added | None:
        for known in self._known().values():
            root = checkout_of(self._home, known.name)
            if _same(known, place) and holds_marketplace(root):
                return Added(known.name, root, True)
        return None

    def _move(self, checkout: str, root: str, name: str) -> None:
        with file_lock(self._deps.state_dir, root):
            if os.path.lexists(root):
                raise _taken(name)
            os.rename(checkout, root)

    async def _record_moved(self, name: str, root: str, place: GitPlace) -> None:
        table: dict[str, Any] = {"source_type": "git", "source": place.url}
        if place.ref is not None:
            table["ref"] = place.ref
        if place.sparse:
            table["sparse_paths"] = list(place.sparse)
        try:
            await self._record(name, table)
        except BaseException:
            await anyio.to_thread.run_sync(self._take_back, root)
            raise

    def _take_back(self, root: str) -> None:
        """A checkout that no configuration names would block the next try."""
        from core.plugins.install.staging import remove_tree

        remove_tree(root)

    async def _record(self, name: str, table: dict[str, Any]) -> None:
        edit = Edit(format_key_path(("marketplaces", name)), table, "upsert")
        await self._config.write([edit], tolerant=True)


def _same(known: Configured, place: GitPlace) -> bool:
    return known.kind == "git" and (known.source, known.ref, known.sparse) == (
        place.url,
        place.ref,
        place.sparse,
    )


def _same_directory(source: str, root: str) -> bool:
    return os.path.realpath(source) == root


def _taken(name: str) -> InvalidRequest:
    what = f"marketplace '{name}' is already added from a different source"
    return InvalidRequest(f"{what}; remove it before adding this source")
