"""Everything that is remembered of the plugins of one Codex home, in one place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from core.plugins.updates.backups import Backups
from core.plugins.updates.ledger import Ledger
from core.plugins.updates.standing import Memory


class PluginMemory:
    """Pins and notes in the ledger, former versions, and what servers have named.

    Attributes:
        heard: Commits by URL and ref ("" = HEAD), as told at the last forced refetch; not kept.
    """

    def __init__(self, state_dir: Path, codex_home: Path, now: Callable[[], float]) -> None:
        self.ledger = Ledger(state_dir, codex_home)
        self.backups = Backups(state_dir, codex_home, now)
        self.heard: dict[tuple[str, str], str] = {}

    def read(self) -> Memory:
        """As it is now. Blocks."""
        return Memory(self.ledger.read(), self.backups.newest(), dict(self.heard))
