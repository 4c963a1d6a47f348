"""Codex's own account: who is signed in, what that decides, and signing in and out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.signal import Signal
from textual.widgets import Input

from core.protocol.jackfield_account import AccountAttemptState, AccountFacts
from tui.account_controller import AccountController, Way
from tui.store import Changed
from tui.text import Hint
from tui.theme import app_of
from tui.views import account as view
from tui.views.base import Place
from tui.widgets.confirm import Choice, Confirm
from tui.widgets.field import Field
from tui.widgets.page import Page
from tui.widgets.page_view import PageView
from tui.widgets.sheet import Sheet
from tui.widgets.toast import toast


class AccountSheet(Sheet[None]):
    """Letters are commands; closed, an attempt that waits goes on."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open", "open", id="row.open"),
        Binding("c", "copy", "copy", id="row.copy"),
        Binding("u", "whole", "show whole"),
        Binding("b", "sign_in('browser')", "sign in"),
        Binding("d", "sign_in('device')", "device code"),
        Binding("k", "key", "API key"),
        Binding("S", "sign_out", "sign out", id="servers.sign-out"),
        Binding("up", "scroll(-1)", "up", show=False, id="list.up"),
        Binding("down,j", "scroll(1)", "down", show=False, id="list.down"),
        Binding("ctrl+x", "cancel", "cancel", id="form.cancel", priority=True),
        Binding("escape", "close", "close", id="form.close"),
    ]
    DEFAULT_CSS = """
    AccountSheet {
        & #box #body #below { margin: 1 1 0 0; }
        & #box #body #key { display: none; margin: 1 1 0 0; }
        &.-typing #box #body #key { display: block; }
    }
    """

    def __init__(
        self,
        accounts: AccountController,
        place: Place,
        changes: Signal[set[Changed]],
        now: Callable[[], float],
    ) -> None:
        super().__init__("Account")
        self._accounts, self._place = accounts, place
        self._changes, self._now = changes, now
        self._facts: AccountFacts | None = None
        self._state = AccountAttemptState()
        self._fault = self._note = ""
        self._busy = ""
        self._turn = 0
        self._key = Field("API key", password=True, hint="enter keeps it", id="key")

    def body(self) -> ComposeResult:
        """Who it is, the field for a key, and the rest."""
        yield PageView(self._top)
        yield self._key
        yield PageView(self._below, id="below")

    def on_mount(self) -> None:
        """Read it, and look once a second while somebody is awaited."""
        self._changes.subscribe(self, self._on_changed)
        self.set_interval(1.0, self._tick)
        self._look()

    def _on_changed(self, changed: set[Changed]) -> None:
        if changed & {"account", "sign-ins"}:
            self._look()

    def _tick(self) -> None:
        if self.waits:
            self._turn += 1
            self._look()

    @property
    def facts(self) -> AccountFacts | None:
        """Who is signed in, once the core has told."""
        return self._facts

    @property
    def state(self) -> AccountAttemptState:
        """The last attempt."""
        return self._state

    @property
    def waits(self) -> bool:
        """Somebody is to sign in somewhere else."""
        return self._state.stage in ("waiting", "exchanging")

    @work(group="look", exclusive=True)
    async def _look(self) -> None:
        facts, before = await self._accounts.facts(), self._state
        self._state = await self._accounts.state()
        if isinstance(facts, str):
            self._fault = facts
        else:
            self._facts = facts
        if before.stage in ("waiting", "exchanging") and not self.waits:
            self._fault = self._state.reason if self._state.stage == "failed" else ""
            self._note = {"done": "signed in", "cancelled": "cancelled"}.get(self._state.stage, "")
        self._told()

    def _told(self) -> None:
        self.redraw()
        self.refresh_bindings()

    # ── the page ──

    def _top(self, page: Page) -> None:
        if self._busy:
            page.item("busy", self._busy)
        if self._fault:
            page.item("failed", self._fault)
        elif self._note:
            page.item("works", self._note)
        page.gap()
        if self._facts is not None:
            view.who(page, self._facts, self._place, self._now())
        elif not self._fault:
            page.item("busy", "Asking who is signed in")

    def _below(self, page: Page) -> None:
        if self.waits:
            view.attempt(page, self._state, self._now(), self._turn)
        if self._facts is not None:
            view.decides(page, self._facts)

    # ── keys ──

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that do something now."""
        facts = self._facts
        match action:
            case "open" | "copy" | "whole" | "cancel":
                return self.waits
            case "sign_in" | "key":
                way = str(parameters[0]) if parameters else "key"
                allowed = facts is not None and way in facts.ways and not self._place.read_only
                return allowed and not (self.waits and self._state.way == way)
            case "sign_out":
                return bool(facts and facts.kind != "none") and not self._place.read_only
            case _:
                return True

    def hints(self) -> tuple[Sequence[Hint], Sequence[Hint]]:
        """Signing in again is how accounts are switched."""
        hints, tail = super().hints()
        if self._facts is not None and self._facts.kind != "none":
            hints = [Hint(h.key, "another account" if h.key == "b" else h.label) for h in hints]
        if self._key.input.has_focus:
            tail = [Hint(h.key, "out of the field" if h.key == "escape" else h.label) for h in tail]
        elif self.waits:
            tail = [
                Hint(h.key, "close, keep waiting" if h.key == "escape" else h.label) for h in tail
            ]
        return hints, tail

    def action_scroll(self, by: int) -> None:
        """Scroll a page that is higher than the screen."""
        self.scroll_body(by)

    def action_sign_in(self, way: Way) -> None:
        """Begin, in place of an attempt that waits."""
        self._begin(way)

    @work(group="sign-in", exclusive=True)
    async def _begin(self, way: Way, key: str = "") -> None:
        self._busy, self._fault, self._note = "beginning", "", ""
        self._told()
        begun = await self._accounts.sign_in(way, key)
        self._busy = ""
        if isinstance(begun, str):
            self._fault = begun
        elif begun.stage == "done":
            self._note = "signed in"
        else:
            self._state = begun
        self._look()

    def action_key(self) -> None:
        """Into the field for a key."""
        self.add_class("-typing")
        self._key.input.focus()
        self.refresh_bindings()

    def on_paste(self, event: events.Paste) -> None:
        """A paste beside the field goes nowhere: what it holds is not looked at."""
        event.stop()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        key = self._key.value.strip()
        if not key:
            self._key.fault = "type in or paste a key"
            return
        self._leave_field()
        self._begin("key", key)

    def _leave_field(self) -> None:
        with self.prevent(Input.Changed):
            self._key.value = ""
        self._key.fault = ""
        self.remove_class("-typing")
        self.set_focus(None)

    @work(group="open")
    async def action_open(self) -> None:
        """Open the page in a browser of this machine."""
        why = await self._accounts.open()
        toast(app_of(self), f"{why}: c copies the link" if why else "Opened in your browser")

    def action_copy(self) -> None:
        """Copy the link, or the page where the code is typed in."""
        app_of(self).copy_to_clipboard(self._state.url)
        toast(app_of(self), "Copied: the link")

    def action_whole(self) -> None:
        """The link alone on the screen, without a frame."""
        from tui.screens.sign_in_link import WholeLink

        app_of(self).push_screen(WholeLink(self._state.url))

    @work(group="cancel")
    async def action_cancel(self) -> None:
        """End the attempt."""
        await self._accounts.cancel()
        self._look()

    @work(group="out", exclusive=True)
    async def action_sign_out(self) -> None:
        """Revoke and remove, after asking."""
        facts = self._facts
        if facts is None:
            return
        sheet = Confirm(
            "Sign out of the account?",
            "Codex itself is signed out too: both use the same sign-in.",
            [Choice("out", "Sign out", "apps, shared plugins and enterprise servers stop")],
            writes="keyring" if facts.store == "keyring" else self._place.path(facts.file),
            undo="none; b signs in again",
        )
        if await app_of(self).push_screen_wait(sheet) != "out":
            return
        self._busy, self._fault, self._note = "signing out", "", ""
        self._told()
        result = await self._accounts.sign_out()
        self._busy = ""
        if isinstance(result, str):
            self._fault = result
        else:
            self._note = "signed out"
            if result.note:
                self._note += f"; not revoked: {result.note}"
        self._look()

    def action_close(self) -> None:
        """Out of the field first; the attempt goes on."""
        if self._key.input.has_focus:
            self._leave_field()
            self._told()
        else:
            self.dismiss(None)
