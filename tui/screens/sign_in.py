"""Sign in to a server: where to go, how long there is, what was asked of whom, how it ended."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.signal import Signal
from textual.widgets import Input

from core.protocol.login import CredentialState, LoginState
from tui.sign_in_controller import NotBegun, SignInController, browser_is_elsewhere
from tui.store import Changed, ViewStore
from tui.text import Hint
from tui.theme import app_of
from tui.views.base import Place
from tui.views.sign_in_steps import SignInPage
from tui.widgets.field import Field
from tui.widgets.page_view import PageView
from tui.widgets.sheet import Sheet
from tui.widgets.toast import toast

DONE_SHOWN = 2.0  # seconds


class SignInSheet(Sheet[NotBegun | None]):
    """An attempt to sign in; closed, it goes on, and the sheet can be opened again.

    Letters are commands; what is pasted goes to the field wherever the focus is. Answers with what
    the person would have to bring where no attempt can be made; None = closed.

    Args:
        name: Of the server.
        stands: Told how the attempt stands, after the sheet has been closed too.
        allow: Hosts on private networks that may be contacted.
    """

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "again", "try again", id="servers.sign-in"),
        Binding("a", "allow", "allow it", id="list.add"),
        Binding("o", "open", "open", id="row.open"),
        Binding("c", "copy", "copy", id="row.copy"),
        Binding("d", "device", "device code"),
        Binding("v", "paste", "paste"),
        Binding("u", "whole", "show whole"),
        Binding("w", "write", "to a file", id="list.write"),
        Binding("up,k", "scroll(-1)", "up", show=False, id="list.up"),
        Binding("down,j", "scroll(1)", "down", show=False, id="list.down"),
        Binding("ctrl+x", "cancel", "cancel", id="form.cancel", priority=True),
        Binding("escape", "close", "close", id="form.close"),
    ]
    DEFAULT_CSS = """
    SignInSheet {
        & #box #body #paste { display: none; margin: 0 1 0 5; }
        &.-pasting #box #body #paste { display: block; }
    }
    """

    def __init__(
        self,
        name: str,
        sign_ins: SignInController,
        store: ViewStore,
        place: Place,
        changes: Signal[set[Changed]],
        stands: Callable[[LoginState], None],
        *,
        allow: tuple[str, ...] = (),
    ) -> None:
        super().__init__(f"Sign in to {name}")
        self._name, self._sign_ins, self._store = name, sign_ins, store
        self._place, self._changes, self._stands = place, changes, stands
        self._allow = allow
        self._shown = SignInPage(name, store.now, platform.node(), state=store.sign_ins.get(name))
        self._ending = False
        self._paste = Field("paste", password=True, cells=8, id="paste")

    @property
    def server(self) -> str:
        """The name of the server."""
        return self._name

    @property
    def state(self) -> LoginState | None:
        """The attempt, once it has been begun."""
        return self._shown.state

    @property
    def not_begun(self) -> NotBegun | None:
        """Why there is none."""
        return self._shown.not_begun

    def body(self) -> ComposeResult:
        """What to do, the field for what comes back, and what is known."""
        yield PageView(self._shown.steps)
        yield self._paste
        yield PageView(self._shown.about)

    def on_mount(self) -> None:
        """Begin, or find the attempt that waits; look once a second."""
        self._changes.subscribe(self, self._on_changed)
        self.set_class(browser_is_elsewhere(), "-pasting")
        self.set_interval(1.0, self._tick)
        if self.state is None:
            self._begin()
        self._read_store()

    def _on_changed(self, changed: set[Changed]) -> None:
        if "sign-ins" in changed:
            self._look()

    # ── how it stands ──

    def _begin(self, *, anew: bool = False, device: bool = False) -> None:
        self._shown.begin()
        self._told()
        # Of the app: it goes on when the sheet is closed.
        start = partial(self._start, anew=anew, device=device)
        app_of(self).run_worker(start, group=f"sign-in {self._name}")

    async def _start(self, *, anew: bool, device: bool) -> None:
        begun = await self._sign_ins.start(self._name, anew=anew, device=device, allow=self._allow)
        if isinstance(begun, LoginState):
            self._shown.take(begun)
            self._stands(begun)
        else:
            self._shown.take_failure(begun)
            if begun.needs and self.is_current:
                self.dismiss(begun)
                return
        if self.is_attached:
            self._told()
        elif isinstance(begun, NotBegun):
            self._sign_ins.tell_not_begun(self._name, begun)

    def _told(self) -> None:
        self.redraw()
        self.refresh_bindings()

    def _tick(self) -> None:
        if self._shown.waits:
            self._look()
        elif self._shown.beginning:
            self.redraw()

    @work(group="look", exclusive=True)
    async def _look(self) -> None:
        if self.state is None or self._ending:
            return
        state = await self._sign_ins.state(self.state.login_id)
        if state is None or self._shown.beginning:
            return
        before = self.state.stage
        self._shown.take(state)
        if state.stage != before:
            self.set_focus(None)
            if state.stage == "done":
                self._finish()
            self._stands(state)
        self._told()

    @work(group="finish")
    async def _finish(self) -> None:
        self._ending = True
        self.remove_class("-pasting")
        self._shown.stored = await self._sign_ins.stored(self._name)
        self._told()
        self.set_timer(DONE_SHOWN, self._leave)

    @work(group="store")
    async def _read_store(self) -> None:
        stored: CredentialState | None = await self._sign_ins.stored(self._name)
        if self._shown.stored is None:
            self._shown.stored = stored
            self.redraw()

    def _leave(self) -> None:
        if self.is_current:
            self.dismiss(None)

    # ── keys ──

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that do something now."""
        shown = self._shown
        match action:
            case "open" | "copy" | "paste" | "whole" | "write" | "cancel":
                return shown.waits
            case "device":
                return shown.waits and shown.state is not None and shown.state.offers_device
            case "again":
                return shown.failed
            case "allow":
                return shown.not_begun is not None and bool(shown.not_begun.blocked)
            case _:
                return True

    def hints(self) -> tuple[Sequence[Hint], Sequence[Hint]]:
        """As of any sheet; closing says that the attempt goes on."""
        hints, tail = super().hints()
        if self._shown.waits:
            close = "out of the field" if self._paste.input.has_focus else "close, keep waiting"
            tail = [Hint(h.key, close if h.key == "escape" else h.label) for h in tail]
        if self._shown.device:
            hints = [Hint(h.key, "link" if h.key == "d" else h.label) for h in hints]
        return hints, tail

    def action_scroll(self, by: int) -> None:
        """Scroll a page that is higher than the screen."""
        self.scroll_body(by)

    async def action_open(self) -> None:
        """Open the page in a browser of this machine."""
        if self.state is None:
            return
        why = await self._sign_ins.open(self.state.login_id)
        self._shown.say(f"{why}: c copies the link" if why else "the page is open in your browser")
        self.redraw()

    def action_copy(self) -> None:
        """Copy the link, or the page where the code is typed in."""
        if self.state is not None:
            app_of(self).copy_to_clipboard(self._shown.link)
            toast(app_of(self), "Copied: the link")

    def action_device(self) -> None:
        """A code to be typed in on any machine, or back to the link."""
        if self.state is None:
            return
        if self.state.device is None:
            self._shown.device = True
            self._begin(anew=True, device=True)
            return
        self._shown.device = not self._shown.device
        self._told()

    def action_whole(self) -> None:
        """The link alone on the screen, without a frame."""
        from tui.screens.sign_in_link import WholeLink

        if self.state is not None:
            app_of(self).push_screen(WholeLink(self._shown.link))

    def action_write(self) -> None:
        """Write the link to a file that only the person can read."""
        from tui.screens.sign_in_link import SaveLink

        if self.state is not None:
            link = self._shown.link
            app_of(self).push_screen(SaveLink(self._name, self._place, link), self._written)

    def _written(self, path: object) -> None:
        if path is not None:
            self._shown.say(f"written to {self._place.path(str(path))}")
            self.redraw()

    def action_again(self) -> None:
        """Begin anew."""
        self._begin(anew=True, device=self._shown.device)

    def action_allow(self) -> None:
        """Contact a host on a private network, and begin anew."""
        if self.not_begun is not None:
            self._allow = (*self._allow, self.not_begun.blocked)
            self._begin()

    async def action_cancel(self) -> None:
        """End the attempt."""
        if self.state is not None:
            await self._sign_ins.cancel(self.state.login_id)
            self._look()

    def action_close(self) -> None:
        """Out of the field first; the attempt goes on."""
        if self._paste.input.has_focus:
            self.set_focus(None)
            self._told()
        else:
            self.dismiss(None)

    # ── what comes back ──

    def action_paste(self) -> None:
        """Into the field."""
        self.add_class("-pasting")
        self._paste.input.focus()
        self.refresh_bindings()

    def on_paste(self, event: events.Paste) -> None:
        """A paste beside the field is one into it, and needs no enter."""
        event.stop()
        if self._shown.waits and event.text.strip():
            # The field stays without the focus: the next paste takes the place of this one.
            self.add_class("-pasting")
            text = _unwrapped(event.text)
            with self.prevent(Input.Changed):
                self._paste.value = text
            self._bring(text)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._paste.fault = ""

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if text := _unwrapped(self._paste.value):
            self._bring(text)

    @work(group="paste", exclusive=True)
    async def _bring(self, text: str) -> None:
        if self.state is None:
            return
        why = await self._sign_ins.paste(self.state.login_id, text)
        if why and self._shown.waits:
            self._paste.fault = f"not taken: {why}"
            return
        with self.prevent(Input.Changed):
            self._paste.value = ""
        self._look()


def _unwrapped(text: str) -> str:
    """A link that a terminal has broken into lines is whole again."""
    return "".join(text.split())
