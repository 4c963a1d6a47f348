"""One copy on its way into the plugin cache: made beside its place, then switched. Blocks."""

from __future__ import annotations

import os
from pathlib import Path

import anyio.from_thread

from core.config.replace import file_lock
from core.errors import InternalError
from core.plugins.entries import Entry
from core.plugins.install.activate import activate
from core.plugins.install.copying import FAILED, copy_tree
from core.plugins.install.judging import Judged
from core.plugins.install.migrating import migrate_commands
from core.plugins.layout import os_reason
from core.plugins.market_commit import checkout_commit
from core.protocol.plugins import GitSource


def commit_of(root: str, entry: Entry) -> str:
    """The commit of a clone that `root` is in."""
    source = entry.source
    if not isinstance(source, GitSource):
        return ""
    for part in (source.path or "").split("/"):
        if part not in ("", "."):
            root = os.path.dirname(root)
    return checkout_commit(root)


class Copying:
    """One copy on its way into the cache; runs in threads.

    Args:
        raw: It is taken over as it is, nothing is made of it.
    """

    def __init__(
        self, source: str, folder: str, plugin: str, judged: Judged, *, raw: bool = False
    ) -> None:
        self._source, self._plugin, self._judged, self._raw = source, plugin, judged, raw
        self.target = f"{folder}/{plugin}"
        self._staging = self._tree = self.fresh = ""

    def copy(self, staging: str) -> None:
        """Fill the staging directory; stops when its caller is cancelled."""
        self._staging, self._tree = staging, f"{staging}/{self._plugin}"
        self.fresh = root = f"{self._tree}/{self._judged.version}"
        try:
            os.makedirs(root)
        except OSError as error:
            what = "failed to create plugin target directory"
            raise InternalError(f"{FAILED}{what}: {os_reason(error)}") from None
        copy_tree(
            self._source,
            root,
            without=self._staging,
            tick=anyio.from_thread.check_cancelled,
        )
        if self._raw:
            return
        try:
            self._complete(root)
        except OSError as error:
            what = "failed to write plugin file"
            raise InternalError(f"{FAILED}{what}: {os_reason(error)}") from None

    def _complete(self, root: str) -> None:
        if self._judged.substitute is not None:
            os.makedirs(f"{root}/.codex-plugin", exist_ok=True)
            path = f"{root}/.codex-plugin/plugin.json"
            with open(path, "wb") as stream:
                stream.write(self._judged.substitute)
        migrate_commands(root)

    def switch(self, state_dir: Path) -> None:
        """Put the copy in its place."""
        with file_lock(state_dir, os.path.dirname(self.target)):
            activate(self._tree, self.target, self._judged.version, self._staging)
