"""What each command does on the open tab: from a key, a click or the palette to the controller."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from core.protocol.rows import detail_of
from tui import dialogs
from tui.account_deeds import AccountDeeds
from tui.app_deeds import AppDeeds
from tui.commands import COMMANDS, Command, Offer
from tui.controller import Decided
from tui.doctor_deeds import DoctorDeeds
from tui.explain_deeds import ExplainDeeds, TroubleDeeds
from tui.export_deeds import ExportDeeds
from tui.family import READING, Family, NotReady
from tui.import_deeds import ImportDeeds
from tui.install_deeds import InstallDeeds
from tui.jump_deeds import JumpDeeds
from tui.panes.activity import ActivityPane
from tui.registry import Registry
from tui.server_deeds import ServerDeeds, TrafficDeeds
from tui.sign_in_deeds import SignInDeeds
from tui.theme import THEMES
from tui.tool_deeds import QuestionDeeds, ToolDeeds
from tui.update_deeds import UpdateDeeds
from tui.widgets.toast import toast

if TYPE_CHECKING:
    from tui.app import JackfieldApp
    from tui.store import Changed

TABS = ("marketplaces", "apps", "tools", "servers", "activity")
NOUNS = {
    "marketplaces": "Marketplaces",
    "apps": "Apps",
    "tools": "Tools",
    "servers": "Servers",
    "activity": "Activity",
}
WANTED = 3  # offers of a row that come before taking back what was done last
# What each command does here: a method of `Common`, with an argument after a blank.
_COMMON: dict[str, str] = {
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


class Common(Family):
    """What every list can do."""

    DEEDS = _COMMON

    def offers(self) -> list[Offer]:
        """What the view says of the row, then what the list can do."""
        pane = self.pane
        offers, selected = pane.offers(), pane.selected is not None
        if selected and pane.view.TAB not in ("activity", "servers"):
            offers.append(Offer("row.refresh"))
        controller = self.app.controller
        if controller and controller.undoable:
            offers.insert(WANTED, Offer("app.undo", about=controller.undoable[-1].name))
        if pane.view.counts()["all"]:
            offers += [Offer("list.filter"), Offer("list.next-view")]
        if pane.view.REFETCHES:
            offers.append(Offer("list.refresh", "refetch all"))
        if selected:
            offers += [Offer("row.copy"), Offer("row.copy-json")]
        return offers

    def why_not(self, id: str) -> str:
        if id == "app.undo":
            return "nothing to undo"
        if id == "row.mend":
            return "this row needs nothing"
        if id == "row.cancel":
            return "nothing runs on this row"
        if id.startswith("row.") and self.pane.selected is None:
            return "no row is selected"
        if id in ("row.switch", "row.copy", "row.copy-json", "row.refresh", "list.refresh"):
            return "not for this row"
        return ""

    # ── deeds ──

    def filter(self) -> None:
        self.pane.filter.focus_input()

    def view(self, by: str) -> None:
        self.pane.filter.step(int(by))

    def details(self) -> None:
        pane = self.pane
        if pane.selected is None:
            return
        if self.app.narrow:
            self.app.open_dialog(dialogs.details)
        else:
            pane.detail.focus()

    def undo(self) -> None:
        self.work(self.controller.undo)

    def review(self) -> None:
        self.app.open_dialog(dialogs.consent)

    def errors(self) -> None:
        self.app.open_dialog(dialogs.errors)

    def help(self) -> None:
        self.app.open_dialog(dialogs.show_help)

    def palette(self) -> None:
        self.app.action_command_palette()

    def quit(self) -> None:
        self.app.open_dialog(dialogs.leave)

    async def tab(self, tab: str) -> None:
        await self.app.open_tab(tab)

    def theme(self, name: str) -> None:
        self.app.theme = name

    def switch(self) -> None:
        if self.pane.view.TAB == "activity":
            self.pause()
            return
        target = self.pane.switch_target()
        if target is not None:
            self.work(partial(self.controller.switch, target, self._ask_user_layer))

    async def _ask_user_layer(self, decided: Decided) -> bool:
        return await dialogs.user_layer(self.app, decided)

    def mend(self) -> None:
        view, key = self.pane.view, self.pane.selected
        if key is None:
            return
        if view.TAB == "servers":
            row = self.app.store.servers.rows.get(key)
            if row is not None and row.status == "review":
                self.review()
            else:
                self.work(partial(self.controller.reconnect, [key]))

    def cancel(self) -> None:
        if self.pane.view.TAB == "servers" and (key := self.pane.selected):
            self.work(partial(self.controller.cancel, key))

    def refresh_row(self) -> None:
        view, key = self.pane.view, self.pane.selected
        if key is None:
            return
        if view.TAB == "servers":
            self.work(partial(self.controller.reconnect, [key]))
        elif wanted := view.refresh_ids(key):
            domain, ids = wanted
            name = view.name(key)
            refresh = partial(self.controller.refresh, [domain], name, forced=True, ids=ids)
            self.work(refresh, READING)

    def refetch(self) -> None:
        view = self.pane.view
        if view.REFETCHES:
            noun = NOUNS[view.TAB]
            refresh = partial(self.controller.refresh, view.REFETCHES, noun, forced=True)
            if view.TAB == "servers":
                self.work(partial(self.controller.reconnect, None))
            self.work(refresh, READING)

    def copy_id(self) -> None:
        if (key := self.pane.selected) is not None:
            self._copy(self.pane.view.copy_id(key))

    def copy_json(self) -> None:
        view, key = self.pane.view, self.pane.selected
        if key is None:
            return
        if row := view.subject(key):
            self._copy(json.dumps(detail_of(row), ensure_ascii=False, indent=1), "row as JSON")
        elif text := view.wire(key):
            self._copy(text, "event as JSON")

    def _copy(self, text: str, what: str = "") -> None:
        if text:
            self.app.copy_to_clipboard(text)
            toast(self.app, f"Copied: {what or text}")

    def pause(self) -> None:
        pane = self.pane
        if isinstance(pane, ActivityPane):
            pane.toggle_pause()

    def back(self) -> None:
        self.pane.step_back()


FAMILIES: tuple[type[Family], ...] = (
    TroubleDeeds,
    QuestionDeeds,
    UpdateDeeds,
    InstallDeeds,
    ExportDeeds,
    SignInDeeds,
    ToolDeeds,
    JumpDeeds,
    DoctorDeeds,
    ImportDeeds,
    ExplainDeeds,
    AccountDeeds,
    AppDeeds,
    Common,
    ServerDeeds,
    TrafficDeeds,
)
"""Every family; the first that has a command on the open tab does it, and its offers come first."""

_IN_SHEETS = ("form.next", "form.close")


def _has_meaning(command: Command) -> bool:
    """It does something here; lists, sheets and fields bind their own keys themselves."""
    if command.id in _IN_SHEETS or command.action.startswith("list_"):
        return True
    return any(command.id in family.DEEDS for family in FAMILIES)


# Commands without a deed have no key, no line in the help and none in the palette.
REGISTRY = Registry([command for command in COMMANDS if _has_meaning(command)])


class Deeds:
    """The app's commands; knows the app, is known by nobody else."""

    def __init__(self, app: JackfieldApp) -> None:
        self._app = app
        self._families = [family(app) for family in FAMILIES]

    async def run(self, id: str) -> None:
        """Do it, or say why not."""
        offer = self.offer(id)
        if offer is not None and offer.why:
            command = self._app.registry.get(id)
            named = offer.label or (command.label if command else id)
            toast(self._app, offer.why if offer.greyed else f"{named}: {offer.why}")
            return
        if offer is not None and offer.does:
            id = offer.does
        if family := self._family(id):
            try:
                done = family.deed(id)()
                if done is not None:
                    await done
            except NotReady:
                toast(self._app, "The core is still being opened")

    def _family(self, id: str) -> Family | None:
        tab = self._app.pane.view.TAB
        for family in self._families:
            if id in family.DEEDS and (not family.TABS or tab in family.TABS):
                return family
        return None

    def news(self, changed: set[Changed]) -> None:
        """Let the families see what has changed."""
        for family in self._families:
            family.news(changed)

    def offers(self) -> list[Offer]:
        """Of the selected row, then of the list."""
        tab = self._app.pane.view.TAB
        here = [f for f in self._families if not f.TABS or tab in f.TABS]
        return _first_of_each(list(chain.from_iterable(family.offers() for family in here)))

    def offer(self, id: str) -> Offer | None:
        """What one command means now."""
        for offer in self.offers():
            if offer.id == id:
                return offer
        family = self._family(id)
        if family is None:
            known = any(id in family.DEEDS for family in self._families)
            return Offer(id, why="not on this tab") if known else None
        return Offer(id, why=family.why_not(id))


def _first_of_each(offers: Sequence[Offer]) -> list[Offer]:
    known: dict[str, Offer] = {}
    for offer in offers:
        known.setdefault(offer.id, offer)
    return list(known.values())
