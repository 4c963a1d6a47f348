"""`jackfield login`: sign in to an MCP server, on this machine or from another one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import anyio

from core import method_table as methods
from core.cli.options import add_overrides, add_place, deps_of, overrides_of
from core.cli.session import in_core
from core.cli.text import safe
from core.cli.waiting import StdinLines, login_ended
from core.errors import CoreError
from core.protocol.login import (
    LoginIdParams,
    LoginPasteParams,
    LoginStartParams,
    LoginState,
    LoginStep,
)

if TYPE_CHECKING:
    from core.client.contract import CoreClient
    from core.compose import Core

TIMEOUT = 300.0
_STORES = {"keyring": "the keyring", "file": ".credentials.json"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `login` takes."""
    parser.add_argument("server", metavar="SERVER", help="its name in the configuration")
    parser.add_argument(
        "--no-browser", action="store_true", help="open none: print the address, and take a paste"
    )
    parser.add_argument(
        "--paste",
        action="store_true",
        help="take the address that the browser ended on, its query or the bare code from stdin",
    )
    parser.add_argument(
        "--device", action="store_true", help="get a code to type in elsewhere, where offered"
    )
    parser.add_argument(
        "--scopes", type=_scopes, metavar="A,B", help="ask for these instead of what is offered"
    )
    parser.add_argument(
        "--timeout", type=float, default=TIMEOUT, metavar="SECS", help="wait so long (300)"
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="HOST",
        help="a host on a private network that may be contacted for it",
    )
    parser.add_argument(
        "--no-resource", action="store_true", help="leave the resource indicator out (RFC 8707)"
    )
    add_place(parser)
    add_overrides(parser)


def run(given: argparse.Namespace) -> int:
    """Sign in; 0 once the tokens are stored and have been read back."""

    async def work(core: Core) -> int:
        return await _SignIn(core.client(), given).run()

    return in_core(deps_of(given), overrides_of(given), work)


def _scopes(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.replace(",", " ").split() if part)


class _SignIn:
    def __init__(self, client: CoreClient, given: argparse.Namespace) -> None:
        self._client, self._given = client, given

    async def run(self) -> int:
        async with self._client.subscribe() as events:
            begun = await self._begin()
            self._tell(begun)
            opened = await self._open(begun)
            pastes = not opened or self._given.paste
            async with anyio.create_task_group() as tasks:
                if pastes:
                    tasks.start_soon(self._take_pastes, begun.login_id)
                await login_ended(events, begun.login_id)
                tasks.cancel_scope.cancel()
        params = LoginIdParams(login_id=begun.login_id)
        return self._ended(await self._client.call(methods.JACKFIELD_LOGIN_STATE, params))

    async def _begin(self) -> LoginState:
        given = self._given
        params = LoginStartParams(
            name=given.server,
            scopes=given.scopes,
            timeout_secs=given.timeout,
            resource=not given.no_resource,
            allow_hosts=tuple(given.allow_host),
            device=given.device,
        )
        try:
            return await self._client.call(methods.JACKFIELD_LOGIN_START, params)
        except CoreError as error:
            told = cast("dict[str, Any]", error.data or {})
            _show_trail(LoginStep(**step) for step in told.get("trail", ()))
            if host := told.get("blockedHost"):
                error.hint = f"if you trust it: --allow-host {safe(host)}"
            raise

    def _tell(self, begun: LoginState) -> None:
        for warning in begun.warnings:
            print(f"Note: {safe(warning)}", file=sys.stderr)
        if asked := _difference(begun):
            print(f"Asks for: {asked}")
        if begun.device is not None:
            print(f"Open {safe(begun.device.page)} on any machine and type in:")
            print(f"\n    {safe(begun.device.user_code)}\n", flush=True)

    async def _open(self, begun: LoginState) -> bool:
        """True when a browser here has the page, or another machine gets the code."""
        given = self._given
        if begun.device is not None:
            return True
        if not given.no_browser and not given.paste:
            params = LoginIdParams(login_id=begun.login_id)
            if (await self._client.call(methods.JACKFIELD_LOGIN_OPEN, params)).opened:
                print("The page is open in your browser. Waiting…", flush=True)
                return True
            print("No browser could be opened here.", file=sys.stderr)
        print(f"Open this page:\n\n{safe(begun.url)}\n")
        if begun.open_to_network:
            print("The answer is taken from other machines too, as callback_url says.")
        elif begun.forward:
            print(f"For a browser on another machine, run there:  {safe(begun.forward)}")
        print("Or paste here the address that the browser ends on.", flush=True)
        return False

    async def _take_pastes(self, login_id: str) -> None:
        lines = StdinLines()
        while True:
            print("Address (not shown): ", end="", file=sys.stderr, flush=True)
            text = await lines.next()
            if text is None:
                return
            if not text.strip():
                continue
            params = LoginPasteParams(login_id=login_id, text=text)
            result = await self._client.call(methods.JACKFIELD_LOGIN_PASTE, params)
            if result.accepted:
                return
            print(f"Not taken: {safe(result.reason)}", file=sys.stderr, flush=True)

    def _ended(self, state: LoginState) -> int:
        name = safe(state.name)
        if state.stage != "done":
            _show_trail(state.trail)
            raise CoreError(f"not signed in to {name}: {safe(state.reason)}")
        store = _STORES.get(state.store, state.store)
        print(f"Signed in to {name}. The tokens are in {store}.")
        if state.store_note:
            print(f"Note: {safe(state.store_note)}", file=sys.stderr)
        return 0


def _difference(state: LoginState) -> str:
    """Scopes, those that are new with a plus where there were others before."""
    before = frozenset(state.scopes_before)
    return " ".join(
        safe(scope if scope in before or not before else f"+{scope}") for scope in state.scopes
    )


def _show_trail(steps: Iterable[LoginStep]) -> None:
    for step in steps:
        said = str(step.status) if step.status else "no answer"
        note = f"  {safe(step.note)}" if step.note else ""
        print(f"  {step.verb} {safe(step.url)}  {said}{note}", file=sys.stderr)
