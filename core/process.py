"""The one place that starts processes, and that ends them.

Each process leads a session and a process group of its own, so that whatever it starts ends with
it. Nothing here needs a thread per process: pipes are waited for on the event loop, and so is the
end of a process, by a descriptor that stands for it.
"""

from __future__ import annotations

import errno as errors
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from core.children import exit_of, peek, signal_group
from core.errors import CoreError
from core.pipes import Tail, close, receive, write_all
from core.reaper import Reaper

GRACE = 0.5
"""Seconds that a process has to end by itself once its stdin is closed."""
TERM_GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL."""
_KILL_GRACE = 2.0  # a process in an uninterruptible call outlives SIGKILL; we do not wait for it
_POLL = 0.1


class SpawnFailed(CoreError):
    """A process could not be started; `errno` says why and `subject` names the file or folder."""

    def __init__(self, errno: int, subject: str) -> None:
        super().__init__(f"{os.strerror(errno)}: {subject}")
        self.errno, self.subject = errno, subject


class RanTooLong(CoreError):
    """A program did not end in time and was ended."""

    def __init__(self, program: str, seconds: float) -> None:
        super().__init__(f"{program} did not end within {seconds:g}s")
        self.program, self.seconds = program, seconds


@dataclass(frozen=True, kw_only=True)
class Completed:
    """What a program left behind.

    Attributes:
        exit_code: Negative = killed by that signal.
        stdout: At most as many bytes as were asked for; the rest was read and thrown away.
        truncated: Something of stdout was thrown away.
        stderr: Its last lines.
    """

    exit_code: int
    stdout: bytes
    truncated: bool
    stderr: tuple[str, ...]


class Process:
    """One process with its group and three pipes. Made by `Processes.spawn`."""

    def __init__(self, popen: subprocess.Popen[bytes], reaper: Reaper | None) -> None:
        self._popen = popen
        self._reaper = reaper
        self._ending: anyio.Event | None = None
        self.tail = Tail()

    @property
    def pid(self) -> int:
        """Also the id of its session and group."""
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """None while it lives; negative = killed by that signal."""
        return peek(self._popen)

    async def wait(self) -> int:
        """Wait for the end of the process (not of its group); seen at once, without polling."""
        while (code := self.exit_code) is None:
            await exit_of(self.pid)
        return code

    async def receive(self) -> bytes:
        """Some bytes of its stdout; empty at the end of it."""
        return await receive(self._popen.stdout)

    async def receive_stderr(self) -> bytes:
        """Some bytes of its stderr, for whoever does not let `drain_stderr` keep them."""
        return await receive(self._popen.stderr)

    async def drain_stderr(self) -> None:
        """Read stderr into `tail` until it ends, so that the process never blocks on it."""
        while data := await receive(self._popen.stderr):
            self.tail.feed(data)

    async def send(self, data: bytes) -> None:
        """Write all of `data` to its stdin; `anyio.BrokenResourceError` when nobody reads it."""
        await write_all(self._popen.stdin, data)

    def close_stdin(self) -> None:
        """Tell the process that nothing more will come."""
        close(self._popen.stdin)

    async def end(self, grace: float = GRACE) -> int | None:
        """End the process and its whole group: stdin closed, `grace`, TERM, 1 s, KILL.

        Cannot be cancelled, takes `grace` + 3 s at the very most, may be called again. Whoever
        reads its pipes finds them at their end. Returns the exit code; None when even KILL did
        not end it.
        """
        if self._ending is not None:
            with anyio.CancelScope(shield=True):
                await self._ending.wait()
            return self.exit_code
        self._ending = anyio.Event()
        try:
            with anyio.CancelScope(shield=True):
                await self._end_in_steps(grace)
        finally:
            for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
                close(pipe)
            if self._reaper is not None and self._popen.poll() is not None:
                self._reaper.drop(self.pid)
            self._ending.set()
        return self.exit_code

    async def _end_in_steps(self, grace: float) -> None:
        self.close_stdin()
        with anyio.move_on_after(grace):
            await self.wait()
        # The leader is not reaped before its group has got TERM: its zombie keeps the number
        # from being given to somebody else.
        if not signal_group(self.pid, signal.SIGTERM):
            self._popen.poll()
            return
        signal_group(self.pid, signal.SIGCONT)  # a stopped process takes no TERM
        with anyio.move_on_after(TERM_GRACE):
            await self.wait()
            self._popen.poll()
            await self._group_gone()
            return
        signal_group(self.pid, signal.SIGKILL)
        with anyio.move_on_after(_KILL_GRACE):
            await self.wait()
        self._popen.poll()
        with anyio.move_on_after(_POLL):  # others of the group may still be dying
            await self._group_gone()

    async def _group_gone(self) -> None:
        """Wait for what a leader that has ended left behind: launchers do (npx, sh -c)."""
        pause = 0.005
        while signal_group(self.pid, 0):
            await anyio.sleep(pause)
            pause = min(2 * pause, _POLL)


class Processes:
    """Starts processes one at a time, and knows all that still run.

    One at a time because 50 at once hold up the event loop for a third of a second; a spawn that
    hangs (a dead network drive) is left behind when its caller gives up.
    """

    def __init__(self, reaper: Reaper | None = None) -> None:
        self._reaper = reaper
        self._running: set[Process] = set()
        self._turn = anyio.CapacityLimiter(1)
        self._closed = False

    @property
    def running(self) -> frozenset[Process]:
        """Started and not ended by `end`."""
        return frozenset(self._running)

    async def spawn(
        self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str | Path | None = None
    ) -> Process:
        """Start a program with exactly this environment; it is looked up in that `PATH`.

        Raises:
            SpawnFailed: Not found, not executable, no such folder, a NUL in an argument …
        """
        start = _Start(tuple(argv), dict(env), cwd, self._reaper)
        try:
            popen = await anyio.to_thread.run_sync(
                start.run, abandon_on_cancel=True, limiter=self._turn
            )
        except BaseException:
            start.give_up()
            raise
        process = Process(popen, self._reaper)
        self._running.add(process)
        if self._closed:
            await self.end(process, grace=0)
            raise SpawnFailed(errors.ECANCELED, argv[0])
        return process

    async def end(self, process: Process, grace: float = GRACE) -> int | None:
        """`Process.end`, and forget it."""
        code = await process.end(grace)
        self._running.discard(process)
        return code

    async def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str | Path | None = None,
        stdin: bytes = b"",
        deadline: float,
        limit: int = 1 << 20,
    ) -> Completed:
        """Run a program to its end.

        Args:
            stdin: Given to it; its stdin then ends.
            deadline: Seconds for all of it; then the program and its group are ended.
            limit: Bytes of stdout that are kept.

        Raises:
            SpawnFailed, RanTooLong.
        """
        with anyio.move_on_after(deadline):
            process = await self.spawn(argv, env=env, cwd=cwd)
            try:
                return await _run(process, stdin, limit)
            finally:
                await self.end(process, grace=0)
        raise RanTooLong(os.path.basename(argv[0]), deadline)

    async def aclose(self, grace: float = GRACE) -> None:
        """End all processes at once; nothing can be started afterwards. Never raises."""
        self._closed = True
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                for process in self.running:
                    tasks.start_soon(self.end, process, grace)
            if self._reaper is not None:
                await anyio.to_thread.run_sync(self._reaper.close)


async def _run(process: Process, stdin: bytes, limit: int) -> Completed:
    kept, total = bytearray(), 0

    async def feed() -> None:
        with suppress(anyio.BrokenResourceError):
            await process.send(stdin)
        process.close_stdin()

    async def collect() -> None:
        nonlocal total
        while data := await process.receive():
            total += len(data)
            kept.extend(data[: limit - len(kept)])

    async with anyio.create_task_group() as tasks:
        for task in (feed, collect, process.drain_stderr):
            tasks.start_soon(task)
        await process.wait()
        # Something that the program left running may hold the pipes for ever.
        tasks.cancel_scope.deadline = anyio.current_time() + GRACE
    return Completed(
        exit_code=await process.wait(),
        stdout=bytes(kept),
        truncated=total > limit,
        stderr=process.tail.lines(),
    )


class _Start:
    """One spawn, in a worker thread; its caller may have gone when it is done."""

    def __init__(
        self,
        argv: tuple[str, ...],
        env: dict[str, str],
        cwd: str | Path | None,
        reaper: Reaper | None,
    ) -> None:
        self._argv, self._env, self._cwd, self._reaper = argv, env, cwd, reaper
        self._given_up = False
        self._popen: subprocess.Popen[bytes] | None = None

    def run(self) -> subprocess.Popen[bytes]:
        if not self._argv or not self._argv[0]:
            raise SpawnFailed(errors.ENOENT, "")
        if self._reaper is not None:
            self._reaper.start()
        try:
            popen = subprocess.Popen(
                self._argv,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._cwd,
                env=self._env,
                start_new_session=True,
            )
        except OSError as error:
            subject = error.filename or self._argv[0]
            raise SpawnFailed(error.errno or errors.EIO, os.fsdecode(subject)) from None
        except ValueError:
            raise SpawnFailed(errors.EINVAL, self._argv[0]) from None
        if self._reaper is not None:
            self._reaper.hold(popen.pid)
        for pipe in (popen.stdin, popen.stdout, popen.stderr):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
        self._popen = popen
        if self._given_up:
            self._kill()
        return popen

    def give_up(self) -> None:
        """Nobody waits any more: whatever has been started, or will be, is ended."""
        self._given_up = True
        if self._popen is not None:
            threading.Thread(target=self._kill, daemon=True).start()

    def _kill(self) -> None:
        popen = self._popen
        if popen is None:
            return
        if popen.poll() is None:
            signal_group(popen.pid, signal.SIGKILL)
            popen.wait()
        for pipe in (popen.stdin, popen.stdout, popen.stderr):
            close(pipe)
        if self._reaper is not None:
            self._reaper.drop(popen.pid)
