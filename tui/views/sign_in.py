"""What is known of a server's sign-in, in words: in its row, in its details, in its sheet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from core.protocol.rows import ServerRow
from tui.signs import SignName
from tui.text import Part, pad
from tui.views.details import JsonObject, numbers_of, text_of, texts_of
from tui.views.times import moment, span
from tui.widgets.page import LABEL, Page

if TYPE_CHECKING:
    from core.protocol.login import CredentialState, LoginState, LoginStep

SOON = 600.0
"""Seconds before its end from which a sign-in that nobody renews wants attention."""
STORES = {"keyring": "keyring", "file": ".credentials.json"}
WAITS = ("waiting", "exchanging")
_AUTH = {"bearerToken": "token", "notLoggedIn": "no", "oAuth": "yes", "unknown": "not known"}
_WHOLE = {
    "unsupported": "not needed",
    "bearerToken": "bearer token of the configuration",
    "notLoggedIn": "not signed in",
    "oAuth": "signed in",
    "unknown": "not known",
}


def left(seconds: float) -> str:
    """`4:12`."""
    whole = max(0, int(seconds))
    return f"{whole // 60}:{whole % 60:02}"


def waits(state: LoginState, now: float) -> str:
    """What a row says while somebody is awaited."""
    if state.stage == "exchanging":
        return "fetching the tokens"
    where = "the code to be typed in" if state.device is not None else "the browser"
    return f"waiting for {where} {left(state.ends_at - now)}"


def until(at: float, now: float) -> str:
    """`until 18:30`, `until 3 Dec`."""
    return f"until {short(at, now)}"


def short(at: float, now: float) -> str:
    """`18:30` while it is less than half a day away, else `3 Dec`."""
    import time

    if abs(at - now) < 43_200:
        return time.strftime("%H:%M", time.localtime(at))
    return moment(at, now)


def ends_soon(row: ServerRow, now: float) -> bool:
    """Somebody will have to sign in again within minutes."""
    if row.auth != "oAuth" or row.auth_until is None or row.auth_renews:
        return False
    return now < row.auth_until < now + SOON


def cell(row: ServerRow, now: float, mark: str) -> list[Part]:
    """The column `Signed in` of a server that is connected."""
    if row.auth == "oAuth" and row.auth_reason:
        return [(f"{mark} ", "care"), (row.auth_reason, "muted")]
    if row.auth == "oAuth" and row.auth_until is not None:
        said = until(row.auth_until, now)
        if ends_soon(row, now):
            return [(f"{mark} ", "care"), (said, "care")]
        # What is renewed by itself has an end, but none that anybody would notice.
        return [(said, "muted")]
    said = row.auth_reason or _AUTH.get(row.auth, "")
    return [(said, "muted")] if said else []


def wanted(row: ServerRow, now: float) -> str:
    """Why a server stops at its sign-in."""
    past = row.auth_until is not None and row.auth_until <= now
    expired = f"expired {short(row.auth_until, now)}" if past and row.auth_until else ""
    said = row.auth_reason
    if row.auth == "unknown" and said:
        return f"not known: {said}"
    if expired or said:
        return "; ".join(filter(None, (expired, said)))
    # Evidence of any server that has just been asked; other words say more by themselves.
    seen = row.reason.startswith("HTTP 401")
    return f"needed — {row.reason}" if seen else row.reason or "needed"


def kept_in(place: str) -> str:
    """`keyring, shared with Codex`."""
    return f"{STORES.get(place, place)}, shared with Codex" if place else ""


def facts(page: Page, row: ServerRow, detail: JsonObject, now: float) -> None:
    """A server's sign-in among its details; `detail` is a `CredentialState` as JSON."""
    if row.auth == "unsupported" and not row.auth_reason and not text_of(detail, "store"):
        return
    page.fact("signed in", _whole(row, now), "care" if ends_soon(row, now) else "")
    if not detail:
        return
    refreshed = numbers_of([detail.get("refreshedAt")])
    if refreshed:
        page.fact("refreshed", moment(refreshed[0], now))
    if row.auth in ("oAuth", "notLoggedIn", "unknown"):
        _store(page, detail)
    if scopes := texts_of(detail.get("scopes")):
        page.fact("scopes", "  ".join(scopes))
    if missing := texts_of(detail.get("missing")):
        page.fact("lacks", "  ".join(missing), "care")
    if detail.get("registered"):
        page.fact("client", "registered by Jackfield; ctrl+p forget registration")


def _store(page: Page, detail: JsonObject) -> None:
    """Where it is kept, and what is wrong with that place; unknown is not no."""
    state = text_of(detail, "state")
    if state == "unknown":
        page.fact("kept in", f"not known: {text_of(detail, 'reason')}", "care")
    elif store := text_of(detail, "store"):
        page.fact("kept in", kept_in(store))
    else:
        page.fact("kept in", "nowhere: nothing is stored")
    if state != "unknown" and (words := text_of(detail, "keyringWords")):
        page.fact("keyring", words)


def _whole(row: ServerRow, now: float) -> str:
    said = _WHOLE.get(row.auth, row.auth)
    if row.auth_until is not None and row.auth in ("oAuth", "notLoggedIn"):
        if row.auth_until > now:
            said = f"{until(row.auth_until, now)}, {_rest(row, now)}"
        elif row.auth == "oAuth" and row.auth_renews:
            said = f"signed in, renewed when next used; ended {short(row.auth_until, now)}"
        else:
            said = f"{said}, expired {short(row.auth_until, now)}"
    return f"{said}: {row.auth_reason}" if row.auth_reason else said


def _rest(row: ServerRow, now: float) -> str:
    if row.auth_renews:
        return "renews by itself"
    return f"ends in {span((row.auth_until or now) - now)}, nothing renews it"


# ── the sheet ──


def asked_for(state: LoginState) -> list[Part]:
    """Scopes; those that were not granted last time have a plus."""
    before = frozenset(state.scopes_before)
    parts: list[Part] = []
    for scope in state.scopes:
        new = bool(before) and scope not in before
        parts.append((f"{'+' if new else ''}{scope}  ", "accent" if new else ""))
    return parts or [("what the server gives without being asked", "muted")]


def trail(page: Page, steps: Sequence[LoginStep]) -> None:
    """What was asked of whom, and the answers; no query is ever in it."""
    if not steps:
        return
    page.section("Trail", "1 step" if len(steps) == 1 else f"{len(steps)} steps")
    host = ""
    for step in steps:
        parts = urlsplit(step.url)
        where = parts.netloc if parts.netloc != host else page.glyphs.cut
        host = parts.netloc
        sign, note = _step(step)
        status = str(step.status) if step.status else "---"
        verb = "" if step.verb == "GET" else f"{step.verb} "
        page.item(sign, [(f"{status} ", "muted"), (f"{verb}{where}{parts.path}", "")], note)


def _step(step: LoginStep) -> tuple[SignName, str]:
    if not step.status:
        return "failed", step.note or "no answer"
    if step.status == 401 and step.verb == "GET":
        return "works", step.note or "asks for sign-in"
    if step.status in (404, 405, 406):
        return "none", step.note or "tried, next"
    if step.status >= 400:
        return "failed", step.note or "refused"
    return "works", step.note


def ended(state: LoginState, stored: CredentialState | None, now: float) -> str:
    """`signed in until 18:30`."""
    if stored is None or stored.expires_at is None:
        return "signed in"
    return f"signed in {until(stored.expires_at, now)}"


def why(state: LoginState) -> str:
    """Why nobody is signed in, for people."""
    if state.reason.startswith("timed out"):
        return "nobody came back in time"
    if "access_denied" in state.reason:
        return f"denied at {state.authorizer} (access_denied)"
    return state.reason


def forwards(state: LoginState, host: str) -> str:
    """The `ssh` line, with this machine's name in it."""
    command = state.forward
    return f"{command.removesuffix(' HOST')} {host}" if command.endswith(" HOST") else command


def label(text: str) -> Part:
    """The label of a fact whose value has several tones."""
    return (pad(text, LABEL), "muted")
