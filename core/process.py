"""The one place that starts processes, and that ends them.

Each process leads a session and a process group of its own, so that whatever it starts ends with
it. Nothing here needs a thread per process: pipes are waited for on the event loop, and so is the
end of a process, by a descriptor that stands for it.
"""

from __future__ import annotations

import errno as errors
import os
import select
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import anyio
import anyio.lowlevel
import anyio.to_thread

from core.errors import CoreError
from core.reaper import Reaper

TAIL_LINES = 100
TAIL_LINE_CHARS = 2000
CHUNK = 1 << 16
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


class Tail:
    """The last lines of a stream, bounded in number and length; made for speed when it floods."""

    def __init__(self, lines: int = TAIL_LINES, chars: int = TAIL_LINE_CHARS) -> None:
        self._lines: deque[bytes] = deque(maxlen=lines)
        self._chars = chars
        self._open = b""

    def feed(self, data: bytes) -> None:
        """More of the stream, in any pieces."""
        *whole, rest = data.split(b"\n")
        for piece in whole:
            self.add(self._open + piece)
            self._open = b""
        if len(self._open) < self._chars:
            self._open += rest[: self._chars]

    def add(self, line: bytes) -> None:
        """One whole line that came from elsewhere."""
        if line := line[: self._chars].rstrip():
            self._lines.append(line)

    def lines(self) -> tuple[str, ...]:
        """Oldest first; what is no UTF-8 is replaced, an unfinished line counts."""
        kept = [*self._lines, self._open.rstrip()] if self._open.strip() else [*self._lines]
        return tuple(line.decode("utf-8", "replace") for line in kept)


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
        return _peek(self._popen)

    async def wait(self) -> int:
        """Wait for the end of the process (not of its group); seen at once, without polling."""
        while (code := self.exit_code) is None:
            await _exit_of(self.pid)
        return code

    async def receive(self) -> bytes:
        """Some bytes of its stdout; empty at the end of it."""
        return await _receive(self._popen.stdout)

    async def drain_stderr(self) -> None:
        """Read stderr into `tail` until it ends, so that the process never blocks on it."""
        while data := await _receive(self._popen.stderr):
            self.tail.feed(data)

    async def send(self, data: bytes) -> None:
        """Write all of `data` to its stdin; `anyio.BrokenResourceError` when nobody reads it."""
        pipe, view = self._popen.stdin, memoryview(data)
        while view:
            await anyio.lowlevel.checkpoint()
            if pipe is None or pipe.closed:
                raise anyio.BrokenResourceError
            try:
                view = view[os.write(pipe.fileno(), view[: 4 * CHUNK]) :]
            except BlockingIOError:
                with suppress(anyio.ClosedResourceError):
                    await anyio.wait_writable(pipe.fileno())
            except OSError as error:
                raise anyio.BrokenResourceError from error

    def close_stdin(self) -> None:
        """Tell the process that nothing more will come."""
        _close(self._popen.stdin)

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
                _close(pipe)
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
        if not _signal_group(self.pid, signal.SIGTERM):
            self._popen.poll()
            return
        _signal_group(self.pid, signal.SIGCONT)  # a stopped process takes no TERM
        with anyio.move_on_after(TERM_GRACE):
            await self.wait()
            self._popen.poll()
            await self._group_gone()
            return
        _signal_group(self.pid, signal.SIGKILL)
        with anyio.move_on_after(_KILL_GRACE):
            await self.wait()
        self._popen.poll()
        with anyio.move_on_after(_POLL):  # others of the group may still be dying
            await self._group_gone()

    async def _group_gone(self) -> None:
        """Wait for what a leader that has ended left behind: launchers do (npx, sh -c)."""
        pause = 0.005
        while _signal_group(self.pid, 0):
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
            _signal_group(popen.pid, signal.SIGKILL)
            popen.wait()
        for pipe in (popen.stdin, popen.stdout, popen.stderr):
            _close(pipe)
        if self._reaper is not None:
            self._reaper.drop(popen.pid)


def _peek(popen: subprocess.Popen[bytes]) -> int | None:
    """The exit code without reaping, where the system can tell it."""
    if popen.returncode is not None or not hasattr(os, "waitid"):
        return popen.poll()
    try:
        info = os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return popen.poll()
    if info is None:
        return None
    return info.si_status if info.si_code == os.CLD_EXITED else -info.si_status


async def _exit_of(pid: int) -> None:
    """Wait until a child of ours has ended, or for a moment where only asking again helps."""
    with _exit_descriptor(pid) as fd:
        if fd is None:
            await anyio.sleep(_POLL)
        else:
            await anyio.wait_readable(fd)


@contextmanager
def _exit_descriptor(pid: int) -> Generator[int | None]:
    """A descriptor that becomes readable when the process ends; None where there is none.

    A new one for each wait: two tasks cannot wait for the same descriptor.
    """
    if sys.platform == "darwin":
        queue = select.kqueue()
        try:
            event = select.kevent(
                pid,
                filter=select.KQ_FILTER_PROC,
                flags=select.KQ_EV_ADD | select.KQ_EV_ONESHOT,
                fflags=select.KQ_NOTE_EXIT,
            )
            try:
                queue.control([event], 0)
            except OSError:
                yield None
            else:
                yield queue.fileno()
        finally:
            queue.close()
        return
    try:
        fd = os.pidfd_open(pid)
    except (AttributeError, OSError):
        yield None
        return
    try:
        yield fd
    finally:
        os.close(fd)


def _signal_group(group: int, number: int) -> bool:
    """False when the group has no member left (or none that we may touch)."""
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


async def _receive(pipe: IO[bytes] | None) -> bytes:
    while True:
        await anyio.lowlevel.checkpoint()
        if pipe is None or pipe.closed:
            return b""
        try:
            return os.read(pipe.fileno(), CHUNK)
        except BlockingIOError:
            with suppress(anyio.ClosedResourceError):
                await anyio.wait_readable(pipe.fileno())
        except OSError:
            return b""


def _close(pipe: IO[bytes] | None) -> None:
    """Close our end; whoever waits for it is woken."""
    if pipe is None or pipe.closed:
        return
    with suppress(RuntimeError, LookupError):  # outside an event loop nobody waits
        anyio.notify_closing(pipe.fileno())
    with suppress(OSError):
        pipe.close()
