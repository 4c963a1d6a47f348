"""The real panel over a core that only pretends: many rows, and as many events as one likes.

`python -m tests.perf.busy_panel ROWS EVENTS_PER_SECOND`, on a terminal.
"""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Iterator
from typing import Any

import anyio
import msgspec

from core.client.contract import CoreClient
from core.protocol.events import (
    STATE_EVENTS,
    Event,
    OperationProgress,
    ServerHappened,
    StateChanged,
    Traffic,
)
from core.protocol.rows import Domain, InstalledRow, MarketplaceRow, PluginRow, ServerRow, ToolRow
from tests.fakes.client import FakeClient
from tui.terminal import prepare_frames

MARKETS = 10
SERVERS = 50


def told_of(number: int) -> str:
    """In the details of a plugin and nowhere else on the screen."""
    return f"/bench/{number:05}/end"


def cursor_on(number: int) -> re.Pattern[bytes]:
    """What is written when the cursor's mark comes to a plugin's line."""
    styled = rb"(?:\x1b\[[\d;]*m|[^\x1b\n]){1,14}?"
    return re.compile("▌".encode() + styled + f"plugin-{number:05}".encode())


def plugin(number: int, markets: int = MARKETS, total: int = 20_000) -> PluginRow:
    """The plugin on that place of the list."""
    market = number * markets // total
    name = f"plugin-{number:05}"
    return PluginRow(
        id=f"{name}@market-{market}",
        plugin_id=f"{name}@market-{market}",
        name=name,
        marketplace=f"market-{market}",
        description=f"Does one small thing, number {number}, and does it well.",
        category=("Developer tools", "Data", "Writing")[number % 3],
        keywords=("bench", f"k{number % 20}"),
        state=("available", "enabled", "disabled", "update")[number % 4],
        installed=number % 4 > 0,
        enabled=number % 4 == 1,
        source=told_of(number),
        version="1.0.0",
    )


def rows(total: int) -> dict[str, list[Any]]:
    """Of every domain that has some."""
    return {
        "marketplaces": [
            MarketplaceRow(id=f"market-{at}", name=f"market-{at}", root=f"/src/{at}", total=total)
            for at in range(MARKETS)
        ],
        "plugins": [plugin(number, total=total) for number in range(total)],
        "servers": [server(at, 0) for at in range(SERVERS)],
        "installed": [InstalledRow(id=f"app-{at}", name=f"app-{at}") for at in range(50)],
        "inventory": [
            ToolRow(id=f"server-{at % 50}/tool-{at}", name=f"tool-{at}", owner=f"server-{at % 50}")
            for at in range(1_000)
        ],
    }


def server(number: int, calls: int) -> ServerRow:
    """A server that is well."""
    name = f"server-{number:02}"
    return ServerRow(id=name, name=name, status="connected", tools=20 + calls % 3)


class Storm:
    """Events as a busy core has them: rows of all lists, progress, traffic, output.

    Half of them change rows of the open list, most of those on its first pages.
    """

    def __init__(self, client: FakeClient, total: int) -> None:
        self._client, self._total = client, total
        self._random = random.Random(7)
        self._revisions: dict[Domain, int] = {
            domain: owner.current.revision for domain, owner in client.owners.items()
        }
        self._events = self._forever()

    def send(self, count: int) -> None:
        """Emit that many."""
        for _ in range(count):
            self._client.hub.emit(next(self._events))

    def _state(self, domain: Domain, row: Any) -> StateChanged:
        self._revisions[domain] += 1
        return STATE_EVENTS[domain](revision=self._revisions[domain], upserted=(row,))

    def _forever(self) -> Iterator[Event]:
        step = 0
        while True:
            step += 1
            near = self._random.random() < 0.7
            number = self._random.randrange(min(self._total, 200) if near else self._total)
            row = plugin(number, total=self._total)
            yield self._state(
                "plugins", msgspec.structs.replace(row, version=f"1.0.{step}", brings=None)
            )
            match step % 4:
                case 0:
                    yield self._state("servers", server(step % SERVERS, step))
                case 1:
                    share, subject = step % 100 / 100, "plugin-00005@market-0"
                    yield OperationProgress(id="op", verb="install", subject=subject, share=share)
                case 2:
                    name = f"server-{step % SERVERS:02}"
                    yield Traffic(name=name, direction="in", method="tools/list")
                case _:
                    name = f"server-{step % SERVERS:02}"
                    text = f"line {step}"
                    yield ServerHappened(thread_id="t1", name=name, what="stderr", text=text)


async def storm(client: FakeClient, total: int, per_second: int) -> None:
    """Keep the rate, in steps of 5 ms, from the time that all rows have been asked for."""
    while not any(params.domain == "config" for params in client.asked("jackfield/rows")):  # noqa: ASYNC110 — the fake has no event to wait for
        await anyio.sleep(0.05)
    sender, sent, began = Storm(client, total), 0, time.perf_counter()
    while True:
        await anyio.sleep(0.005)
        due = int((time.perf_counter() - began) * per_second)
        sender.send(due - sent)
        sent = due
        client.calls.clear()


async def main(total: int, per_second: int) -> None:
    """Show the panel until it is left."""
    prepare_frames()
    from tui.app import JackfieldApp

    client = FakeClient(**rows(total))

    async def connect() -> CoreClient:
        return client

    app = JackfieldApp(connect)
    async with anyio.create_task_group() as tasks:
        if per_second:
            tasks.start_soon(storm, client, total, per_second)
        await app.run_async()
        tasks.cancel_scope.cancel()


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]), int(sys.argv[2]))
