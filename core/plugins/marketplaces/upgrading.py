"""marketplace/upgrade: what has moved is cloned anew and exchanged."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from json import dumps
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
import msgspec

from core.config.paths import Home
from core.config.replace import file_lock
from core.config.store import ConfigStore
from core.errors import CoreError, InvalidRequest
from core.plugins.allowed import SourcePolicy, place_of
from core.plugins.entries import Entry
from core.plugins.install.activate import exchange, move_aside
from core.plugins.install.installer import Installer, Progress, no_progress
from core.plugins.install.staging import staged, sweep
from core.plugins.layout import os_reason
from core.plugins.marketplace_file import Marketplace
from core.plugins.marketplaces.roots import (
    PREFIX,
    Configured,
    checkout_of,
    configured,
    holds_marketplace,
    staging_folder,
    validated,
)
from core.plugins.sources.fetch import ABANDONED
from core.plugins.sources.git import Git, GitFailed
from core.plugins.state import PluginStates

RECORD = ".codex-marketplace-install.json"
CopyAnew = Callable[[str, Entry], Awaitable[object]]


@dataclass
class Upgraded:
    """What an upgrade came to.

    Attributes:
        selected: Names of the marketplaces that were looked at.
        roots: Checkouts with new content.
        errors: Names with what went wrong; their old checkouts are kept.
    """

    selected: tuple[str, ...] = ()
    roots: list[str] = field(default_factory=list[str])
    errors: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


class MarketplaceUpgrader:
    """Brings configured git marketplaces up to date.

    Args:
        installer: Copies the installed plugins of an upgraded marketplace anew.
        state_dir: Our own folder; holds the lock that keeps our processes apart.
    """

    def __init__(
        self, home: Home, configs: ConfigStore, git: Git, installer: Installer, state_dir: Path
    ) -> None:
        self._home = home
        self._configs = configs
        self._git = git
        self._installer = installer
        self._state_dir = state_dir

    async def upgrade(
        self,
        name: str | None,
        progress: Progress = no_progress,
        copy: CopyAnew | None = None,
    ) -> Upgraded:
        """Upgrade one by name, or all.

        Args:
            copy: Copies an installed plugin of an upgraded marketplace anew, given the
                marketplace's name; None does it as Codex does, whatever there was before.

        Raises:
            InvalidRequest: There is no git marketplace of this name.
        """
        loaded = await anyio.to_thread.run_sync(self._configs.load, None)
        policy = await anyio.to_thread.run_sync(SourcePolicy, self._home, loaded)
        known = configured(loaded)
        wanted = [one for one in known.values() if one.kind == "git" and one.source]
        if name is not None:
            wanted = [one for one in wanted if one.name == name]
            if not wanted:
                raise InvalidRequest(f"marketplace `{name}` is not configured as a Git marketplace")
        wanted.sort(key=lambda one: one.name)
        upgraded = Upgraded(tuple(one.name for one in wanted))
        for number, one in enumerate(wanted):
            progress(number / len(wanted), one.name)
            if fault := policy.place_fault(place_of(one)):
                upgraded.errors.append((one.name, fault))
                continue
            try:
                market = await self._one(one, _part(progress, number, len(wanted)))
            except (GitFailed, CoreError) as error:
                upgraded.errors.append((one.name, str(error)))
            except OSError as error:
                upgraded.errors.append((one.name, os_reason(error)))
            else:
                if market is not None:
                    upgraded.roots.append(market.root)
                    await self._copy_anew(market, copy or self._installer.copy)
        return upgraded

    async def _one(self, one: Configured, progress: Progress) -> Marketplace | None:
        """The marketplace when it has new content."""
        root = checkout_of(self._home, one.name)
        revision = await self._git.revision(one.source, one.ref)
        record = _record(one, revision)
        if await anyio.to_thread.run_sync(_up_to_date, root, record):
            return None
        folder = staging_folder(self._home)
        await anyio.to_thread.run_sync(partial(sweep, folder, PREFIX, theirs_after=ABANDONED))
        async with staged(folder, PREFIX, short=True) as staging:
            checkout = f"{staging}/checkout"
            await self._git.clone(
                one.source, checkout, ref=one.ref, sparse=one.sparse, progress=progress
            )
            await anyio.to_thread.run_sync(self._check, one.name, checkout)
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._exchange, checkout, root, staging, record)
        return await anyio.to_thread.run_sync(validated, self._home, root)

    def _check(self, name: str, checkout: str) -> None:
        try:
            market = validated(self._home, checkout)
        except CoreError as error:
            what = "failed to validate upgraded marketplace root"
            raise InvalidRequest(f"{what}: {error.message}") from None
        if market.name != name:
            what = (
                f"upgraded marketplace name `{market.name}` does not match configured marketplace"
            )
            raise InvalidRequest(f"{what} `{name}`")

    def _exchange(self, checkout: str, root: str, staging: str, record: dict[str, Any]) -> None:
        with open(f"{checkout}/{RECORD}", "w", encoding="utf-8") as stream:
            stream.write(dumps(record, indent=2))
        with file_lock(self._state_dir, root):
            if not os.path.lexists(root):
                os.rename(checkout, root)
            elif not exchange(checkout, root):
                former = move_aside(root, staging)
                try:
                    os.rename(checkout, root)
                except OSError:
                    os.rename(former, root)
                    raise

    async def _copy_anew(self, market: Marketplace, copy: CopyAnew) -> None:
        """Installed plugins of an upgraded one; what cannot be copied keeps its old copy."""
        loaded = await anyio.to_thread.run_sync(self._configs.load, None)
        states = PluginStates(self._home, [loaded])
        for entry in market.listed:
            if states.installed(f"{entry.name}@{market.name}"):
                try:
                    await copy(market.name, entry)
                except CoreError:
                    continue


def _part(progress: Progress, number: int, total: int) -> Progress:
    """The progress of one of several, as a share of all."""

    def tell(share: float | None, note: str) -> None:
        progress(None if share is None else (number + share) / total, note)

    return tell


def _record(one: Configured, revision: str) -> dict[str, Any]:
    return {
        "source_type": "git",
        "source": one.source,
        "ref_name": one.ref,
        "sparse_paths": list(one.sparse),
        "revision": revision,
    }


def _up_to_date(root: str, record: dict[str, Any]) -> bool:
    if not holds_marketplace(root):
        return False
    try:
        with open(f"{root}/{RECORD}", "rb") as stream:
            written: Any = msgspec.json.decode(stream.read())
    except (OSError, msgspec.DecodeError):
        return False
    if not isinstance(written, dict):
        return False
    members = cast("dict[str, Any]", written)
    return all(members.get(key) == value for key, value in record.items())
