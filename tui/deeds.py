"""What each command does on the open tab: from a key, a click or the palette to the controller."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from core.protocol.rows import detail_of
from tui import dialogs
from tui.commands import COMMANDS, Command, Offer
from tui.controller import Controller, Decided
from tui.panes.activity import ActivityPane
from tui.registry import Registry
from tui.theme import THEMES
from tui.widgets.toast import toast

if TYPE_CHECKING:
    from tui.app import JackfieldApp
    from tui.panes.list_pane import ListPane

TABS = ("marketplaces", "apps", "tools", "servers", "activity")
NOUNS = {
    "marketplaces": "Marketplaces",
    "apps": "Apps",
    "tools": "Tools",
    "servers": "Servers",
    "activity": "Activity",
}
# Work on one thing at a time and in the order of the keys; reading beside it.
WRITING, READING = "writing", "reading"

# What each command does here: a method of `Deeds`, with an argument after a blank.
_DEEDS: dict[str, str] = {
    "list.filter": "filter",
    "list.next-view": "view 1",
    "list.previous-view": "view -1",
    "list.refresh": "refetch",
    "row.refresh": "refresh_row",
    "row.details": "details",
    "row.mend": "mend",
    "row.switch": "switch",
    "row.cancel": "cancel",
    "row.copy": "copy_id",
    "row.copy-json": "copy_json",
    "activity.pause": "pause",
    "programs.review": "review",
    "app.undo": "undo",
    "app.errors": "errors",
    "app.help": "help",
    "app.palette": "palette",
    "app.back": "back",
    "app.quit": "quit",
    **{f"tab.{tab}": f"tab {tab}" for tab in TABS},
    **{f"theme.{name}": f"theme {name}" for name in THEMES},
}


_IN_SHEETS = ("form.next", "form.close")


def _has_meaning(command: Command) -> bool:
    """It does something here; lists, sheets and fields bind their own keys themselves."""
    return command.id in (*_DEEDS, *_IN_SHEETS) or command.action.startswith("list_")


# Commands without a deed have no key, no line in the help and none in the palette.
REGISTRY = Registry([command for command in COMMANDS if _has_meaning(command)])


class Deeds:
    """The app's commands; knows the app, is known by nobody else."""

    def __init__(self, app: JackfieldApp) -> None:
        self._app = app

    @property
    def controller(self) -> Controller:
        """The way to the core; says so when there is none yet."""
        controller = self._app.controller
        if controller is None:
            raise NotReady
        return controller

    async def run(self, id: str) -> None:
        """Do it, or say why not."""
        offer = self.offer(id)
        if offer is not None and offer.why:
            command = self._app.registry.get(id)
            named = offer.label or (command.label if command else id)
            toast(self._app, offer.why if offer.greyed else f"{named}: {offer.why}")
            return
        if deed := _DEEDS.get(id):
            name, _, argument = deed.partition(" ")
            do: Callable[..., Awaitable[None] | None] = getattr(self, f"_{name}")
            try:
                done = do(*([argument] if argument else []))
                if done is not None:
                    await done
            except NotReady:
                toast(self._app, "The core is still being opened")

    # ── what applies ──

    def offers(self) -> list[Offer]:
        """Of the selected row, then of the list."""
        pane = self._pane
        offers, selected = pane.offers(), pane.selected is not None
        if selected and pane.view.TAB not in ("activity", "servers"):
            offers.append(Offer("row.refresh"))
        controller = self._app.controller
        if controller and controller.undoable:
            offers.append(Offer("app.undo", about=controller.undoable[-1].name))
        if pane.view.counts()["all"]:
            offers += [Offer("list.filter"), Offer("list.next-view")]
        if pane.view.REFETCHES:
            offers.append(Offer("list.refresh", "refetch all"))
        if selected:
            offers += [Offer("row.copy"), Offer("row.copy-json")]
        return _first_of_each(offers)

    def offer(self, id: str) -> Offer | None:
        """What one command means now."""
        for offer in self.offers():
            if offer.id == id:
                return offer
        if id not in _DEEDS:
            return None
        return Offer(id, why=self._why_not(id))

    def _why_not(self, id: str) -> str:
        if id == "app.undo":
            return "nothing to undo"
        if id == "row.mend":
            return "this row needs nothing"
        if id == "row.cancel":
            return "nothing runs on this row"
        if id.startswith("row.") and self._app.pane.selected is None:
            return "no row is selected"
        if id in ("row.switch", "row.copy", "row.copy-json", "row.refresh", "list.refresh"):
            return "not for this row"
        return ""

    # ── deeds ──

    def _filter(self) -> None:
        self._pane.filter.focus_input()

    def _view(self, by: str) -> None:
        self._pane.filter.step(int(by))

    def _details(self) -> None:
        pane = self._pane
        if pane.selected is None:
            return
        if self._app.narrow:
            self._app.open_dialog(dialogs.details)
        else:
            pane.detail.focus()

    def _undo(self) -> None:
        self.work(self.controller.undo)

    def _review(self) -> None:
        self._app.open_dialog(dialogs.consent)

    def _errors(self) -> None:
        self._app.open_dialog(dialogs.errors)

    def _help(self) -> None:
        self._app.open_dialog(dialogs.show_help)

    def _palette(self) -> None:
        self._app.action_command_palette()

    def _quit(self) -> None:
        self._app.open_dialog(dialogs.leave)

    async def _tab(self, tab: str) -> None:
        await self._app.open_tab(tab)

    def _theme(self, name: str) -> None:
        self._app.theme = name

    def work(self, deed: Callable[[], Awaitable[None]], group: str = WRITING) -> None:
        """Run it beside the screen."""
        self._app.run_worker(deed, group=group, exit_on_error=True)

    @property
    def _pane(self) -> ListPane:
        return self._app.pane

    def _switch(self) -> None:
        if self._pane.view.TAB == "activity":
            self._pause()
            return
        target = self._pane.switch_target()
        if target is not None:
            self.work(partial(self.controller.switch, target, self._ask_user_layer))

    async def _ask_user_layer(self, decided: Decided) -> bool:
        return await dialogs.user_layer(self._app, decided)

    def _mend(self) -> None:
        view, key = self._pane.view, self._pane.selected
        if key is None:
            return
        if view.TAB == "servers":
            row = self._app.store.servers.rows.get(key)
            if row is not None and row.status == "review":
                self._review()
            else:
                self.work(partial(self.controller.reconnect, [key]))

    def _cancel(self) -> None:
        if self._pane.view.TAB == "servers" and (key := self._pane.selected):
            self.work(partial(self.controller.cancel, key))

    def _refresh_row(self) -> None:
        view, key = self._pane.view, self._pane.selected
        if key is None:
            return
        if view.TAB == "servers":
            self.work(partial(self.controller.reconnect, [key]))
        elif wanted := view.refresh_ids(key):
            domain, ids = wanted
            name = view.name(key)
            refresh = partial(self.controller.refresh, [domain], name, forced=True, ids=ids)
            self.work(refresh, READING)

    def _refetch(self) -> None:
        view = self._pane.view
        if view.REFETCHES:
            noun = NOUNS[view.TAB]
            refresh = partial(self.controller.refresh, view.REFETCHES, noun, forced=True)
            if view.TAB == "servers":
                self.work(partial(self.controller.reconnect, None))
            self.work(refresh, READING)

    def _copy_id(self) -> None:
        if (key := self._pane.selected) is not None:
            self._copy(self._pane.view.copy_id(key))

    def _copy_json(self) -> None:
        view, key = self._pane.view, self._pane.selected
        if key is None:
            return
        if row := view.subject(key):
            self._copy(json.dumps(detail_of(row), ensure_ascii=False, indent=1), "row as JSON")
        elif text := view.wire(key):
            self._copy(text, "event as JSON")

    def _copy(self, text: str, what: str = "") -> None:
        if text:
            self._app.copy_to_clipboard(text)
            toast(self._app, f"Copied: {what or text}")

    def _pause(self) -> None:
        pane = self._pane
        if isinstance(pane, ActivityPane):
            pane.toggle_pause()

    def _back(self) -> None:
        self._pane.step_back()


class NotReady(Exception):
    """The core does not stand yet."""


def _first_of_each(offers: Sequence[Offer]) -> list[Offer]:
    known: dict[str, Offer] = {}
    for offer in offers:
        known.setdefault(offer.id, offer)
    return list(known.values())
