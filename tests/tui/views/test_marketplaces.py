from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.protocol.events import OperationProgress
from core.protocol.facts import Evidence, Problem
from core.protocol.rows import Brings, MarketplaceRow, ServerRow
from tests.tui import world
from tests.tui.views.support import PLACE, cell, line, page_of, store_of, text, whole
from tui.store import ViewStore
from tui.views.base import Place
from tui.views.marketplaces import LEFT_OVER, MarketplacesView
from tui.views.plugin_states import market_state, plugin_state


def view_of(store: ViewStore | None = None, place: Place = PLACE) -> MarketplacesView:
    return MarketplacesView(store or whole(), place)


def plugins(view: MarketplacesView, name: str) -> list[str]:
    return [key for key in view.listing(name).ids if key.startswith("plugin:")]


def test_plugins_stand_under_their_marketplace_by_name_and_left_overs_come_last():
    listing = view_of().listing("all")
    acme = listing.ids.index(f"group:{world.ACME}")
    assert listing.ids[acme + 1 : acme + 3] == [
        "plugin:changelog-writer@acme-tools",
        "plugin:code-review@acme-tools",
    ]
    assert listing.ids[-2:] == [LEFT_OVER, "plugin:old-linter@gone"]
    assert listing.heads == {
        f"group:{world.ACME}", "group:data", "group:config:legacy-plugins", LEFT_OVER
    }  # fmt: skip


def test_views_hold_only_their_plugins_and_the_groups_that_have_some():
    view = view_of()
    assert plugins(view, "updates") == [
        "plugin:changelog-writer@acme-tools",
        "plugin:release-notes@acme-tools",
    ]
    assert view.listing("updates").heads == {f"group:{world.ACME}"}


def test_a_marketplace_that_cannot_be_read_stands_under_problems_without_plugins():
    view = view_of()
    assert "group:config:legacy-plugins" in view.listing("problems").ids
    assert "group:data" not in view.listing("problems").ids


def test_counts_agree_with_the_views():
    view = view_of()
    counts = view.counts()
    for name in ("all", "installed", "updates"):
        assert counts[name] == len(plugins(view, name))
    assert counts["problems"] == view.attention() == len(plugins(view, "problems")) + 1


def test_a_plugin_whose_marketplace_is_not_listed_is_left_over():
    view = view_of(store_of(plugins=[world.plugin("x", "nowhere")]))
    assert view.listing("all").ids == [LEFT_OVER, "plugin:x@nowhere"]


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ({"state": "enabled", "version": "1.4.2"}, ("works", "enabled", "1.4.2")),
        ({"state": "disabled", "version": "3.2.1"}, ("off", "disabled", "3.2.1")),
        ({"state": "available", "offered": "0.3.0"}, ("none", "available", "0.3.0")),
        ({"state": "notInstalled"}, ("failed", "missing", "enabled, but no copy is installed")),
        (
            {"state": "update", "version": "0.9.0", "offered": "1.1.0"},
            ("update", "update", "0.9.0 → 1.1.0"),
        ),
        (
            {"state": "update", "version": "1.0.0", "offered": "1.0.0"},
            ("update", "changed", "still 1.0.0"),
        ),
        ({"state": "skipped", "reason": "path lacks ./"}, ("problem", "skipped", "path lacks ./")),
        ({"state": "empty"}, ("problem", "empty", "nothing Codex can use")),
        ({"state": "broken", "reason": "bad JSON"}, ("failed", "unreadable", "bad JSON")),
        ({"state": "blocked"}, ("policy", "blocked", "by policy")),
        ({"state": "notOffered"}, ("policy", "not offered", "by its marketplace")),
        ({"state": "leftOver", "reason": "gone"}, ("leftover", "left over", "gone")),
        ({"state": "later-word"}, ("unknown", "later-word", "")),
    ],
)
def test_the_state_says_who_acts_in_one_word_and_why(
    more: dict[str, object], shown: tuple[str, str, str]
):
    assert tuple(plugin_state(world.plugin("p", **more))) == shown


@pytest.mark.parametrize(
    ("listed", "sign"),
    [
        ("listed", "works"),
        ("empty", "problem"),
        ("off", "policy"),
        ("missing", "failed"),
        ("reserved", "failed"),
        ("unreadable", "failed"),
    ],
)
def test_a_marketplace_has_a_sign_for_what_the_list_answers(listed: str, sign: str):
    assert market_state(MarketplaceRow(id="m", name="m", listed=listed)).sign == sign


def test_a_row_reads_sign_name_word_reason_and_what_it_brings():
    view = view_of()
    assert line(view, "plugin:code-review@acme-tools").split("  ")[0] == "● code-review"
    shown = line(view, "plugin:code-review@acme-tools")
    assert "enabled    1.4.2" in shown and "3 skills, 1 hook" in shown


def test_a_reason_runs_over_what_the_plugin_brings():
    shown = line(view_of(), "plugin:infra-audit@acme-tools", 70)
    assert shown == '! infra-audit             skipped    by Codex: source kind "github"'


def test_what_runs_on_a_plugin_stands_in_its_row_as_a_bar_with_a_figure():
    store = whole()
    store.apply(
        [
            OperationProgress(
                id="o", subject="playwright-runner@acme-tools", verb="installing", share=0.43
            )
        ]
    )
    shown = line(view_of(store), "plugin:playwright-runner@acme-tools")
    assert "installing 43% ━━━━━━━─────────" in shown and shown.startswith("◐")


def test_a_display_name_follows_only_when_it_says_more():
    view = view_of()
    assert cell(view.row("plugin:code-review@acme-tools"), "name") == "code-review"
    assert cell(view.row("plugin:csv-cleaner@data"), "name") == "csv-cleaner 数据清洗助手"


def test_group_rows_say_where_they_come_from_and_when_they_were_read():
    view = view_of()
    assert line(view, "group:data", 70, head=True) == (
        "▾ data-workshop 数据工坊  git.examp…main@3f9c2ab  3  checked 2 min ago"
    )
    assert line(view, "group:config:legacy-plugins", 70, head=True) == (
        "▾ legacy-plugins  ✗ expected `,` or `}` at line 41 column 3"
    )
    assert line(view, LEFT_OVER, 70, head=True).startswith(
        "▾ Left over  no marketplace lists these"
    )


def test_the_filter_is_flat_and_says_when_the_hit_is_in_the_text():
    view = view_of()
    listing = view.arrange("review", "all")
    assert listing.ids == ["plugin:code-review@acme-tools", "plugin:notebook-tidy@data"]
    assert listing.heads == frozenset()
    assert cell(view.row("plugin:notebook-tidy@data"), "name") == "notebook-tidy  in its text"
    assert [c.key for c in view.columns(True) if c.key in ("brings", "market")] == ["market"]


def test_the_filter_stays_within_the_view():
    assert view_of().arrange("review", "updates").ids == []


def test_a_row_that_changes_is_found_by_its_new_text():
    store = store_of(plugins=[world.plugin("p", description="old")])
    view = view_of(store)
    assert view.arrange("old", "all").ids == ["plugin:p@acme-tools"]
    store.load(
        "plugins",
        [world.plugin("p", description="other")],
        revision=2,
        phase="final",
        at=1.0,
    )
    assert view.arrange("old", "all").ids == []
    assert view.arrange("other", "all").ids == ["plugin:p@acme-tools"]


def test_details_of_a_problem_name_place_rule_what_codex_does_and_the_repair():
    page = page_of(view_of(), "plugin:infra-audit@acme-tools")
    assert "rule       plugins[6].source: kind `github` is not known" in page
    assert "marketplace.json:118" in page
    assert "Codex      leaves the entry out, says nothing" in page
    assert "mend       write the git form of the source" in page


def test_details_list_what_codex_uses_and_what_it_ignores():
    view = view_of()
    key = "plugin:code-review@acme-tools"
    view.details[key] = {
        "skills": [{"name": "review-diff"}],
        "hooks": [{"event": "postToolUse", "command": "python3 hooks/lint.py"}],
        "servers": {"github": {"url": "https://mcp.github.example/mcp"}},
    }
    page = page_of(view, key)
    assert "● skill   review-diff" in page
    assert "● hook    postToolUse  python3 hooks/lint.py" in page
    assert "● server  github" in page and "https://mcp.github.example/mcp" in page
    assert "2 commands, 1 agent" in page


def test_details_say_when_installing_would_change_nothing():
    page = page_of(view_of(), "plugin:prompt-library@acme-tools")
    assert "Installing it changes nothing for Codex" in page


def test_details_of_a_marketplace_count_its_plugins_by_sign():
    page = page_of(view_of(), f"group:{world.ACME}")
    assert "named in   ~/.codex/config.toml:33" in page
    assert page.splitlines()[-7:][0].startswith("● enabled")


@pytest.mark.parametrize("key", ["plugin:gone@nowhere", "group:nothing"])
def test_a_row_that_has_just_left_can_still_be_drawn(key: str):
    view = view_of()
    view.row(key)
    view.peek(key)
    page_of(view, key)
    view.offers(key)


def switch(view: MarketplacesView, key: str):
    return next((offer for offer in view.offers(key) if offer.id == "row.switch"), None)


def test_the_switch_is_offered_for_what_is_installed_and_says_why_not_for_the_rest():
    view = view_of()
    on, off = (
        switch(view, "plugin:code-review@acme-tools"),
        switch(view, "plugin:db-migrations@acme-tools"),
    )
    assert on and (on.label, on.why) == ("disable", "")
    assert off and (off.label, off.why) == ("enable", "")
    blocked = switch(view, "plugin:secrets-scanner@acme-tools")
    assert blocked and blocked.why == "by policy"
    there = switch(view, "plugin:playwright-runner@acme-tools")
    assert there and there.why == "not installed"
    assert switch(view, "group:data") is None


def test_read_only_greys_the_switch_with_its_reason():
    offer = switch(view_of(place=Place(read_only="no writes")), "plugin:code-review@acme-tools")
    assert offer and offer.greyed and offer.why == "no writes" and "read-only" in offer.label


def test_the_peek_says_the_whole_fault():
    peek = view_of().peek("plugin:infra-audit@acme-tools")
    assert text(peek.below) == "skipped: plugins[6].source: kind `github` is not known"
    assert text(peek.right) == "marketplace.json:118"


def test_what_is_copied_is_the_id_as_the_configuration_spells_it():
    view = view_of()
    assert view.copy_id("plugin:code-review@acme-tools") == "code-review@acme-tools"
    assert view.copy_id("group:data") == "data-workshop"


def test_ids_of_twins_stay_apart():
    twin = world.plugin("code-review", plugin_id="code-review@acme-tools")
    rows = [world.PLUGINS[1], type(twin)(
        id="code-review@acme-tools#2", plugin_id=twin.plugin_id, name=twin.name,
        marketplace=world.ACME, brings=Brings(skills=1),
    )]  # fmt: skip
    view = view_of(store_of(marketplaces=world.MARKETPLACES, plugins=rows))
    assert len(plugins(view, "all")) == 2
    assert view.copy_id("plugin:code-review@acme-tools#2") == "code-review@acme-tools"


def test_a_plugin_says_that_a_server_of_it_waits_for_a_sign_in():
    server = ServerRow(
        id="far", name="far", status="authenticationRequired", plugin_id="code-review@acme-tools"
    )
    view = view_of(
        store_of(marketplaces=world.MARKETPLACES, plugins=world.PLUGINS, servers=[server])
    )
    row = view.plugin("plugin:code-review@acme-tools")
    assert row is not None and view.waiting_server(row) == server
    assert plugin_state(row, None, server)[:3] == ("needs", "sign-in", "far")
    off = replace(row, enabled=False)
    assert view.waiting_server(off) is None


def test_a_marketplace_that_policy_blocks_names_the_line():
    rule = Evidence(file="/etc/codex/requirements.toml", line=2, layer="requirements")
    problem = Problem(id="x", domain="marketplaces", message="not allowed", evidence=rule)
    row = replace(world.MARKETPLACES[0], listed="blocked", problems=(problem,))
    state = market_state(row)
    assert state == ("policy", "blocked", "requirements.toml:2 does not allow its source")


def test_what_codex_ignores_is_told_with_names_and_reasons():
    view = view_of()
    key = "plugin:code-review@acme-tools"
    view.details[key] = {
        "unused": [{"what": "agent", "names": ["a", "b"], "reason": "only Claude Code uses it"}],
        "faults": ["hooks.json: it is broken"],
    }
    shown = page_of(view, key)
    assert "2 agents: a, b" in shown
    assert "only Claude Code uses it" in shown
    assert "hooks.json: it is broken" in shown


def test_a_marked_row_carries_its_mark_before_its_name():
    view = view_of()
    view.marked.add("plugin:code-review@acme-tools")
    assert text(view.row("plugin:code-review@acme-tools").cells["name"]).startswith("✓ code-review")
