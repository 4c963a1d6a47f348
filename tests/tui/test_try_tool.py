from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from textual.widgets import Input

from core.errors import InvalidRequest
from core.protocol import jackfield as wire
from core.protocol import jackfield_tools as tools
from core.protocol.events import OperationProgress
from tests.fakes.client import FakeClient
from tests.tui import world
from tests.tui.panel import NARROW, WIDE, Panel, panel
from tui.forms.asking import Asking
from tui.forms.checking import check
from tui.screens.call_history import HistorySheet
from tui.screens.save_file import SaveSheet
from tui.screens.try_tool import TrySheet
from tui.widgets.confirm import Confirm
from tui.widgets.key_bar import KeyBar
from tui.widgets.page_view import Detail

pytestmark = pytest.mark.anyio
check({"type": "object"}, {})  # loads the library once, before anybody waits for it

ISSUE = {
    "type": "object",
    "required": ["repo"],
    "properties": {
        "repo": {"type": "string", "description": "owner/name"},
        "labels": {"type": "array", "items": {"type": "string"}},
        "priority": {"enum": ["low", "normal", "high"], "default": "normal"},
        "due": {"type": "string", "format": "date"},
        "notify": {"type": "object"},
    },
}
OUTPUT = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
ISSUE_TOOL = {"name": "create_issue", "inputSchema": ISSUE, "outputSchema": OUTPUT}
ANSWER = tools.ToolCallResult(
    call_id="c",
    id="github/create_issue",
    outcome="answered",
    content=({"type": "text", "text": "Opened #4127"},),
    structured=True,
    structured_content={"number": 4127},
    duration_ms=840,
    bytes=1200,
)


class Tools(FakeClient):
    """A core whose calls a test can hold back.

    Attributes:
        gate: Calls wait for it, when there is one.
        result: What the next call gives.
    """

    def __init__(self, declaration: Any = ISSUE_TOOL) -> None:
        super().__init__(**world.ALL)
        self.declaration = declaration
        self.gate: anyio.Event | None = None
        self.result: Any = ANSWER
        self.history: tuple[tools.PastCall, ...] = ()

    def _tool_detail(self, params: Any) -> wire.DetailResult:
        return wire.DetailResult(detail={"declaration": self.declaration})

    async def call(self, method: Any, params: Any) -> Any:
        if method.name != "jackfield/tool/call":
            return await super().call(method, params)
        self.calls.append((method.name, params))
        if self.gate is not None:
            self.push(OperationProgress(id=params.call_id, subject=params.id, verb="calling"))
            await self.gate.wait()
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    def _tool_cancel(self, params: Any) -> wire.Done:
        self.result = tools.ToolCallResult(
            call_id=params.call_id, id="github/create_issue", outcome="cancelled", duration_ms=3200
        )
        if self.gate is not None:
            self.gate.set()
        return wire.Done()

    def _tool_history(self, params: Any) -> tools.ToolHistoryResult:
        return tools.ToolHistoryResult(calls=self.history)

    def _link_open(self, params: Any) -> tools.LinkResult:
        return tools.LinkResult(opened=True)


class Sheet:
    """The open sheet, as a person sees it."""

    def __init__(self, here: Panel) -> None:
        self.here = here

    @property
    def screen(self) -> TrySheet:
        screen = self.here.app.screen
        assert isinstance(screen, TrySheet)
        return screen

    @property
    def asking(self) -> Asking:
        return self.screen.query_one(Asking)

    @property
    def result(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.query_one(Detail).page.text_lines)

    @property
    def keys(self) -> str:
        bar = self.screen.query_one(KeyBar)
        return "".join(text for text, _ in bar.parts(110))

    @property
    def faults(self) -> list[str]:
        found: list[str] = []
        for row in self.asking.query(".-fault"):
            found.append(getattr(row, "fault", ""))
        return found

    @property
    def said(self) -> str:
        view = self.asking.query_one("#said")
        return "\n".join(view.page.text_lines)  # type: ignore[attr-defined]

    async def shows(self, text: str) -> None:
        await self.here.until(lambda: text in self.result)


@asynccontextmanager
async def trying(
    client: Tools | None = None, *, tool: str = "create_issue", **options: Any
) -> AsyncGenerator[tuple[Panel, Sheet]]:
    client = client or Tools()
    async with panel(client, tab="3", **options) as here:
        here.pane.go_to(f"github/{tool}")
        await here.press("t")
        await here.until(lambda: isinstance(here.app.screen, TrySheet))
        await here.pilot.pause()
        yield here, Sheet(here)


# ── the form ──


async def test_what_is_filled_in_is_called() -> None:
    async with trying() as (here, sheet):
        await here.type("acme/atlas")
        await here.press("tab", "ctrl+n")
        await here.type("bug")
        await here.press("ctrl+n")
        await here.type("search")
        await here.press("tab", "right", "tab")
        await here.type("2026-11-30")
        await here.press("ctrl+s")
        await sheet.shows("answered")
        (params,) = here.client.asked("jackfield/tool/call")
        assert params.id == "github/create_issue"
        assert params.arguments == {
            "repo": "acme/atlas",
            "labels": ["bug", "search"],
            "priority": "high",
            "due": "2026-11-30",
        }
        assert "840 ms, 1.2 kB" in sheet.result
        assert "Opened #4127" in sheet.result
        assert "matches the output schema" in sheet.result


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_faults_stand_below_their_fields_and_nothing_is_called(
    size: tuple[int, int],
) -> None:
    async with trying(size=size) as (here, sheet):
        await here.press("ctrl+s")
        await here.until(lambda: sheet.faults == ["required"])
        await here.type("a/b")
        assert sheet.faults == []
        await here.press("tab", "tab", "tab")
        await here.type("2026-13-01")
        await here.press("ctrl+s")
        await here.until(lambda: sheet.faults == ["month must be 1 to 12"])
        assert here.client.asked("jackfield/tool/call") == []


async def test_items_are_added_and_taken_out() -> None:
    async with trying() as (here, sheet):
        await here.press("tab")
        assert "^n add item" in sheet.keys and "^d remove item" not in sheet.keys
        for text in ("one", "two", "three"):
            await here.press("ctrl+n")
            await here.type(text)
        assert "^d remove item" in sheet.keys
        await here.press("shift+tab", "ctrl+d")
        form = sheet.asking.form
        assert form is not None
        await here.until(lambda: form.read().value.get("labels") == ["one", "three"])
        labels = [field.label for field in form.walk() if field.removable]
        assert labels == ["labels 1", "labels 2"]


async def test_the_whole_can_be_written_as_json_and_goes_back_into_the_form() -> None:
    async with trying() as (here, sheet):
        await here.type("a/b")
        await here.press("ctrl+e")
        assert sheet.asking.raw and '"repo": "a/b"' in sheet.asking._text.text
        sheet.asking._text.text = '{"repo": "c/d", "labels": ["x"]'
        await here.press("ctrl+e")
        await here.until(lambda: "not JSON" in sheet.said)
        sheet.asking._text.text = '{"repo": "c/d", "labels": ["x"], "other": 1}'
        await here.press("ctrl+e")
        await here.until(lambda: "the form cannot hold this" in sheet.said)
        await here.press("ctrl+s")
        await sheet.shows("answered")
        (params,) = here.client.asked("jackfield/tool/call")
        assert params.arguments == {"repo": "c/d", "labels": ["x"], "other": 1}
        sheet.asking._text.text = '{"repo": "c/d", "labels": ["x"]}'
        await here.press("ctrl+e")
        await here.until(lambda: not sheet.asking.raw)
        form = sheet.asking.form
        assert form is not None and form.read().value == {"repo": "c/d", "labels": ["x"]}


async def test_faults_of_raw_json_are_said_with_their_places() -> None:
    async with trying() as (here, sheet):
        await here.press("ctrl+e")
        for text, said in (
            ("[1]", "it must be an object"),
            ('{"repo": 5}', "repo: must be a text"),
            ("{}", "repo: required"),
        ):
            sheet.asking._text.text = text
            await here.press("ctrl+s")
            await here.until(lambda said=said: said in sheet.said)
        assert here.client.asked("jackfield/tool/call") == []


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string"}, "the schema asks for no object: raw JSON"),
        (
            {"properties": {f"p{n}": {"enum": [str(i) for i in range(3000)]} for n in range(90)}},
            "the schema is too large for a form: raw JSON",
        ),
        (None, "the schema is no object: raw JSON"),
    ],
)
async def test_a_schema_without_a_form_takes_raw_json(schema: Any, said: str) -> None:
    client = Tools({"name": "create_issue", "inputSchema": schema})
    async with trying(client) as (here, sheet):
        assert sheet.asking.raw
        await here.until(lambda: said in sheet.said)
        sheet.asking._text.text = '{"a": 1}'
        await here.press("ctrl+s")
        if schema == {"type": "string"}:
            await here.until(lambda: "must be a text" in sheet.said)
            return
        await sheet.shows("The arguments went unchecked")
        assert here.client.asked("jackfield/tool/call")[0].arguments == {"a": 1}


async def test_hostile_schemas_are_only_text() -> None:
    evil = {
        "type": "object",
        "properties": {
            world.HOSTILE: {
                "type": "string",
                "pattern": "(a+)+$",
                "title": world.HOSTILE,
                "description": world.HOSTILE * 200,
            },
            "x": {"enum": [world.HOSTILE, "[/]"], "default": world.HOSTILE},
            "y": {"const": world.HOSTILE},
        },
        "required": ["y"],
    }
    client = Tools({"name": "create_issue", "inputSchema": evil, "title": world.HOSTILE})
    client.result = tools.ToolCallResult(
        call_id="c",
        id="github/create_issue",
        outcome="answered",
        is_error=True,
        content=(
            {"type": "text", "text": world.HOSTILE},
            {"type": world.HOSTILE, "x": world.HOSTILE},
            {"type": "resource_link", "uri": "javascript:alert(1)", "name": world.HOSTILE},
            {"type": "resource", "resource": {"uri": world.HOSTILE, "text": world.HOSTILE}},
        ),
        meta={world.HOSTILE: world.HOSTILE},
        cut=world.HOSTILE,
    )
    async with trying(client) as (here, sheet):
        await here.type("a" * 60 + "!")
        await here.press("ctrl+s")
        await here.until(lambda: "does not match (a+)+$" in sheet.faults)
        await here.press("backspace", "ctrl+s")
        await sheet.shows("the tool says")
        assert "\x1b" not in sheet.result and "\u202e" not in sheet.result
        assert "[bold red]not bold[/]" in sheet.result
        await here.press("o")
        assert here.client.asked("jackfield/link/open") == []


# ── the call ──


async def test_a_running_call_counts_and_is_cancelled() -> None:
    client = Tools()
    client.gate = anyio.Event()
    async with trying(client) as (here, sheet):
        await here.type("a/b")
        assert "^x cancel" not in sheet.keys
        await here.press("ctrl+s")
        await sheet.shows("^x cancels")
        assert "^x cancel" in sheet.keys and "^s call" not in sheet.keys
        (params,) = client.asked("jackfield/tool/call")
        client.push(
            OperationProgress(
                id=params.call_id, subject=params.id, verb="calling", share=0.4, note="step 2"
            )
        )
        await sheet.shows(", 40%")
        assert "step 2" in sheet.result
        await here.press("ctrl+x")
        await sheet.shows("cancelled  by you, after 3.2 s")
        assert client.asked("jackfield/tool/cancel")[0].call_id == params.call_id


async def test_a_call_goes_on_when_its_sheet_is_closed() -> None:
    client = Tools()
    client.gate = anyio.Event()
    async with trying(client) as (here, sheet):
        await here.type("a/b")
        await here.press("ctrl+s")
        await sheet.shows("^x cancels")
        await here.press("escape")
        await here.until(lambda: len(here.app.screen_stack) == 1)
        assert "calling github/create_issue" in here.status
        client.gate.set()
        await here.press("t")
        await here.until(lambda: isinstance(here.app.screen, TrySheet))
        await sheet.shows("Opened #4127")


async def test_no_answer_and_no_call_are_told_apart() -> None:
    client = Tools()
    client.result = tools.ToolCallResult(
        call_id="c",
        id="x",
        outcome="failed",
        reason="exited 3 — boom: missing API key",
        hint="nothing is sent again by itself",
    )
    async with trying(client) as (here, sheet):
        await here.type("a/b")
        await here.press("ctrl+s")
        await sheet.shows("✗ no answer")
        assert "exited 3 — boom: missing API key" in sheet.result.replace("\n", " ")
        client.result = InvalidRequest("github is not connected: failed", hint="r reconnects")
        await here.press("ctrl+s")
        await sheet.shows("✗ not called")
        assert "github is not connected: failed; r reconnects" in sheet.result.replace("\n ", "")


async def test_what_does_not_match_the_output_schema_is_said() -> None:
    client = Tools()
    client.result = msgspec.structs.replace(ANSWER, structured_content={"number": "x"})
    async with trying(client) as (here, sheet):
        await here.type("a/b")
        await here.press("ctrl+s")
        await sheet.shows("breaks the output schema")
        assert "! number  must be a whole number" in sheet.result
        client.result = msgspec.structs.replace(ANSWER, structured=False, structured_content=None)
        await here.press("ctrl+s")
        await sheet.shows("nothing structured")


async def test_a_destructive_tool_is_called_after_one_more_yes() -> None:
    delete = msgspec.structs.replace(
        next(row for row in world.TOOLS if row.name == "delete_repo"),
        filtered=False,
        callable=True,
        reason="",
    )
    client = Tools({"name": "delete_repo", "inputSchema": {"type": "object"}})
    client.put("inventory", *[row for row in world.TOOLS if row.id != delete.id], delete)
    async with trying(client, tool="delete_repo") as (here, sheet):
        assert "destroys" in sheet.result
        await here.press("ctrl+s")
        await here.until(lambda: isinstance(here.app.screen, Confirm))
        await here.press("enter")
        await here.until(lambda: isinstance(here.app.screen, TrySheet))
        assert client.asked("jackfield/tool/call") == []
        await here.press("ctrl+s")
        await here.until(lambda: isinstance(here.app.screen, Confirm))
        await here.press("right", "enter")
        await sheet.shows("answered")


async def test_the_last_arguments_come_back_without_their_secrets() -> None:
    client = Tools()
    client.history = (
        tools.PastCall(
            call_id="old",
            id="github/create_issue",
            arguments={"repo": "•••", "labels": ["x"]},
            masked=True,
            at=world.NOW,
            duration_ms=5,
            outcome="answered",
            said="fine",
        ),
    )
    async with trying(client) as (here, sheet):
        await here.press("ctrl+r")
        await here.toast("Secrets are masked")
        form = sheet.asking.form
        assert form is not None and form.read().value["labels"] == ["x"]
        await here.press("ctrl+t")
        await here.until(lambda: isinstance(here.app.screen, HistorySheet))
        await here.press("ctrl+s")
        await sheet.shows("answered")
        assert client.asked("jackfield/tool/call")[0].again == "old"


# ── what can be done with a result ──


async def test_a_link_is_opened_after_its_host_was_shown() -> None:
    client = Tools()
    link = {"type": "resource_link", "uri": "https://code.example/a?b=1", "name": "an issue"}
    client.result = msgspec.structs.replace(ANSWER, content=(link,))
    async with trying(client) as (here, sheet):
        await here.type("a/b")
        await here.press("ctrl+s")
        await sheet.shows("o opens")
        await here.press("o")
        await here.until(lambda: isinstance(here.app.screen, Confirm))
        assert "code.example" in str(here.app.screen.query_one("#box").border_title)
        assert client.asked("jackfield/link/open") == []
        await here.press("right", "enter")
        await here.toast("Opened: code.example")
        assert client.asked("jackfield/link/open")[0].url == "https://code.example/a?b=1"


async def test_a_picture_is_written_to_a_file(tmp_path: Path) -> None:
    client = Tools()
    picture = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
    client.result = msgspec.structs.replace(ANSWER, content=(picture,))
    async with trying(client) as (here, sheet):
        await here.type("a/b")
        await here.press("ctrl+s")
        await sheet.shows("image/png  9 bytes")
        await here.press("w")
        await here.until(lambda: isinstance(here.app.screen, SaveSheet))
        field = here.app.screen.query_one(Input)
        assert field.value == "result.png"
        field.value = str(tmp_path / "a.png")
        await here.press("ctrl+s")
        await here.until(lambda: isinstance(here.app.screen, TrySheet))
        assert (tmp_path / "a.png").read_bytes() == b"\x89PNG\r\n\x1a\n"


# ── where it is offered ──


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        ("github/create_issue", ""),
        ("github/delete_repo", "in disabled_tools, config.toml:47"),
        ("github/read_media", "no schema"),
        ("metrics/query", "metrics is not connected"),
        ("boardroom/list_boards", "the server of the apps is not connected"),
    ],
)
async def test_only_what_can_be_called_is_tried(tool: str, why: str) -> None:
    async with panel(Tools(), tab="3") as here:
        here.pane.go_to(tool)
        await here.pilot.pause()
        offers = {offer.id: offer for offer in here.app.offers()}
        assert offers["tools.try"].why == why
        assert ("t try it" in here.keys) is (why == "")


async def test_a_declaration_that_cannot_be_had_is_told() -> None:
    client = Tools()
    client.answers["jackfield/tool/detail"] = InvalidRequest("no tool here")
    async with panel(client, tab="3") as here:
        here.pane.go_to("github/create_issue")
        await here.press("t")
        await here.toast("create_issue: cannot be tried: no tool here")
