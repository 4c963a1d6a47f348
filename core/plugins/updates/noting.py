"""Notes where copies came from when they are installed, as long as it can still be told."""

from __future__ import annotations

import logging

from core.errors import CoreError
from core.plugins.entries import Entry
from core.plugins.install.installer import Installed
from core.plugins.updates.ledger import CopyNote, Ledger, with_note
from core.plugins.updates.standing import claims_of

log = logging.getLogger(__name__)


class CopyNotes:
    """Keeps the commit and the claims of sources elsewhere; a source on this disk needs none."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def installed(self, installed: Installed, entry: Entry) -> None:
        """A new copy is in its place. Blocks; a note that cannot be written is only logged."""
        claims, plugin_id = claims_of(entry), installed.plugin_id
        if not claims and plugin_id not in self._ledger.read().copies:
            return
        note = None
        if claims:
            note = CopyNote(version=installed.version, commit=installed.commit, claims=claims)
        try:
            self._ledger.change(lambda book: with_note(book, plugin_id, note))
        except CoreError as error:
            log.warning("%s: %s", plugin_id, error)
