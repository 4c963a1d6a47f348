"""app/list of many apps, from a directory on loopback."""

from __future__ import annotations

from tests.fakes.chatgpt_backend import ChatGptBackend, auth_json, write_auth
from tests.perf.given import Given, SideBySide, without_codex
from tests.perf.peers import Peer
from tests.perf.report import Measure, Section, say
from tests.perf.terminal import settle
from tests.perf.worlds import codex_home, world

APPS = 10_000
PAGE = 1_000


def apps(given: Given) -> Section:
    """The first list of a process, and the next."""
    section = Section("apps", f"app/list of {APPS:,}, process start excluded")
    both = SideBySide()
    backend = ChatGptBackend()
    listed = [
        {
            "id": f"app-{at:05}",
            "name": f"App {at:05}",
            "description": f"Does one small thing, number {at}.",
            "distributionChannel": "ECOSYSTEM_DIRECTORY",
        }
        for at in range(APPS)
    ]
    backend.pages = [listed[at : at + PAGE] for at in range(0, APPS, PAGE)]
    failed: dict[str, str] = {}
    with backend.running():
        for _ in range(max(2, given.runs // 2)):
            for kind in given.kinds:
                if kind.name in failed:
                    continue
                with world() as (root, environ):
                    home = codex_home(root)
                    write_auth(home, auth_json())
                    settings = f'chatgpt_base_url = "{backend.url}"\n[features]\napps = true\n'
                    (home / "config.toml").write_text(settings)
                    say(f"app/list: {kind.name}")
                    try:
                        with Peer(kind, environ, root) as peer:
                            settle(peer.pid)
                            both.add("first", kind.name, [peer.timed("app/list", {})])
                            again = [peer.timed("app/list", {}) for _ in range(3)]
                            both.add("again", kind.name, again)
                    except (RuntimeError, OSError, TimeoutError) as error:
                        failed[kind.name] = str(error)[:160]
    both.put(section)
    section.measures += [Measure(what=who, skipped=why) for who, why in failed.items()]
    without_codex(given, section)
    return section
