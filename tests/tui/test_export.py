from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.widgets import Input

from core.protocol.events import ServerHappened
from tests.tui import world
from tests.tui.panel import NARROW, Panel, panel
from tui.screens.jump import JumpScreen
from tui.screens.save_file import SaveSheet
from tui.widgets.field import Field

pytestmark = pytest.mark.anyio


async def name_it(p: Panel, key: str, path: Path) -> SaveSheet:
    await p.press(key)
    await p.until(lambda: isinstance(p.app.screen, SaveSheet))
    sheet = p.app.screen
    assert isinstance(sheet, SaveSheet)
    sheet.query_one(Input).value = str(path)
    return sheet


async def test_w_writes_the_rows_that_the_list_shows(tmp_path: Path):
    target = tmp_path / "servers.json"
    async with panel(tab="4") as p:
        await name_it(p, "w", target)
        await p.press("enter")
        await p.toast("Written: ")
    rows = json.loads(target.read_text())
    assert {row["name"] for row in rows} == {row.name for row in world.SERVERS}


async def test_w_writes_events_as_lines_the_oldest_first(tmp_path: Path):
    target = tmp_path / "events.jsonl"
    async with panel(tab="5") as p:
        for number in range(3):
            p.client.push(
                ServerHappened(
                    at=world.NOW + number, thread_id="t", name=f"s{number}", what="failed"
                )
            )
        await p.until(lambda: p.line("s2"))
        await name_it(p, "w", target)
        await p.press("ctrl+s")
        await p.toast("Written: ")
    events = [json.loads(line) for line in target.read_text().splitlines()]
    assert [event["name"] for event in events][-3:] == ["s0", "s1", "s2"]


async def test_a_file_that_exists_is_replaced_by_a_second_enter_only(tmp_path: Path):
    target = tmp_path / "servers.json"
    target.write_text("mine")
    async with panel(tab="4") as p:
        sheet = await name_it(p, "w", target)
        await p.press("enter")
        await p.until(lambda: "exists" in sheet.query_one(Field).fault)
        assert target.read_text() == "mine"
        await p.press("enter")
        await p.toast("Written: ")
    assert json.loads(target.read_text())


async def test_a_folder_that_is_not_there_is_said_below_the_field(tmp_path: Path):
    async with panel(tab="4", size=NARROW) as p:
        sheet = await name_it(p, "w", tmp_path / "none" / "x.json")
        await p.press("enter")
        await p.until(lambda: sheet.query_one(Field).fault == "No such file or directory")


async def test_the_picture_of_the_screen_has_what_was_on_it(tmp_path: Path):
    target = tmp_path / "screen.svg"
    async with panel(tab="4") as p:
        p.app.run_command("app.picture")
        await p.until(lambda: isinstance(p.app.screen, SaveSheet))
        p.app.screen.query_one(Input).value = str(target)
        await p.press("enter")
        await p.toast("Written: ")
    assert "metrics" in target.read_text() and "Write&#160;to" not in target.read_text()


async def test_jump_goes_to_tabs_rows_filter_and_details_by_one_key():
    async with panel(tab="4") as p:
        await p.press("ctrl+o", "2")
        await p.until(lambda: p.pane.id == "apps")
        await p.press("ctrl+o", "slash")
        await p.until(lambda: p.pane.filter.typing)
        await p.press("escape")
        await p.press("ctrl+o")
        screen = p.app.screen
        assert isinstance(screen, JumpScreen)
        third = p.pane.list.visible_ids[2]
        key = next(k for k, part in screen.places.items() if part.id == f"row:{third}")
        await p.press(key)
        await p.until(lambda: p.pane.selected == third)


async def test_jump_is_left_by_any_other_key_and_nothing_has_changed():
    async with panel(tab="4") as p:
        selected = p.pane.selected
        for key in ("escape", "Q", "f9"):
            await p.press("ctrl+o", key)
            assert not isinstance(p.app.screen, JumpScreen)
        assert p.pane.selected == selected and p.pane.list.has_focus
