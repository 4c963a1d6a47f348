from __future__ import annotations

from typing import Any

import anyio
import pytest
from textual.message import Message

from core.errors import CoreError
from core.protocol.events import AppsChanged, ServerHappened, ServersChanged
from core.protocol.rows import DOMAINS, AppRow
from tests.fakes.client import FakeClient
from tui.bridge import (
    FRAME,
    CoreEventBatch,
    CoreLost,
    CorePast,
    CoreRows,
    CoreSession,
    CoreUnread,
    pump,
)
from tui.store import ViewStore

pytestmark = pytest.mark.anyio


class Target:
    """Takes messages as the app does, and wakes whoever waits for one."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._came = anyio.Event()

    def post_message(self, message: Message) -> bool:
        self.messages.append(message)
        self._came.set()
        self._came = anyio.Event()
        return True

    def of(self, kind: type[Any]) -> list[Any]:
        return [message for message in self.messages if isinstance(message, kind)]

    async def until(self, kind: type[Any], count: int = 1) -> list[Any]:
        with anyio.fail_after(5):
            while len(found := self.of(kind)) < count:
                await self._came.wait()
        return found


class Gate:
    """A sleep that lasts until the test opens it."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self._open, self.waiting = anyio.Event(), anyio.Event()

    async def sleep(self, seconds: float) -> None:
        self.asked.append(seconds)
        self.waiting.set()
        await self._open.wait()

    def open(self) -> None:
        self._open.set()
        self._open, self.waiting = anyio.Event(), anyio.Event()


def raising(kind: type[Exception]) -> Any:
    def answer(params: Any) -> Any:
        raise kind("gone")

    return answer


def app(key: str) -> AppRow:
    return AppRow(id=key, name=key)


async def test_every_domain_is_read_after_the_subscription_stands():
    client, target = FakeClient(apps=[app("a")]), Target()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pump, client, target)
        rows = await target.until(CoreRows, len(DOMAINS))
        tasks.cancel_scope.cancel()
    assert isinstance(target.messages[0], CoreSession)
    assert {message.domain for message in rows} == set(DOMAINS)
    apps = next(message for message in rows if message.domain == "apps")
    assert [row.id for row in apps.rows] == ["a"] and apps.revision == 1


async def test_pages_are_put_together():
    client, target = FakeClient(apps=[app(f"a{n}") for n in range(7)]), Target()
    client.page = 3
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pump, client, target)
        rows = await target.until(CoreRows, len(DOMAINS))
        tasks.cancel_scope.cancel()
    apps = next(message for message in rows if message.domain == "apps")
    assert [row.id for row in apps.rows] == [f"a{n}" for n in range(7)]


async def test_events_between_subscribing_and_reading_are_neither_lost_nor_taken_twice():
    client, target, store = FakeClient(apps=[app("a")]), Target(), ViewStore()
    real = client._rows  # type: ignore[reportPrivateUsage]

    def rows(params: Any) -> Any:
        result = real(params)
        if params.domain == "apps":
            client.put("apps", app("b"))
        return result

    client.answers["jackfield/rows"] = rows
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pump, client, target)
        await target.until(CoreRows, len(DOMAINS))
        await target.until(CoreEventBatch)
        tasks.cancel_scope.cancel()
    for message in target.messages:
        match message:
            case CoreRows():
                store.load(
                    message.domain, message.rows, revision=message.revision, phase="final", at=1.0
                )
            case CoreEventBatch():
                store.apply(message.events)
            case _:
                pass
    assert list(store.apps.rows) == ["b"] and store.apps.revision == 2


async def test_when_idle_an_event_is_posted_at_once_and_a_burst_is_one_batch_per_frame():
    client, target, gate = FakeClient(), Target(), Gate()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: pump(client, target, sleep=gate.sleep))
        await target.until(CoreRows, len(DOMAINS))
        client.put("apps", app("a"))
        await target.until(CoreEventBatch)
        assert gate.asked == [] or gate.asked == [FRAME]
        with anyio.fail_after(5):
            await gate.waiting.wait()
        for n in range(100):
            client.put("apps", app(f"a{n}"), phase="intermediate")
        assert len(target.of(CoreEventBatch)) == 1
        gate.open()
        batches = await target.until(CoreEventBatch, 2)
        tasks.cancel_scope.cancel()
    (event,) = batches[1].events
    assert isinstance(event, AppsChanged) and len(event.upserted) == 100


async def test_events_keep_their_order_within_a_batch():
    client, target, gate = FakeClient(), Target(), Gate()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: pump(client, target, sleep=gate.sleep))
        await target.until(CoreRows, len(DOMAINS))
        client.push(
            *(ServerHappened(thread_id="t", name=f"s{n}", what="ready") for n in range(5)),
            ServersChanged(revision=1),
        )
        (batch,) = await target.until(CoreEventBatch)
        tasks.cancel_scope.cancel()
    happened = [event.name for event in batch.events if isinstance(event, ServerHappened)]
    assert happened == [f"s{n}" for n in range(5)]


async def test_a_domain_that_cannot_be_read_does_not_keep_the_others_away():
    client, target = FakeClient(), Target()
    real = client._rows  # type: ignore[reportPrivateUsage]

    def rows(params: Any) -> Any:
        if params.domain == "plugins":
            raise CoreError("cannot be read")
        return real(params)

    client.answers["jackfield/rows"] = rows
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pump, client, target)
        await target.until(CoreRows, len(DOMAINS) - 1)
        (unread,) = await target.until(CoreUnread)
        tasks.cancel_scope.cancel()
    assert (unread.domain, unread.reason) == ("plugins", "cannot be read")


async def test_what_happened_before_is_asked_for_once():
    client, target = FakeClient(), Target()
    client.past = (ServerHappened(at=1.0, thread_id="t", name="s", what="ready"),)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pump, client, target)
        (past,) = await target.until(CorePast)
        tasks.cancel_scope.cancel()
    assert past.events == list(client.past)


async def test_a_past_that_cannot_be_read_is_done_without():
    client, target = FakeClient(), Target()
    client.answers["jackfield/events/recent"] = CoreError("gone")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pump, client, target)
        await target.until(CoreRows, len(DOMAINS))
        client.put("apps", app("a"))
        await target.until(CoreEventBatch)
        tasks.cancel_scope.cancel()
    assert target.of(CoreLost) == [] and target.of(CorePast) == []


async def test_a_subscription_that_breaks_is_told_and_begun_anew():
    client, target, gate = FakeClient(), Target(), Gate()
    client.answers["jackfield/rows"] = raising(RuntimeError)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: pump(client, target, sleep=gate.sleep))
        (lost,) = await target.until(CoreLost)
        assert (lost.reason, lost.again_in) == ("RuntimeError", 0.2)
        with anyio.fail_after(5):
            await gate.waiting.wait()
        assert gate.asked == [0.2]
        del client.answers["jackfield/rows"]
        gate.open()
        await target.until(CoreSession, 2)
        await target.until(CoreRows, len(DOMAINS))
        tasks.cancel_scope.cancel()


async def test_pauses_between_tries_grow_and_are_bounded():
    client, target = FakeClient(), Target()
    client.answers["jackfield/rows"] = raising(OSError)
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: pump(client, target, sleep=sleep))
        lost = await target.until(CoreLost, 7)
        tasks.cancel_scope.cancel()
    assert pauses[:7] == [0.2, 0.5, 1.0, 2.0, 5.0, 5.0, 5.0]
    assert lost[0].reason == "OSError"


async def test_the_pump_ends_when_the_core_closes():
    client, target = FakeClient(), Target()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pump, client, target)
            await target.until(CoreRows, len(DOMAINS))
            await client.aclose()
    assert target.of(CoreLost) == []
