"""Lists of plugins: first ever, in a new process, repeated; over the wire and on the command line."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from tests.perf.given import Given, SideBySide, without_codex
from tests.perf.homes import write_marketplaces
from tests.perf.peers import Kind, Peer, ran
from tests.perf.report import Section, say
from tests.perf.terminal import settle
from tests.perf.worlds import codex_home, world

MARKETS = 10
SIZES = (100, 1_000, 10_000)
LARGE = 50_000
ISSUE = {
    "first ever, 10,000": 1.0,
    "new process, same home, 10,000": 0.3,
    "repeated, 10,000": 0.2,
}
"""What our median may be of Codex's."""


def plugins(given: Given) -> Section:
    """plugin/list, without the process's start."""
    section = Section("plugins", "plugin/list over stdio, process start excluded")
    both = SideBySide()
    for size in (*SIZES, LARGE) if given.large else SIZES:
        say(f"plugin/list of {size:,}")
        for _ in range(given.runs if size <= 10_000 else 2):
            for kind in given.kinds:
                with world() as (root, environ):
                    write_marketplaces(
                        codex_home(root), marketplaces=MARKETS, plugins=size // MARKETS
                    )
                    _three_lists(kind, environ, root, size, both)
                    if kind == given.kinds[0]:
                        both.add(f"repeated, {size:,}", "stat and read", [_floor(root)])
    both.put(section, ISSUE)
    without_codex(given, section)
    return section


def _three_lists(
    kind: Kind, environ: Mapping[str, str], root: Path, size: int, both: SideBySide
) -> None:
    with Peer(kind, environ, root) as peer:
        settle(peer.pid)
        both.add(f"first ever, {size:,}", kind.name, [peer.timed("plugin/list", {})])
        settle(peer.pid)  # what is kept for the next process is written after the answer
        both.add(
            f"repeated, {size:,}", kind.name, [peer.timed("plugin/list", {}) for _ in range(3)]
        )
    with Peer(kind, environ, root) as peer:
        settle(peer.pid)
        both.add(f"new process, same home, {size:,}", kind.name, [peer.timed("plugin/list", {})])


def _floor(root: Path) -> float:
    """Every manifest: one look and one read, nothing made of it."""
    began = time.perf_counter()
    for market in sorted((root / "home" / "markets").iterdir()):
        folder = f"{market}/plugins"
        for name in os.listdir(folder):
            path = f"{folder}/{name}/.codex-plugin/plugin.json"
            os.lstat(path)
            fd = os.open(path, os.O_RDONLY)
            os.read(fd, 65536)
            os.close(fd)
    return (time.perf_counter() - began) * 1000


def verbs(given: Given) -> Section:
    """Whole processes on the command line."""
    section = Section("verbs", "Command line, whole process")
    both = SideBySide()
    for size in (100, 10_000):
        with world() as (root, environ):
            write_marketplaces(codex_home(root), marketplaces=MARKETS, plugins=size // MARKETS)
            for _ in range(given.runs):
                for kind in given.kinds:
                    what = f"plugin list, {size:,}"
                    command = kind.words("plugin", "list")
                    both.add(what, kind.name, [ran(command, environ, root)])
    with world() as (root, environ):
        config = codex_home(root) / "config.toml"
        tables = [f'[mcp_servers.s{at}]\ncommand = "true"\n' for at in range(50)]
        config.write_text("\n".join(tables))
        for _ in range(given.runs):
            for kind in given.kinds:
                took = ran(kind.words("mcp", "list"), environ, root)
                both.add("mcp list, 50 configured", kind.name, [took])
    both.put(section)
    without_codex(given, section)
    return section
