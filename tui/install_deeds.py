"""Installing, removing, adding: what keys do to plugins and marketplaces, one row or many."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from core.protocol.rows import MarketplaceRow, PluginRow
from tui import dialogs
from tui.commands import Offer
from tui.family import Family
from tui.switching import SwitchTarget
from tui.views.base import plural
from tui.views.marketplaces import MarketplacesView
from tui.widgets.toast import toast

if TYPE_CHECKING:
    from tui.plugin_controller import PluginController

_INSTALLABLE = frozenset({"available", "empty", "notInstalled", "broken", "update"})
_MARKED = ("plugins.install", "row.remove", "row.switch")


class InstallDeeds(Family):
    """Of the Marketplaces tab; `b` marks rows, and then keys act on all that are marked."""

    DEEDS: ClassVar = {
        "plugins.install": "install",
        "plugins.mark": "mark",
        "plugins.unmark": "unmark",
        "plugins.server": "to_server",
        "markets.kinds": "kinds",
        "row.remove": "remove",
        "row.switch": "switch",
        "row.refresh": "refresh",
        "row.cancel": "cancel",
        "list.add": "add",
        "app.back": "back",
    }
    TABS = ("marketplaces",)

    @property
    def view(self) -> MarketplacesView:
        """The open tab."""
        view = self.pane.view
        assert isinstance(view, MarketplacesView)
        return view

    @property
    def plugins(self) -> PluginController:
        """The way to the core; `NotReady` when there is none yet."""
        from tui.plugin_controller import PluginController

        return PluginController(self.controller, self.app.tell)

    # -- what applies

    def offers(self) -> list[Offer]:
        """Of the marked rows, else of the selected one."""
        written = self.app.place.read_only
        view, key = self.view, self.pane.selected
        offers: list[Offer] = []
        if marked := self._marked():
            offers += self._of_marked(marked)
        elif key is not None:
            row, market = view.plugin(key), view.market(key)
            if row is not None:
                offers += self._of_plugin(row)
            elif market is not None:
                offers += self._of_market(market)
        if key is not None and view.plugin(key) is not None:
            offers.append(Offer("plugins.mark", "unmark" if key in view.marked else "mark"))
        offers.append(Offer("list.add", "add marketplace"))
        offers.append(Offer("markets.kinds"))
        if written:
            offers = [_read_only(offer, written) for offer in offers]
        return offers

    def _of_marked(self, marked: Sequence[PluginRow]) -> list[Offer]:
        note = f"{len(marked)} marked"
        offers: list[Offer] = []
        if count := sum(_installable(row) for row in marked):
            offers.append(Offer("plugins.install", f"install {count}", about=note))
        if count := sum(_removable(row) for row in marked):
            offers.append(Offer("row.remove", f"uninstall {count}", about=note))
        if switchable := [row for row in marked if row.installed and row.configured]:
            on = any(not row.enabled for row in switchable)
            word = "enable" if on else "disable"
            count = sum(row.enabled != on for row in switchable)
            offers.append(Offer("row.switch", f"{word} {count}", about=note))
        offers.append(Offer("plugins.unmark", about=note))
        return offers

    def _of_plugin(self, row: PluginRow) -> list[Offer]:
        if self.view.operation(row) is not None:
            return [Offer("row.cancel", "cancel it")]
        offers: list[Offer] = []
        if _installable(row):
            word = "install again" if row.installed else "install"
            if row.state == "notInstalled":
                offers.append(Offer("row.mend", "install it", does="plugins.install"))
            offers.append(Offer("plugins.install", word))
        if self.view.waiting_server(row) is not None:
            offers.append(Offer("row.mend", "to its server", does="plugins.server"))
        if _removable(row):
            offers.append(Offer("row.remove", "uninstall"))
        return offers

    def _of_market(self, row: MarketplaceRow) -> list[Offer]:
        if row.name in self.app.store.operations:
            return [Offer("row.cancel", "cancel it")]
        offers: list[Offer] = []
        if row.source == "git":
            missing = row.listed == "missing"
            if missing:
                offers.append(Offer("row.mend", "clone it", does="row.refresh"))
            offers.append(Offer("row.refresh", "clone" if missing else "upgrade"))
        if _is_configured(row):
            offers.append(Offer("row.remove", "remove it"))
        return offers

    def why_not(self, id: str) -> str:
        key = self.pane.selected
        row = self.view.plugin(key) if key is not None else None
        market = self.view.market(key) if key is not None else None
        match id:
            case "plugins.install" if row is not None:
                return row.reason if row.state in ("blocked", "skipped") else "not for this row"
            case "plugins.install" | "plugins.mark":
                return "no plugin is selected"
            case "row.remove" if market is not None:
                return "no configuration of yours names it"
            case "row.remove" if row is not None:
                return "not installed"
            case "row.cancel":
                return "nothing runs on this row"
            case "plugins.unmark":
                return "nothing is marked"
            case "plugins.server":
                return "no server of it waits"
            case "row.switch" | "row.refresh" if key is not None:
                return "" if row is not None or id == "row.refresh" else "not for this row"
            case "app.back" | "list.add" | "markets.kinds":
                return ""
            case _:
                return "no row is selected" if key is None else "not for this row"

    # -- marks

    def _marked(self) -> list[PluginRow]:
        view = self.view
        rows = [row for key in view.marked if (row := view.plugin(key)) is not None]
        return sorted(rows, key=lambda row: row.id)

    def mark(self) -> None:
        """Mark the row, or take its mark away, and go on to the next."""
        key, view = self.pane.selected, self.view
        if key is None or view.plugin(key) is None:
            return
        view.marked ^= {key}
        self.pane.list.update_row(key)
        self.pane.list.action_list_move(1)
        self._marks_changed()

    def unmark(self) -> None:
        """Take all marks away."""
        keys, self.view.marked = self.view.marked, set()
        self.pane.list.update_rows(keys)
        self._marks_changed()

    def _marks_changed(self) -> None:
        count = len(self.view.marked)
        if count:
            toast(self.app, f"{plural(count, 'plugin')} marked; esc takes the marks away")
        self.app.show_keys()

    def back(self) -> None:
        """One step back: marks go before anything else."""
        if self.view.marked and self.pane.list.has_focus:
            self.unmark()
        else:
            self.pane.step_back()

    # -- installing

    def _chosen(self) -> list[PluginRow]:
        if marked := self._marked():
            return marked
        key = self.pane.selected
        row = self.view.plugin(key) if key is not None else None
        return [row] if row is not None else []

    def install(self) -> None:
        """The trust page, then the installs."""
        rows = [row for row in self._chosen() if _installable(row)]
        if rows:
            self.work(partial(self._install, rows), "installing")

    async def _install(self, rows: Sequence[PluginRow]) -> None:
        from tui.screens.trust import TrustSheet

        seen = await self.plugins.look(row.id for row in rows)
        if not seen:
            return
        trusted = await self.app.push_screen_wait(TrustSheet(seen, self.app.place))
        if trusted is None:
            return
        self.unmark()
        wanted = [one for one in seen if not one.refusal]
        after = await self.plugins.install(wanted, trusted)
        self.app.show_keys()
        if after.unseen:
            await self._show_unseen(after.unseen)
        if after:
            from tui.screens.after_install import AfterInstall

            answer = await self.app.push_screen_wait(AfterInstall(after))
            if answer == "servers":
                await self.app.open_tab("servers")
            elif answer:
                await self.plugins.open_link(answer)

    async def _show_unseen(self, ids: Sequence[str]) -> None:
        """What came from elsewhere and could not be shown before: nothing of it runs yet."""
        from tui.screens.trust import TrustSheet

        if seen := await self.plugins.look(ids):
            sheet = TrustSheet(seen, self.app.place, verb="Turn on")
            trusted = await self.app.push_screen_wait(sheet)
            if trusted is not None:
                await self.plugins.trust(ids, trusted)

    def switch(self) -> None:
        """Turn the marked ones, or this one, on or off; programs are shown before they may run."""
        rows = [row for row in self._chosen() if row.configured or row.installed]
        if not rows:
            return
        if len(rows) == 1 and not self.view.marked:
            on = not rows[0].enabled
        else:
            rows = [row for row in rows if row.installed and row.configured]
            on = any(not row.enabled for row in rows)
        rows = [row for row in rows if row.enabled != on]
        if not on and len(rows) == 1:
            self._common_switch(rows[0])
        elif on:
            self.work(partial(self._turn_on, rows), "installing")
        else:
            targets = [_target(row) for row in rows]
            self.unmark()
            self.work(partial(self.plugins.switch, targets, on=False))

    def _common_switch(self, row: PluginRow) -> None:
        """One row: with the question where another layer decides."""
        self.work(partial(self.controller.switch, _target(row), self._ask_user_layer))

    async def _ask_user_layer(self, decided: dialogs.Decided) -> bool:
        return await dialogs.user_layer(self.app, decided)

    async def _turn_on(self, rows: Sequence[PluginRow]) -> None:
        from tui.plugin_controller import Trusted
        from tui.screens.trust import TrustSheet

        seen = await self.plugins.look(row.id for row in rows if row.installed)
        asked = [one for one in seen if any(_wants_a_word(part) for part in one.programs)]
        trusted: Trusted | None = Trusted()
        if asked:
            sheet = TrustSheet(asked, self.app.place, verb="Turn on")
            trusted = await self.app.push_screen_wait(sheet)
        if trusted is None:
            return
        if self.view.marked:
            self.unmark()
        if len(rows) == 1 and not asked:
            await self.controller.switch(_target(rows[0]), self._ask_user_layer)
        else:
            ids = [one.plugin_id for one in asked]
            await self.plugins.turn_on([_target(row) for row in rows], ids, trusted)
        self.app.show_keys()

    # -- removing

    def remove(self) -> None:
        """Uninstall plugins, or remove a marketplace; asks first."""
        key = self.pane.selected
        market = self.view.market(key) if key is not None and not self.view.marked else None
        if market is not None and _is_configured(market):
            self.work(partial(self._remove_market, market), "dialogs")
        elif rows := [row for row in self._chosen() if _removable(row)]:
            self.work(partial(self._uninstall, rows), "dialogs")

    async def _uninstall(self, rows: Sequence[PluginRow]) -> None:
        from tui.widgets.confirm import Choice, Confirm

        ids = list(dict.fromkeys(row.plugin_id for row in rows))
        named = rows[0].name if len(ids) == 1 else plural(len(ids), "plugin")
        place = self.app.place
        tables = ", ".join(f'[plugins."{one}"]' for one in ids)
        copies = ", ".join(place.path(row.root) for row in rows if row.installed and row.root)
        sheet = Confirm(
            f"Uninstall {named}?",
            "Its entry leaves the configuration and its copies leave the plugin cache. What it "
            f"has stored as its own data stays.{f' Removed: {copies}' if copies else ''}",
            [Choice("go", f"Uninstall {named}")],
            writes=f"{tables} goes from {place.path(place.config_file)}",
            undo="z installs it again as it was" if len(ids) == 1 else "z, one at a time",
        )
        if await self.app.push_screen_wait(sheet) != "go":
            return
        if self.view.marked:
            self.unmark()
        await self.plugins.uninstall(ids)
        self.app.show_keys()

    async def _remove_market(self, row: MarketplaceRow) -> None:
        from tui.widgets.confirm import Choice, Confirm

        place, members = self.app.place, self.view.installed_from(row)
        choices = [
            Choice(
                "keep",
                "Remove, keep plugins" if members else "Remove it",
                f"{plural(len(members), 'installed plugin')} stay and go on working"
                if members
                else "",
                "left over" if members else "",
                "leftover",
            )
        ]
        if members:
            names = ", ".join(member.name for member in members)
            choices.append(
                Choice("all", "Remove with plugins", f"uninstalls {names}", sign="problem")
            )
        cloned = row.source == "git" and row.listed != "missing"
        origin = place.path(row.origin or row.root)
        files = f"The clone of {origin} is deleted." if cloned else f"{origin} is left alone."
        sheet = Confirm(
            f"Remove {row.name}?",
            f"Its plugins can no longer be found. {files}",
            choices,
            writes=f"[marketplaces.{row.name}] goes from {place.path(place.config_file)}",
            undo="z adds it again, and clones it anew" if cloned else "z adds it again",
        )
        answer = await self.app.push_screen_wait(sheet)
        if answer in ("keep", "all"):
            await self.plugins.remove(row.name, plugins=answer == "all")
            self.app.show_keys()

    # -- marketplaces

    def add(self) -> None:
        """The sheet for a new one."""
        self.work(self._add, "dialogs")

    async def _add(self) -> None:
        from tui.screens.add_marketplace import AddMarketplace

        app = self.app
        sheet = AddMarketplace(self.plugins, app.store, app.place, app.changes)
        name = await app.push_screen_wait(sheet)
        if name is not None and (key := self.view.key_of_market(name)) is not None:
            self.pane.go_to(key)

    def refresh(self) -> None:
        """Upgrade a git marketplace; read everything else again."""
        key = self.pane.selected
        market = self.view.market(key) if key is not None else None
        if market is not None and market.source == "git":
            self.work(partial(self.plugins.upgrade, market.name), f"upgrade {market.name}")
            return
        from tui.deeds import Common

        Common(self.app).refresh_row()

    def cancel(self) -> None:
        """End what runs on the row."""
        key, view = self.pane.selected, self.view
        row = view.plugin(key) if key is not None else None
        market = view.market(key) if key is not None else None
        subject = row.plugin_id if row is not None else market.name if market is not None else ""
        if subject in self.app.store.operations:
            self.work(partial(self.plugins.cancel, subject), "cancelling")

    def kinds(self) -> None:
        """Which kinds of marketplaces are shown, and why the others are not."""
        self.work(self._kinds, "dialogs")

    async def _kinds(self) -> None:
        from tui.screens.kinds import KindsSheet

        if kinds := await self.plugins.kinds():
            await self.app.push_screen_wait(KindsSheet(kinds, self.app.place))

    async def to_server(self) -> None:
        """The server of the plugin that waits for somebody."""
        key = self.pane.selected
        row = self.view.plugin(key) if key is not None else None
        server = self.view.waiting_server(row) if row is not None else None
        if server is not None:
            await self.app.open_tab("servers")
            self.pane.go_to(server.id)


def _installable(row: PluginRow) -> bool:
    wanted = row.state in _INSTALLABLE or row.installed
    return wanted and row.state not in ("blocked", "skipped", "notOffered", "leftOver")


def _removable(row: PluginRow) -> bool:
    return (row.installed or row.configured) and row.state != "leftOver"


def _is_configured(row: MarketplaceRow) -> bool:
    return row.source in ("git", "local") and row.evidence.layer in ("user", None)


def _wants_a_word(part: object) -> bool:
    return getattr(part, "standing", "") in ("new", "changed")


def _target(row: PluginRow) -> SwitchTarget:
    return SwitchTarget("plugin", row.plugin_id, row.name, row.enabled)


def _read_only(offer: Offer, why: str) -> Offer:
    writes = offer.id in (*_MARKED, "list.add", "row.refresh") or offer.does
    if not writes or offer.why:
        return offer
    return Offer(offer.id, offer.label, why=why, about=offer.about, greyed=True)
