from __future__ import annotations

from typing import Any

import anyio
import pytest

from core.errors import CoreError
from core.protocol import jackfield as wire
from core.protocol.events import ConsentRequested, OperationProgress, RefreshFailed, ServerHappened
from core.protocol.facts import Evidence
from core.protocol.rows import ServerRow
from tests.fakes.client import FakeClient, refetched
from tests.tui import world
from tests.tui.panel import NARROW, panel, whole
from tui.commands import COMMANDS
from tui.deeds import REGISTRY
from tui.panes.list_pane import ListPane
from tui.screens.consent import ConsentSheet
from tui.screens.details import DetailSheet
from tui.screens.errors import ErrorsSheet
from tui.screens.first_start import FirstStartSheet
from tui.screens.help import HelpSheet
from tui.screens.palette import Palette
from tui.widgets.confirm import Confirm
from tui.widgets.field import Tick
from tui.widgets.tab_bar import TabBar

pytestmark = pytest.mark.anyio


async def test_the_number_keys_open_the_tabs_and_the_list_has_the_keys():
    async with panel() as p:
        for key, tab in zip(
            "12345", ("marketplaces", "apps", "tools", "servers", "activity"), strict=True
        ):
            await p.press(key)
            assert p.pane.id == tab and p.pane.list.has_focus


async def test_a_click_on_a_tab_opens_it():
    async with panel() as p:
        await p.pilot.click(TabBar, offset=(50, 0))
        await p.pilot.pause()
        assert p.pane.id == "tools"


async def test_tabs_tell_how_many_rows_want_attention():
    async with panel() as p:
        assert p.app.query_one(TabBar).badges == {
            "marketplaces": 5, "apps": 1, "tools": 0, "servers": 6, "activity": 0,
        }  # fmt: skip


async def test_the_status_line_says_where_who_and_how_the_servers_are():
    async with panel() as p:
        assert p.status.startswith("atlas  ~/.codex  dev@example.com, Team")
        assert p.status.endswith("● 2 up  ◐ 2 starting  ✗ 1 failed  ? 3 need you")


async def test_a_server_that_comes_back_leaves_the_count_of_failures_at_once():
    async with panel() as p:
        p.client.put("servers", ServerRow(id="metrics", name="metrics", status="connected"))
        await p.until(lambda: "failed" not in p.status)


async def test_the_panel_is_started_once_with_what_was_agreed_to_on_the_command_line():
    async with panel(consent_all=True) as p:
        assert await p.calls("jackfield/panel/start") == [wire.PanelStartParams(consent_all=True)]


async def test_without_a_core_the_panel_says_why_and_can_be_left():
    async def broken() -> Any:
        raise CoreError("config.toml cannot be read")

    async with panel(connect=broken) as p:
        await p.until(lambda: "config.toml cannot be read" in p.status)
        await p.press("space")
        await p.press("q")
        await p.until(lambda: not p.app.is_running)


async def test_before_the_core_stands_the_frame_is_there_and_keys_are_answered():
    opened = anyio.Event()
    client = whole()

    async def slow() -> Any:
        await opened.wait()
        return client

    async with panel(client, connect=slow) as p:
        await p.press("4")
        await p.press("R")
        await p.toast("still being opened")
        opened.set()
        await p.until(lambda: p.line("metrics"))


async def test_a_command_without_a_deed_has_no_key_and_no_line():
    missing = [command for command in COMMANDS if REGISTRY.get(command.id) is None]
    shown = {key for command in REGISTRY.commands for key in command.keys.split(",")}
    async with panel(tab="4") as p:
        before = list(p.client.calls)
        for command in missing:
            for key in set(filter(None, command.keys.split(","))) - shown:
                await p.press(key)
        assert p.client.calls == before and len(p.app.screen_stack) == 1
    assert not {c.id for c in missing} & {c.id for c in REGISTRY.in_palette("servers")}


async def test_help_and_palette_open_and_close():
    async with panel() as p:
        await p.press("question_mark")
        assert isinstance(p.app.screen, HelpSheet)
        await p.press("escape", "ctrl+p")
        assert isinstance(p.app.screen, Palette)
        await p.press("escape")
        assert len(p.app.screen_stack) == 1


async def test_a_command_of_the_palette_is_done():
    async with panel() as p:
        await p.press("ctrl+p")
        await p.type("stark")
        await p.until(lambda: p.app.screen.query_one("CommandList").display)
        await p.press("enter")
        await p.until(lambda: p.app.theme == "stark")


async def test_escape_never_quits():
    async with panel() as p:
        await p.press(*["escape"] * 5)
        assert p.app.is_running


async def test_q_quits_at_once_unless_something_is_being_done():
    async with panel() as p:
        p.client.push(OperationProgress(id="o", subject="p@m", verb="installing"))
        await p.until(lambda: p.app.store.operations)
        await p.press("q")
        assert isinstance(p.app.screen, Confirm)
        await p.press("enter")
        assert p.app.is_running and len(p.app.screen_stack) == 1
        p.client.push(OperationProgress(id="o", subject="p@m", verb="installing", state="done"))
        await p.until(lambda: not p.app.store.operations)
        await p.press("q")
        await p.until(lambda: not p.app.is_running)


async def test_c_copies_the_id_and_capital_c_the_row_as_json():
    async with panel(tab="4") as p:
        await p.press("c")
        assert p.app.clipboard == "atlas-docs"
        await p.press("C")
        assert '"status": "connected"' in p.app.clipboard
        await p.toast("row as JSON")


async def test_marks_go_with_the_next_key_after_the_refetch():
    async with panel(tab="4") as p:
        p.client.put("servers", *world.SERVERS, ServerRow(id="zz", name="zz-new"))
        await p.until(lambda: p.line("zz-new"))
        assert p.line("zz-new").lstrip().startswith("+")
        await p.press("down")
        assert not p.line("zz-new").lstrip().startswith("+")


# ── switches ──


async def test_the_answer_to_a_switch_names_the_file_and_the_key_that_undoes_it():
    async with panel(tab="4") as p:
        await p.press("space")
        await p.toast("atlas-docs is off: config.toml:30, enabled = false   z undoes")
        assert await p.calls("jackfield/switch") == [
            wire.SwitchParams(kind="server", id="atlas-docs", enabled=False)
        ]


async def test_z_takes_the_last_change_back_and_each_only_once():
    async with panel(tab="4") as p:
        await p.press("space")
        await p.toast("z undoes")
        assert "z undo" in p.keys
        await p.press("z")
        await p.toast("Undone")
        assert len(await p.calls("jackfield/undo")) == 1
        await p.press("z")
        await p.toast("nothing to undo")
        assert len(p.client.asked("jackfield/undo")) == 1


async def test_a_switch_that_is_refused_is_told_and_kept_among_the_errors():
    async with panel(tab="4") as p:
        p.client.answers["jackfield/switch"] = CoreError("the file is locked", hint="try again")
        await p.press("space")
        await p.toast("atlas-docs: not switched: the file is locked; try again")
        await p.press("exclamation_mark")
        assert isinstance(p.app.screen, ErrorsSheet)


async def test_where_another_layer_decides_it_says_so_and_offers_the_users_file():
    decided = wire.SwitchResult(
        written=False,
        effective=True,
        message="the project decides",
        decided_by=Evidence(file="/home/dev/src/atlas/.codex/config.toml", line=12),
    )
    answers = iter([decided, wire.SwitchResult(written=True, effective=True, message="written")])
    async with panel(tab="4") as p:
        p.client.answers["jackfield/switch"] = lambda params: next(answers)
        await p.press("space")
        await p.until(lambda: isinstance(p.app.screen, Confirm))
        asked = "\n".join(p.app.screen.query_one("PageView").page.text_lines)  # type: ignore[attr-defined]
        assert "~/src/atlas/.codex/config.toml:12" in asked.replace("\n", "")
        await p.press("right", "enter")
        await p.toast("written")
        assert [params.layer for params in p.client.asked("jackfield/switch")] == [None, "user"]


async def test_cancel_leaves_what_another_layer_decides_alone():
    async with panel(tab="4") as p:
        p.client.answers["jackfield/switch"] = wire.SwitchResult(
            written=False, effective=True, message="", decided_by=Evidence(file="/p", line=1)
        )
        await p.press("space")
        await p.until(lambda: isinstance(p.app.screen, Confirm))
        await p.press("enter")
        await p.until(lambda: len(p.app.screen_stack) == 1)
        assert len(p.client.asked("jackfield/switch")) == 1


async def test_read_only_switches_nothing_and_says_why_on_the_key_line():
    async with panel(tab="4", read_only=True) as p:
        assert "space disable (read-only)" in p.keys
        await p.press("space")
        await p.toast("read-only")
        assert p.client.asked("jackfield/switch") == []


async def test_a_core_that_refuses_writes_makes_the_panel_read_only():
    client = whole()
    status = client.answers["jackfield/status"]
    client.answers["jackfield/status"] = wire.StatusResult(
        **{f: getattr(status, f) for f in status.__struct_fields__ if f != "read_only"},
        read_only=True,
    )
    async with panel(client, tab="4") as p:
        assert "(read-only)" in p.keys


# ── sheets ──


async def test_in_a_narrow_terminal_enter_opens_the_details_as_a_page_that_stays_true():
    async with panel(size=NARROW, tab="4") as p:
        await p.press("enter")
        sheet = p.app.screen
        assert isinstance(sheet, DetailSheet)
        p.client.put("servers", ServerRow(id="atlas-docs", name="atlas-docs", status="failed"))
        view = sheet.query_one("PageView")
        await p.until(lambda: "failed" in "\n".join(view.page.text_lines))  # type: ignore[attr-defined]
        await p.press("escape")
        assert len(p.app.screen_stack) == 1 and p.pane.list.cursor_id == "atlas-docs"


async def test_a_key_on_the_details_page_acts_on_its_row():
    async with panel(size=NARROW, tab="4") as p:
        await p.press("enter")
        await p.press("space")
        await p.calls("jackfield/switch")
        assert len(p.app.screen_stack) == 1


async def test_in_a_wide_terminal_enter_goes_into_the_details_and_escape_back():
    async with panel(tab="4") as p:
        await p.press("enter")
        assert p.pane.detail.has_focus
        await p.press("escape")
        assert p.pane.list.has_focus


async def test_programs_are_asked_about_once_all_together_with_cancel_focused():
    async with panel(whole()) as p:
        p.client.push(ConsentRequested(count=2))
        await p.until(lambda: isinstance(p.app.screen, ConsentSheet))
        assert p.app.focused is not None and "Cancel" in str(p.app.focused.label)  # type: ignore[attr-defined]
        await p.press("enter")
        await p.until(lambda: len(p.app.screen_stack) == 1)
        assert p.client.asked("jackfield/consent/write") == []
        p.client.push(ConsentRequested(count=2))
        await p.until(lambda: "2 programs wait for your yes" in p.status)
        assert len(p.app.screen_stack) == 1


async def test_nothing_of_a_command_is_ever_cut():
    client = whole()
    long = ("node", "--eval", "x" * 300, "a\nb", "\u202eevil")
    client.consent = (wire.ConsentItem(id="c", kind="stdio", name="n", command=long),)
    async with panel(client, size=NARROW) as p:
        p.client.push(ConsentRequested(count=1))
        await p.until(lambda: isinstance(p.app.screen, ConsentSheet))
        shown = "".join(
            line.strip()
            for view in p.app.screen.query("PageView")
            for line in view.page.text_lines  # type: ignore[attr-defined]
        )
        assert "x" * 300 in shown and "…" not in shown
        assert "\u202e" not in shown and "a␊b" in shown


async def test_only_what_is_ticked_is_agreed_to():
    async with panel(whole()) as p:
        p.client.push(ConsentRequested(count=2))
        await p.until(lambda: isinstance(p.app.screen, ConsentSheet))
        ticks = list(p.app.screen.query(Tick))
        assert [tick.ticked for tick in ticks] == [True, True, True]
        ticks[1].focus()
        await p.press("space")
        await p.pilot.click("ButtonRow > Button:last-of-type")
        await p.toast("2 agreed to, 1 not started")
        (written,) = p.client.asked("jackfield/consent/write")
        assert written.answers == {"c1": True, "c2": False, "c3": True}


async def test_the_first_start_says_what_is_read_and_starts_nothing_by_itself():
    async with panel(whole(), first_start=True) as p:
        await p.until(lambda: isinstance(p.app.screen, FirstStartSheet))
        await p.press("enter")
        assert len(p.app.screen_stack) == 1
        assert p.client.asked("jackfield/consent/write") == []


async def test_errors_stand_newest_first_and_enter_goes_to_the_row():
    async with panel() as p:
        p.client.push(
            ServerHappened(at=world.NOW, thread_id="t", name="metrics", what="failed", text="boom"),
            RefreshFailed(id="r", domain="apps", source="directory", message="HTTP 503"),
        )
        await p.until(lambda: len(p.app.store.faults) == 2)
        await p.press("exclamation_mark")
        sheet = p.app.screen
        assert isinstance(sheet, ErrorsSheet)
        rows = sheet.query_one("RowList")
        texts = [rows.render_line(y).text for y in range(2)]  # type: ignore[attr-defined]
        assert {"metrics" in texts[0], "directory" in texts[0]} == {True, False}
        while "metrics" not in str(rows.cursor_id):  # type: ignore[attr-defined]
            await p.press("down")
        await p.press("enter")
        await p.until(lambda: p.pane.id == "servers" and p.pane.list.cursor_id == "metrics")


async def test_a_background_fault_is_told_in_the_status_line_and_not_in_a_toast():
    async with panel() as p:
        p.client.push(
            ServerHappened(at=world.NOW, thread_id="t", name="metrics", what="failed", text="boom")
        )
        await p.until(lambda: "metrics failed just now" in p.status)
        assert p.toasts == []


async def test_only_a_refetch_that_was_asked_for_is_told():
    async with panel(tab="2") as p:
        refetched(p.client, "apps", id="other", added=1)
        await p.press("R")
        await p.calls("jackfield/refresh", 2)
        refetched(p.client, "apps", id="r1", added=3, changed=2, removed=1)
        await p.toast("Apps refetched: 3 new, 2 changed, 1 gone, 4.2 s")
        assert len(p.toasts) == 1


async def test_a_refetch_that_ends_before_its_answer_comes_is_told_all_the_same():
    async with panel(tab="2") as p:

        def answer(params: Any) -> wire.RefreshResult:
            refetched(p.client, "apps", id="quick", added=1)
            return wire.RefreshResult(refresh_id="quick" if params.domain == "apps" else "")

        p.client.answers["jackfield/refresh"] = answer
        await p.press("R")
        await p.toast("Apps refetched: 1 new, 4.2 s")


async def test_a_fault_of_our_own_prints_no_values_and_names_the_log(
    capsys: pytest.CaptureFixture[str],
):
    secret = "hunter2-in-a-local"
    with pytest.raises(ZeroDivisionError):
        async with panel(log_file="/state/jackfield.log") as p:

            def broken() -> None:
                value = secret
                assert value and 1 / 0

            p.app.call_later(broken)
            await p.until(lambda: not p.app.is_running)
    said = capsys.readouterr().err
    assert "/state/jackfield.log" in said and secret not in said


async def test_hostile_text_changes_nothing_but_its_own_cell():
    client = FakeClient(
        servers=[
            ServerRow(id=world.HOSTILE, name=world.HOSTILE, status="failed", reason=world.HOSTILE)
        ]
    )
    async with panel(client, tab="4") as p:
        await p.until(lambda: p.lines())
        shown = p.lines()[0] + p.details + p.peek + p.status + p.keys
        assert "\x1b" not in shown and "\u202e" not in shown and "\x07" not in shown
        assert "[bold red]not bold[/]" in p.details
        await p.press("c")
        await p.press("enter")


async def test_news_that_comes_when_the_screen_has_gone_is_nobodys_fault():
    async with panel() as p:
        app, pane = p.app, p.pane
    assert not app.standing
    app.show_status()
    app._selected(ListPane.Selected(pane))  # type: ignore[reportPrivateUsage]
    app._details_wanted(ListPane.DetailsWanted(pane, "k", "plugin", "id"))  # type: ignore[reportPrivateUsage]


# ── the person's own settings ──


async def test_the_persons_own_keys_work_and_are_shown():
    keys = {"row.switch": "f6", "list.filter": "f7", "list.down": "f8"}
    async with panel(tab="4", keys=keys, size=(200, 40)) as p:
        assert "f6 disable" in p.keys and "f7 filter" in p.keys
        await p.press("space")
        await p.pilot.pause()
        assert p.client.asked("jackfield/switch") == []
        await p.press("f6")
        await p.calls("jackfield/switch")
        line = p.pane.list.cursor_line
        await p.press("f8")
        assert p.pane.list.cursor_line == line + 1
        await p.press("f7")
        assert p.pane.filter.typing


async def test_keys_that_cannot_be_bound_are_told_and_the_others_work():
    keys = {"row.switch": "f6", "no.such": "x", "list.filter": "ü", "app.quit": "f6"}
    async with panel(tab="4", keys=keys) as p:
        told = " ".join(f"{fault.what} {fault.words}" for fault in p.app.store.faults.values())
        assert "no.such is no command" in told and "list.filter: 'ü' is no key" in told
        assert "settings.toml keys not bound" in p.status
        await p.press("slash")
        assert p.pane.filter.typing


async def test_the_terminals_own_cursor_stands_on_the_selected_row():
    async with panel(tab="4", real_cursor=True) as p:
        rows = p.pane.list
        await p.press("down", "down")
        assert p.app.cursor_position.y == rows.content_region.y + rows.cursor_line
    async with panel(tab="4") as p:
        assert not p.pane.list.real_cursor
