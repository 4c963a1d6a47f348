from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.channels import EventHub, Subscription
from core.protocol.events import (
    Event,
    Lagged,
    Notice,
    PluginsChanged,
    RefreshFailed,
    RefreshFinished,
    RefreshProgress,
    RefreshStarted,
    ServersChanged,
    StateChanged,
)
from core.protocol.rows import PluginRow, ServerRow
from core.snapshot import SnapshotOwner


def plugin(id: str, version: str = "1") -> PluginRow:
    return PluginRow(id=id, plugin_id=id, name=id, marketplace="m", version=version)


def notice(number: int) -> Notice:
    return Notice(area="a", about="b", text=str(number))


def put(*events: Event, capacity: int = 10) -> Subscription:
    subscription = Subscription(capacity)
    for event in events:
        subscription.put(event)
    return subscription


def test_waiting_state_is_folded_into_one_event_of_the_newest_revision():
    subscription = put(
        PluginsChanged(revision=1, upserted=(plugin("a"), plugin("b"))),
        PluginsChanged(revision=2, upserted=(plugin("b", "2"), plugin("c"))),
        PluginsChanged(revision=3, removed=("a",)),
    )
    (event,) = subscription.take()
    assert isinstance(event, PluginsChanged)
    assert event.revision == 3
    assert {changed.id: changed.version for changed in event.upserted} == {"b": "2", "c": "1"}
    assert event.removed == ("a",)
    assert subscription.take() == []


def test_a_row_that_left_and_came_back_is_there_at_its_new_place():
    (event,) = put(
        PluginsChanged(revision=1, removed=("a",)),
        PluginsChanged(revision=2, upserted=(plugin("a"),)),
    ).take()
    assert isinstance(event, StateChanged)
    assert (event.removed, [row.id for row in event.upserted]) == (("a",), ["a"])


def test_what_left_leaves_although_an_intermediate_difference_came_after_it():
    (event,) = put(
        PluginsChanged(revision=1, phase="final", removed=("a",)),
        PluginsChanged(revision=2, phase="intermediate", upserted=(plugin("b"),)),
    ).take()
    assert isinstance(event, StateChanged)
    assert (event.phase, event.removed) == ("final", ("a",))


def test_each_domain_waits_for_itself():
    taken = put(
        PluginsChanged(revision=1, upserted=(plugin("a"),)),
        ServersChanged(revision=1, upserted=(ServerRow(id="s", name="s"),)),
        PluginsChanged(revision=2, upserted=(plugin("b"),)),
    ).take()
    assert [type(event) for event in taken] == [PluginsChanged, ServersChanged]


def test_occurrences_that_do_not_fit_are_counted_and_told_before_the_rest():
    subscription = put(*(notice(number) for number in range(5)), capacity=2)
    assert subscription.take() == [Lagged(skipped=3), notice(3), notice(4)]
    subscription.put(notice(5))
    assert subscription.take() == [notice(5)]


def test_state_is_never_lost_to_a_flood_of_occurrences():
    subscription = put(PluginsChanged(revision=1, upserted=(plugin("a"),)), capacity=1)
    for number in range(100):
        subscription.put(notice(number))
    state, lagged, last = subscription.take()
    assert isinstance(state, PluginsChanged)
    assert (lagged, last) == (Lagged(skipped=99), notice(99))


def test_of_a_refreshs_progress_only_the_newest_waits_and_its_ends_all_do():
    taken = put(
        RefreshStarted(id="1", domain="apps"),
        RefreshProgress(id="1", domain="apps", source="x", done=1),
        RefreshProgress(id="1", domain="apps", source="x", done=2),
        RefreshProgress(id="1", domain="apps", source="y", done=7),
        RefreshFailed(id="1", domain="apps", source="x", message="no"),
        RefreshFailed(id="1", domain="apps", source="y", message="no"),
        RefreshFinished(id="1", domain="apps"),
    ).take()
    assert [type(event) for event in taken] == [
        RefreshStarted,
        RefreshProgress,
        RefreshProgress,
        RefreshFailed,
        RefreshFailed,
        RefreshFinished,
    ]
    assert [event.done for event in taken if isinstance(event, RefreshProgress)] == [2, 7]


@pytest.mark.anyio
async def test_a_subscriber_gets_what_waits_as_one_batch_and_is_woken_for_the_next():
    hub = EventHub()
    batches: list[int] = []
    async with anyio.create_task_group() as tasks, hub.subscribe() as subscription:
        twice = anyio.Event()

        async def read() -> None:
            async for batch in subscription.batches():
                batches.append(len(batch))
                if len(batches) == 2:
                    twice.set()

        tasks.start_soon(read)
        hub.emit(notice(1))
        hub.emit(notice(2))
        await anyio.wait_all_tasks_blocked()
        hub.emit(notice(3))
        with anyio.fail_after(5):
            await twice.wait()
        hub.close()
    assert batches == [2, 1]


@pytest.mark.anyio
async def test_a_closed_hub_ends_the_iteration_after_what_waits():
    hub = EventHub()
    got: list[Event] = []
    with anyio.fail_after(5):
        async with hub.subscribe() as subscription:
            hub.emit(notice(1))
            hub.close()
            async for event in subscription:
                got.append(event)
    assert got == [notice(1)]


@pytest.mark.anyio
async def test_a_slow_subscriber_holds_up_nobody():
    hub = EventHub(capacity=1)
    heard: list[Event] = []
    hub.listen(heard.append)
    async with hub.subscribe() as slow, hub.subscribe() as quick:
        for number in range(3):
            hub.emit(notice(number))
            assert quick.take()[-1:] == [notice(number)]
        assert slow.take() == [Lagged(skipped=2), notice(2)]
    hub.emit(notice(9))
    assert len(heard) == 4
    assert slow.take() == []


IDS = st.lists(st.sampled_from("abcde"), unique=True)


@given(st.lists(st.tuples(IDS, st.sampled_from("12"), st.booleans()), max_size=12))
def test_folding_loses_nothing_whenever_the_subscriber_looks(
    steps: list[tuple[list[str], str, bool]],
):
    subscription = Subscription(10)
    owner: SnapshotOwner[PluginRow] = SnapshotOwner("plugins", subscription.put)
    held: dict[str, PluginRow] = {}

    def look() -> None:
        for event in subscription.take():
            assert isinstance(event, StateChanged)
            for id in event.removed:
                held.pop(id, None)
            held.update({row.id: row for row in event.upserted})
            if event.order is not None:
                ordered = {id: held[id] for id in event.order}
                assert len(ordered) == len(held)
                held.clear()
                held.update(ordered)

    for ids, version, looks in steps:
        owner.publish(owner.begin(), [plugin(id, version) for id in ids])
        if looks:
            look()
    look()
    assert list(held.values()) == list(owner.current.rows.values())
