"""Signing in to MCP servers, as calls to the core; no widgets here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from core import method_table as methods
from core.errors import CoreError
from core.protocol import jackfield as wire
from core.protocol import login
from tui.controller import Tell, Undoable

if TYPE_CHECKING:
    from core.protocol import jackfield_servers as servers
    from tui.controller import Controller

_ELSEWHERE = ("SSH_CONNECTION", "SSH_TTY", "CODESPACES", "REMOTE_CONTAINERS")


@dataclass(frozen=True)
class NotBegun:
    """Why an attempt could not be begun, in the core's words.

    Attributes:
        trail: What was asked until then.
        needs: What the person would have to bring: `clientId`, `token`, or "".
        redirect: What to register with the client id.
        blocked: A host on a private network that would have to be allowed, or "".
    """

    message: str
    hint: str = ""
    trail: tuple[login.LoginStep, ...] = ()
    needs: str = ""
    redirect: str = ""
    blocked: str = ""

    @property
    def reason(self) -> str:
        """The innermost cause, in one line."""
        return self.message.rpartition("Caused by: ")[2].strip()


def browser_is_elsewhere(environ: Mapping[str, str] = os.environ) -> bool:
    """The person's browser is likely to run on another machine, which cannot reach our ports."""
    return any(environ.get(name) for name in _ELSEWHERE)


class SignInController:
    """The person's wishes; what came of those that have no sheet is told in a line."""

    def __init__(self, controller: Controller, tell: Tell) -> None:
        self._controller, self._client, self._tell = controller, controller.client, tell

    # -- an attempt

    async def start(
        self, name: str, *, anew: bool = False, device: bool = False, allow: tuple[str, ...] = ()
    ) -> login.LoginState | NotBegun:
        """Begin an attempt, or find the one that waits.

        Args:
            anew: End the one that waits.
            device: Get a device code.
            allow: Hosts on private networks that may be contacted.
        """
        params = login.LoginStartParams(name=name, anew=anew, device=device, allow_hosts=allow)
        try:
            return await self._client.call(methods.JACKFIELD_LOGIN_START, params)
        except CoreError as error:
            return _not_begun(name, error)

    async def state(self, login_id: str) -> login.LoginState | None:
        """An attempt as it stands; None when the core knows nothing of it."""
        try:
            params = login.LoginIdParams(login_id=login_id)
            return await self._client.call(methods.JACKFIELD_LOGIN_STATE, params)
        except CoreError:
            return None

    async def paste(self, login_id: str, text: str) -> str:
        """Bring a redirect back; why it was not taken, or ""."""
        try:
            params = login.LoginPasteParams(login_id=login_id, text=text)
            result = await self._client.call(methods.JACKFIELD_LOGIN_PASTE, params)
        except CoreError as error:
            return error.message
        return "" if result.accepted else result.reason

    async def open(self, login_id: str) -> str:
        """Let a browser of this machine open the page; why not, or ""."""
        try:
            params = login.LoginIdParams(login_id=login_id)
            result = await self._client.call(methods.JACKFIELD_LOGIN_OPEN, params)
        except CoreError as error:
            return error.message
        return "" if result.opened else "no browser could be opened here"

    async def cancel(self, login_id: str) -> None:
        """End an attempt; one that has just ended needs no end."""
        try:
            params = login.LoginIdParams(login_id=login_id)
            await self._client.call(methods.JACKFIELD_LOGIN_CANCEL, params)
        except CoreError:
            return

    def tell_not_begun(self, name: str, why: NotBegun) -> None:
        """For somebody who has closed the sheet meanwhile."""
        self._tell(f"{name}: not signed in: {why.reason}", fault=True)

    # -- what is stored

    async def stored(self, name: str) -> login.CredentialState | None:
        """What is stored for a server; None when the core cannot tell."""
        try:
            params = wire.NameParams(name=name)
            return await self._client.call(methods.JACKFIELD_LOGIN_CREDENTIALS, params)
        except CoreError:
            return None

    async def sign_out(self, name: str) -> None:
        """Revoke and remove."""
        try:
            params = wire.NameParams(name=name)
            done = await self._client.call(methods.JACKFIELD_LOGIN_SIGN_OUT, params)
        except CoreError as error:
            self._failed(f"{name}: not signed out", error)
            return
        if not done.removed:
            self._tell(f"{name}: no sign-in was stored")
        elif done.revoked:
            self._tell(f"Signed out of {name}: its tokens are revoked and removed")
        else:
            self._tell(f"Signed out of {name}: tokens removed, not revoked: {done.note}")

    async def forget(self, name: str) -> None:
        """Forget the client that was registered."""
        try:
            await self._client.call(methods.JACKFIELD_LOGIN_FORGET, wire.NameParams(name=name))
        except CoreError as error:
            self._failed(f"{name}: its registration is not forgotten", error)
            return
        self._tell(f"{name}: its registration is forgotten; the next sign-in makes a new one")

    # -- what the person brings

    async def _entry(self, name: str, members: Mapping[str, Any]) -> servers.ServerEntryParams:
        """Members for a server's table; those of `oauth` are added to what is there."""
        from core.protocol import jackfield_servers as servers

        read = await self._client.call(
            methods.JACKFIELD_SERVER_READ, servers.ServerTableParams(name=name)
        )
        table, known = dict(members), read.table.get("oauth")
        if "oauth" in table and isinstance(known, dict):
            table["oauth"] = {**cast("dict[str, Any]", known), **table["oauth"]}
        return servers.ServerEntryParams(
            name=name, table=table, layer=read.layer, merge=True, agree=True
        )

    async def preview(self, name: str, members: Mapping[str, Any]) -> servers.ServerPreview:
        """What `write` would do."""
        from core.protocol import jackfield_servers as servers

        try:
            entry = await self._entry(name, members)
            return await self._client.call(methods.JACKFIELD_SERVER_PREVIEW, entry)
        except CoreError as error:
            return servers.ServerPreview(fault=error.message)

    async def write(self, name: str, members: Mapping[str, Any]) -> str:
        """Set members of a server's table; why they were not written, or ""."""
        try:
            entry = await self._entry(name, members)
            written = await self._client.call(methods.JACKFIELD_SERVER_WRITE, entry)
        except CoreError as error:
            return f"{error.message}; {error.hint}" if error.hint else error.message
        if written.undo is not None:
            self._controller.undoable.append(Undoable(written.undo, name))
            self._tell(f"{written.message}   z undoes")
        return ""

    def _failed(self, what: str, error: CoreError) -> None:
        hint = f"; {error.hint}" if error.hint else ""
        self._tell(f"{what}: {error.message}{hint}", fault=True)


def _not_begun(name: str, error: CoreError) -> NotBegun:
    data: object = error.data
    told = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    return NotBegun(
        message=error.message.removeprefix(f"failed to login to MCP server '{name}': "),
        hint=error.hint,
        trail=tuple(login.LoginStep(**step) for step in told.get("trail", ())),
        needs=told.get("needs", ""),
        redirect=told.get("redirect", ""),
        blocked=told.get("blockedHost", ""),
    )
