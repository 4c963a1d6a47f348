from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

import core.process as process_module
from core.pipes import Tail
from core.process import Process, Processes, RanTooLong, SpawnFailed
from tests.fakes.processes import group_lives

pytestmark = pytest.mark.anyio
ENV = {"PATH": os.environ["PATH"]}


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "TERM_GRACE", 0.2)


@asynccontextmanager
async def started(*argv: str, **options: object) -> AsyncGenerator[tuple[Processes, Process]]:
    processes = Processes()
    try:
        yield processes, await processes.spawn(argv, env=ENV, **options)  # type: ignore[arg-type]
    finally:
        await processes.aclose(grace=0)


def python(source: str) -> tuple[str, ...]:
    return (sys.executable, "-S", "-c", source)


async def first_line(process: Process) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        data += await process.receive()
    return data.strip()


async def test_process_gets_exactly_the_environment_and_folder_it_was_given(tmp_path: Path) -> None:
    source = "import os; print(os.getcwd(), sorted(set(os.environ) - {'LC_CTYPE'}))"
    with anyio.fail_after(5):
        done = await Processes().run(python(source), env={"ONLY": "this"}, cwd=tmp_path, deadline=5)
    assert done.stdout.decode().strip() == f"{tmp_path} ['ONLY']"


@pytest.mark.parametrize(
    ("argv", "cwd", "errno", "subject"),
    [
        (["no-such-program"], None, 2, "no-such-program"),
        ([""], None, 2, ""),
        (["true"], "/no/such/folder", 2, "/no/such/folder"),
        (["true"], "/etc/passwd", 20, "/etc/passwd"),
        (["/etc/passwd"], None, 13, "/etc/passwd"),
        (["tr\0ue"], None, 22, "tr\0ue"),
    ],
)
async def test_what_cannot_be_started_is_named_with_its_errno(
    argv: list[str], cwd: str | None, errno: int, subject: str
) -> None:
    with anyio.fail_after(5), pytest.raises(SpawnFailed) as caught:
        await Processes().spawn(argv, env=ENV, cwd=cwd)
    assert (caught.value.errno, caught.value.subject) == (errno, subject)


async def test_program_without_an_interpreter_line_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("echo hi\n")
    script.chmod(0o755)
    with anyio.fail_after(5), pytest.raises(SpawnFailed) as caught:
        await Processes().spawn([str(script)], env=ENV)
    assert caught.value.errno == 8


async def test_all_pipes_work_at_once_with_more_than_they_hold() -> None:
    source = (
        "import sys; data = sys.stdin.buffer.read(); sys.stderr.write('e' * (1 << 20));"
        "sys.stdout.buffer.write(data)"
    )
    sent = b"x" * (1 << 20)
    with anyio.fail_after(10):
        done = await Processes().run(python(source), env=ENV, stdin=sent, deadline=10)
    assert done.stdout == sent
    assert not done.truncated


async def test_fifty_mebibytes_of_stderr_never_block_the_process() -> None:
    source = (
        "import sys\nfor n in range(800): sys.stderr.write(f'{n} ' + 'e' * 65535 + '\\n')\n"
        "sys.stdout.write('done')"
    )
    with anyio.fail_after(20):
        done = await Processes().run(python(source), env=ENV, deadline=20)
    assert done.stdout == b"done"
    assert done.stderr[-1].startswith("799 eee")
    assert sum(map(len, done.stderr)) < 1 << 20


async def test_output_above_the_limit_is_read_and_thrown_away() -> None:
    with anyio.fail_after(5):
        done = await Processes().run(["sh", "-c", "echo 123456789"], env=ENV, deadline=5, limit=4)
    assert (done.stdout, done.truncated, done.exit_code) == (b"1234", True, 0)


async def test_program_that_reads_no_stdin_is_no_failure() -> None:
    with anyio.fail_after(5):
        done = await Processes().run(
            ["sh", "-c", "exit 3"], env=ENV, stdin=b"x" * (1 << 20), deadline=5
        )
    assert done.exit_code == 3


async def test_what_a_program_leaves_running_is_ended_and_does_not_hold_up_its_result() -> None:
    processes = Processes()
    with anyio.fail_after(5):
        done = await processes.run(["sh", "-c", "sleep 600 & echo $$"], env=ENV, deadline=30)
    assert not group_lives(int(done.stdout))
    assert not processes.running


async def test_program_that_runs_too_long_is_ended_with_its_group(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = f"echo $$ > {note}; trap '' TERM; sleep 600; sleep 600"
    with anyio.fail_after(8), pytest.raises(RanTooLong, match="sh did not end within 0.5s"):
        await Processes().run(["sh", "-c", script], env=ENV, deadline=0.5)
    assert not group_lives(int(note.read_text()))


@pytest.mark.parametrize("way", ["descriptor", "asking"])
@pytest.mark.parametrize(("source", "code"), [("exit 7", 7), ("kill -KILL $$", -9)])
async def test_end_of_an_idle_process_is_seen_with_its_code(
    way: str, source: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "asking":
        monkeypatch.delattr(os, "pidfd_open")
    async with started("sh", "-c", f"read x; {source}") as (_, process):
        with anyio.fail_after(2):
            await process.send(b"go\n")
            assert await process.wait() == code


async def test_end_is_seen_where_the_system_has_no_waitid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "waitid")
    async with started("sh", "-c", "exit 4") as (_, process):
        with anyio.fail_after(2):
            assert await process.wait() == 4


async def test_many_may_wait_for_the_same_end() -> None:
    seen: list[int] = []

    async def wait(process: Process) -> None:
        seen.append(await process.wait())

    async with started("sh", "-c", "read x; exit 5") as (_, process):
        with anyio.fail_after(2):
            async with anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(wait, process)
                await anyio.wait_all_tasks_blocked()
                process.close_stdin()
    assert seen == [5, 5, 5]


async def test_server_that_ends_with_its_stdin_gets_no_signal() -> None:
    async with started("sh", "-c", "trap 'exit 9' TERM; read x; exit 6") as (processes, process):
        with anyio.fail_after(2):
            assert await processes.end(process) == 6


async def test_server_that_ignores_the_end_of_stdin_gets_term() -> None:
    source = "trap 'exit 9' TERM; echo up; while :; do sleep 0.01; done"
    async with started("sh", "-c", source) as (processes, process):
        with anyio.fail_after(3):
            await first_line(process)
            assert await processes.end(process, grace=0.05) == 9


async def test_server_that_ignores_everything_is_killed() -> None:
    source = "trap '' TERM INT HUP; echo up; while :; do sleep 0.01; done"
    async with started("sh", "-c", source) as (processes, process):
        with anyio.fail_after(4):
            await first_line(process)
            assert await processes.end(process, grace=0.05) == -signal.SIGKILL
        assert not group_lives(process.pid)


async def test_stopped_server_ends_too() -> None:
    async with started("sh", "-c", "echo up; kill -STOP $$; read x") as (processes, process):
        with anyio.fail_after(3):
            await first_line(process)
            assert await processes.end(process, grace=0.05) == -signal.SIGTERM


async def test_child_of_a_launcher_that_has_ended_is_killed_even_if_it_ignores_term() -> None:
    child = "import signal,time; signal.signal(15, signal.SIG_IGN); print('up',flush=True); time.sleep(600)"
    source = (
        f"import subprocess,sys; p=subprocess.Popen([sys.executable,'-S','-c',{child!r}]); input()"
    )
    async with started(*python(source)) as (processes, process):
        with anyio.fail_after(6):
            assert await first_line(process) == b"up"
            await processes.end(process)
        assert not group_lives(process.pid)


async def test_all_are_ended_at_once_and_nothing_starts_afterwards() -> None:
    processes = Processes()
    with anyio.fail_after(5):
        many = [await processes.spawn(["sleep", "600"], env=ENV) for _ in range(8)]
        # One after the other would take 8 x 0.5 s.
        with anyio.fail_after(2):
            await processes.aclose()
        assert not any(group_lives(process.pid) for process in many)
        with pytest.raises(SpawnFailed):
            await processes.spawn(["true"], env=ENV)
    assert not processes.running


async def test_end_may_be_asked_for_twice_at_once() -> None:
    codes: list[int | None] = []

    async def end(processes: Processes, process: Process) -> None:
        codes.append(await processes.end(process, grace=0))

    async with started("sleep", "600") as (processes, process):
        with anyio.fail_after(3):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(end, processes, process)
                tasks.start_soon(end, processes, process)
    assert codes == [-15, -15]


async def test_end_goes_through_although_its_caller_is_cancelled() -> None:
    async with started("sleep", "600") as (processes, process):
        with anyio.fail_after(3):
            with anyio.CancelScope() as scope:
                scope.cancel()
                await processes.end(process, grace=0)
        assert not group_lives(process.pid)


async def test_whoever_reads_a_process_that_is_ended_finds_the_end_of_its_output() -> None:
    got: list[bytes] = []

    async def read(process: Process) -> None:
        got.append(await process.receive())

    async with started("sleep", "600") as (processes, process):
        with anyio.fail_after(3):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read, process)
                await anyio.wait_all_tasks_blocked()
                await processes.end(process, grace=0)
            with pytest.raises(anyio.BrokenResourceError):
                await process.send(b"x")
    assert got == [b""]


async def test_writing_to_a_process_that_closed_its_stdin_is_told() -> None:
    async with started("sh", "-c", "exec 0<&-; echo up; sleep 600") as (_, process):
        with anyio.fail_after(2):
            await first_line(process)
            with pytest.raises(anyio.BrokenResourceError):
                await process.send(b"x")


async def test_spawn_that_hangs_is_left_behind_and_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    release, pids = threading.Event(), list[int]()
    real = process_module.subprocess.Popen

    def slow(argv: tuple[str, ...], **options: object) -> object:
        if argv[0] == "sleep":
            assert release.wait(5)
        popen = real(argv, **options)  # type: ignore[call-overload]
        pids.append(popen.pid)
        return popen

    monkeypatch.setattr(process_module.subprocess, "Popen", slow)
    processes = Processes()
    with anyio.fail_after(8):
        with anyio.move_on_after(0.1) as scope:
            await processes.spawn(["sleep", "600"], env=ENV)
        assert scope.cancelled_caught
        done = await processes.run(["sh", "-c", "exit 2"], env=ENV, deadline=5)
        assert done.exit_code == 2
        release.set()
        # The latecomer is killed by its thread.
        while len(pids) < 2 or group_lives(pids[1]):  # noqa: ASYNC110
            await anyio.sleep(0.005)


def test_tail_keeps_the_last_lines_in_any_pieces() -> None:
    tail = Tail(lines=3, chars=8)
    for piece in (b"one\ntw", b"o\n\n", b"\xff three is long\r\nfo", b"ur"):
        tail.feed(piece)
    tail.add(b"five\n")
    assert tail.lines() == ("two", "\ufffd three", "five", "four")


def test_tail_of_an_endless_line_stays_small() -> None:
    tail = Tail(chars=10)
    for _ in range(1000):
        tail.feed(b"x" * 1000)
    assert tail.lines() == ("x" * 10,)
