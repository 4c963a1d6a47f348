"""`make soak`: a core among servers that die, flood and change their lists, watched for growth.

    python -m tests.perf.soak --minutes 30 --write

A row every `--every` seconds: resident memory, file descriptors, tasks, threads, processes below
us, and what has happened so far. Ends with 1 when the last third is plainly above the first.
"""

from __future__ import annotations

import argparse
import csv
import gc
import select
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import anyio
import psutil

from core import method_table as methods
from core.client.contract import CoreClient
from core.compose import open_core
from core.errors import CoreError
from core.protocol import jackfield as wire
from core.protocol import jackfield_tools as tools
from core.protocol.events import Event, ServerHappened, StateChanged
from tests.fakes.mcp_http import FakeMcpHttp
from tests.fakes.mcp_stdio import argv, tool
from tests.integration.live import deps_of
from tests.perf.report import machine, versions
from tests.terminal.homes import server_table, url_table, write_config

HERE = Path(__file__).resolve().parent
SERIES = HERE / "SOAK.csv"
COLUMNS: tuple[str, ...] = (
    "seconds", "rss_kib", "fds", "tasks", "threads", "processes",
    "connects", "deaths", "list_changes", "calls", "failed_calls", "events",
)  # fmt: skip
WARM_UP = 0.2
"""The part of the run that is not judged: caches fill, back-off grows to its longest."""
ALLOWED: Mapping[str, tuple[float, float]] = {
    "rss_kib": (1.08, 8 << 10),
    "fds": (1.0, 8),
    "tasks": (1.0, 12),
    "threads": (1.0, 8),
    "processes": (1.0, 5),
}
"""By column: the last third may be this many times the first, and so much more."""
CALL_EVERY = 0.25
FLAP_EVERY = 7.0
RELOAD_EVERY = 20.0
CALLED = ("steady", "flooding", "changing", "dies-in-call", "flapping", "streaming")


@dataclass
class Tally:
    """What has happened since the start; no event is kept.

    Attributes:
        tools: Ids of the tools that there are now.
    """

    seen: Counter[str] = field(default_factory=Counter[str])
    tools: set[str] = field(default_factory=set[str])

    def take(self, event: Event) -> None:
        """A listener of the core's events."""
        self.seen["events"] += 1
        if isinstance(event, ServerHappened):
            known = {"ready": "connects", "ended": "deaths", "listChanged": "list_changes"}
            if event.what in known:
                self.seen[known[event.what]] += 1
        elif isinstance(event, StateChanged) and event.domain == "inventory":
            self.tools.difference_update(event.removed)
            self.tools.update(row.id for row in event.upserted)


def serve() -> None:
    """The HTTP servers, in a process of their own: what they keep is not the core's.

    One forgets its sessions and refuses for a while, the other cuts its streams. Ends with stdin.
    """
    with ExitStack() as servers:
        flapping = servers.enter_context(FakeMcpHttp(spec={"tools": [tool("go")]}))
        streaming = servers.enter_context(FakeMcpHttp(plan={"tools/call": "sse"}))
        print(flapping.url, streaming.url, flush=True)
        refusing = False
        while not select.select([sys.stdin], [], [], FLAP_EVERY)[0]:
            refusing = not refusing
            if refusing:
                flapping.forget_sessions()
                flapping.plan["*"] = 503
                streaming.drop_streams()
            else:
                flapping.plan.pop("*", None)
            for each in (flapping, streaming):
                each.requests.clear()


@contextmanager
def served() -> Generator[list[str]]:
    """URLs of the HTTP servers."""
    command = [sys.executable, "-m", "tests.perf.soak", "--serve"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()
        process.terminate()


def tables(flapping: str, streaming: str) -> Iterator[str]:
    """The servers of the run."""
    plain = {"tools": [tool("go")]}
    able = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}}
    rich = {**plain, "capabilities": able, "resources": [{"uri": "a:b", "name": "b"}]}
    yield server_table("steady", argv(spec=rich))
    yield server_table("flooding", argv("idle-flood", spec=plain, seconds=0.5))
    yield server_table("changing", argv("idle-changes", spec=rich, seconds=0.5))
    yield server_table("dies-in-call", argv("exit-call", spec=plain))
    yield server_table("never-starts", argv("exit"))
    for number in range(4):
        yield server_table(f"dying-{number}", argv("idle-exit", seconds=1 + number))
    yield url_table("flapping", flapping)
    yield url_table("streaming", streaming)


def sample(began: float, tally: Tally) -> dict[str, int]:
    """One row of the series."""
    gc.collect()
    process = psutil.Process()
    row = {
        "seconds": round(time.monotonic() - began),
        "rss_kib": process.memory_info().rss >> 10,
        "fds": process.num_fds(),
        "tasks": len(anyio.get_running_tasks()),
        "threads": threading.active_count(),
        "processes": len(process.children(recursive=True)),
    }
    return row | {name: tally.seen[name] for name in COLUMNS if name not in row}


async def call(client: CoreClient, tally: Tally) -> None:
    """One tool after another, whatever becomes of it."""
    while True:
        for name in CALLED:
            known = next((each for each in tally.tools if each.startswith(f"{name}/")), None)
            if known is not None:
                params = tools.ToolCallParams(id=known, arguments={"text": "x" * 500})
                try:
                    result = await client.call(methods.JACKFIELD_TOOL_CALL, params)
                    tally.seen["failed_calls"] += result.outcome != "answered"
                except CoreError:
                    tally.seen["failed_calls"] += 1
                tally.seen["calls"] += 1
            await anyio.sleep(CALL_EVERY)


async def reload(client: CoreClient, codex_home: Path, tables: Sequence[str]) -> None:
    """A server comes and goes in the file, and what has failed is tried again."""
    for turn in range(1 << 30):
        await anyio.sleep(RELOAD_EVERY)
        extra = server_table("guest", argv(spec={"tools": [tool(f"g{turn}")]}))
        write_config(codex_home, *tables, *([extra] if turn % 2 == 0 else []))
        names = wire.NamesParams(names=("never-starts", "dies-in-call"))
        try:
            await client.call(methods.JACKFIELD_SERVER_RECONNECT, names)
        except CoreError as error:
            print(f"reconnect: {error.message}", file=sys.stderr)


async def soak(root: Path, minutes: float, every: float, out: TextIO) -> list[dict[str, int]]:
    """Run, and write the series while it grows."""
    home, rows, tally = root / "home", list[dict[str, int]](), Tally()
    home.mkdir()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    with served() as urls:
        codex_home, written = home / ".codex", list(tables(*urls))
        write_config(codex_home, *written)
        deps = deps_of(home, root, root / "etc", XDG_STATE_HOME=str(root / "state"))
        async with open_core(deps) as core, anyio.create_task_group() as busy:
            core.hub.listen(tally.take)
            client = core.client()
            await client.call(
                methods.JACKFIELD_PANEL_START, wire.PanelStartParams(consent_all=True)
            )
            busy.start_soon(call, client, tally)
            busy.start_soon(reload, client, codex_home, written)
            began = time.monotonic()
            while time.monotonic() - began < minutes * 60:
                await anyio.sleep(every)
                rows.append(sample(began, tally))
                writer.writerow(rows[-1])
                out.flush()
            busy.cancel_scope.cancel()
    return rows


def growth(rows: list[dict[str, int]]) -> list[str]:
    """What has grown more than it may, in words."""
    judged = rows[int(len(rows) * WARM_UP) :]
    third = len(judged) // 3
    if third < 3:
        return []
    found: list[str] = []
    for name, (times, more) in ALLOWED.items():
        first = statistics.median(row[name] for row in judged[:third])
        last = statistics.median(row[name] for row in judged[-third:])
        if last > first * times + more:
            found.append(f"{name}: {first:g} in the first third, {last:g} in the last")
    return found


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="make soak")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--every", type=float, default=10, help="seconds between two rows")
    parser.add_argument("--write", action="store_true", help=f"write {SERIES.name}")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve()
        return 0
    print(machine(), versions(), sep="\n")
    with tempfile.TemporaryDirectory(prefix="jackfield-soak-") as folder, ExitStack() as files:
        out = sys.stdout
        if given.write:
            out = files.enter_context(SERIES.open("w"))
            today = time.strftime("%Y-%m-%d")
            out.write(f"# {today}; {machine()}; {given.minutes:g} minutes\n")
        rows = anyio.run(soak, Path(folder), given.minutes, given.every, out)
        left = psutil.Process().children(recursive=True)
    found = growth(rows)
    found += [f"left running: {' '.join(process.cmdline())}" for process in left]
    print(*(found or ["no growth"]), sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
