"""The page of a sign-in: three steps for the person, what is asked for, and the trail."""

from __future__ import annotations

from collections.abc import Callable

from core.protocol.login import CredentialState, LoginState, LoginStep
from tui.sign_in_controller import NotBegun
from tui.text import Part
from tui.views import sign_in
from tui.views.sign_in import WAITS, label
from tui.widgets.page import Page, key_parts

LIMIT = 300.0
"""Seconds that an attempt waits, for the bar."""
INDENT = 5


class SignInPage:
    """What is to be shown, as it becomes known.

    Attributes:
        state: The attempt as it stands; None until it has been begun.
        not_begun: Why it could not be.
        stored: What is stored for the server; once it is done, what has just been stored.
        beginning: The servers are being asked.
        device: The code is shown instead of the link.
    """

    def __init__(
        self, name: str, now: Callable[[], float], machine: str, *, state: LoginState | None = None
    ) -> None:
        self._name, self._now, self._machine = name, now, machine
        self.state = state
        self.not_begun: NotBegun | None = None
        self.stored: CredentialState | None = None
        self.beginning = False
        self.device = state is not None and state.device is not None
        self._said = ""

    @property
    def turn(self) -> int:
        """Of the busy sign, which turns once a second."""
        return int(self._now())

    # ── how it stands ──

    def begin(self) -> None:
        """The servers are being asked."""
        self.beginning, self.not_begun, self._said = True, None, ""

    def take(self, state: LoginState) -> None:
        """The attempt stands so."""
        self.state, self.beginning, self.not_begun = state, False, None

    def take_failure(self, why: NotBegun) -> None:
        """There is no attempt."""
        self.not_begun, self.beginning, self.state = why, False, None

    def say(self, text: str) -> None:
        """What came of a key."""
        self._said = text

    @property
    def waits(self) -> bool:
        """Somebody is awaited."""
        return self.state is not None and not self.beginning and self.state.stage in WAITS

    @property
    def failed(self) -> bool:
        """It has ended, or never begun: it can be tried again."""
        if self.beginning:
            return False
        return self.not_begun is not None or (
            self.state is not None and self.state.stage in ("failed", "cancelled")
        )

    @property
    def link(self) -> str:
        """What is to be opened."""
        state = self.state
        if state is None:
            return ""
        if self.device and state.device is not None:
            return state.device.page_with_code or state.device.page
        return state.url

    @property
    def trail(self) -> tuple[LoginStep, ...]:
        """What was asked."""
        if self.state is not None:
            return self.state.trail
        return self.not_begun.trail if self.not_begun is not None else ()

    # ── above the field ──

    def steps(self, page: Page) -> None:
        """What the person is to do, or how it ended."""
        state = self.state
        if self.beginning:
            page.item("busy", f"asking who signs in to {self._name}", turn=self.turn)
        elif self.not_begun is not None:
            self._not_begun(page, self.not_begun)
        elif state is not None:
            page.text(_hosts(state))
            page.gap()
            self._attempt(page, state)
        if self._said and self.waits:
            page.text(self._said, "accent", indent=INDENT)

    def _attempt(self, page: Page, state: LoginState) -> None:
        match state.stage:
            case "waiting" if self.device and state.device is not None:
                self._code(page, state)
            case "waiting":
                self._link(page, state)
            case "exchanging":
                page.item("busy", "somebody was there; fetching the tokens", turn=self.turn)
            case "done":
                self._done(page, state)
            case "cancelled":
                page.state("unknown", "cancelled", "nothing was stored")
                page.keys(("s", "try again"))
            case _:
                page.state("failed", "not signed in", sign_in.why(state))
                page.keys(("s", "try again"))

    def _link(self, page: Page, state: LoginState) -> None:
        keys = key_parts([("u", "show whole"), ("w", "to a file")], page.glyphs)
        page.both([("  1  ", "key"), ("Open this page in any browser", "")], keys)
        page.link(state.url, indent=INDENT)
        self._waiting(page, state, "2", "Approve there; this page notices by itself")
        page.step("3", "Browser on another machine? Bring back what its address bar shows")
        paste = key_parts([("v", "or just paste: the whole URL, its query, or the bare code")])
        page.add(" " * INDENT, *paste)
        if state.open_to_network:
            page.item("problem", "other machines reach it too, as callback_url says", indent=INDENT)
        elif state.forward:
            command = sign_in.forwards(state, self._machine)
            page.add(" " * INDENT, ("or forward:  ", "muted"), command)

    def _code(self, page: Page, state: LoginState) -> None:
        device = state.device
        if device is None:
            return
        page.step("1", "Open this page on any machine")
        page.link(device.page_with_code or device.page, indent=INDENT)
        page.step("2", "Type in this code")
        page.button_like(spaced(device.user_code), indent=INDENT)
        self._waiting(page, state, "3", "Approve there; this page notices by itself")
        page.text(f"asking every {device.interval:g} s", "muted", indent=INDENT)

    def _waiting(self, page: Page, state: LoginState, number: str, text: str) -> None:
        sign, tone = page.glyphs.part("busy", self.turn)
        page.both([(f"  {number}  ", "key"), (text, "")], [(sign, tone), ("waiting", "muted")])
        left = max(0.0, state.ends_at - self._now())
        page.bar(min(1.0, left / LIMIT), f"{sign_in.left(left)} left", indent=INDENT)

    def _done(self, page: Page, state: LoginState) -> None:
        page.item("works", sign_in.ended(state, self.stored, self._now()))
        if state.store_note:
            page.item("problem", state.store_note)

    def _not_begun(self, page: Page, why: NotBegun) -> None:
        page.state("failed", "not signed in", why.reason)
        if why.hint:
            page.fact("mend", why.hint)
        if why.blocked:
            page.fact("blocked", f"{why.blocked} is on a private network")
            page.keys(("a", f"allow it for {self._name}, and try again"))
        page.keys(("s", "try again"))

    # ── below it ──

    def about(self, page: Page) -> None:
        """What is asked for, where it is kept, and the trail."""
        state = self.state
        if state is not None and not self.beginning:
            page.gap()
            if state.rejected and self.waits:
                page.item("problem", f"a redirect was not taken: {state.rejected}")
            page.add(label("asks for"), *_scopes(page, state))
            if kept := self._kept(state):
                page.fact("keeps in" if state.stage != "done" else "kept in", kept)
            for warning in state.warnings:
                page.item("problem", warning)
        sign_in.trail(page, self.trail)

    def _kept(self, state: LoginState) -> str:
        stored = self.stored
        if state.stage == "done":
            return sign_in.kept_in(state.store)
        if state.stage not in WAITS or stored is None:
            return ""
        note = f": {stored.keyring_words}" if stored.keyring_words else ""
        return sign_in.kept_in(stored.keeps) + note


def _hosts(state: LoginState) -> str:
    """Both of them, always."""
    if not state.host:
        return f"{state.name} wants an account at {state.authorizer}"
    return f"{state.host} wants an account at {state.authorizer}"


def _scopes(page: Page, state: LoginState) -> list[Part]:
    parts = sign_in.asked_for(state)
    gone = [each for each in state.missing if each not in state.scopes]
    if gone:
        parts.append((f"(the server lacks {' '.join(gone)})", "care"))
    return parts


def spaced(code: str) -> str:
    """`W D J B  -  M J H T`, to be read aloud and typed."""
    return "  -  ".join(" ".join(part) for part in code.split("-"))
