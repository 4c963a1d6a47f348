"""What programs take while they do nothing: memory with much loaded, processor when idle."""

from __future__ import annotations

import time
from contextlib import ExitStack

from tests.perf.given import Given, SideBySide, without_codex
from tests.perf.homes import add_servers, write_marketplaces
from tests.perf.peers import Peer
from tests.perf.report import Section, say
from tests.perf.serving import ECHO, STATUS
from tests.perf.terminal import Terminal, memory, ticks
from tests.perf.worlds import PANEL, codex_home, world

PANEL_NAME = "jackfield's panel"


def footprint(given: Given) -> Section:
    """Memory is PSS, children aside; idle is a share of one core."""
    section = Section("footprint", "Memory with 10,000 plugins and 50 servers; idle with 5 servers")
    both = SideBySide()
    _memory(given, both)
    _idle(given, both)
    both.put(section)
    without_codex(given, section)
    return section


def _memory(given: Given, both: SideBySide) -> None:
    say("memory")
    what = "PSS, 10,000 plugins and 50 servers"
    with world() as (root, environ):
        write_marketplaces(codex_home(root), marketplaces=10, plugins=1000)
        add_servers(codex_home(root), {f"s{at:02}": ECHO for at in range(50)})
        for kind in given.kinds:
            with Peer(kind, environ, root) as peer:
                peer.timed("plugin/list", {})
                thread = peer.ask("thread/start", {})["thread"]["id"]
                peer.timed(STATUS, {"limit": 1000, "threadId": thread})
                time.sleep(2)
                both.add(what, kind.name, [memory(peer.pid)[1]], "MB")
        with Terminal([*PANEL], environ=environ, cwd=root) as terminal:
            terminal.press(b"4")
            terminal.wait_for(b"50 up", timeout=60)
            terminal.watch(8)
            both.add(what, PANEL_NAME, [memory(terminal.pid)[1]], "MB")


def _idle(given: Given, both: SideBySide) -> None:
    say(f"idle, {given.seconds:.0f} s")
    what = f"idle, 5 servers connected, over {given.seconds:.0f} s"
    with world() as (root, environ), ExitStack() as open_ones:
        add_servers(codex_home(root), {f"s{at}": ECHO for at in range(5)})
        terminal = open_ones.enter_context(Terminal([*PANEL], environ=environ, cwd=root))
        terminal.wait_for(b"5 up", timeout=60)
        pids = {PANEL_NAME: terminal.pid}
        for kind in given.kinds:
            peer = open_ones.enter_context(Peer(kind, environ, root))
            thread = peer.ask("thread/start", {})["thread"]["id"]
            peer.timed(STATUS, {"threadId": thread})
            pids[kind.name] = peer.pid
        terminal.watch(5)
        before = {who: ticks(pid) for who, pid in pids.items()}
        terminal.watch(given.seconds)
        for who, pid in pids.items():
            share = (ticks(pid) - before[who]) / given.seconds * 100
            both.add(what, who, [share], "% of a core")
