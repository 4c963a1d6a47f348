"""Signing in to MCP servers: attempts that live beside everything else.

Source: MCP 2025-11-25, Authorization; OAuth 2.1 with PKCE; RFC 8707, RFC 9207.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from core.auth.attempt import TIMED_OUT, Attempt
from core.auth.bearer import ClientOf
from core.auth.beginning import Beginning, Means, Wishes
from core.auth.revocation import revoke
from core.auth.token_endpoint import Tokens
from core.errors import CoreError
from core.seams import SignInTarget
from core.threads.policy import ThreadPolicy

BEGIN_LIMIT = 30.0
_KEPT = 32

Ended = Callable[[Attempt], None]


@dataclass(frozen=True, kw_only=True)
class SignIns(Means):
    """All attempts of a core.

    Attributes:
        client_of: Who we are at the authorization server that granted something.
        tasks: Where attempts wait.
    """

    client_of: ClientOf
    tasks: TaskGroup
    attempts: dict[str, Attempt] = field(default_factory=dict[str, Attempt])

    async def begin(
        self, target: SignInTarget, wishes: Wishes, policy: ThreadPolicy, ended: Ended
    ) -> Attempt:
        """Find out everything, listen, and have a URL for the person.

        Args:
            ended: Called once, when the attempt has ended in whatever way.

        Raises:
            CoreError: It cannot be begun; in the wire's words. `data` has the trail, and the host
                that would have to be allowed.
        """
        self.credentials.check_writable()
        beginning = Beginning(self, target, wishes, policy)
        try:
            with anyio.fail_after(BEGIN_LIMIT):
                attempt = await beginning.attempt()
        except TimeoutError:
            message = "the server did not answer in time"
            raise CoreError(message, data=beginning.so_far()) from None
        except CoreError as error:
            error.data = beginning.so_far(error)
            raise
        self._keep(attempt)
        self.tasks.start_soon(self._wait, attempt, wishes.timeout, ended)
        return attempt

    def cancel(self, attempt_id: str) -> bool:
        """End an attempt; False when there is none that waits."""
        attempt = self.attempts.get(attempt_id)
        if attempt is None or attempt.stage != "waiting":
            return False
        attempt.cancel()
        return True

    def _keep(self, attempt: Attempt) -> None:
        self.attempts[attempt.id] = attempt
        ended = [key for key, each in self.attempts.items() if each.over.is_set()]
        for key in ended[: max(0, len(self.attempts) - _KEPT)]:
            del self.attempts[key]

    async def _wait(self, attempt: Attempt, timeout: float, ended: Ended) -> None:
        redirect = attempt.redirect
        assert redirect is not None
        try:
            async with anyio.create_task_group() as waiting:
                attempt.spawn = waiting.start_soon
                waiting.start_soon(redirect.serve, attempt.arrived)
                if attempt.poll is not None:
                    waiting.start_soon(_poll, attempt, attempt.poll)
                with anyio.move_on_after(max(1.0, timeout)):
                    await attempt.over.wait()
                if attempt.stage == "exchanging":
                    await attempt.over.wait()
                if attempt.stage == "waiting":
                    attempt.fail(TIMED_OUT, TIMED_OUT)
                await redirect.settle()
                waiting.cancel_scope.cancel()
        finally:
            attempt.cancel()
            with anyio.CancelScope(shield=True):
                await redirect.listener.aclose()
        ended(attempt)

    async def sign_out(self, target: SignInTarget) -> tuple[bool, str]:
        """Revoke where that is offered, and remove everything in any case.

        Returns:
            Whether anything was stored, and why it was not revoked, or "".

        Raises:
            InternalError: A store could not be asked; in the wire's words.
        """
        note = ""
        try:
            grant = await self.credentials.get(target.server, target.url, fresh=True)
        except CoreError as error:
            grant, note = None, error.message
        if grant is not None:
            client = await self.client_of(target, grant)
            async with asynccontextmanager(self.sender.open)(target) as out:
                note = await revoke(out, target, grant, client)
        self.bearer.standings.note(self.credentials.key_of(target), None)
        removed = await self.credentials.remove(target.server, target.url)
        self.bearer.forget(target.server, target.url)
        return removed, note


async def _poll(attempt: Attempt, poll: Callable[[], Awaitable[Tokens]]) -> None:
    try:
        tokens = await poll()
    except CoreError as error:
        if attempt.stage == "waiting":
            attempt.fail(error.message, error.message)
        return
    await attempt.granted(tokens)
