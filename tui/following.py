"""The half of the app that follows the core: reads rows and events, keeps a store."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from rich.text import Text
from textual import work
from textual.app import App
from textual.driver import Driver
from textual.signal import Signal

from core import method_table as methods
from core.errors import CoreError
from core.protocol import jackfield as wire
from core.protocol.events import LoginCompleted, RefreshFinished
from tui import bridge
from tui.controller import Controller
from tui.first_frame import FirstFrame
from tui.store import Changed, ViewStore
from tui.views.base import READ_ONLY, Place
from tui.widgets.toast import toast

if TYPE_CHECKING:
    from core.client.contract import CoreClient
    from tui.last_frame import LastFrame

log = logging.getLogger(__name__)

WRITERS_TURN = 0.00005  # seconds; long enough to wake it
SETTLING = 3.0  # seconds after which most of what stays in memory is there
Connect = Callable[[], Awaitable["CoreClient"]]


def settle_memory() -> None:
    """The garbage collector works from now on, on what comes from now on."""
    gc.freeze()
    gc.enable()


class FollowingApp(App[None]):
    """Keeps `store` true and tells `changes` which tables changed.

    Attributes:
        store: What the core last said.
        place: Where it works.
        changes: Published with the names of changed tables; forgets dead widgets by itself.
        controller: The way to the core; None until it stands.
    """

    def __init__(
        self,
        connect: Connect,
        *,
        read_only: bool,
        consent_all: bool,
        now: Callable[[], float] = time.time,
        driver_class: type[Driver] | None = None,
        log_file: str = "",
        kept_frame: LastFrame | None = None,
    ) -> None:
        super().__init__(driver_class=driver_class)
        self._first_frame = FirstFrame(self, kept_frame) if kept_frame is not None else None
        self._connect = connect
        self._log_file = log_file
        self._consent_all = consent_all
        self.store = ViewStore(now)
        self.place = Place(read_only=READ_ONLY if read_only else "", starts_all=consent_all)
        self.changes: Signal[set[Changed]] = Signal(self, "store-changed")
        self.controller: Controller | None = None
        self._to_do_again: list[Callable[[CoreClient], object]] = []

    def _handle_exception(self, error: Exception) -> None:
        log.error("the panel stopped", exc_info=error)
        super()._handle_exception(error)

    def post_display_hook(self) -> None:
        """Let the thread that writes to the terminal have its turn before anything else."""
        time.sleep(WRITERS_TURN)
        if self._first_frame is not None:
            self._first_frame.displayed()

    def _fatal_error(self) -> None:
        # Textual would print a traceback with the values of locals, and those may be secrets.
        where = f" The log has it: {self._log_file}" if self._log_file else ""
        self.panic(Text(f"jackfield stopped because of a fault of its own.{where}"))

    @work(group="core")
    async def follow_core(self) -> None:
        """Wait for the core, then follow it until the app ends."""
        if self._first_frame is not None:
            self._first_frame.wait()
        try:
            client = await self._connect()
        except Exception as error:
            log.exception("no core")
            self._lose(error)
            return
        self.controller = Controller(client, self.tell)
        self._start_panel(client)
        self._learn_place(client)
        await bridge.pump(client, self)

    def _lose(self, error: Exception) -> None:
        said = error.message if isinstance(error, CoreError) else str(error)
        self.store.lost = said or type(error).__name__
        self.tell_changes({"account", "marketplaces", "plugins", "apps", "servers"})

    @work(group="place")
    async def _learn_place(self, client: CoreClient) -> None:
        """Paths are shortened to it; the first rows do not wait for it."""
        try:
            status = await client.call(methods.JACKFIELD_STATUS, wire.NoParams())
        except CoreError as error:
            self._to_do_again.append(self._learn_place)
            self._lose(error)
            return
        place = self.place
        place.home, place.codex_home, place.cwd = status.home, status.codex_home, status.cwd
        place.config_file = status.config_file
        if status.read_only:
            place.read_only = READ_ONLY
        self.tell_changes({"account", "marketplaces", "servers"})

    @work(group="start")
    async def _start_panel(self, client: CoreClient) -> None:
        params = wire.PanelStartParams(consent_all=self._consent_all)
        try:
            await client.call(methods.JACKFIELD_PANEL_START, params)
        except CoreError as error:
            self._to_do_again.append(self._start_panel)
            self.tell(f"The panel's thread did not start: {error.message}", fault=True)
        else:
            self.tell_changes(self.store.opened())

    def tell(self, text: str, *, fault: bool = False) -> None:
        """Answer what the person did."""
        toast(self, text, fault=fault)
        if fault:
            self.tell_changes(self.store.remember_fault(text))

    def tell_changes(self, changed: set[Changed]) -> None:
        """Let those views draw again that read what has changed."""
        if changed:
            self.changes.publish(changed)

    def on_core_session(self, message: bridge.CoreSession) -> None:
        """A subscription stands; what failed for want of a connection is done now."""
        self.store.begin_session()
        failed, self._to_do_again = self._to_do_again, []
        if self.controller is not None:
            for do in failed:
                do(self.controller.client)

    def on_core_rows(self, message: bridge.CoreRows) -> None:
        """A domain was read."""
        self.tell_changes(
            self.store.load(
                message.domain,
                message.rows,
                revision=message.revision,
                phase=message.phase,
                at=message.refreshed_at,
            )
        )

    def on_core_unread(self, message: bridge.CoreUnread) -> None:
        """A domain could not be read."""
        self.tell_changes(self.store.fail_to_load(message.domain, message.reason))

    def on_core_read(self, message: bridge.CoreRead) -> None:
        """The lists are being filled: let that end before the garbage collector may look.

        What is in memory then stays there; each look at it would hold up a key.
        """
        self.set_timer(SETTLING, settle_memory)

    def on_core_past(self, message: bridge.CorePast) -> None:
        """What happened before we listened."""
        self.tell_changes(self.store.remember_past(message.events))

    def on_core_lost(self, message: bridge.CoreLost) -> None:
        """The core cannot be heard."""
        self.store.lost = message.reason
        self.tell_changes({"account"})

    def on_core_event_batch(self, message: bridge.CoreEventBatch) -> None:
        """What happened."""
        self.tell_changes(self.store.apply(message.events))
        for event in message.events:
            if isinstance(event, RefreshFinished) and self.controller is not None:
                self.controller.finished(event)
            elif isinstance(event, LoginCompleted):
                self.login_completed(event)

    def login_completed(self, event: LoginCompleted) -> None:
        """A sign-in ended."""
