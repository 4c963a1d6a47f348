from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.protocol.events import Phase, PluginsChanged, StateChanged
from core.protocol.rows import PluginRow
from core.snapshot import SnapshotOwner

PHASES: tuple[Phase, ...] = ("cached", "intermediate", "final")


def row(id: str, version: str = "1") -> PluginRow:
    return PluginRow(id=id, plugin_id=id, name=id, marketplace="m", version=version)


def rows(*ids: str) -> list[PluginRow]:
    return [row(id) for id in ids]


class Owned:
    def __init__(self) -> None:
        self.events: list[StateChanged] = []
        self.owner: SnapshotOwner[PluginRow] = SnapshotOwner("plugins", self.events.append)

    @property
    def ids(self) -> list[str]:
        return list(self.owner.current.rows)

    def final(self, *ids: str) -> None:
        assert self.owner.publish(self.owner.begin(), rows(*ids), at=5.0)


@pytest.fixture
def owned() -> Owned:
    return Owned()


def test_the_first_rows_are_one_event_of_revision_one(owned: Owned):
    owned.final("a", "b")
    (event,) = owned.events
    assert isinstance(event, PluginsChanged)
    assert event == PluginsChanged(revision=1, phase="final", upserted=tuple(rows("a", "b")))
    assert owned.owner.current.refreshed_at == 5.0


def test_the_same_content_is_no_event_and_no_revision(owned: Owned):
    owned.final("a", "b")
    owned.final("a", "b")
    assert (len(owned.events), owned.owner.current.revision) == (1, 1)


def test_a_final_removes_what_it_does_not_name(owned: Owned):
    owned.final("a", "b", "c")
    owned.final("b")
    assert owned.events[-1].removed == ("a", "c")
    assert owned.events[-1].upserted == ()
    assert owned.ids == ["b"]


@pytest.mark.parametrize("phase", ["cached", "intermediate"])
def test_others_only_add_and_change(owned: Owned, phase: Phase):
    owned.final("a", "b")
    assert owned.owner.publish(owned.owner.begin(), [row("b", "2"), row("c")], phase=phase, at=9.0)
    assert owned.ids == ["a", "b", "c"]
    assert owned.events[-1].removed == ()
    assert [changed.id for changed in owned.events[-1].upserted] == ["b", "c"]
    assert owned.owner.current.refreshed_at == 5.0


def test_an_older_fetch_that_ends_late_changes_nothing(owned: Owned):
    older, newer = owned.owner.begin(), owned.owner.begin()
    assert owned.owner.publish(newer, rows("new"))
    assert not owned.owner.publish(older, rows("old"))
    assert not owned.owner.publish(older, rows("old"), phase="intermediate")
    assert owned.ids == ["new"]


def test_an_older_fetch_may_publish_until_a_newer_one_is_final(owned: Owned):
    older, newer = owned.owner.begin(), owned.owner.begin()
    assert owned.owner.publish(newer, rows("partly"), phase="intermediate")
    assert owned.owner.publish(older, rows("old"))
    assert owned.owner.publish(newer, rows("new"))
    assert owned.ids == ["new"]


def test_a_fetch_may_publish_again_after_its_own_final(owned: Owned):
    ticket = owned.owner.begin()
    assert owned.owner.publish(ticket, rows("a"))
    assert owned.owner.publish(ticket, rows("a", "b"))
    assert owned.ids == ["a", "b"]


def test_another_accounts_rows_leave_at_once_and_its_fetches_are_discarded(owned: Owned):
    owned.owner.switch_identity("one")
    running = owned.owner.begin()
    owned.final("mine")
    owned.owner.switch_identity("two")
    assert owned.ids == []
    assert owned.events[-1].removed == ("mine",)
    assert not owned.owner.publish(running, rows("mine"))
    assert owned.owner.current.identity == "two"
    assert owned.owner.publish(owned.owner.begin(), rows("theirs"))


def test_the_same_account_again_changes_nothing(owned: Owned):
    owned.owner.switch_identity("one")
    owned.final("mine")
    owned.owner.switch_identity("one")
    assert owned.ids == ["mine"]


def test_new_rows_at_the_end_need_no_order_and_others_do(owned: Owned):
    owned.final("a", "b")
    owned.final("a", "b", "c")
    assert owned.events[-1].order is None
    owned.final("d", "a", "b", "c")
    assert owned.events[-1].order == ("d", "a", "b", "c")
    owned.final("c", "b", "a", "d")
    assert owned.events[-1].upserted == ()
    assert owned.events[-1].order == ("c", "b", "a", "d")


def test_single_rows_come_and_go_and_the_others_stay_where_they_are(owned: Owned):
    owned.final("a", "b", "c")
    owned.owner.upsert(row("b", "2"), row("d"))
    assert owned.ids == ["a", "b", "c", "d"]
    assert owned.events[-1].upserted == (row("b", "2"), row("d"))
    owned.owner.remove("a", "unknown")
    assert owned.ids == ["b", "c", "d"]
    assert owned.events[-1].removed == ("a",)
    owned.owner.remove("unknown")
    assert owned.events[-1].removed == ("a",)


def test_a_snapshot_cannot_be_changed_from_outside(owned: Owned):
    owned.final("a")
    with pytest.raises(TypeError):
        owned.owner.current.rows["b"] = row("b")  # pyright: ignore[reportIndexIssue]


def applied(events: Iterable[StateChanged]) -> list[PluginRow]:
    """What somebody holds who only hears the events."""
    held: dict[str, PluginRow] = {}
    for event in events:
        for id in event.removed:
            del held[id]
        for changed in event.upserted:
            held[changed.id] = changed
        if event.order is not None:
            assert set(event.order) == set(held)
            held = {id: held[id] for id in event.order}
    return list(held.values())


IDS = st.lists(st.sampled_from("abcdef"), unique=True)


@given(st.lists(st.tuples(IDS, st.sampled_from(PHASES), st.sampled_from(["1", "2"]))))
def test_whoever_hears_every_event_holds_the_snapshot(steps: list[tuple[list[str], Phase, str]]):
    owned = Owned()
    for ids, phase, version in steps:
        fresh = [row(id, version) for id in ids]
        assert owned.owner.publish(owned.owner.begin(), fresh, phase=phase)
    assert applied(owned.events) == list(owned.owner.current.rows.values())
    revisions = [event.revision for event in owned.events]
    assert revisions == list(range(1, len(revisions) + 1))


def test_the_first_final_is_an_event_though_the_list_is_empty(owned: Owned):
    owned.final()
    owned.final()
    (event,) = owned.events
    assert (event.revision, event.phase, event.upserted) == (1, "final", ())


@pytest.mark.parametrize("phase", ["cached", "intermediate"])
def test_rows_that_the_final_only_confirms_are_told_to_be_the_whole_list(
    owned: Owned, phase: Phase
):
    ticket = owned.owner.begin()
    owned.owner.publish(ticket, rows("a"), phase=phase)
    owned.owner.publish(ticket, rows("a"))
    assert [(event.phase, len(event.upserted)) for event in owned.events] == [
        (phase, 1),
        ("final", 0),
    ]


def test_an_intermediate_that_brings_nothing_new_leaves_the_list_whole(owned: Owned):
    owned.final("a", "b")
    owned.owner.publish(owned.owner.begin(), rows("a"), phase="intermediate")
    assert (owned.owner.current.phase, len(owned.events)) == ("final", 1)


def test_an_intermediate_of_the_whole_list_has_its_order(owned: Owned):
    owned.final("a", "c")
    owned.owner.publish(owned.owner.begin(), rows("a", "b", "c"), phase="intermediate")
    assert owned.ids == ["a", "b", "c"]
    assert owned.events[-1].phase == "intermediate"


def test_another_account_on_an_empty_list_is_no_news(owned: Owned):
    owned.owner.switch_identity("one")
    assert owned.events == []
    assert (owned.owner.current.identity, owned.owner.current.phase) == ("one", "cached")
