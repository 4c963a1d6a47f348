from __future__ import annotations

from typing import Any

import anyio
import pytest

from core.mcp import inventory, shapes
from core.mcp.client.session import DeadlinePassed
from core.mcp.inventory import RESOURCES, TEMPLATES, TOOLS, UnexpectedResponse, read_list
from core.mcp.shapes import Malformed
from core.mcp.slots import HandshakeSlots
from tests.core.mcp.fakes import tool

pytestmark = pytest.mark.anyio


class Pages:
    """Answers a list method page by page, for ever when `endless`."""

    def __init__(self, *pages: list[Any], endless: bool = False) -> None:
        self.pages, self.endless = pages, endless
        self.asked: list[str | None] = []

    async def __call__(
        self, method: str, params: dict[str, Any] | None, *, deadline: float
    ) -> dict[str, Any]:
        number = int((params or {}).get("cursor", "0"))
        self.asked.append((params or {}).get("cursor"))
        page: dict[str, Any] = {"tools": self.pages[number % len(self.pages)]}
        if self.endless or number + 1 < len(self.pages):
            page["nextCursor"] = str(number + 1)
        return page


async def test_all_pages_are_read() -> None:
    pages = Pages([tool("a")], [tool("b")], [])
    listing = await read_list(pages, TOOLS, deadline=5, tolerant=False)
    assert list(listing.items) == ["a", "b"]
    assert pages.asked == [None, "1", "2"]
    assert listing.sizes["a"] == len(b'{"name":"a","inputSchema":{"type":"object"}}')


@pytest.mark.parametrize(
    ("bound", "value", "words"),
    [
        ("MAX_PAGES", 3, "more than 3 pages; the rest is left out"),
        ("MAX_ITEMS", 4, "more than 4 entries; the rest is left out"),
        ("MAX_BYTES", 100, "more than 0 MB of entries; the rest is left out"),
    ],
)
async def test_a_list_without_end_is_left(
    monkeypatch: pytest.MonkeyPatch, bound: str, value: int, words: str
) -> None:
    monkeypatch.setattr(inventory, bound, value)
    pages = Pages(*([tool(f"{n}a"), tool(f"{n}b")] for n in range(50)), endless=True)
    listing = await read_list(pages, TOOLS, deadline=5, tolerant=True)
    assert [fault.message for fault in listing.faults] == [words]
    assert 0 < len(listing.items) <= 6


async def test_the_limit_counts_for_all_pages_together() -> None:
    async def slow(
        method: str, params: dict[str, Any] | None, *, deadline: float
    ) -> dict[str, Any]:
        if deadline < 0.04:
            raise DeadlinePassed(method, deadline)
        with anyio.move_on_after(0.02):
            await anyio.sleep_forever()
        return {"tools": [], "nextCursor": str(deadline)}

    with pytest.raises(DeadlinePassed) as caught:
        await read_list(slow, TOOLS, deadline=0.1, tolerant=False)
    assert caught.value.seconds == 0.1


@pytest.mark.parametrize("page", [{}, {"tools": None}, {"tools": {}}])
async def test_an_answer_without_a_list_is_refused_even_by_the_tolerant(page: Any) -> None:
    async def odd(method: str, params: Any, *, deadline: float) -> dict[str, Any]:
        return page

    with pytest.raises(UnexpectedResponse):
        await read_list(odd, TOOLS, deadline=5, tolerant=True)


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({"inputSchema": {}}, "name is missing"),
        ({"name": "x"}, "inputSchema is missing"),
        ({"name": "x", "inputSchema": []}, "inputSchema is no object"),
        ({**tool("x"), "description": 5}, "description is no text"),
        (
            {**tool("x"), "annotations": {"readOnlyHint": "yes"}},
            "annotations.readOnlyHint is neither true nor false",
        ),
        ({**tool("x"), "icons": [{}]}, "icons.src is missing"),
        ({**tool("x"), "icons": [{"src": "s", "sizes": "1x1"}]}, "icons.sizes is no list"),
        ({**tool("x"), "outputSchema": "x"}, "outputSchema is no object"),
        ("x", "is no object"),
    ],
)
def test_malformed_tools_say_what_is_wrong(entry: Any, fault: str) -> None:
    with pytest.raises(Malformed) as caught:
        shapes.tool(entry)
    assert caught.value.message == fault


def test_known_members_stay_as_they_are_and_others_go() -> None:
    entry = {
        **tool("x", title=None, description="d", execution={"a": 1}),
        "annotations": {"readOnlyHint": True, "odd": 1},
        "icons": [{"src": "s", "theme": "dark", "odd": 1}],
        "_meta": {"kept": {"as": "it is"}},
    }
    assert shapes.tool(entry) == {
        "name": "x",
        "inputSchema": {"type": "object"},
        "description": "d",
        "annotations": {"readOnlyHint": True},
        "icons": [{"src": "s", "theme": "dark"}],
        "_meta": {"kept": {"as": "it is"}},
    }


def test_resources_and_templates_keep_their_own_members() -> None:
    both = {"name": "n", "size": 5, "_meta": {}, "annotations": {"priority": 1}, "odd": 1}
    assert RESOURCES.check({"uri": "u", **both}) == {
        "uri": "u",
        "name": "n",
        "size": 5,
        "annotations": {"priority": 1.0},
        "_meta": {},
    }
    assert TEMPLATES.check({"uriTemplate": "u", **both}) == {
        "uriTemplate": "u",
        "name": "n",
        "annotations": {"priority": 1.0},
    }
    with pytest.raises(Malformed):
        RESOURCES.check({"uri": "u", "name": "n", "size": -1})


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ({"content": [], "isError": None}, {"content": []}),
        ({"structuredContent": {"a": 1}}, {"content": [], "structuredContent": {"a": 1}}),
        (
            {"content": [], "structuredContent": None},
            {"content": [], "structuredContent": None},
        ),
        ({"content": [], "isError": True, "odd": 1}, {"content": [], "isError": True}),
        ({}, None),
        ({"content": "text"}, None),
        ({"content": [{"text": "x"}]}, None),
        ({"content": [{"type": "image", "data": "x"}]}, None),
        ({"content": [], "isError": "yes"}, None),
    ],
)
def test_results_of_calls(answer: Any, kept: Any) -> None:
    if kept is None:
        with pytest.raises(Malformed):
            shapes.call_result(answer)
    else:
        assert shapes.call_result(answer) == kept


async def test_slots_are_few_and_given_back_at_the_end() -> None:
    slots = HandshakeSlots(slots=2, held=1000)
    inside: list[int] = []
    leave = [anyio.Event() for _ in range(3)]

    async def shake(number: int) -> None:
        async with slots.taken():
            inside.append(number)
            await leave[number].wait()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            for number in range(3):
                tasks.start_soon(shake, number)
            await anyio.wait_all_tasks_blocked()
            assert inside == [0, 1], "the third waits"
            leave[1].set()
            await anyio.wait_all_tasks_blocked()
            assert inside == [0, 1, 2]
            for event in leave:
                event.set()


async def test_a_handshake_that_lasts_gives_its_slot_back_meanwhile() -> None:
    slots = HandshakeSlots(slots=1, held=0.02)
    with anyio.fail_after(5):
        async with slots.taken(), slots.taken(), slots.taken():
            pass
