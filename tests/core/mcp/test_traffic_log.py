"""The ring of what has passed, and of what was said beside it."""

from __future__ import annotations

from core.mcp.masking import Secrets
from core.mcp.spec import ServerSpec
from core.mcp.traffic_log import MOST_CHARS, MOST_LINES, TrafficLog
from core.protocol.events import ServerHappened, Traffic
from tests.fakes.ports import FakeClock


def spec(name: str = "s", *secrets: str) -> ServerSpec:
    return ServerSpec(name=name, target=None, secrets=Secrets(secrets))


def told(name: str = "s", text: str = "{}") -> Traffic:
    return Traffic(name=name, direction="in", method="m", text=text, bytes=len(text))


def test_lines_are_numbered_per_server_and_the_lost_ones_counted() -> None:
    log = TrafficLog(FakeClock())
    for _ in range(MOST_LINES + 5):
        log.happened(told())
    log.happened(told("other"))
    lines, lost = log.since("s", 0, 10_000)
    assert (len(lines), lost, lines[0].number) == (MOST_LINES, 5, 6)
    assert log.since("s", MOST_LINES + 3, 10)[0][0].number == MOST_LINES + 4
    assert [line.number for line in log.since("other", 0, 9)[0]] == [1]
    assert log.names() == ["other", "s"] and log.since("nobody", 0, 9) == ([], 0)


def test_long_lines_leave_fewer_of_them() -> None:
    log = TrafficLog(FakeClock())
    for _ in range(100):
        log.happened(told(text="x" * (MOST_CHARS // 10)))
    assert len(log.since("s", 0, 1000)[0]) < 11


def test_only_the_panel_s_own_server_is_listened_to_and_its_secrets_are_masked() -> None:
    log, heard = TrafficLog(FakeClock()), list[str]()
    log.stirred = heard.append
    own, other = spec("s", "hush-hush"), spec("s")
    log.overheard(own, b"too early")
    log.watch(own)
    log.overheard(other, b"of another thread")
    log.overheard(own, b"it is hush-hush \xff")
    assert [line.text for line in log.since("s", 0, 9)[0]] == ["it is ••• \ufffd"]
    assert log.last_words("s") == "it is ••• \ufffd" and heard == ["s"]


def test_states_stand_among_messages_and_stderr_is_not_told_twice() -> None:
    log = TrafficLog(FakeClock())
    log.happened(ServerHappened(thread_id="t", name="s", what="failed", text="exited 3"))
    log.happened(ServerHappened(thread_id="t", name="s", what="stderr", text="boom"))
    assert [(line.kind, line.method) for line in log.since("s", 0, 9)[0]] == [("state", "failed")]


def test_servers_that_are_no_more_are_forgotten() -> None:
    log = TrafficLog(FakeClock())
    log.happened(told())
    log.happened(told("other"))
    log.keep(["other"])
    assert log.names() == ["other"]
