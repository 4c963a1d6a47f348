"""tour.py FOLDER ISSUER: everything that signing in can do, with all logging on.

What anybody could see goes to stdout and stderr; what nobody may see to FOLDER/secrets, one a line.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx
import msgspec

from core import method_table as methods
from core.auth import attempt, device
from core.compose import open_core
from core.deps import real_deps
from core.protocol.events import LoginCompleted, StateChanged
from core.protocol.jackfield import NameParams, PanelStartParams
from core.protocol.jackfield_tools import ToolCallParams
from core.protocol.login import LoginIdParams, LoginPasteParams, LoginStartParams, LoginState
from tests.fakes.seen import Seen
from tests.integration.oauth.world import browse, expire, stored, token_endpoint_answers

FOLDER, ISSUER = Path(sys.argv[1]), sys.argv[2]
SECRETS: set[str] = set()


class Remembered(attempt.Proof):
    """A proof whose parts are searched for afterwards."""

    def __init__(self) -> None:
        super().__init__()
        SECRETS.update((self.state, self.verifier, self.challenge))


def remember_stored(codex: Path) -> None:
    entry = stored(codex)
    SECRETS.update(entry[name] for name in ("access_token", "refresh_token") if entry.get(name))


async def tour() -> None:
    attempt.Proof = Remembered  # type: ignore[misc]
    ask_device_code = device.ask_device_code

    async def asked(*given: Any) -> Any:
        code = await ask_device_code(*given)
        SECRETS.add(code.device_code)
        return code

    from core.auth import beginning

    beginning.Proof = Remembered  # type: ignore[misc]
    beginning.ask_device_code = asked
    codex = Path(os.environ["CODEX_HOME"])
    events: Seen[Any] = Seen()
    rows: dict[str, Any] = {}

    def heard(event: Any) -> None:
        print(repr(event), msgspec.json.encode(event).decode(), flush=True)
        if isinstance(event, StateChanged) and event.domain == "servers":
            rows.update((row.id, row) for row in event.upserted)
        events.append(event)

    async with open_core(real_deps(dict(os.environ), codex.parent)) as core:
        core.hub.listen(heard)
        client = core.client()

        async def begin(**wishes: Any) -> LoginState:
            params = LoginStartParams(name="g", **wishes)
            return await client.call(methods.JACKFIELD_LOGIN_START, params)

        async def ended(begun: LoginState) -> LoginState:
            await events.until(
                lambda: any(
                    isinstance(each, LoginCompleted) and each.login_id == begun.login_id
                    for each in events
                ),
                20,
            )
            params = LoginIdParams(login_id=begun.login_id)
            return await client.call(methods.JACKFIELD_LOGIN_STATE, params)

        async def called(tool: str) -> None:
            params = ToolCallParams(id=f"g/{tool}")
            print(await client.call(methods.JACKFIELD_TOOL_CALL, params), flush=True)

        async def until(status: str) -> None:
            await events.until(lambda: "g" in rows and rows["g"].status == status, 20)

        await client.call(methods.JACKFIELD_PANEL_START, PanelStartParams(consent_all=True))
        await until("authenticationRequired")
        # Forged, then right, by a browser.
        begun = await begin()
        async with httpx.AsyncClient(trust_env=False) as forger:
            page = await forger.get(f"{begun.redirect_uri}?code=stolen-code&state=guessed")
            print(page.status_code, page.text)
        SECRETS.update({"stolen-code"})
        await client.call(methods.JACKFIELD_LOGIN_OPEN, LoginIdParams(login_id=begun.login_id))
        print((await ended(begun)).stage)
        await until("connected")
        remember_stored(codex)
        await called("whoami")
        # A step-up, by paste; first with what is wrong.
        await called("admin")
        begun = await begin()
        right, _ = await browse(begun.url, stop_at=begun.redirect_uri)
        SECRETS.add(parse_qs(urlsplit(right).query)["code"][0])
        for text in (right.replace("state=", "state=x"), right):
            params = LoginPasteParams(login_id=begun.login_id, text=text)
            print(await client.call(methods.JACKFIELD_LOGIN_PASTE, params))
        await ended(begun)
        remember_stored(codex)
        # A token endpoint that says what it was sent: for a refresh, and for a code.
        token_endpoint_answers(ISSUER, 400, echo=True)
        expire(codex)
        await called("whoami")
        begun = await begin()
        wrong, _ = await browse(begun.url, stop_at=begun.redirect_uri)
        SECRETS.add(parse_qs(urlsplit(wrong).query)["code"][0])
        params = LoginPasteParams(login_id=begun.login_id, text=wrong)
        print(await client.call(methods.JACKFIELD_LOGIN_PASTE, params))
        print((await ended(begun)).reason)
        token_endpoint_answers(ISSUER, 0)
        begun = await begin(device=True)
        assert begun.device is not None
        await client.call(methods.JACKFIELD_LOGIN_CANCEL, LoginIdParams(login_id=begun.login_id))
        await ended(begun)
        print(await client.call(methods.JACKFIELD_LOGIN_CREDENTIALS, NameParams(name="g")))
        try:
            await client.call(
                methods.JACKFIELD_LOGIN_STATE, LoginIdParams(login_id="no such sign-in")
            )
        except Exception:
            traceback.print_exc()
        print(await client.call(methods.JACKFIELD_LOGIN_SIGN_OUT, NameParams(name="g")))
        await until("authenticationRequired")


if __name__ == "__main__":
    logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
    anyio.run(tour)
    (FOLDER / "secrets").write_text(json.dumps(sorted(SECRETS)))
