"""`jackfield plugin …`: answers as `codex plugin …` does."""

from __future__ import annotations

from collections.abc import Sequence

from core.cli.codex.face import Do, main
from core.cli.codex.plugin_words import PLUGIN


def run_words(before: Sequence[str], words: Sequence[str]) -> int:
    """Run the words after `plugin`; `before` are the options that stood before it."""
    return main(PLUGIN, _DOERS, before, words)


def _add() -> Do:
    from core.cli.codex.plugin_changes import add

    return add


def _remove() -> Do:
    from core.cli.codex.plugin_changes import remove

    return remove


def _list() -> Do:
    from core.cli.codex.plugin_shown import show_plugins

    return show_plugins


def _marketplace_list() -> Do:
    from core.cli.codex.plugin_shown import show_marketplaces

    return show_marketplaces


def _marketplace_add() -> Do:
    from core.cli.codex.marketplaces import add

    return add


def _marketplace_remove() -> Do:
    from core.cli.codex.marketplaces import remove

    return remove


def _marketplace_upgrade() -> Do:
    from core.cli.codex.marketplaces import upgrade

    return upgrade


_DOERS = {
    "codex plugin add": _add,
    "codex plugin list": _list,
    "codex plugin remove": _remove,
    "codex plugin marketplace add": _marketplace_add,
    "codex plugin marketplace list": _marketplace_list,
    "codex plugin marketplace remove": _marketplace_remove,
    "codex plugin marketplace upgrade": _marketplace_upgrade,
}
