"""The panel: five tabs over one store, and the keys that act on the selected row."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.driver import Driver
from textual.widgets import ContentSwitcher

from core.protocol.events import LoginCompleted
from tui import dialogs
from tui.account_deeds import tell_account
from tui.commands import Offer
from tui.controller import Controller
from tui.deeds import NOUNS, REGISTRY, TABS, Deeds
from tui.following import Connect, FollowingApp
from tui.panes.activity import ActivityPane
from tui.panes.list_pane import ListPane
from tui.registry import NameHit, Registry
from tui.sign_in_deeds import tell_ended
from tui.signs import UNICODE, Glyphs
from tui.store import Changed
from tui.text import Hint
from tui.theme import DEFAULT, register_themes, theme_defaults
from tui.views import summary
from tui.views.activity import ActivityView
from tui.views.apps import AppsView
from tui.views.base import ListView
from tui.views.marketplaces import MarketplacesView
from tui.views.servers import ServersView
from tui.views.tools import ToolsView
from tui.widgets.breakpoints import HEIGHTS, WIDTHS
from tui.widgets.key_bar import KeyBar
from tui.widgets.status_line import StatusLine
from tui.widgets.tab_bar import Tab, TabBar

if TYPE_CHECKING:
    from tui.last_frame import LastFrame

log = logging.getLogger(__name__)

TITLES = {**NOUNS, "tools": "Installed tools", "servers": "MCP servers"}
SHORT = {**NOUNS, "marketplaces": "Markets"}
VIEWS: tuple[type[ListView], ...] = (
    MarketplacesView,
    AppsView,
    ToolsView,
    ServersView,
    ActivityView,
)
SHOW_CURSOR = "\x1b[?25h"
STATUS_SECONDS = 10.0  # ages in the status line
SECOND = 1.0


class JackfieldApp(FollowingApp):
    """The one application; it opens no core itself.

    Args:
        connect: Waits until the core stands and gives its client.
        now: The time, seconds since the epoch.
        consent_all: Start servers without asking first.
        first_start: Say once what is read, written and started.
        log_file: Where a fault of our own is told whole.
        kept_frame: Where the first frame with rows is kept for the next start.
        keys: The person's own keys, by command id.
        real_cursor: Show the terminal's own cursor on the selected row.
    """

    TITLE = "jackfield"
    CSS_PATH: ClassVar = ["styles/app.tcss"]
    CSS = "ContentSwitcher { height: 1fr; }"
    BINDINGS: ClassVar = [*REGISTRY.bindings()]
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS

    def __init__(
        self,
        connect: Connect,
        *,
        glyphs: Glyphs = UNICODE,
        theme: str = DEFAULT,
        read_only: bool = False,
        consent_all: bool = False,
        first_start: bool = False,
        now: Callable[[], float] = time.time,
        driver_class: type[Driver] | None = None,
        log_file: str = "",
        kept_frame: LastFrame | None = None,
        keys: Mapping[str, str] | None = None,
        real_cursor: bool = False,
    ) -> None:
        self.glyphs = glyphs
        self.real_cursor = real_cursor
        super().__init__(
            connect,
            read_only=read_only,
            consent_all=consent_all,
            now=now,
            driver_class=driver_class,
            log_file=log_file,
            kept_frame=kept_frame,
        )
        self._first_start = first_start
        self._asked_consent = False
        self._leaving = False
        self.registry = Registry(REGISTRY.commands, keys) if keys else REGISTRY
        self._views = {view.TAB: view(self.store, self.place, self.glyphs) for view in VIEWS}
        self.deeds = Deeds(self)
        register_themes(self)
        self.theme = theme

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own tokens, which Textual's themes lack."""
        return theme_defaults()

    def compose(self) -> ComposeResult:
        """Tabs, the open list, two lines at the bottom; other lists come when they are opened."""
        yield TabBar([Tab(tab, TITLES[tab], SHORT[tab]) for tab in TABS])
        with ContentSwitcher(initial=TABS[0]):
            yield self._make_pane(TABS[0])
        yield StatusLine()
        yield KeyBar()

    def _make_pane(self, tab: str) -> ListPane:
        kind = ActivityPane if tab == "activity" else ListPane
        return kind(self._views[tab], self.changes)

    def on_mount(self) -> None:
        """Paint first, then look for the core."""
        self.set_keymap(self.registry.keymap)
        if wrong := "; ".join(self.registry.problems):
            self.tell_changes(self.store.remember_fault(f"settings.toml: keys not bound: {wrong}"))
        if self.real_cursor and self._driver is not None:
            self._driver.write(SHOW_CURSOR)
        self.changes.subscribe(self, self._frame_changed)
        self.pane.take_over()
        self.set_interval(STATUS_SECONDS, self.show_status)
        self.set_interval(SECOND, self._count_down)
        self.follow_core()
        if self._first_start:
            self.open_dialog(dialogs.first_start)

    # ── the frame ──

    def _frame_changed(self, changed: set[Changed]) -> None:
        self.show_status()
        self.deeds.news(changed)
        if "consent" in changed and self.store.consent and not self._asked_consent:
            if self._in_dialog:
                return  # an install is asking about the same programs
            self._asked_consent = True
            if len(self.screen_stack) == 1 and not self.pane.filter.typing:
                self.open_dialog(dialogs.consent)

    @property
    def _in_dialog(self) -> bool:
        return any(worker.group == "installing" and worker.is_running for worker in self.workers)

    def show_status(self) -> None:
        """The status line, and how many rows of each tab want attention."""
        if not self.standing:
            return
        main = self.screen_stack[0]
        line = main.query_one(StatusLine)
        line.where = summary.where(self.store, self.place)
        line.job = summary.job(self.store, self.place, self.glyphs)
        line.counts = summary.counts(self.store, self.place)
        main.query_one(TabBar).badges = {tab: v.attention() for tab, v in self._views.items()}

    def _count_down(self) -> None:
        if self.store.sign_ins:
            self.show_status()

    @property
    def standing(self) -> bool:
        """The main screen is there: at the end news may still come when it has gone."""
        return self.is_running and bool(self.screen_stack)

    @property
    def pane(self) -> ListPane:
        """The open tab."""
        main = self.screen_stack[0]
        return main.query_one(f"#{main.query_one(TabBar).active}", ListPane)

    @property
    def tab(self) -> tuple[str, str]:
        """Id and title of the open tab."""
        tab = self.pane.view.TAB
        return tab, TITLES[tab]

    @property
    def narrow(self) -> bool:
        """There is no room for details beside the list."""
        return self.screen_stack[0].has_class("-narrow")

    async def open_tab(self, tab: str) -> None:
        """Show a tab; its list has the cursor."""
        main = self.screen_stack[0]
        switcher = main.query_one(ContentSwitcher)
        if not switcher.query_children(f"#{tab}"):
            await switcher.add_content(self._make_pane(tab))
        main.query_one(TabBar).active = tab
        switcher.current = tab
        self.pane.take_over()

    @on(ListPane.Selected)
    def _selected(self, message: ListPane.Selected) -> None:
        if self.standing and message.pane is self.pane:
            self.show_keys()

    def show_keys(self) -> None:
        """The keys that do something now."""
        hints, pane = self.registry.key_line(self.offers()), self.pane
        if pane.filter.typing:
            hints = [Hint("enter", "to the list"), Hint("escape", "out of the filter")]
        elif pane.filter.text:
            hints = [*hints[:2], Hint("escape", "clear the filter"), *hints[2:]]
        self.screen_stack[0].query_one(KeyBar).hints = hints

    @on(ListPane.DetailsWanted)
    def _details_wanted(self, message: ListPane.DetailsWanted) -> None:
        if self.standing and self.controller is not None and message.pane is self.pane:
            self._read_details(self.controller, message)

    @work(group="details", exclusive=True)
    async def _read_details(self, controller: Controller, wanted: ListPane.DetailsWanted) -> None:
        details = await controller.detail(wanted.kind, wanted.id)
        wanted.pane.give_details(wanted.key, details)

    @on(ListPane.Opened)
    async def _opened(self) -> None:
        await self.deeds.run("row.details")

    @on(TabBar.Chosen)
    async def _tab_chosen(self, message: TabBar.Chosen) -> None:
        await self.open_tab(message.tab)

    def on_key(self, event: events.Key) -> None:
        """News has been seen: its marks go with the next key."""
        self.tell_changes(self.store.settle_marks())

    # ── for the commands ──

    def open_dialog(self, dialog: Callable[[JackfieldApp], Awaitable[None]]) -> None:
        """Run a dialog beside the screen; it pushes sheets and waits for them."""
        self.run_worker(partial(dialog, self), group="dialogs")

    def action_command_palette(self) -> None:
        """Every command, by name."""
        from tui.screens.palette import Palette

        self.push_screen(Palette())

    def offers(self) -> Sequence[Offer]:
        """What applies now, most wanted first."""
        return self.deeds.offers()

    def command_offer(self, id: str) -> Offer | None:
        """What one command means now."""
        return self.deeds.offer(id)

    def run_command(self, id: str) -> None:
        """Do it, or say why not."""
        self.call_later(self.deeds.run, id)

    async def action_command(self, id: str) -> None:
        """A key of the registry was pressed; the next key waits until it has been done."""
        if not self._leaving:
            await self.deeds.run(id)

    def exit(self, *args: Any, **more: Any) -> None:
        """As Textual's; keys that come after it mean nothing any more."""
        self._leaving = True
        super().exit(*args, **more)

    def tell(self, text: str, *, fault: bool = False) -> None:
        """Answer what the person did; the keys may mean something else now."""
        super().tell(text, fault=fault)
        self.show_keys()

    def login_completed(self, event: LoginCompleted) -> None:
        """Say how a sign-in ended, unless its sheet does."""
        tell = tell_account if event.of == "account" else tell_ended
        self.open_dialog(partial(tell, event=event))

    def explain_names(self, query: str, limit: int) -> Sequence[NameHit]:
        """Plugins, apps, tools and servers whose names match, best first."""
        from tui.explain_deeds import names

        return names(self, query, limit)

    def explain_name(self, id: str) -> None:
        """Open Explain for one of them."""
        from tui.explain_deeds import explain_it, target_of

        self.open_dialog(partial(explain_it, asked=target_of(id)))
