from __future__ import annotations

import pytest

from core.protocol.login import CredentialState, LoginDevice, LoginState, LoginStep
from core.protocol.rows import ServerRow
from tests.tui import world
from tests.tui.views.support import PLACE, page_of, store_of
from tui.sign_in_controller import NotBegun, browser_is_elsewhere
from tui.views import sign_in
from tui.views.servers import ServersView
from tui.views.sign_in_steps import SignInPage, spaced
from tui.widgets.page import Page

NOW = world.NOW


def server(**more: object) -> ServerRow:
    given = {"status": "connected", "transport": "http", "auth": "oAuth", **more}
    return ServerRow(id="s", name="s", **given)  # type: ignore[arg-type]


def waiting(**more: object) -> LoginState:
    given = {
        "login_id": "l1",
        "name": "s",
        "stage": "waiting",
        "host": "mcp.s.example",
        "authorizer": "auth.s.example",
        "url": "https://auth.s.example/authorize?state=x",
        "ends_at": NOW + 252,
        "scopes": ("read", "write"),
        **more,
    }
    return LoginState(**given)  # type: ignore[arg-type]


def written(state: LoginState, stored: CredentialState | None = None, cells: int = 76) -> str:
    shown, page = SignInPage("s", world.now, "devbox", state=state), Page(cells)
    shown.stored = stored
    shown.steps(page)
    shown.about(page)
    return "\n".join(line.rstrip() for line in page.text_lines)


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        (server(auth_until=NOW + 5010, auth_renews=True), "until 14:05"),
        (server(auth_until=NOW + 540), "! until 12:50"),
        (server(auth_until=NOW + 540, auth_renews=True), "until 12:50"),
        (server(auth_until=NOW + 3 * 86_400), "until 3 Dec"),
        (server(), "yes"),
        (server(auth_reason="the server wants `write`: sign in again"),
         "! the server wants `write`: sign in again"),
        (server(auth="bearerToken"), "token"),
        (server(auth="unsupported"), ""),
    ],
)  # fmt: skip
def test_the_column_warns_only_where_somebody_will_have_to_act(row: ServerRow, shown: str):
    assert "".join(text for text, _ in sign_in.cell(row, NOW, "!")) == shown


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ({"auth": "notLoggedIn"}, "needed"),
        ({"auth": "notLoggedIn", "reason": "HTTP 401 from h"}, "needed — HTTP 401 from h"),
        ({"auth": "notLoggedIn", "auth_until": NOW - 12_570, "auth_reason": "renewal refused"},
         "expired 09:12; renewal refused"),
        ({"auth": "notLoggedIn", "auth_reason": "the server does not take the token"},
         "the server does not take the token"),
        ({"auth": "unknown", "auth_reason": "the keyring does not answer"},
         "not known: the keyring does not answer"),
    ],
)  # fmt: skip
def test_a_row_says_why_it_stops_at_its_sign_in(more: dict[str, object], shown: str):
    assert sign_in.wanted(server(status="authenticationRequired", **more), NOW) == shown


@pytest.mark.parametrize(
    ("row", "stored", "said"),
    [
        (server(auth_until=NOW + 5010, auth_renews=True),
         {"state": "oAuth", "store": "keyring", "refreshedAt": NOW - 60, "scopes": ["a", "b"]},
         ("signed in  until 14:05, renews by itself", "refreshed  12:40:30",
          "kept in    keyring, shared with Codex", "scopes     a  b")),
        (server(auth_until=NOW + 540), {"state": "oAuth", "store": "file"},
         ("until 12:50, ends in 9 min, nothing renews it", ".credentials.json, shared with Codex")),
        (server(auth="notLoggedIn", auth_until=NOW - 60), {"state": "notLoggedIn", "store": "file"},
         ("signed in  not signed in, expired 12:40",)),
        (server(auth="notLoggedIn"), {"state": "none"}, ("kept in    nowhere: nothing is stored",)),
        (server(auth="unknown", auth_reason="the keyring does not answer"),
         {"state": "unknown", "reason": "the keyring does not answer"},
         ("signed in  not known: the keyring does not answer",
          "kept in    not known: the keyring does not answer")),
        (server(), {"state": "oAuth", "store": "keyring", "keyringWords": "it forgets at the end",
                    "missing": ["write"], "registered": True},
         ("keyring    it forgets at the end", "lacks      write", "client     registered")),
    ],
)  # fmt: skip
def test_details_tell_until_when_who_renews_it_and_where_it_is_kept(
    row: ServerRow, stored: dict[str, object], said: tuple[str, ...]
):
    view = ServersView(store_of(servers=[row]), PLACE)
    view.details["s"] = {"signIn": stored}
    text = page_of(view, "s")
    for each in said:
        assert each in text


def test_scopes_that_are_new_have_a_plus_and_both_hosts_are_named():
    said = written(waiting(scopes_before=("read",)))
    assert "mcp.s.example wants an account at auth.s.example" in said
    assert "asks for   read  +write" in said
    assert "4:12 left" in said


def test_scopes_of_a_first_sign_in_have_none():
    assert "asks for   read  write" in written(waiting())


def test_the_ssh_line_is_ready_made_and_other_machines_are_named_where_they_come_too():
    state = waiting(forward="ssh -N -L 3118:127.0.0.1:3118 HOST")
    assert "or forward:  ssh -N -L 3118:127.0.0.1:3118 devbox" in written(state)
    assert "other machines reach it too" in written(waiting(open_to_network=True))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"stage": "failed", "reason": "timed out waiting for OAuth callback"},
         "✗ not signed in  nobody came back in time"),
        ({"stage": "failed", "reason": "OAuth provider returned `access_denied`"},
         "✗ not signed in  denied at auth.s.example (access_denied)"),
        ({"stage": "failed", "reason": "HTTP 503 from auth.s.example"},
         "✗ not signed in  HTTP 503 from auth.s.example"),
        ({"stage": "cancelled"}, "◌ cancelled  nothing was stored"),
        ({"stage": "exchanging"}, "somebody was there; fetching the tokens"),
        ({"rejected": "it belongs to another sign-in (state)"},
         "! a redirect was not taken: it belongs to another sign-in (state)"),
        ({"warnings": ("the metadata lack resource (RFC 9728)",)},
         "! the metadata lack resource (RFC 9728)"),
        ({"device": LoginDevice(user_code="WDJB-MJHT", page="https://auth.s.example/device")},
         "W D J B  -  M J H T"),
    ],
)  # fmt: skip
def test_each_turn_of_an_attempt_has_its_words(more: dict[str, object], said: str):
    assert said in written(waiting(**more))


def test_what_is_done_is_said_with_its_end_its_store_and_what_to_know_of_that():
    state = waiting(stage="done", store="keyring", store_note="the keyring forgets it")
    said = written(state, CredentialState(state="oAuth", store="keyring", expires_at=NOW + 20_910))
    assert "● signed in until 18:30" in said
    assert "kept in    keyring, shared with Codex" in said
    assert "! the keyring forgets it" in said
    assert "left" not in said


def test_where_it_will_be_kept_is_said_before_with_what_is_wrong_with_the_keyring():
    stored = CredentialState(state="none", keeps="file", keyring_words="the keyring is locked")
    said = written(waiting(), stored)
    assert "keeps in   .credentials.json, shared with Codex: the keyring is locked" in said


def test_the_trail_has_hosts_paths_and_answers_and_is_cut_for_narrow_screens():
    trail = (
        LoginStep(verb="GET", url="https://mcp.s.example/mcp", status=401),
        LoginStep(verb="GET", url="https://mcp.s.example/.well-known/x", status=404),
        LoginStep(verb="POST", url="https://auth.s.example/token", status=400),
        LoginStep(verb="GET", url="https://auth.s.example/", note="no route to host"),
    )
    said = written(waiting(trail=trail))
    assert "● 401 mcp.s.example/mcp" in said and "asks for sign-in" in said
    assert "· 404 …/.well-known/x" in said and "tried, next" in said
    assert "✗ 400 POST auth.s.example/token" in said and "refused" in said
    assert "✗ --- …/" in said and "no route to host" in said
    lines = written(waiting(trail=trail), cells=36).splitlines()
    assert max(map(len, lines)) <= 36


def test_a_host_on_a_private_network_is_named_with_the_key_that_allows_it():
    shown, page = SignInPage("s", world.now, "devbox"), Page(76)
    shown.take_failure(
        NotBegun("Metadata error\n  Caused by: 10.0.0.7 is private", blocked="10.0.0.7")
    )
    shown.steps(page)
    said = "\n".join(page.text_lines)
    assert "not signed in  10.0.0.7 is private" in said
    assert "a allow it for s, and try again" in said


def test_hostile_words_of_a_server_are_made_safe():
    said = written(waiting(scopes=(world.HOSTILE,), authorizer=world.HOSTILE))
    assert "\x1b" not in said and "\u202e" not in said


def test_codes_are_spaced_by_their_groups():
    assert spaced("WDJB-MJHT") == "W D J B  -  M J H T"
    assert spaced("1234") == "1 2 3 4"


def test_a_session_over_ssh_has_its_browser_elsewhere():
    assert browser_is_elsewhere({"SSH_TTY": "/dev/pts/1"})
    assert not browser_is_elsewhere({"HOME": "/root"})
