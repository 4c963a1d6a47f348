"""The app-server on two file descriptors, from the first line to the end of the input."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import anyio
from anyio.abc import TaskGroup

from core.appserver.greeting import Greeting
from core.appserver.opening import Opening
from core.appserver.outgoing import Outgoing
from core.appserver.questions import Questions
from core.appserver.session import Job, Session
from core.appserver.streams import lines, write

IN_FLIGHT = 256
"""Requests that are worked on at the same time; more wait in the pipe."""
LAST_ANSWERS = 0.3
"""Seconds that requests have to finish once the input has ended."""
LAST_BYTES = 1.0
"""Seconds that the client has to read what is left after that."""


async def serve(
    opening: Opening,
    greeting: Greeting,
    *,
    now: Callable[[], float],
    read_fd: int = 0,
    write_fd: int = 1,
    connection: int = 1,
) -> None:
    """Serve one client until its end of the input closes, or until it reads no more.

    Cancel it to stop at once. Requests that have not been answered `LAST_ANSWERS` after the end of
    the input are dropped; the real one drops them at once.
    """
    outgoing = Outgoing(partial(write, write_fd), now)
    session = Session(opening, outgoing, greeting, connection=connection)
    async with anyio.create_task_group() as whole:
        whole.start_soon(_write_out, outgoing, whole.cancel_scope)
        whole.start_soon(session.following.run)
        try:
            await _read_in(session, outgoing, read_fd)
        finally:
            session.questions.close()
            outgoing.finish()
            whole.cancel_scope.deadline = anyio.current_time() + LAST_BYTES


async def _write_out(outgoing: Outgoing, whole: anyio.CancelScope) -> None:
    await outgoing.run()
    whole.cancel()


async def _read_in(session: Session, outgoing: Outgoing, fd: int) -> None:
    async with anyio.create_task_group() as jobs:
        at_work = _AtWork(jobs, session.questions)
        async for line in lines(fd):
            await session.ready_for(line)
            if (job := session.take(line)) is not None:
                at_work.start(job)
            await outgoing.room()
            await at_work.room()
        with anyio.move_on_after(LAST_ANSWERS):
            await at_work.done()
        jobs.cancel_scope.cancel()


class _AtWork:
    """Runs requests and counts those that are not done."""

    def __init__(self, jobs: TaskGroup, questions: Questions) -> None:
        self._jobs = jobs
        self._questions = questions
        self._count = 0
        self._changed = anyio.Event()
        questions.when_asked = self._change

    def start(self, job: Job) -> None:
        self._count += 1
        self._jobs.start_soon(self._run, job)

    async def room(self) -> None:
        """Wait until fewer than `IN_FLIGHT` are at work.

        A client that is asked something must be heard, however much it has asked before: while a
        question is open there is always room.
        """
        while self._count >= IN_FLIGHT and not self._questions.pending:
            await self._change_awaited()

    async def done(self) -> None:
        """Wait until none is at work."""
        while self._count:
            await self._change_awaited()

    async def _run(self, job: Job) -> None:
        try:
            await job()
        finally:
            self._count -= 1
            self._change()

    def _change(self) -> None:
        self._changed.set()

    async def _change_awaited(self) -> None:
        self._changed = anyio.Event()
        await self._changed.wait()
