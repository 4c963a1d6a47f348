"""Writes Codex's own account: who it is, what it decides, and an attempt to sign in."""

from __future__ import annotations

from core.protocol.jackfield_account import AccountAttemptState, AccountFacts
from tui.signs import SignName
from tui.text import pad
from tui.views import sign_in
from tui.views.base import Place
from tui.widgets.page import LABEL, Page

LIMITS = {"browser": 600.0, "device": 900.0}  # seconds
MANAGED = frozenset({"business", "enterprise", "edu"})
INDENT = 5


def who(page: Page, facts: AccountFacts, place: Place, now: float) -> None:
    """Who is signed in, how, until when, and where that is kept."""
    match facts.kind:
        case "chatgpt":
            page.state("works", "signed in", "with ChatGPT")
        case "apiKey":
            page.state("works", "signed in", "with an API key")
        case "unknown":
            page.state("failed", "cannot be used", facts.reason)
        case _:
            page.state("off", "not signed in", "plugins and servers of your own work without")
    if facts.kind == "chatgpt" and facts.reason:
        page.item("problem", facts.reason)
    if facts.kind == "chatgpt":
        _person(page, facts)
        page.fact("token", _token(facts, now))
    if facts.store:
        page.fact("kept in", _kept(facts, place))
    elif facts.kind == "none":
        page.fact("keeps in", "keyring" if facts.keeps == "keyring" else place.path(facts.file))
    page.fact("backend", facts.backend or "not known: the configuration cannot be read")


def _person(page: Page, facts: AccountFacts) -> None:
    plan = f"plan {facts.plan}" if facts.plan else ""
    page.fact("who", "   ".join(part for part in (facts.email or "no address", plan) if part))
    if facts.workspace or facts.workspace_id:
        named = facts.workspace or facts.workspace_id
        tail = f"   {facts.workspace_id}" if facts.workspace and facts.workspace_id else ""
        page.fact("workspace", named + tail)


def _token(facts: AccountFacts, now: float) -> str:
    if facts.store == "memory":
        return "given by a client of the core, which renews it"
    renewed = "renewed by itself" if facts.renewable else "not renewed by itself"
    if facts.ends_at is None:
        return f"does not say until when; {renewed}"
    word = "ended" if facts.ends_at <= now else sign_in.until(facts.ends_at, now)
    return f"{word}, {renewed}"


def _kept(facts: AccountFacts, place: Place) -> str:
    match facts.store:
        case "keyring":
            return "keyring, shared with Codex"
        case "memory":
            return "memory, until the core ends"
        case _:
            return f"{place.path(facts.file)}, shared with Codex"


def decides(page: Page, facts: AccountFacts) -> None:
    """What another account would change here."""
    page.section("This account decides")
    chatgpt = facts.kind == "chatgpt"
    if facts.apps:
        _decided(page, "off", "apps", facts.apps)
    else:
        _decided(page, "works", "apps", "the directory, and what is linked")
    if chatgpt:
        _decided(page, "none", "catalogue", "plugins of its workspace, which only Codex lists")
    else:
        _decided(page, "off", "catalogue", "only your own marketplaces")
    if chatgpt and facts.plan in MANAGED:
        _decided(page, "works", "policy", "its workspace may manage settings")
    else:
        _decided(page, "off", "policy", "no workspace manages settings")
    if facts.owner:
        _decided(page, "works", "enterprise", "it can own enterprise sign-ins")
    elif chatgpt:
        _decided(page, "problem", "enterprise", "made without an owner: sign in again")
    else:
        _decided(page, "off", "enterprise", "needs a sign-in with ChatGPT")


def _decided(page: Page, sign: SignName, what: str, text: str) -> None:
    page.item(sign, [(pad(what, LABEL), "muted"), (text, "")])


def attempt(page: Page, state: AccountAttemptState, now: float, turn: int) -> None:
    """Where to go, and how long there is."""
    page.section("Sign in")
    if state.way == "device":
        page.step("1", "Open this page in any browser, on any machine")
        page.link(state.url, indent=INDENT)
        page.step("2", "Type in this code; never give it to anybody who asks for it")
        page.button_like("  ".join(" ".join(part) for part in state.user_code.split("-")), INDENT)
    else:
        page.step("1", "Open this page in a browser of this machine")
        page.link(state.url, indent=INDENT)
        page.step("2", "Approve there; this page notices by itself")
    sign, tone = page.glyphs.part("busy", turn)
    left = max(0.0, state.ends_at - now)
    page.add(" " * INDENT, (sign, tone), ("waiting", "muted"))
    share = min(1.0, left / LIMITS.get(state.way, 600.0))
    page.bar(share, f"{sign_in.left(left)} left", indent=INDENT)
    if state.forward:
        page.step("3", "Browser on another machine? d gives a code, or run there:")
        page.text(state.forward, "muted", indent=INDENT)
    if state.rejected:
        page.item("problem", f"a redirect was not taken: {state.rejected}")
