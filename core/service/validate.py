"""jackfield/validate: looks a folder over in a thread that nobody has to wait for."""

from __future__ import annotations

import os
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from core.config.paths import Home
from core.errors import InternalError, InvalidRequest
from core.ports import Deps
from core.protocol.facts import Evidence
from core.scope import RequestScope
from core.service.dispatch import Handler

if TYPE_CHECKING:
    from core.protocol.jackfield_validate import ValidateParams, ValidateResult

SECONDS = 60.0
GRACE = 10.0
"""Seconds beyond that for one file that does not answer, on a dead mount say."""


class ValidateService:
    """Changes nothing, starts nothing, fetches nothing."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def handlers(self) -> dict[str, Handler]:
        return {"jackfield/validate": self.validate}

    async def validate(self, params: ValidateParams, scope: RequestScope) -> ValidateResult:
        """Findings of a folder.

        Raises:
            InvalidRequest: No path was given, or it cannot be one.
            InternalError: The disk does not answer.
        """
        from core.plugins.validate.look import validate

        path = self._path(params.path)
        home = str(Home.of(self._deps).home)
        gone = Event()
        look = partial(validate, path, home, seconds=SECONDS, gone=gone, resting=True)
        try:
            with anyio.fail_after(SECONDS + GRACE):
                return await anyio.to_thread.run_sync(look, abandon_on_cancel=True)
        except TimeoutError:
            message = f"no answer from the disk within {SECONDS + GRACE:.0f} s: {path}"
            raise InternalError(message, evidence=Evidence(file=path)) from None
        finally:
            gone.set()

    def _path(self, text: str) -> str:
        text = text.strip()
        if not text or "\0" in text:
            raise InvalidRequest("name a folder, a marketplace file or a plugin.json")
        home = str(Home.of(self._deps).home)
        if text == "~" or text.startswith("~/"):
            text = home + text[1:]
        return os.path.normpath(os.path.join(self._deps.cwd, text))
