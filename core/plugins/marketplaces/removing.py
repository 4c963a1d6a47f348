"""marketplace/remove: the table goes, and with it the checkout; installed plugins stay."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import anyio.to_thread

from core.config.edit_plan import Edit
from core.config.paths import Home
from core.config.replace import file_lock
from core.config.store import ConfigStore
from core.errors import InternalError, InvalidRequest
from core.plugins.install.installer import ConfigWriter
from core.plugins.install.staging import staged
from core.plugins.layout import os_reason
from core.plugins.marketplaces.roots import STAGING, checkout_of, configured
from core.plugins.names import marketplace_name_fault

_PREFIX = "marketplace-remove-"


class MarketplaceRemover:
    """Removes marketplaces from the user's configuration.

    Args:
        state_dir: Our own folder; holds the lock that keeps our processes apart.
    """

    def __init__(
        self, home: Home, configs: ConfigStore, config: ConfigWriter, state_dir: Path
    ) -> None:
        self._home = home
        self._configs = configs
        self._config = config
        self._state_dir = state_dir

    async def remove(self, name: str) -> str | None:
        """Forget a marketplace, spelled exactly.

        Returns:
            The checkout that was deleted, or None where there was none.

        Raises:
            CoreError: In the words of Codex 0.171.0.
        """
        if fault := marketplace_name_fault(name):
            raise InvalidRequest(fault)
        root = checkout_of(self._home, name)
        known = configured(await anyio.to_thread.run_sync(self._configs.load, None))
        there = await anyio.to_thread.run_sync(os.path.lexists, root)
        if name not in known:
            for other in known:
                if other.lower() == name.lower():
                    what = f"does not match configured marketplace `{other}` exactly"
                    raise InvalidRequest(f"marketplace `{name}` {what}")
            if not there:
                raise InvalidRequest(f"marketplace `{name}` is not configured or installed")
        else:
            await self._config.write([Edit.at("marketplaces", name, value=None)], tolerant=True)
        if not there:
            return None
        await self._delete(root)
        return root

    async def _delete(self, root: str) -> None:
        def move(place: str) -> None:
            with file_lock(self._state_dir, root):
                os.rename(root, f"{place}/removed")

        try:
            async with staged(f"{self._home.tmp_dir}/{STAGING}", _PREFIX) as place:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(move, place)
        except OSError as error:
            what = f"failed to remove installed marketplace root {root}"
            raise InternalError(f"{what}: {os_reason(error)}") from None
