from __future__ import annotations

from core.protocol.events import (
    AppsChanged,
    ConsentRequested,
    InventoryChanged,
    Lagged,
    LoginCompleted,
    OperationProgress,
    PluginsChanged,
    RefreshFailed,
    RefreshFinished,
    RefreshProgress,
    RefreshStarted,
    ServerHappened,
    ServersChanged,
    Traffic,
)
from core.protocol.rows import AppRow, PluginRow, ServerRow, ToolRow
from tui.store import ACTIVITY_KEPT, ViewStore


def app(key: str, **more: object) -> AppRow:
    return AppRow(id=key, name=key.title(), **more)  # type: ignore[arg-type]


def loaded(*rows: AppRow, revision: int = 1) -> ViewStore:
    store = ViewStore(now=lambda: 1_000.0)
    store.load("apps", rows, revision=revision, phase="final", at=1.0)
    return store


def started(id: str = "r", *, forced: bool = True, sources: tuple[str, ...] = ()) -> RefreshStarted:
    return RefreshStarted(id=id, domain="apps", forced=forced, sources=sources)


def finished(id: str = "r", **more: object) -> RefreshFinished:
    return RefreshFinished(id=id, domain="apps", **more)  # type: ignore[arg-type]


def test_apply_names_the_domains_that_changed():
    store = loaded(app("a"))
    store.load("servers", [], revision=1, phase="final", at=1.0)
    changed = store.apply(
        [
            AppsChanged(revision=2, upserted=(app("b"),)),
            ServersChanged(revision=2, upserted=(ServerRow(id="s", name="s"),)),
        ]
    )
    assert changed == {"apps", "servers"}
    assert list(store.apps.rows) == ["a", "b"] and list(store.servers.rows) == ["s"]


def test_an_intermediate_event_never_removes():
    store = loaded(app("a"), app("b"))
    store.apply(
        [AppsChanged(revision=2, phase="intermediate", upserted=(app("c"),), removed=("a",))]
    )
    assert list(store.apps.rows) == ["a", "b", "c"]
    store.apply([AppsChanged(revision=3, removed=("a",))])
    assert list(store.apps.rows) == ["b", "c"]


def test_an_older_revision_is_ignored():
    store = loaded(app("a", description="new"), revision=5)
    assert store.apply([AppsChanged(revision=5, upserted=(app("a", description="old"),))]) == set()
    assert store.apps.rows["a"].description == "new"


def test_a_difference_that_comes_before_the_rows_waits_for_them():
    store = ViewStore()
    assert store.apply([AppsChanged(revision=3, upserted=(app("c"),))]) == set()
    store.apply([AppsChanged(revision=4, removed=("a",))])
    store.load("apps", [app("a"), app("b"), app("c")], revision=3, phase="final", at=1.0)
    assert list(store.apps.rows) == ["b", "c"] and store.apps.revision == 4


def test_the_order_of_an_event_is_kept_and_unknown_ids_in_it_are_skipped():
    store = loaded(app("a"), app("b"))
    store.apply([AppsChanged(revision=2, upserted=(app("c"),), order=("c", "gone", "b", "a"))])
    assert list(store.apps.rows) == ["c", "b", "a"]


def test_an_intermediate_order_keeps_the_rows_that_it_does_not_name():
    store = loaded(app("a"), app("b"))
    store.apply([AppsChanged(revision=2, phase="intermediate", order=("b",))])
    assert list(store.apps.rows) == ["b", "a"]


def test_a_forced_refetch_marks_every_row_until_it_is_confirmed():
    store = loaded(app("a"), app("b"), app("c"))
    store.apply([started()])
    assert [store.apps.mark(key) for key in "abc"] == ["cached"] * 3
    store.apply(
        [
            AppsChanged(
                revision=2,
                phase="intermediate",
                upserted=(app("b", description="other"), app("d")),
            )
        ]
    )
    assert [store.apps.mark(key) for key in "abcd"] == ["cached", "changed", "cached", "new"]


def test_a_row_that_is_confirmed_unchanged_loses_its_mark():
    store = loaded(app("a", cached=True), app("b", cached=True))
    store.apply([started(), AppsChanged(revision=2, phase="intermediate", upserted=(app("a"),))])
    assert (store.apps.mark("a"), store.apps.mark("b")) == ("", "cached")


def test_news_stays_marked_after_the_end_until_the_next_key():
    store = loaded(app("a"), app("b"))
    store.apply([started()])
    store.apply(
        [AppsChanged(revision=2, upserted=(app("b", description="x"), app("c"))), finished()]
    )
    assert [store.apps.mark(key) for key in "abc"] == ["", "changed", "new"]
    assert store.settle_marks() == {"apps"}
    assert [store.apps.mark(key) for key in "abc"] == ["", "", ""]


def test_marks_are_not_forgotten_while_the_refetch_runs():
    store = loaded(app("a"))
    store.apply([started()])
    assert store.settle_marks() == set()
    assert store.apps.mark("a") == "cached"


def test_a_refetch_of_the_servers_puts_their_tools_in_doubt_too():
    store = ViewStore()
    tool = ToolRow(id="s/t", name="t", owner="s")
    store.load("inventory", [tool], revision=1, phase="final", at=1.0)
    store.apply([RefreshStarted(id="r", domain="servers", forced=True)])
    assert store.inventory.mark("s/t") == "cached"
    store.apply([RefreshFinished(id="r", domain="servers")])
    assert store.inventory.mark("s/t") == "" and store.inventory.refresh is None


def test_rows_from_a_cache_are_marked_without_any_refetch():
    store = loaded(app("a", cached=True))
    assert store.apps.mark("a") == "cached"


def test_rows_folded_in_front_of_the_start_are_marked_all_the_same():
    store = loaded(app("a"))
    store.apply([AppsChanged(revision=2, phase="intermediate", upserted=(app("b"),)), started()])
    assert store.apps.mark("b") == "new"


def test_an_unforced_refresh_marks_nothing():
    store = loaded(app("a"))
    store.apply([started(forced=False), AppsChanged(revision=2, upserted=(app("b"),))])
    assert (store.apps.mark("a"), store.apps.mark("b")) == ("", "")


def test_a_server_that_another_program_writes_into_the_file_is_marked_new():
    store = ViewStore()
    store.load("servers", [ServerRow(id="a", name="a")], revision=1, phase="final", at=1.0)
    store.apply([ServersChanged(revision=2, upserted=(ServerRow(id="b", name="b"),))])
    assert (store.servers.mark("a"), store.servers.mark("b")) == ("", "new")


def test_the_rows_of_the_first_final_list_are_no_news():
    store = ViewStore()
    store.load("plugins", [], revision=0, phase="cached", at=0.0)
    store.apply(
        [
            PluginsChanged(
                revision=1,
                phase="intermediate",
                upserted=(PluginRow(id="p@m", plugin_id="p@m", name="p", marketplace="m"),),
            )
        ]
    )
    assert store.plugins.mark("p@m") == ""


def test_progress_and_failure_of_the_sources_are_kept_by_name():
    store = loaded()
    store.apply(
        [
            started(sources=("directory", "tools")),
            RefreshProgress(id="r", domain="apps", source="directory", done=4, total=9),
            RefreshFailed(id="r", domain="apps", source="tools", message="HTTP 503"),
        ]
    )
    refresh = store.apps.refresh
    assert refresh is not None and refresh.forced
    assert (refresh.sources["directory"].done, refresh.sources["directory"].total) == (4, 9)
    assert refresh.sources["tools"].failed == "HTTP 503"


def test_a_failed_refetch_keeps_the_rows_and_its_reason():
    store = loaded(app("a"))
    store.apply(
        [
            started(),
            RefreshFailed(id="r", domain="apps", source="directory", message="HTTP 503"),
            finished(outcome="failed", kept_previous=True),
        ]
    )
    assert store.apps.refresh is None and list(store.apps.rows) == ["a"]
    assert store.apps.outcome is not None
    assert [failure.message for failure in store.apps.outcome.failures] == ["HTTP 503"]
    assert store.apps.mark("a") == ""
    assert store.faults["directory", "refresh failed"].words == "HTTP 503"


def test_a_second_refresh_keeps_the_list_in_doubt_until_both_have_ended():
    store = loaded(app("a"))
    store.apply([started("one"), started("two"), finished("one")])
    assert store.apps.mark("a") == "cached"
    store.apply([finished("two")])
    assert store.apps.mark("a") == ""


def test_a_list_waits_only_while_there_is_no_row_and_one_may_come():
    store = ViewStore()
    assert store.apps.waiting
    store.load("apps", [], revision=0, phase="cached", at=0.0)
    assert store.apps.waiting
    store.apply([finished()])
    assert not store.apps.waiting
    store.apply([started()])
    assert store.apps.waiting
    store.apply([AppsChanged(revision=2, phase="intermediate", upserted=(app("a"),))])
    assert not store.apps.waiting


def test_a_list_that_was_read_and_found_empty_does_not_wait():
    store = ViewStore()
    store.load("apps", [], revision=0, phase="final", at=1.0)
    assert not store.apps.waiting


def test_activity_is_bounded_and_drops_the_oldest():
    store = ViewStore()
    store.apply(
        [
            ServerHappened(at=float(n), thread_id="t", name=f"s{n}", what="ready")
            for n in range(ACTIVITY_KEPT + 10)
        ]
    )
    assert len(store.activity) == ACTIVITY_KEPT
    oldest = store.activity[0].event
    assert isinstance(oldest, ServerHappened) and oldest.name == "s10"


def test_lines_of_stderr_are_one_entry_until_something_else_happens():
    store = ViewStore()
    lines = [
        ServerHappened(at=float(n), thread_id="t", name="s", what="stderr", text=f"line {n}")
        for n in range(3)
    ]
    store.apply(lines)
    assert [entry.count for entry in store.activity] == [3]
    assert store.activity[0].event == lines[-1]
    store.apply([ServerHappened(at=4.0, thread_id="t", name="s", what="failed"), lines[0]])
    assert [entry.count for entry in store.activity] == [3, 1, 1]


def test_progress_of_an_operation_is_one_entry_and_ends_with_it():
    store = ViewStore()
    store.apply(
        [
            OperationProgress(id="o", subject="p@m", verb="installing", share=share)
            for share in (0.1, 0.5)
        ]
    )
    assert store.operations["p@m"].share == 0.5
    store.apply([OperationProgress(id="o", subject="p@m", verb="installing", state="done")])
    assert store.operations == {} and len(store.activity) == 1


def test_traffic_is_not_activity():
    store = ViewStore()
    assert store.apply([Traffic(name="s", direction="in", method="ping")]) == set()
    assert not store.activity


def test_lost_events_are_counted_and_told():
    store = ViewStore()
    assert store.apply([Lagged(skipped=7)]) == {"activity"}
    assert store.skipped == 7 and store.activity[-1].event == Lagged(skipped=7)


def test_repeated_faults_are_one_with_a_count_and_go_to_the_end():
    store = ViewStore()
    fail = ServerHappened(at=1.0, thread_id="t", name="a", what="failed", text="exited 3")
    other = LoginCompleted(at=2.0, name="b", login_id="l", success=False, error="denied")
    store.apply([fail, other, ServerHappened(at=3.0, thread_id="t", name="a", what="failed")])
    assert [(fault.about, fault.count) for fault in store.faults.values()] == [("b", 1), ("a", 2)]


def test_apps_that_a_refetch_brings_are_told_one_by_one_but_a_flood_is_not():
    store = loaded(app("a"))
    store.apply(
        [started(), AppsChanged(revision=2, phase="intermediate", upserted=(app("b"), app("c")))]
    )
    told = [getattr(entry.event, "id", "") for entry in store.activity]
    assert told == ["r", "b", "c"]
    flood = tuple(app(f"x{n}") for n in range(50))
    store.apply([AppsChanged(revision=3, phase="intermediate", upserted=flood)])
    assert len(store.activity) == 3


def test_what_happened_before_stands_first_and_nothing_stands_twice():
    store = ViewStore()
    both = ServerHappened(at=2.0, thread_id="t", name="s", what="ready")
    store.apply([both])
    store.remember_past([ServerHappened(at=1.0, thread_id="t", name="s", what="starting"), both])
    whats = [entry.event.what for entry in store.activity]  # type: ignore[union-attr]
    assert whats == ["starting", "ready"]


def test_a_new_session_holds_events_until_the_rows_are_read_again():
    store = loaded(app("a"), revision=9)
    store.begin_session()
    store.apply([AppsChanged(revision=2, upserted=(app("b"),))])
    assert list(store.apps.rows) == ["a"]
    store.load("apps", [app("a")], revision=1, phase="final", at=1.0)
    assert list(store.apps.rows) == ["a", "b"] and store.apps.revision == 2


def test_a_domain_that_cannot_be_read_says_why_and_takes_events():
    store = ViewStore()
    assert store.fail_to_load("apps", "broken") == {"apps"}
    assert store.apps.unread == "broken"
    store.apply([AppsChanged(revision=1, upserted=(app("a"),))])
    assert list(store.apps.rows) == ["a"]


def test_programs_that_wait_for_a_yes_are_counted():
    store = ViewStore()
    assert store.apply([ConsentRequested(count=2)]) == {"consent", "activity"}
    assert store.consent == 2


def test_a_server_that_fails_in_a_refresh_is_told_by_its_row_and_nowhere_twice():
    store = ViewStore(now=lambda: 1_000.0)
    for domain in ("servers", "inventory"):
        store.load(domain, [], revision=1, phase="final", at=1.0)  # type: ignore[arg-type]
    store.apply([ServersChanged(revision=2, upserted=(ServerRow(id="s", name="s"),))])
    failed = RefreshFailed(id="r", domain="servers", source="s", message="exited 3")
    store.apply(
        [
            RefreshStarted(id="r", domain="servers", sources=("s",)),
            failed,
            RefreshFinished(id="r", domain="servers", outcome="failed"),
        ]
    )
    assert store.row_tells(failed)
    assert store.faults == {} and list(store.activity) == []
    files = RefreshFailed(id="q", domain="servers", source="configuration", message="unreadable")
    store.apply([files])
    assert not store.row_tells(files) and len(store.faults) == 1


def test_a_tool_that_was_only_seen_again_is_no_news():
    store = ViewStore(now=lambda: 1_000.0)
    tool = ToolRow(id="s/t", name="t", owner="s", seen_at=1.0)
    store.load("inventory", [tool], revision=1, phase="final", at=1.0)
    store.apply(
        [
            RefreshStarted(id="r", domain="inventory", forced=True, sources=("s",)),
            InventoryChanged(
                revision=2,
                phase="intermediate",
                upserted=(ToolRow(id="s/t", name="t", owner="s", seen_at=2.0),),
            ),
        ]
    )
    assert store.inventory.mark("s/t") == ""
    store.apply(
        [
            InventoryChanged(
                revision=3,
                phase="intermediate",
                upserted=(ToolRow(id="s/t", name="t", owner="s", seen_at=3.0, tokens=9),),
            )
        ]
    )
    assert store.inventory.mark("s/t") == "changed"
