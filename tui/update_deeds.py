"""Updating, pinning, rolling back and cleaning up: what keys do to what is installed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from core.protocol.rows import MarketplaceRow, PluginRow
from tui.commands import Offer
from tui.family import Family
from tui.views.marketplaces import MarketplacesView

_UPDATING = "update"  # the group of workers: one update at a time

if TYPE_CHECKING:
    from tui.update_controller import UpdateController


class UpdateDeeds(Family):
    """Of the Marketplaces tab; marked rows are acted on together."""

    DEEDS: ClassVar = {
        "plugins.update": "update",
        "plugins.update-all": "update_all",
        "plugins.pin": "pin",
        "plugins.roll-back": "roll_back",
        "plugins.clean-up": "clean_up",
    }
    TABS = ("marketplaces",)

    @property
    def view(self) -> MarketplacesView:
        """The open tab."""
        view = self.pane.view
        assert isinstance(view, MarketplacesView)
        return view

    @property
    def updates(self) -> UpdateController:
        """The way to the core; `NotReady` when there is none yet."""
        from tui.update_controller import UpdateController

        return UpdateController(self.controller, self.app.tell)

    # -- what applies

    def offers(self) -> list[Offer]:
        """Of the marked rows, else of the selected one; then of the whole list."""
        offers = self._of_selection()
        if self.view.index.installed:
            waiting = len(self.view.index.updates)
            about = f"{waiting} to update" if waiting else "look for newer ones"
            offers.append(Offer("plugins.update-all", "update all", about=about))
        if why := self.app.place.read_only:
            offers = [Offer(one.id, one.label, why=why, greyed=True) for one in offers]
        return offers

    def _of_selection(self) -> list[Offer]:
        if rows := self._marked():
            return self._of_rows(rows, f"{len(rows)} marked")
        key = self.pane.selected
        row = self.view.plugin(key) if key is not None else None
        market = self.view.market(key) if key is not None else None
        if row is not None:
            return self._of_plugin(row)
        return self._of_market(market) if market is not None else []

    def _of_rows(self, rows: Sequence[PluginRow], note: str) -> list[Offer]:
        installed = [row for row in rows if _is_installed(row)]
        if not installed:
            return []
        word = "pin" if any(row.pinned is None for row in installed) else "unpin"
        offers = [Offer("plugins.pin", f"{word} {len(installed)}", about=note)]
        if count := sum(row.pinned is None for row in installed):
            offers.insert(0, Offer("plugins.update", f"update {count}", about=note))
        return offers

    def _of_plugin(self, row: PluginRow) -> list[Offer]:
        if self.view.operation(row) is not None:
            return []
        offers: list[Offer] = []
        if row.left_over and row.left_over != "unreadable":
            offers.append(Offer("row.mend", "clean up", does="plugins.clean-up"))
        if not _is_installed(row):
            return offers
        if row.pinned is None:
            about = row.name if row.newer or row.changed else "look for a newer one"
            offers.append(Offer("plugins.update", "update", about=about))
        offers.append(Offer("plugins.pin", "unpin" if row.pinned is not None else "pin version"))
        if row.before is not None:
            offers.append(Offer("plugins.roll-back", f"back to {row.before}", about=row.name))
        return offers

    def _of_market(self, row: MarketplaceRow) -> list[Offer]:
        if row.listed == "leftOver":
            return [Offer("row.mend", "clean up", does="plugins.clean-up")]
        offers: list[Offer] = []
        if count := len(self.view.index.behind.get(row.id, ())):
            offers.append(Offer("plugins.update", f"update {count}", about=row.name))
        if row.source == "git" and row.commit:
            word = "unpin" if row.pinned else "pin commit"
            offers.append(Offer("plugins.pin", word, about=row.name))
        return offers

    def why_not(self, id: str) -> str:
        match id:
            case "plugins.update-all":
                return "no plugin is installed"
            case "plugins.clean-up":
                return "nothing is left over on this row"
            case "plugins.roll-back":
                return "no former version is kept"
            case _:
                key = self.pane.selected
                row = self.view.plugin(key) if key is not None else None
                if row is not None and id == "plugins.update" and row.pinned is not None:
                    return f"pinned at {row.pinned}"
                return "not installed" if row is not None else "not for this row"

    def _marked(self) -> list[PluginRow]:
        view = self.view
        return [row for key in sorted(view.marked) if (row := view.plugin(key)) is not None]

    def _chosen(self) -> list[PluginRow]:
        if marked := self._marked():
            return [row for row in marked if _is_installed(row)]
        key = self.pane.selected
        row = self.view.plugin(key) if key is not None else None
        return [row] if row is not None and _is_installed(row) else []

    def _behind(self, market: MarketplaceRow) -> list[PluginRow]:
        """Installed plugins of a marketplace that have an update."""
        view = self.view
        keys = view.index.behind.get(market.id, ())
        return [row for key in keys if (row := view.plugin(key)) is not None]

    def _selected_market(self) -> MarketplaceRow | None:
        key = self.pane.selected
        return self.view.market(key) if key is not None and not self.view.marked else None

    # -- deeds

    def update(self) -> None:
        """Bring these to what is offered."""
        market = self._selected_market()
        rows = self._behind(market) if market is not None else self._chosen()
        ids = [row.plugin_id for row in rows if row.pinned is None]
        if ids:
            self._unmark()
            self.work(partial(self.updates.update, ids), _UPDATING)

    def update_all(self) -> None:
        """Bring all to what is offered; pinned ones stay."""
        self.work(partial(self.updates.update, None), _UPDATING)

    def pin(self) -> None:
        """Keep these as they are, or no longer."""
        market = self._selected_market()
        if market is not None:
            wanted = not market.pinned
            name = market.root.rpartition("/")[2]
            self.work(partial(self.updates.pin_marketplace, name, pinned=wanted))
            return
        rows = self._chosen()
        pinned = any(row.pinned is None for row in rows)
        ids = [row.plugin_id for row in rows if (row.pinned is None) == pinned]
        if ids:
            self._unmark()
            self.work(partial(self.updates.pin, ids, pinned=pinned))

    def roll_back(self) -> None:
        """Put the former version back; asks nothing, for the same key brings this one back."""
        rows = [row for row in self._chosen() if row.before is not None]
        if len(rows) == 1:
            self.work(partial(self.updates.roll_back, rows[0].plugin_id))

    def clean_up(self) -> None:
        """Say what goes from where, then let it go."""
        key = self.pane.selected
        row = self.view.plugin(key) if key is not None else None
        market = self.view.market(key) if key is not None else None
        orphan_id = row.plugin_id if row is not None else market.id if market is not None else ""
        if orphan_id:
            self.work(partial(self._clean_up, orphan_id), "dialogs")

    async def _clean_up(self, orphan_id: str) -> None:
        from tui.widgets.confirm import Choice, Confirm

        orphan = await self.updates.orphan(orphan_id)
        if orphan is None:
            return
        if not orphan.action:
            self.app.tell(f"{orphan.name}: {orphan.reason}")
            return
        place = self.app.place
        removed = ", ".join(place.path(path) for path in orphan.removes)
        moved = ""
        if orphan.moved_to:
            moved = f" {orphan.moved_to} is the same plugin elsewhere: it can be installed there."
        text = f"It is left over: {orphan.reason}.{moved}"
        sheet = Confirm(
            f"Clean up {orphan.name}?",
            f"{text} Removed: {removed}" if removed else text,
            [Choice("go", orphan.action.capitalize())],
            writes=f"{orphan.writes} goes from {place.path(place.config_file)}"
            if orphan.writes
            else "",
            undo="z puts it back" if orphan.undo else "none; it can be cloned again",
        )
        if await self.app.push_screen_wait(sheet) == "go":
            await self.updates.clean(orphan)
            self.app.show_keys()

    def _unmark(self) -> None:
        view = self.view
        keys, view.marked = view.marked, set()
        if keys:
            self.pane.list.update_rows(keys)


def _is_installed(row: PluginRow) -> bool:
    return row.installed and row.state not in ("leftOver", "blocked", "skipped")
