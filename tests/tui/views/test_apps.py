from __future__ import annotations

from typing import Any

import pytest

from core.protocol.rows import AccountRow, AppRow, InstalledRow
from tests.tui.views.support import PLACE, cell, line, page_of, store_of, text, whole
from tui.store import ViewStore
from tui.views.apps import AppsView, facts_of, last_read
from tui.widgets.page import Page


def view_of(store: ViewStore | None = None) -> AppsView:
    return AppsView(store or whole(), PLACE)


def test_linked_apps_come_first_then_the_name_decides():
    assert list(view_of().keys("all")) == [
        "boardroom", "calendar", "design", "expense", "mailroom", "people", "lake",
    ]  # fmt: skip


def test_the_three_facts_are_three_words_and_only_exceptions_carry_a_sign():
    view = view_of()
    assert line(view, "boardroom", 66).split() == [
        "●", "Boardroom", "linked", "on", "12", "of", "14", "code-review",
    ]  # fmt: skip
    cells = {key: cell(view.row("design"), key) for key in ("access", "enabled", "callable")}
    assert cells == {"access": "linked", "enabled": "○ off", "callable": "no"}
    assert cell(view.row("people"), "enabled") == "⊘ policy"
    assert cell(view.row("mailroom"), "callable") == "✗ no tool"
    assert cell(view.row("lake"), "callable") == "–"


def test_the_sign_of_the_row_sums_the_facts_up():
    view = view_of()
    signs = {key: view.row(key).sign for key in view.keys("all")}
    assert signs == {
        "boardroom": "works",
        "calendar": "works",
        "expense": "works",
        "design": "off",
        "mailroom": "failed",
        "people": "policy",
        "lake": "none",
    }


def test_what_is_callable_is_never_taken_from_the_metadata():
    app = AppRow(id="a", name="A", accessible=True)
    facts = facts_of(app, None, known=False)
    assert (facts.callable.sign, facts.callable.word) == ("unknown", "not known")
    facts = facts_of(app, None, known=True)
    assert (facts.callable.sign, facts.callable.word) == ("failed", "no tool")


def test_while_the_list_is_not_whole_nothing_is_said_not_to_be_linked():
    app = AppRow(id="a", name="A")
    facts = facts_of(app, None, known=False, whole=False)
    assert (facts.access.word, facts.sign) == ("not known", "unknown")
    facts = facts_of(app, None, known=True, whole=True)
    assert (facts.access.word, facts.sign) == ("not linked", "none")


def test_what_the_snapshot_can_call_is_said_whatever_the_metadata_says():
    row = InstalledRow(id="a", name="A", callable=True, tools=3, callable_tools=2)
    facts = facts_of(AppRow(id="a", name="A"), row, known=True)
    assert (facts.access.word, facts.callable.word, facts.sign) == ("not linked", "2 of 3", "works")


def test_an_app_that_only_the_snapshot_knows_is_shown_and_its_access_is_not_known():
    row = InstalledRow(id="x", name="X", callable=True, tools=2, callable_tools=2)
    view = view_of(store_of(installed=[row]))
    assert list(view.keys("all")) == ["x"]
    assert cell(view.row("x"), "access") == "◌ not known"
    assert cell(view.row("x"), "callable") == "2 of 2"


def test_counts_agree_with_the_views():
    view = view_of()
    assert view.counts() == {
        name: len(list(view.keys(name))) for name in ("all", "linked", "callable", "waiting")
    }
    assert view.counts() == {"all": 7, "linked": 6, "callable": 3, "waiting": 1}
    assert view.attention() == 1


def test_the_details_give_each_fact_its_cause():
    page = page_of(view_of(), "design")
    assert "access     ● linked     to this account" in page
    assert "enabled    ○ off        config.toml:97" in page
    assert "callable   · no         it is turned off" in page
    assert "by policy, requirements.toml:9" in page_of(view_of(), "people")


def test_the_details_list_the_tools_of_the_snapshot_with_effect_and_cost():
    page = page_of(view_of(), "boardroom")
    assert "Tools" in page and "1 of 2" in page
    assert "● list_boards" in page and "reads      90 tk" in page
    assert "committed just now" in page


def test_the_peek_names_the_fact_that_stops_it():
    view = view_of()
    assert text(view.peek("mailroom").below) == "no tool: all its tools need open world"
    assert text(view.peek("people").below) == "turned off: by policy, requirements.toml:9"
    assert text(view.peek("calendar").below) == "Find a free hour, move meetings."


def test_the_switch_of_a_policy_says_where_it_is_decided():
    offers = {offer.id: offer for offer in view_of().offers("people")}
    assert offers["row.switch"].why == "decided by policy, requirements.toml:9"
    assert {offer.id: offer.label for offer in view_of().offers("calendar")}["row.switch"] == (
        "turn off"
    )


def test_without_an_account_that_has_apps_the_empty_list_says_so():
    page = Page(60)
    account = AccountRow(id="a", kind="apiKey")
    view_of(store_of(account=[account])).empty(page)
    assert page.text_lines[0].rstrip() == "Apps need a ChatGPT sign-in"
    assert "with an API key; with it Codex" in " ".join(line.strip() for line in page.text_lines)


def test_every_state_of_the_world_can_be_drawn_in_any_width():
    view = view_of()
    for key in (*view.keys("all"), "gone"):
        for width in (20, 60, 120):
            line(view, key, width)
            page_of(view, key, width)
        view.peek(key)


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (
            {"disposition": "success", "retained": False, "at": 1.0, "tools": 12, "seconds": 0.4},
            "refreshed in 0.4 s, 12 tools, just now",
        ),
        (
            {"disposition": "error", "retained": True, "at": 1.0, "tools": 1, "seconds": 30.0},
            "the refresh failed in 30.0 s, the one before is kept, 1 tool, just now",
        ),
        (
            {"disposition": "skippedAppsDisabled", "retained": False, "at": 1.0, "tools": 0},
            "not refreshed: apps are off, 0 tools, just now",
        ),
    ],
)
def test_the_last_read_of_the_snapshot_is_told_in_words(read: dict[str, Any], said: str):
    assert last_read(read, 2.0) == said
