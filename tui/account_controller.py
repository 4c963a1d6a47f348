"""Codex's own account, as calls to the core; no widgets here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from core import method_table as methods
from core.errors import CoreError
from core.protocol import jackfield as wire
from core.protocol.jackfield_account import (
    AccountAttemptState,
    AccountFacts,
    AccountLoginParams,
    AccountSignOutResult,
)

if TYPE_CHECKING:
    from core.client.contract import CoreClient

Way = Literal["browser", "device", "key"]


class AccountController:
    """The person's wishes; failures come back as words."""

    def __init__(self, client: CoreClient) -> None:
        self._client = client

    async def facts(self) -> AccountFacts | str:
        """Who is signed in, or why nobody can tell."""
        try:
            return await self._client.call(methods.JACKFIELD_ACCOUNT_FACTS, wire.NoParams())
        except CoreError as error:
            return error.message

    async def sign_in(self, way: Way, key: str = "") -> AccountAttemptState | str:
        """Begin, or find the attempt that waits; why not, in words."""
        try:
            params = AccountLoginParams(way=way, key=key)
            return await self._client.call(methods.JACKFIELD_ACCOUNT_LOGIN, params)
        except CoreError as error:
            return f"{error.message}: {error.hint}" if error.hint else error.message

    async def state(self) -> AccountAttemptState:
        """The last attempt as it stands; without a stage when there is none."""
        try:
            return await self._client.call(methods.JACKFIELD_ACCOUNT_STATE, wire.NoParams())
        except CoreError:
            return AccountAttemptState()

    async def open(self) -> str:
        """Let a browser of this machine open the page; why not, or ""."""
        try:
            result = await self._client.call(methods.JACKFIELD_ACCOUNT_OPEN, wire.NoParams())
        except CoreError as error:
            return error.message
        return "" if result.opened else "no browser could be opened here"

    async def cancel(self) -> None:
        """End the attempt; one that has just ended needs no end."""
        try:
            await self._client.call(methods.JACKFIELD_ACCOUNT_CANCEL, wire.NoParams())
        except CoreError:
            return

    async def sign_out(self) -> AccountSignOutResult | str:
        """Revoke and remove; why not, in words."""
        try:
            return await self._client.call(methods.JACKFIELD_ACCOUNT_LOGOUT, wire.NoParams())
        except CoreError as error:
            return error.message
