"""Pictures of signing in. Look at a changed one before accepting it."""

from __future__ import annotations

import platform
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from core.protocol.login import CredentialState, LoginDevice, LoginState, LoginStep
from tests.fakes.client import FakeClient
from tests.tui import world
from tests.tui.panel import NARROW, WIDE, Panel, whole
from tui.app import JackfieldApp
from tui.signs import Glyphs

Scene = Callable[[Panel], Awaitable[None]]
SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x40"])
STORED = CredentialState(state="none", keeps="keyring", expires_at=world.NOW + 20_910)


def attempt(**more: object) -> LoginState:
    given = {
        "login_id": "l1",
        "name": "issues",
        "stage": "waiting",
        "host": "issues.example",
        "authorizer": "auth.issues.example",
        "url": "https://auth.issues.example/authorize?response_type=code&client_id=jackfield-7f2c"
        "&redirect_uri=http%3A%2F%2F127.0.0.1%3A3118%2Fcallback&state=s&code_challenge=c",
        "redirect_uri": "http://127.0.0.1:3118/callback",
        "forward": "ssh -N -L 3118:127.0.0.1:3118 HOST",
        "offers_device": True,
        "ends_at": world.NOW + 252,
        "scopes": ("issues:read", "offline_access"),
        "scopes_before": ("offline_access",),
        "trail": (
            LoginStep(verb="GET", url="https://issues.example/mcp", status=401),
            LoginStep(
                verb="GET",
                url="https://issues.example/.well-known/oauth-protected-resource/mcp",
                status=404,
            ),
            LoginStep(
                verb="GET",
                url="https://issues.example/.well-known/oauth-protected-resource",
                status=200,
            ),
            LoginStep(verb="POST", url="https://auth.issues.example/register", status=201),
        ),
        **more,
    }
    return LoginState(**given)  # type: ignore[arg-type]


@pytest.fixture
def picture(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    monkeypatch.setattr(platform, "node", lambda: "devbox")

    def compare(
        state: LoginState, *, size: tuple[int, int], keys: tuple[str, ...] = (), **options: Any
    ) -> None:
        client: FakeClient = whole()
        client.answers["jackfield/login/start"] = state
        client.answers["jackfield/login/state"] = state
        client.answers["jackfield/login/credentials"] = STORED

        async def connect() -> Any:
            return client

        app = JackfieldApp(connect, now=world.now, **options)
        app.animation_level = "none"

        async def before(pilot: Any) -> None:
            panel = Panel(app, pilot, client)
            await panel.until(lambda: app.store.config.loaded and app.controller is not None)
            await panel.press("4")
            await panel.until(lambda: panel.pane.list.move_to("issues"))
            await panel.press("s")
            await panel.calls("jackfield/login/credentials")
            await panel.press(*keys)
            await pilot.pause()

        assert snap_compare(app, terminal_size=size, run_before=before)

    return compare


@SIZES
def test_a_sign_in_waits_for_the_browser(picture: Any, size: tuple[int, int]) -> None:
    picture(attempt(), size=size)


@SIZES
def test_its_colours_are_not_needed(
    picture: Any, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    picture(attempt(), size=size)


def test_in_ascii(picture: Any) -> None:
    picture(attempt(), size=NARROW, glyphs=Glyphs(ascii=True))


@SIZES
def test_the_field_for_what_comes_back(picture: Any, size: tuple[int, int]) -> None:
    picture(attempt(rejected="it belongs to another sign-in (state)"), size=size, keys=("v",))


def test_a_code_to_be_typed_in_elsewhere(picture: Any) -> None:
    device = LoginDevice(user_code="WDJB-MJHT", page="https://auth.issues.example/device")
    picture(attempt(device=device), size=NARROW, keys=("d",))


def test_denied(picture: Any) -> None:
    state = attempt(stage="failed", reason="OAuth provider returned `access_denied`")
    picture(state, size=NARROW)


def test_closed_while_it_waits(picture: Any) -> None:
    picture(attempt(), size=NARROW, keys=("escape",))
