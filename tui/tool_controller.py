"""Calls of tools, resources, prompts and questions, as calls to the core; no widgets here.

Unlike `tui.controller`, failures are handed back: the sheet that asked has a place for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

import anyio

from core import method_table as methods
from core.errors import CoreError
from core.protocol import jackfield as wire
from core.protocol import jackfield_tools as tools
from tui.forms.checking import Checked, check
from tui.views.details import object_of

if TYPE_CHECKING:
    from core.client.contract import CoreClient
    from core.protocol.events import ElicitationRequested

Action = Literal["accept", "decline", "cancel"]


class Refused(Exception):
    """The core said no; the text says why, for people."""


@dataclass(eq=False)
class Attempt:
    """One call of a tool, from the key to its end.

    Attributes:
        number: How many calls this tool has had with it.
        began: Seconds on the clock that was handed in.
        result: None while it runs.
        refused: Why it was never made.
        output: What the check of the structured content said.
    """

    call_id: str
    tool_id: str
    number: int
    began: float
    result: tools.ToolCallResult | None = None
    refused: str = ""
    output: Checked = field(default_factory=Checked)
    unchecked: str = ""

    @property
    def running(self) -> bool:
        return self.result is None and not self.refused


class ToolController:
    """What is called goes on when its sheet is closed; the last call of each tool is kept.

    Args:
        now: Seconds that only rise.
    """

    def __init__(self, client: CoreClient, now: Callable[[], float]) -> None:
        self._client, self._now = client, now
        self._last: dict[str, Attempt] = {}
        self._numbers = count(1)
        self._mine = uuid4().hex[:8]
        self.changed: Callable[[], None] = lambda: None

    def last(self, tool_id: str) -> Attempt | None:
        """The running call of a tool, or its last one."""
        return self._last.get(tool_id)

    def passed(self, attempt: Attempt) -> float:
        """Seconds since a call began."""
        return max(0.0, self._now() - attempt.began)

    def begin(self, tool_id: str, unchecked: str = "") -> Attempt:
        """A new call, not sent yet."""
        before = self._last.get(tool_id)
        attempt = self._last[tool_id] = Attempt(
            call_id=f"panel-{self._mine}-{next(self._numbers)}",
            tool_id=tool_id,
            number=before.number + 1 if before is not None else 1,
            began=self._now(),
            unchecked=unchecked,
        )
        self.changed()
        return attempt

    async def call(
        self,
        attempt: Attempt,
        arguments: Mapping[str, Any] | None,
        output_schema: Any,
        again: str = "",
    ) -> None:
        """Send it and wait for its end."""
        params = tools.ToolCallParams(
            id=attempt.tool_id,
            arguments=None if arguments is None else dict(arguments),
            call_id=attempt.call_id,
            again=again,
        )
        try:
            result = await self._client.call(methods.JACKFIELD_TOOL_CALL, params)
            if result.structured and output_schema is not None:
                attempt.output = await checked(output_schema, result.structured_content)
            attempt.result = result
        except CoreError as error:
            attempt.refused = _said(error)
        finally:
            if attempt.running:
                attempt.refused = "it was given up"
            self.changed()

    async def cancel(self, attempt: Attempt) -> None:
        """End a running call; its end comes as its result."""
        await self._ask(methods.JACKFIELD_TOOL_CANCEL, tools.CallIdParams(call_id=attempt.call_id))

    async def history(self, tool_id: str) -> tuple[tools.PastCall, ...]:
        """What was called, newest first."""
        params = tools.ToolHistoryParams(id=tool_id)
        return (await self._ask(methods.JACKFIELD_TOOL_HISTORY, params)).calls

    async def declaration(self, tool_id: str) -> dict[str, Any]:
        """A tool as its server declared it."""
        detail = (await self._ask(methods.JACKFIELD_TOOL_DETAIL, wire.IdParams(id=tool_id))).detail
        return dict(object_of(detail.get("declaration")))

    # -- resources and prompts

    async def resources(self, server: str) -> tools.ResourceListResult:
        """What a server has listed."""
        return await self._ask(methods.JACKFIELD_RESOURCE_LIST, tools.ServerParams(server=server))

    async def read(self, server: str, uri: str) -> tools.ResourceReadResult:
        """A resource."""
        params = tools.ResourceParams(server=server, uri=uri)
        return await self._ask(methods.JACKFIELD_RESOURCE_READ, params)

    async def follow(self, server: str, uri: str, on: bool) -> None:
        """Have the changes of a resource told, or no longer."""
        method = (
            methods.JACKFIELD_RESOURCE_SUBSCRIBE if on else methods.JACKFIELD_RESOURCE_UNSUBSCRIBE
        )
        await self._ask(method, tools.ResourceParams(server=server, uri=uri))

    async def prompts(self, server: str) -> tools.PromptListResult:
        """What a server has listed."""
        return await self._ask(methods.JACKFIELD_PROMPT_LIST, tools.ServerParams(server=server))

    async def prompt(
        self, server: str, name: str, arguments: Mapping[str, str]
    ) -> tools.PromptGetResult:
        """The messages of a prompt."""
        params = tools.PromptGetParams(server=server, name=name, arguments=dict(arguments))
        return await self._ask(methods.JACKFIELD_PROMPT_GET, params)

    async def complete(
        self,
        server: str,
        ref: Mapping[str, str],
        argument: str,
        value: str,
        known: Mapping[str, str],
    ) -> tuple[str, ...]:
        """What may stand there; nothing when the server cannot say."""
        params = tools.CompleteParams(
            server=server, ref=dict(ref), argument=argument, value=value, known=dict(known)
        )
        return (await self._ask(methods.JACKFIELD_COMPLETE, params)).values

    # -- questions and links

    async def answer(
        self, question_id: str, action: Action, content: dict[str, Any] | None
    ) -> None:
        """Answer a question."""
        params = wire.ElicitationAnswer(id=question_id, action=action, content=content)
        await self._ask(methods.JACKFIELD_ELICITATION_ANSWER, params)

    async def questions(self) -> tuple[ElicitationRequested, ...]:
        """All that wait, oldest first."""
        return (await self._ask(methods.JACKFIELD_ELICITATION_LIST, wire.NoParams())).questions

    async def open_link(self, url: str) -> bool:
        """Show a page; False when there is no browser."""
        return (await self._ask(methods.JACKFIELD_LINK_OPEN, tools.LinkParams(url=url))).opened

    async def _ask(self, method: Any, params: Any) -> Any:
        try:
            return await self._client.call(method, params)
        except CoreError as error:
            raise Refused(_said(error)) from None


async def checked(schema: Any, value: Any) -> Checked:
    """`check` in a thread: the screen goes on."""
    return await anyio.to_thread.run_sync(check, schema, value)


def _said(error: CoreError) -> str:
    return f"{error.message}; {error.hint}" if error.hint else error.message
