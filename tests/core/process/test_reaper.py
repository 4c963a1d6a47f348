from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.reaper import Reaper
from tests.conftest import is_there, note_missing
from tests.fakes.processes import lives

ROOT = Path(__file__).parents[3]


def leader(script: str = "sleep 600") -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["sh", "-c", script], start_new_session=True, stdout=subprocess.PIPE, bufsize=0
    )


def end(*processes: subprocess.Popen[bytes]) -> None:
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout:
            process.stdout.close()


def test_held_groups_end_when_the_pipe_closes_and_dropped_ones_stay() -> None:
    held, dropped = leader(), leader()
    reaper = Reaper(pause=0.2)
    try:
        reaper.hold(held.pid)
        reaper.hold(dropped.pid)
        reaper.drop(dropped.pid)
        reaper.close()
        assert held.wait(2) == -signal.SIGTERM
        assert dropped.poll() is None
    finally:
        end(held, dropped)


def test_group_that_ignores_term_is_killed_and_a_stopped_one_ends() -> None:
    deaf = leader("trap '' TERM; echo up; while :; do sleep 0.05; done")
    stopped = leader()
    reaper = Reaper(pause=0.2)
    try:
        assert deaf.stdout and deaf.stdout.read(3) == b"up\n"
        os.killpg(stopped.pid, signal.SIGSTOP)
        reaper.hold(deaf.pid)
        reaper.hold(stopped.pid)
        reaper.close()
        assert deaf.wait(3) == -signal.SIGKILL
        assert stopped.wait(3) == -signal.SIGTERM
    finally:
        end(deaf, stopped)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_reaper_survives_what_a_terminal_sends(number: signal.Signals) -> None:
    held = leader()
    reaper = Reaper(pause=0.2)
    try:
        reaper.hold(held.pid)
        assert reaper.pid
        # It ignores the signal once it has told us so by reading: one more line, then the signal.
        _wait_until_blocked(reaper.pid)
        os.kill(reaper.pid, number)
        reaper.close()
        assert held.wait(2) == -signal.SIGTERM
    finally:
        end(held)


def test_killed_reaper_is_started_again_with_all_that_is_held() -> None:
    first, second = leader(), leader()
    reaper = Reaper(pause=0.2)
    try:
        reaper.hold(first.pid)
        assert reaper.pid
        old = reaper.pid
        os.kill(old, signal.SIGKILL)
        os.waitid(os.P_PID, old, os.WEXITED | os.WNOWAIT)
        reaper.hold(second.pid)
        assert reaper.pid != old
        reaper.close()
        assert first.wait(2) == second.wait(2) == -signal.SIGTERM
    finally:
        end(first, second)


def test_reaper_that_holds_nothing_ends_at_once() -> None:
    reaper = Reaper(pause=60)
    reaper.start()
    pid = reaper.pid
    assert pid
    began = time.monotonic()
    reaper.close()
    assert time.monotonic() - began < 30
    assert not lives(pid)


def test_without_a_shell_the_panel_works_on(caplog: pytest.LogCaptureFixture) -> None:
    reaper = Reaper(shell="/no/such/shell")
    reaper.hold(12345678)
    reaper.drop(12345678)
    reaper.close()
    assert "No reaper" in caplog.text


@pytest.mark.parametrize("shell", ["/bin/sh", "/bin/bash", "/bin/dash"])
def test_killed_parent_leaves_nothing(shell: str) -> None:
    if not is_there(shell):
        note_missing(shell)
        pytest.skip(f"{shell} is missing")
    child = "import signal,time; signal.signal(15,signal.SIG_IGN); print('x',flush=True); time.sleep(600)"
    source = f"""
import sys, anyio
from core.process import Processes
from core.reaper import Reaper
from tests.fakes.processes import lives
async def main():
    reaper = Reaper({shell!r}, pause=0.2)
    processes = Processes(reaper)
    pids = []
    for _ in range(3):
        process = await processes.spawn([sys.executable, "-S", "-c", {child!r}], env={{}})
        await process.receive()
        pids.append(process.pid)
    print(*pids, reaper.pid, flush=True)
    await anyio.sleep_forever()
anyio.run(main)
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", source], stdout=subprocess.PIPE, cwd=ROOT, bufsize=0
    )
    try:
        assert parent.stdout
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 4 and all(lives(pid) for pid in pids)
    finally:
        end_one(parent)
    deadline = time.monotonic() + 3
    while any(lives(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [pid for pid in pids if lives(pid)] == []


def end_one(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    if process.stdout:
        process.stdout.close()


def _wait_until_blocked(pid: int) -> None:
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
        try:
            where = Path(f"/proc/{pid}/wchan").read_text()
        except OSError:
            return
        if "pipe" in where:
            return
        time.sleep(0.005)


def test_what_is_told_after_the_end_starts_no_other_shell() -> None:
    reaper = Reaper()
    reaper.start()
    reaper.close()
    reaper.hold(4711)
    reaper.drop(4711)
    reaper.start()
    assert reaper.pid is None
