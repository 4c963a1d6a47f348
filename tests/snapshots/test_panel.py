"""Pictures of every tab in every state. Look at a changed one before accepting it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from core.protocol import jackfield as wire
from core.protocol.events import (
    ConsentRequested,
    OperationProgress,
    RefreshFailed,
    RefreshFinished,
    RefreshProgress,
    RefreshStarted,
    ServerHappened,
)
from core.protocol.rows import AccountRow, AppRow, ServerRow
from tests.fakes.client import FakeClient
from tests.tui import world
from tests.tui.panel import NARROW, WIDE, Panel, whole
from tui.app import JackfieldApp
from tui.signs import Glyphs

Scene = Callable[[Panel], Awaitable[None]]
SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x40"])


@pytest.fixture
def picture(snap_compare: Any) -> Callable[..., None]:
    def compare(
        scene: Scene,
        client: FakeClient | None = None,
        *,
        size: tuple[int, int] = NARROW,
        tab: str = "1",
        **options: Any,
    ) -> None:
        client = client or whole()

        async def connect() -> Any:
            return client

        app = JackfieldApp(connect, now=world.now, **options)
        app.animation_level = "none"

        async def before(pilot: Any) -> None:
            panel = Panel(app, pilot, client)
            await panel.until(lambda: app.store.config.loaded and app.controller is not None)
            await panel.press(tab)
            await scene(panel)
            await pilot.pause()

        assert snap_compare(app, terminal_size=size, run_before=before)

    return compare


def at(key: str) -> Scene:
    """The cursor on a row."""

    async def scene(p: Panel) -> None:
        await p.until(lambda: p.pane.list.move_to(key))

    return scene


async def nothing(p: Panel) -> None:
    """As it comes."""


# ── rows ──


@SIZES
@pytest.mark.parametrize(
    ("tab", "key"),
    [
        ("1", "plugin:code-review@acme-tools"),
        ("2", "calendar"),
        ("3", "github/create_issue"),
        ("4", "metrics"),
    ],
    ids=["marketplaces", "apps", "tools", "servers"],
)
def test_rows(picture: Callable[..., None], tab: str, key: str, size: tuple[int, int]):
    picture(at(key), size=size, tab=tab)


EVENTS = (
    ServerHappened(at=world.NOW - 93, thread_id="t", name="atlas-docs", what="starting"),
    ServerHappened(at=world.NOW - 92, thread_id="t", name="atlas-docs", what="ready",
                   text="12 tools", ms=840.0),
    RefreshStarted(id="r", domain="apps", forced=True, sources=("directory",)),
    RefreshFailed(id="r", domain="apps", source="directory", message="HTTP 503"),
    RefreshFinished(id="r", domain="apps", outcome="failed", kept_previous=True, seconds=3.1),
    OperationProgress(at=world.NOW - 9, id="o", subject="code-review", verb="installing",
                      share=0.4),
    ServerHappened(at=world.NOW - 3, thread_id="t", name="metrics", what="failed",
                   text="exited 3 — boom: missing API key", ms=311.0),
)  # fmt: skip


@SIZES
def test_activity(picture: Callable[..., None], size: tuple[int, int]):
    async def scene(p: Panel) -> None:
        p.client.push(*EVENTS)
        await p.until(lambda: len(p.lines()) == 7)

    picture(scene, size=size, tab="5")


def test_a_problem_row_with_its_place_and_rule(picture: Callable[..., None]):
    picture(at("plugin:infra-audit@acme-tools"), size=WIDE)


def test_a_group_with_an_installation_below_it(picture: Callable[..., None]):
    async def scene(p: Panel) -> None:
        subject = "playwright-runner@acme-tools"
        p.client.push(OperationProgress(id="o", subject=subject, verb="installing", share=0.43))
        await p.until(lambda: "43%" in p.line("playwright"))

    picture(scene, size=WIDE)


def test_search(picture: Callable[..., None]):
    async def scene(p: Panel) -> None:
        await p.press("slash")
        await p.type("rev")

    picture(scene)


# ── a refetch ──


def fresh() -> FakeClient:
    client = whole()
    client.put("apps", *world.APPS[1:])
    return client


async def refetching(p: Panel) -> None:
    p.client.push(
        RefreshStarted(id="r", domain="apps", forced=True, sources=("directory", "tools")),
        RefreshProgress(id="r", domain="apps", source="directory", done=4, total=9),
        RefreshProgress(id="r", domain="apps", source="tools", done=212, total=212),
    )
    await p.until(lambda: p.app.store.apps.refresh)
    changed = AppRow(id="calendar", name="Calendar Desk", accessible=True, category="Time")
    p.client.put("apps", changed, world.APPS[0], phase="intermediate")
    await p.until(lambda: "≠" in p.line("Calendar") and "+" in p.line("Boardroom"))


@SIZES
def test_apps_during_a_refetch(picture: Callable[..., None], size: tuple[int, int]):
    picture(refetching, fresh(), size=size, tab="2")


@SIZES
def test_rows_that_could_not_be_refetched(picture: Callable[..., None], size: tuple[int, int]):
    async def scene(p: Panel) -> None:
        p.client.push(*EVENTS[2:5])
        await p.until(lambda: p.app.store.apps.outcome)

    picture(scene, size=size, tab="2")


# ── no rows ──


def test_loading(picture: Callable[..., None]):
    async def scene(p: Panel) -> None:
        p.client.push(
            RefreshStarted(id="r", domain="plugins", sources=("northwind", "ops-kit")),
            RefreshProgress(id="r", domain="plugins", source="northwind", done=62, total=100,
                            note="git fetch, 62 %"),
        )  # fmt: skip
        await p.until(lambda: "northwind" in p.notice)

    picture(scene, FakeClient())


@pytest.mark.parametrize("tab", ["1", "2", "3", "4", "5"])
def test_empty(picture: Callable[..., None], tab: str):
    client = FakeClient(account=[AccountRow(id="a", kind="apiKey")])
    for domain in ("marketplaces", "plugins", "apps", "installed", "servers", "inventory"):
        # A list that has been read and has no row.
        client.put(domain, ServerRow(id="x", name="x"))
        client.put(domain)

    picture(nothing, client, tab=tab)


def test_an_error_without_rows(picture: Callable[..., None]):
    async def scene(p: Panel) -> None:
        p.client.push(*EVENTS[2:5])
        await p.until(lambda: "could not be read" in p.notice)

    picture(scene, FakeClient(), tab="2")


def test_nothing_found(picture: Callable[..., None]):
    async def scene(p: Panel) -> None:
        await p.press("slash")
        await p.type("revue")

    picture(scene)


# ── long and hostile ──


@SIZES
def test_long_and_hostile_text(picture: Callable[..., None], size: tuple[int, int]):
    evil = world.HOSTILE
    rows = [
        ServerRow(id="long", name="a-server-with-a-very-long-name-" * 3, status="failed",
                  reason="a reason that goes on and on " * 5, target="npx " + "--flag " * 40,
                  stderr_tail=("\x1b[31mred\x1b[0m", "x" * 300)),
        ServerRow(id=evil, name=evil, status="failed", reason=evil, target=evil,
                  stderr_tail=(evil, evil)),
        ServerRow(id="wide", name="数据库服务器" * 4, status="authenticationRequired"),
        ServerRow(id="emoji", name="👩‍👩‍👧‍👦 family 🧾", status="connected", tools=3, tools_total=3),
    ]  # fmt: skip
    picture(at("long"), FakeClient(servers=rows), size=size, tab="4")


# ── other looks ──


def test_without_colour(picture: Callable[..., None], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "1")
    picture(at("metrics"), tab="4")


def test_in_ascii(picture: Callable[..., None]):
    picture(at("metrics"), tab="4", glyphs=Glyphs(ascii=True))


def test_switched_off_on_paper(picture: Callable[..., None]):
    async def scene(p: Panel) -> None:
        await at("memory")(p)
        await p.press("space")
        await p.toast("z undoes")

    picture(scene, size=WIDE, tab="4", theme="paper")


def test_read_only(picture: Callable[..., None]):
    picture(at("memory"), tab="4", read_only=True)


# ── sheets ──


def test_details_as_a_page(picture: Callable[..., None]):
    async def scene(p: Panel) -> None:
        await at("metrics")(p)
        await p.press("enter")

    picture(scene, tab="4")


@SIZES
def test_trust_page(picture: Callable[..., None], size: tuple[int, int]):
    async def scene(p: Panel) -> None:
        p.client.push(ConsentRequested(count=2))
        await p.until(lambda: len(p.app.screen_stack) == 2)

    picture(scene, size=size, tab="4")


def test_errors(picture: Callable[..., None]):
    async def scene(p: Panel) -> None:
        p.client.push(*EVENTS)
        await p.until(lambda: len(p.app.store.faults) == 2)
        await p.press("exclamation_mark")

    picture(scene)


def test_first_start(picture: Callable[..., None]):
    async def scene(p: Panel) -> None:
        await p.until(lambda: len(p.app.screen_stack) == 2)

    picture(scene, first_start=True)


def test_another_layer_decides(picture: Callable[..., None]):
    client = whole()
    client.answers["jackfield/switch"] = wire.SwitchResult(
        written=False,
        effective=False,
        message="",
        decided_by=world.at(12, "project", f"{world.HOME}/src/atlas/.codex/config.toml"),
    )

    async def scene(p: Panel) -> None:
        await at("memory")(p)
        await p.press("space")
        await p.until(lambda: len(p.app.screen_stack) == 2)

    picture(scene, client, tab="4")
