from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from core.errors import CoreError
from core.protocol import jackfield as wire
from core.protocol.events import (
    OperationProgress,
    RefreshFailed,
    RefreshProgress,
    RefreshStarted,
    ServerHappened,
)
from core.protocol.rows import AppRow, Domain, MarketplaceRow, PluginRow, Row, ServerRow, ToolRow
from tests.fakes.client import FakeClient, refetch, refetched
from tests.tui import world
from tests.tui.panel import NARROW, panel, whole
from tui.widgets.filter_bar import FilterBar
from tui.widgets.peek import Peek
from tui.widgets.progress_line import ProgressLine

pytestmark = pytest.mark.anyio


@dataclass
class Case:
    """A tab with a row that can be switched, and one that a refetch would bring."""

    tab: str
    domain: Domain
    rows: list[Any]
    row: str
    name: str
    switch: wire.SwitchParams
    new: Row


CASES = [
    Case(
        "1",
        "plugins",
        world.PLUGINS,
        "plugin:code-review@acme-tools",
        "code-review",
        wire.SwitchParams(kind="plugin", id="code-review@acme-tools", enabled=False),
        world.plugin("aaa-brand-new", state="available"),
    ),
    Case(
        "2",
        "apps",
        world.APPS,
        "calendar",
        "Calendar Desk",
        wire.SwitchParams(kind="app", id="calendar", enabled=False),
        AppRow(id="new", name="Aaa Brand New", accessible=True),
    ),
    Case(
        "3",
        "inventory",
        world.TOOLS,
        "github/create_issue",
        "create_issue",
        wire.SwitchParams(kind="tool", id="github/create_issue", enabled=False),
        ToolRow(id="github/aaa_new", name="aaa_new", owner="github", callable=True),
    ),
    Case(
        "4",
        "servers",
        world.SERVERS,
        "memory",
        "memory",
        wire.SwitchParams(kind="server", id="memory", enabled=True),
        ServerRow(id="aaa-new", name="aaa-new", status="connected"),
    ),
]
each_tab = pytest.mark.parametrize("case", CASES, ids=[case.domain for case in CASES])


def name_of(row: Any) -> str:
    return str(row.name)


@each_tab
async def test_space_turns_the_row_over_and_z_turns_it_back(case: Case):
    async with panel(tab=case.tab) as p:
        assert p.pane.list.move_to(case.row)
        await p.press("space")
        assert await p.calls("jackfield/switch") == [case.switch]
        await p.toast("z undoes")
        await p.press("z")
        await p.calls("jackfield/undo")
        assert p.pane.list.cursor_id == case.row


@each_tab
async def test_an_intermediate_row_is_painted_before_the_list_is_whole(case: Case):
    async with panel(tab=case.tab) as p:
        refetch(p.client, case.domain, "source")
        await p.until(lambda: p.line(case.name).strip(" ▌").startswith("┊"))
        p.client.put(case.domain, case.new, phase="intermediate")
        await p.until(lambda: p.line(name_of(case.new)))
        assert p.app.store.table(case.domain).refresh is not None
        assert p.line(name_of(case.new)).lstrip(" ▌").startswith("+")
        assert p.line(case.name).lstrip(" ▌").startswith("┊")
        p.client.put(case.domain, case.new, *case.rows[1:])
        refetched(p.client, case.domain)
        await p.until(lambda: p.app.store.table(case.domain).refresh is None)
        assert not p.line(case.name).lstrip(" ▌").startswith("┊")


@each_tab
async def test_the_cursor_stays_on_its_row_and_line_when_rows_come_and_go(case: Case):
    async with panel(tab=case.tab) as p:
        assert p.pane.list.move_to(case.row)
        await p.pilot.pause()
        p.client.put(case.domain, case.new, *case.rows)
        await p.until(lambda: p.line(name_of(case.new)))
        assert p.pane.list.cursor_id == case.row
        kept = [row for row in case.rows if getattr(row, "name", "") == case.name]
        p.client.put(case.domain, *kept)
        await p.until(lambda: not p.line(name_of(case.new)))
        assert p.pane.list.cursor_id == case.row


@each_tab
async def test_query_view_and_focus_survive_an_update(case: Case):
    async with panel(tab=case.tab) as p:
        await p.press("slash")
        await p.type("a")
        found = list(p.pane.list.ids)
        p.client.put(case.domain, *case.rows, case.new)
        await p.until(lambda: p.app.store.table(case.domain).revision == 2)
        assert p.pane.filter.text == "a" and p.pane.filter.typing
        assert found and set(found) <= set(p.pane.list.ids)


@each_tab
async def test_r_reads_the_row_and_capital_r_the_whole_list_past_caches(case: Case):
    async with panel(tab=case.tab) as p:
        assert p.pane.list.move_to(case.row)
        await p.press("r")
        await p.press("R")
        asked = await p.calls("jackfield/refresh", 1 if case.tab == "4" else 2)
        assert all(params.forced for params in asked)
        assert asked[-1].ids is None and {case.domain} <= {params.domain for params in asked}
        if case.tab == "4":
            await p.calls("jackfield/server/reconnect")
            p.pane.list.move_to("metrics")
            await p.press("r")
            assert await p.calls("jackfield/server/reconnect", 2) == [
                wire.NamesParams(names=None),
                wire.NamesParams(names=("metrics",)),
            ]
        else:
            assert asked[0].ids is not None and asked[0].domain == case.domain


async def test_the_best_hit_comes_first_and_escape_clears_before_it_steps_back():
    rows = [
        world.plugin(name, state="available")
        for name in ("prereviewer", "code-review", "review-bot", "review", "linter")
    ]
    client = FakeClient(marketplaces=world.MARKETPLACES, plugins=rows)
    async with panel(client) as p:
        await p.press("slash")
        await p.type("review")
        names = [line.split()[2 if line.startswith("▌") else 1] for line in p.lines()]
        assert names == ["review", "review-bot", "code-review", "prereviewer"]
        await p.press("enter")
        assert p.pane.list.has_focus and p.pane.list.cursor_id == "plugin:review@acme-tools"
        await p.press("escape")
        assert p.pane.filter.text == "" and p.pane.list.cursor_id == "plugin:review@acme-tools"


async def test_while_the_filter_has_the_keys_letters_are_text():
    async with panel(tab="4") as p:
        await p.press("slash", "q", "space", "z")
        assert p.pane.filter.text == "q z" and p.app.is_running
        assert p.client.asked("jackfield/switch") == []
        assert p.keys.startswith("enter to the list   esc out of the filter")


async def test_f_steps_through_the_views_and_their_counts_are_there():
    async with panel(tab="4") as p:
        assert p.pane.filter.counts == {"all": 12, "up": 2, "you": 3, "bad": 3}
        await p.press("f")
        assert [line.split()[-1] for line in p.lines()][0] != "" and len(p.lines()) == 2
        await p.press("F", "F")
        assert p.pane.filter.view == "bad" and len(p.lines()) == 3


async def test_nothing_found_says_where_it_looked_and_the_nearest_name():
    async with panel() as p:
        await p.press("slash")
        await p.type("revue")
        assert "Nothing matches “revue”" in p.notice
        assert "Nearest name: code-review." in p.notice.replace("\n", " ")
        assert "14 plugins in 3 marketplaces" in p.notice.replace("\n", " ")
        await p.press("escape", "escape")
        assert p.pane.list.has_focus and len(p.lines()) > 10


async def test_a_view_without_rows_says_so():
    async with panel(FakeClient(servers=world.SERVERS[:1]), tab="4") as p:
        await p.press("f", "f")
        assert "Nothing under “need you”" in p.notice


async def test_a_fold_survives_an_update_and_is_opened_by_the_arrow():
    async with panel() as p:
        await p.press("left")
        assert p.line("code-review") == "" and p.line("▸ acme-tools")
        p.client.put("plugins", *world.PLUGINS, world.plugin("zzz"))
        await p.until(lambda: "plugin:zzz@acme-tools" in p.pane.list.ids)
        assert p.line("▸ acme-tools") and p.line("zzz") == ""
        await p.press("right")
        assert p.line("zzz")


async def test_a_marketplace_file_that_breaks_keeps_the_others():
    async with panel() as p:
        broken = MarketplaceRow(
            id="data", name="data-workshop", listed="unreadable", problems=(world.BROKEN,)
        )
        p.client.put("marketplaces", world.MARKETPLACES[0], broken)
        await p.until(lambda: "✗ expected" in p.line("data-workshop"))
        assert p.line("code-review")


async def test_an_installation_is_a_bar_in_its_row():
    async with panel() as p:
        subject = "playwright-runner@acme-tools"
        p.client.push(OperationProgress(id="o", subject=subject, verb="installing", share=0.43))
        await p.until(lambda: "43% ━━━" in p.line("playwright-runner"))
        p.client.push(OperationProgress(id="o", subject=subject, verb="installing", state="done"))
        await p.until(lambda: "available" in p.line("playwright-runner"))


async def test_the_clock_of_a_starting_server_runs_in_its_row_and_in_its_details():
    now = [world.NOW]
    async with panel(tab="4", now=lambda: now[0]) as p:
        p.pane.list.move_to("playwright")
        await p.pilot.pause()
        assert "12 s of 60" in p.line("playwright")
        now[0] += 3
        p.pane.tick()
        await p.pilot.pause()
        assert "15 s of 60" in p.line("playwright") and "15 s of 60" in p.details


async def test_control_x_cancels_a_start_and_m_reconnects_what_failed():
    async with panel(tab="4") as p:
        p.pane.list.move_to("playwright")
        await p.pilot.pause()
        assert p.keys.startswith("^x cancel")
        await p.press("ctrl+x")
        assert await p.calls("jackfield/server/cancel") == [wire.NameParams(name="playwright")]
        p.pane.list.move_to("metrics")
        await p.pilot.pause()
        assert p.keys.startswith("m reconnect   space disable")
        await p.press("m")
        assert await p.calls("jackfield/server/reconnect") == [wire.NamesParams(names=("metrics",))]


async def test_what_cannot_be_mended_says_so():
    async with panel(tab="4") as p:
        await p.press("m")
        await p.toast("this row needs nothing")
        await p.press("ctrl+x")
        await p.toast("nothing runs on this row")


async def test_m_on_a_server_in_review_opens_the_trust_page():
    async with panel(whole(), tab="4") as p:
        p.pane.list.move_to("vault")
        await p.press("m")
        await p.until(lambda: len(p.app.screen_stack) == 2)


async def test_the_refetch_line_names_both_loads_and_stays_until_the_end():
    async with panel(tab="2") as p:
        p.client.push(
            RefreshStarted(id="r", domain="apps", forced=True, sources=("directory", "tools")),
            RefreshProgress(id="r", domain="apps", source="directory", done=4, total=9),
            RefreshProgress(id="r", domain="apps", source="tools", done=212, total=212),
        )
        line = p.pane.query_one(ProgressLine)
        await p.until(lambda: line.has_class("-shown"))
        shown = p.painted(ProgressLine)
        assert "Refetching, past caches   directory ━━━━━───────" in shown.replace("4/9", "")
        assert "4/9   tools ● 212" in shown
        assert "apps 216/221" in p.status
        refetched(p.client, "apps", id="r")
        await p.until(lambda: not line.has_class("-shown"))


async def test_a_failed_refetch_keeps_the_rows_and_says_what_was_said():
    async with panel(tab="2") as p:
        refetch(p.client, "apps", "directory")
        p.client.push(RefreshFailed(id="r1", domain="apps", source="directory", message="HTTP 503"))
        refetched(p.client, "apps", outcome="failed")
        await p.until(
            lambda: "! refetch failed 12:41:30: directory: HTTP 503" in p.painted(ProgressLine)
        )
        assert "R again" in p.painted(ProgressLine) and p.line("Boardroom")


async def test_a_source_that_fills_two_lists_is_one_load_and_a_failed_one_says_so():
    async with panel(tab="1") as p:
        domains: tuple[Domain, Domain] = ("plugins", "marketplaces")
        for domain in domains:
            refetch(p.client, domain, "acme", "dead", id=f"r-{domain}")
            p.client.push(
                RefreshProgress(id=f"r-{domain}", domain=domain, source="acme", done=3, total=3),
                RefreshFailed(id=f"r-{domain}", domain=domain, source="dead", message="silent"),
            )
        await p.until(lambda: "✗" in p.painted(ProgressLine))
        shown = p.painted(ProgressLine)
        assert shown.count("acme") == shown.count("dead") == 1
        assert "acme ● 3" in shown.replace("●3", "● 3") and "dead ✗" in shown


async def test_servers_that_failed_put_no_line_over_the_list_their_rows_say_it():
    async with panel(tab="4") as p:
        p.client.push(
            RefreshStarted(id="r", domain="servers", forced=True, sources=("metrics",)),
            RefreshFailed(id="r", domain="servers", source="metrics", message="exited 3"),
        )
        refetched(p.client, "servers", id="r", outcome="partly")
        await p.until(lambda: p.app.store.servers.outcome)
        await p.pilot.pause()
        assert not p.pane.query_one(ProgressLine).has_class("-shown")


async def test_without_rows_the_failure_stands_in_their_place():
    client = FakeClient()
    async with panel(client, tab="2") as p:
        refetch(client, "apps", "directory")
        client.push(RefreshFailed(id="r1", domain="apps", source="directory", message="HTTP 503"))
        refetched(client, "apps", outcome="failed")
        await p.until(lambda: "could not be read" in p.notice)
        assert "said       HTTP 503" in p.notice and "R try now" in p.notice


async def test_while_loading_it_names_who_is_awaited():
    client = FakeClient()
    async with panel(client, tab="2") as p:
        client.push(
            RefreshStarted(id="r", domain="apps", sources=("directory", "tools")),
            RefreshProgress(id="r", domain="apps", source="directory", done=1, total=9),
        )
        await p.until(lambda: "Reading apps" in p.notice and "1 of 9" in p.notice)
        assert "◐ tools" in p.notice
        client.put("apps", *world.APPS)
        await p.until(lambda: p.line("Boardroom"))
        assert not p.pane.has_class("-notice")


async def test_without_servers_the_empty_list_says_so_as_soon_as_the_thread_stands():
    async with panel(FakeClient(), tab="4") as p:
        await p.until(lambda: "No MCP server yet" in p.notice)
        await p.press("3")
        await p.until(lambda: "No tool yet" in p.notice)


async def test_a_domain_that_cannot_be_read_says_so_in_the_place_of_its_rows():
    client = FakeClient(**world.ALL)
    real = client._rows  # type: ignore[reportPrivateUsage]

    def rows(params: Any) -> Any:
        if params.domain == "servers":
            raise CoreError("the list is damaged")
        return real(params)

    client.answers["jackfield/rows"] = rows
    async with panel(client, tab="4") as p:
        await p.until(lambda: "the list is damaged" in p.notice)
        await p.press("1")
        assert p.line("code-review")


async def test_details_that_the_core_has_are_asked_for_and_shown_beside_the_list():
    client = whole()
    client.answers["jackfield/server/detail"] = lambda params: wire.DetailResult(
        detail={
            "cwd": "/home/dev/src/atlas",
            "environment": [{"name": "HOME", "set": True}, {"name": "KEY", "set": False}],
        }
    )
    async with panel(client, tab="4") as p:
        p.pane.list.move_to("metrics")
        await p.until(lambda: "runs in    ~/src/atlas" in p.details)
        assert "gets       HOME, KEY (not set)" in p.details


async def test_details_that_cannot_be_had_are_said_on_the_page_and_in_no_toast():
    client = whole()
    client.answers["jackfield/server/detail"] = CoreError("the server has just left")
    async with panel(client, tab="4") as p:
        await p.until(lambda: "the server has just left" in p.details.replace("\n", " "))
        assert p.toasts == []


async def test_moving_fast_asks_for_the_details_of_the_last_row_only_in_the_end():
    async with panel(tab="4") as p:
        await p.press("G")
        last = p.pane.list.cursor_id
        await p.until(
            lambda: p.client.asked("jackfield/server/detail")[-1:] == [wire.NameParams(name=last)]
        )


async def test_below_a_hundred_columns_two_lines_say_the_whole_reason_and_the_key():
    async with panel(size=NARROW, tab="4") as p:
        p.pane.list.move_to("metrics")
        await p.pilot.pause()
        assert not p.pane.detail.display
        top, below = p.pane.query_one(Peek).render().plain.split("\n")  # type: ignore[union-attr]
        assert top.startswith("metrics  config.toml:58") and top.rstrip().endswith("m reconnect")
        assert below.startswith("failed: exited 3 — boom: missing API key")


async def test_rows_are_chosen_and_opened_with_the_mouse():
    async with panel(tab="4") as p:
        await p.pilot.click(p.pane.list, offset=(10, 2))
        await p.pilot.pause()
        assert p.pane.list.cursor_id == "github"
        await p.pilot.click(p.pane.list, offset=(10, 2))
        await p.pilot.pause()
        assert p.pane.detail.has_focus


async def test_a_click_on_a_view_opens_it():
    async with panel(tab="4") as p:
        bar = p.pane.query_one(FilterBar)
        line = bar.query_one("ViewLine")
        await p.pilot.click(line, offset=(line.size.width - 3, 0))
        await p.pilot.pause()
        assert bar.view == "bad"


async def test_what_happens_stands_first_in_the_activity_and_space_holds_it_back():
    async with panel(tab="5") as p:

        def happen(name: str, what: str = "ready") -> None:
            p.client.push(ServerHappened(at=world.NOW, thread_id="t", name=name, what=what))

        happen("one")
        await p.until(lambda: p.line("one"))
        await p.press("space")
        assert p.keys.startswith("space go on")
        happen("two")
        happen("three", "failed")
        await p.until(lambda: "2 held" in "".join(text for text, _ in p.pane.filter.note))
        assert p.line("two") == ""
        await p.press("space")
        assert [line.split()[-2] for line in p.lines()] == ["three", "two", "one"]
        await p.press("f", "f", "f")
        assert len(p.lines()) == 1 and "three" in p.lines()[0]


async def test_while_a_list_is_filled_the_cursor_stays_on_its_first_row_unless_moved():
    client = FakeClient()
    async with panel(client, tab="2") as p:
        client.put("apps", AppRow(id="m", name="M"), phase="intermediate")
        await p.until(lambda: p.line("M"))
        client.put("apps", AppRow(id="a", name="A"), phase="intermediate")
        await p.until(lambda: len(p.lines()) == 2)
        assert p.pane.list.cursor_id == "a"
        await p.press("down")
        client.put("apps", AppRow(id="c", name="C"), phase="intermediate")
        await p.until(lambda: len(p.lines()) == 3)
        assert p.pane.list.cursor_id == "m"


async def test_ten_thousand_rows_are_shown_and_filtered():
    rows: list[PluginRow] = [
        world.plugin(f"plugin-{n:05}", state="available", description="words " * 5)
        for n in range(10_000)
    ]
    client = FakeClient(marketplaces=world.MARKETPLACES, plugins=rows)
    async with panel(client) as p:
        assert p.pane.filter.counts["all"] == 10_000
        await p.press("G")
        assert p.line("plugin-09999")
        await p.press("slash")
        await p.type("09998")
        assert len(p.lines()) == 1


async def test_a_hidden_tab_does_not_draw_until_it_is_opened():
    async with panel(tab="4") as p:
        await p.press("1")
        servers = p.app.query_one("#servers")
        p.client.put("servers", ServerRow(id="only", name="only"))
        await p.until(lambda: "only" in p.app.store.servers.rows)
        assert servers.list.ids != ["only"]  # type: ignore[attr-defined]
        await p.press("4")
        assert len(p.lines()) == 1 and p.line("only")
