from __future__ import annotations

import json

import pytest

from core.protocol.events import (
    ConsentRequested,
    ElicitationRequested,
    Event,
    FileChanged,
    Lagged,
    LoginCompleted,
    Notice,
    OperationProgress,
    RefreshFailed,
    RefreshFinished,
    RefreshStarted,
    ServerHappened,
)
from tests.tui import world
from tests.tui.views.support import PLACE, cell, page_of, store_of
from tui.store import Entry, RowSeen
from tui.views.activity import ActivityView
from tui.views.happenings import finished_toast, happening


def happened(name: str, what: str, text: str = "", **more: object) -> ServerHappened:
    return ServerHappened(at=world.NOW, thread_id="t", name=name, what=what, text=text, **more)  # type: ignore[arg-type]


def view_of(*events: Event) -> ActivityView:
    store = store_of()
    store.apply(events)  # type: ignore[arg-type]
    return ActivityView(store, PLACE)


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (happened("s", "ready", "12 tools", ms=311.0), ("server", "s", "works", "connected")),
        (happened("s", "failed", "exited 3"), ("server", "s", "failed", "failed")),
        (happened("s", "reconnecting"), ("server", "s", "busy", "retry")),
        (happened("s", "later"), ("server", "s", "none", "later")),
        (OperationProgress(id="o", subject="p", verb="installing"),
         ("plugins", "p", "busy", "installing")),
        (OperationProgress(id="o", subject="p", verb="installing", state="failed", note="no git"),
         ("plugins", "p", "failed", "failed")),
        (RefreshStarted(id="r", domain="apps", forced=True, sources=("directory",)),
         ("apps", "directory", "busy", "refetch")),
        (RefreshFailed(id="r", domain="apps", source="directory", message="HTTP 503"),
         ("apps", "directory", "failed", "failed")),
        (RefreshFinished(id="r", domain="plugins"), ("plugins", "plugins", "works", "refetched")),
        (ConsentRequested(count=2), ("trust", "programs", "needs", "review")),
        (ElicitationRequested(id="e", server="s", mode="form", message="Which?"),
         ("server", "s", "needs", "asks")),
        (LoginCompleted(name="s", login_id="l", success=True),
         ("server", "s", "works", "signed in")),
        (LoginCompleted(name="s", login_id="l", success=False), ("server", "s", "failed", "sign-in")),
        (FileChanged(file=world.CONFIG), ("files", "~/.codex/config.toml", "works", "changed")),
        (Notice(area="config", about="config.toml", text="BOM", tone="care"),
         ("config", "config.toml", "problem", "config")),
        (Lagged(skipped=3), ("panel", "activity", "problem", "skipped")),
    ],
)  # fmt: skip
def test_each_event_is_told_in_words(event: Event, shown: tuple[str, ...]):
    assert tuple(happening(Entry(1, world.NOW, event), PLACE)[:4]) == shown


def test_an_app_seen_during_a_refetch_is_an_event_of_the_apps():
    words = happening(Entry(1, world.NOW, RowSeen("apps", "a", "Expense Box", "new")), PLACE)
    assert words[:4] == ("apps", "Expense Box", "update", "new")


def test_the_newest_stands_first():
    view = view_of(happened("a", "ready"), happened("b", "ready"))
    assert [view.name(key) for key in view.keys("all")] == ["b", "a"]


def test_views_split_by_area_and_by_fault_and_counts_agree():
    view = view_of(
        happened("a", "ready"),
        happened("a", "failed"),
        RefreshStarted(id="r", domain="apps", forced=True),
        RefreshFailed(id="r", domain="apps", source="directory", message="HTTP 503"),
    )
    assert view.counts() == {"all": 4, "server": 2, "apps": 2, "bad": 2}
    assert view.counts() == {
        name: len(list(view.keys(name))) for name in ("all", "server", "apps", "bad")
    }


def test_while_paused_nothing_moves_and_what_is_held_is_counted():
    view = view_of(happened("a", "ready"))
    assert view.pause()
    view.store.apply([happened("b", "ready"), happened("c", "ready")])
    assert [view.name(key) for key in view.keys("all")] == ["a"] and view.held() == 2
    assert not view.pause()
    assert [view.name(key) for key in view.keys("all")] == ["c", "b", "a"] and view.held() == 0


def test_an_empty_list_can_be_paused():
    view = view_of()
    view.pause()
    view.store.apply([happened("a", "ready")])
    assert list(view.keys("all")) == [] and view.held() == 1


def test_an_entry_that_goes_on_is_told_anew():
    view = view_of(OperationProgress(id="o", subject="p", verb="installing", share=0.1))
    (key,) = view.keys("all")
    assert cell(view.row(key), "text") == "10%"
    view.store.apply([OperationProgress(id="o", subject="p", verb="installing", share=0.5)])
    assert cell(view.row(key), "text") == "50%"


def test_the_row_has_time_area_about_word_text_and_duration():
    view = view_of(happened("metrics", "failed", "exited 3 — boom", ms=311.4))
    (key,) = view.keys("all")
    row = view.row(key)
    assert [cell(row, c.key) for c in view.COLUMNS] == [
        "12:41:30", "server", "metrics", "failed", "exited 3 — boom", "311",
    ]  # fmt: skip


def test_the_details_show_the_event_as_on_the_wire():
    view = view_of(happened("metrics", "failed", "exited 3"))
    (key,) = view.keys("all")
    page = page_of(view, key)
    assert '"type": "server/happened"' in page and '"threadId": "t"' in page
    assert json.loads(view.wire(key))["name"] == "metrics"


def test_the_filter_looks_at_words_and_texts():
    view = view_of(happened("a", "failed", "exited 3"), happened("b", "ready"))
    assert [view.name(key) for key in view.arrange("exited", "all").ids] == ["a"]


def test_a_key_that_has_fallen_out_can_still_be_drawn():
    view = view_of()
    view.row("7")
    view.peek("7")
    assert page_of(view, "7") == "" and view.copy_id("7") == "" and view.wire("7") == ""


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (RefreshFinished(id="r", domain="apps", added=3, changed=2, removed=1, seconds=4.2),
         "Apps refetched: 3 new, 2 changed, 1 gone, 4.2 s"),
        (RefreshFinished(id="r", domain="apps", seconds=0.3),
         "Apps refetched: nothing changed, 0.3 s"),
        (RefreshFinished(id="r", domain="apps", outcome="failed", kept_previous=True, seconds=12.0),
         "Apps: refetch failed; the earlier list is kept, 12 s"),
        (RefreshFinished(id="r", domain="apps", outcome="partly", added=1, seconds=2.0),
         "Apps refetched in part: 1 new, 2.0 s"),
        (RefreshFinished(id="r", domain="apps", outcome="cancelled"), "Apps: refetch cancelled"),
    ],
)  # fmt: skip
def test_the_end_of_a_refetch_is_said_in_one_line(event: RefreshFinished, said: str):
    assert finished_toast("Apps", event) == said
