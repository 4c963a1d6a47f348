from __future__ import annotations

import pytest

from core.protocol.facts import Evidence
from core.protocol.rows import ServerRow, ToolRow
from tests.tui import world
from tests.tui.views.support import PLACE, cell, line, page_of, store_of, text, whole
from tui.store import ViewStore
from tui.views import sign_in
from tui.views.server_page import NAMES_SHOWN
from tui.views.servers import ServersView, server_state, tools_text


def view_of(store: ViewStore | None = None) -> ServersView:
    return ServersView(store or whole(), PLACE)


def server(**more: object) -> ServerRow:
    return ServerRow(id="s", name="s", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        (server(status="connected"), ("works", "connected", "")),
        (server(status="starting", since=world.NOW - 12, limit=60.0),
         ("busy", "starting", "12 s of 60")),
        (server(status="starting", since=world.NOW - 12, limit=60.0, stderr_tail=("a", "b")),
         ("busy", "starting", "12 s of 60 — b")),
        (server(status="waiting", reason="HTTP 503 from x; try 3 of 5 in 4 s"),
         ("busy", "waiting", "HTTP 503 from x; try 3 of 5 in 4 s")),
        (server(status="authenticationRequired"), ("needs", "sign-in", "needed")),
        (server(status="authenticationRequired", reason="expired 09:12"),
         ("needs", "sign-in", "expired 09:12")),
        (server(status="failed", reason="exited 3 — boom"), ("failed", "failed", "exited 3 — boom")),
        (server(status="failed"), ("failed", "failed", "it did not say why")),
        (server(status="disabled"), ("off", "disabled", "by you")),
        (server(status="disabled", enabled_at=Evidence(file="/p/.codex/config.toml", line=4,
                                                       layer="project")),
         ("off", "disabled", "by config.toml:4")),
        (server(status="disabled", enabled_at=Evidence(file="/etc/codex/requirements.toml", line=9,
                                                       layer="requirements")),
         ("off", "disabled", "by policy, requirements.toml:9")),
        (server(status="untrusted", reason="project folder ~/x"),
         ("needs", "untrusted", "project folder ~/x")),
        (server(status="review"), ("needs", "review", "its command waits for your yes")),
        (server(status="blocked", reason="requirements.toml:14"),
         ("policy", "blocked", "requirements.toml:14")),
        (server(status="invalid", problems=(world.BAD_SERVER,)),
         ("problem", "invalid", "config.toml:88 — both command and url are set")),
        (server(status="cancelled"), ("unknown", "cancelled", "")),
        (server(status="notStarted"), ("unknown", "not started", "")),
        (server(status="connected", configured=False),
         ("leftover", "left over", "runs, but is in no file any more")),
        (server(status="word-of-tomorrow"), ("unknown", "word-of-tomorrow", "")),
    ],
)  # fmt: skip
def test_each_status_has_a_sign_a_word_and_a_reason(row: ServerRow, shown: tuple[str, str, str]):
    assert tuple(server_state(row, world.NOW, PLACE)) == shown


def test_the_clock_of_a_start_counts_every_second():
    row = server(status="starting", since=world.NOW - 1, limit=60.0)
    seen = [server_state(row, world.NOW + n, PLACE).reason for n in range(3)]
    assert seen == ["1 s of 60", "2 s of 60", "3 s of 60"]


def test_what_counts_seconds_is_named_for_the_clock():
    assert view_of().ticking() == ["playwright", "search"]


def test_servers_stand_by_name_and_the_reason_runs_over_empty_cells():
    view = view_of()
    assert list(view.keys("all"))[:3] == ["atlas-docs", "cache", "github"]
    assert line(view, "metrics", 67) == "✗ metrics      failed     exited 3 — boom: missing API key"
    shown = line(view, "atlas-docs", 67).split()
    assert shown == ["●", "atlas-docs", "connected", "12/12", "until", "14:05", "84"]


def test_counts_agree_with_the_views_and_the_badge_counts_what_wants_attention():
    view = view_of()
    assert view.counts() == {
        name: len(list(view.keys(name))) for name in ("all", "up", "you", "bad")
    }
    assert view.counts() == {"all": 12, "up": 2, "you": 3, "bad": 3}
    assert view.attention() == 6


def test_tools_of_a_server_that_is_not_connected_are_not_counted():
    row = server(status="failed", tools=12, tools_total=12, latency_ms=3.0)
    view = view_of(store_of(servers=[row]))
    assert cell(view.row("s"), "tools") == cell(view.row("s"), "ms") == ""


def test_a_count_from_a_cache_carries_its_mark():
    row = server(status="connected", tools=12, tools_total=12, cached=True)
    view = view_of(store_of(servers=[row]))
    assert cell(view.row("s"), "tools") == "┊12/12"
    assert view.row("s").fresh == "cached"


@pytest.mark.parametrize(
    ("tools", "total", "shown"),
    [(None, None, ""), (12, None, "12/12"), (38, 41, "38/41"), (0, 0, "0"), (0, 5, "0/5")],
)
def test_tools_before_and_after_the_filter(tools: int | None, total: int | None, shown: str):
    assert tools_text(server(tools=tools, tools_total=total)) == shown


def test_unknown_is_not_no():
    def said(auth: str) -> str:
        return "".join(text for text, _ in sign_in.cell(server(auth=auth), world.NOW, "!"))

    assert said("unknown") == "not known"
    assert said("notLoggedIn") == "no"
    assert said("unsupported") == ""


def test_details_of_a_failed_server_end_with_its_last_words():
    page = page_of(view_of(), "metrics")
    assert "command    python -m metrics_mcp" in page
    assert "from       ~/.codex/config.toml:58" in page
    assert "│ boom: missing API key" in page and "stderr, 2 lines" in page


def test_details_tell_what_the_core_knows_besides():
    view = view_of()
    view.details["metrics"] = {
        "resolved": "/home/dev/.venvs/bin/python",
        "environment": [{"name": "METRICS_API_KEY", "set": False}],
        "startTimeout": 10.0,
        "toolTimeout": None,
        "exitCode": 3,
        "latencies": [1.0, 2.0],
        "history": [
            {"status": "starting", "reason": "", "at": world.NOW - 30},
            {"status": "failed", "reason": "exited 3", "at": world.NOW - 28},
        ],
    }
    page = page_of(view, "metrics")
    assert "found at   ~/.venvs/bin/python" in page
    assert "gets       METRICS_API_KEY (not set)" in page
    assert "limits     start 10 s" in page and "ended      exit code 3" in page
    assert "12:41:02   failed  exited 3" in page


def test_details_that_are_not_as_expected_do_not_break_the_page():
    view = view_of()
    for odd in (3, "x", [1], {"a": 1}, None):
        view.details["metrics"] = dict.fromkeys(
            ("environment", "capabilities", "history", "latencies", "stderr", "exitCode", "body"),
            odd,
        )
        assert "metrics" in page_of(view, "metrics")


def test_details_of_a_start_show_its_share_of_the_limit():
    page = page_of(view_of(), "playwright", 60)
    assert "◐ starting  12 s of 60" in page and "━" * 12 in page and "━" * 13 not in page


def test_details_of_an_invalid_entry_name_place_and_rule():
    page = page_of(view_of(), "cache")
    assert "~/.codex/config.toml:88" in page and "both command and url are set" in page
    assert "Codex      refuses the whole file" in page


def test_details_of_a_connected_server_list_its_tools_and_their_cost():
    page = page_of(view_of(), "github")
    assert "2 of 3 on, ~801 tokens" in page
    assert "○ delete_repo" in page and "● create_issue" in page


def test_details_name_resources_and_prompts():
    rows = [
        ToolRow(id="s/resource:a:1", name="one", title="The first", owner="s", kind="resource"),
        *(
            ToolRow(id=f"s/prompt:p{n}", name=f"p{n}", owner="s", kind="prompt")
            for n in range(NAMES_SHOWN + 2)
        ),
    ]
    row = server(status="connected", resources=1, tools=0, tools_total=0)
    page = page_of(view_of(store_of(servers=[row], inventory=rows)), "s")
    assert "Resources" in page and "The first" in page
    assert "Prompts" in page and "p0" in page and "and 2 more" in page


def test_details_of_a_changed_command_show_both_and_when_it_was_agreed_to():
    view = view_of()
    view.details["vault"] = {
        "consent": {
            "status": "changed",
            "now": ["command npx -y vault-mcp@3 \x1b[2J", "runs in /home/dev"],
            "was": ["command npx -y vault-mcp@2"],
            "at": world.NOW - 60,
        }
    }
    page = page_of(view, "vault")
    assert "- command npx -y vault-mcp@2" in page and "+ command npx -y vault-mcp@3 ␛[2J" in page
    assert "agreed to 12:40:30" in page and "runs in /home/dev" in page


def test_details_of_a_blocked_server_say_who_decides():
    at = Evidence(file="/etc/codex/requirements.toml", line=14, layer="requirements")
    view = view_of(store_of(servers=[server(status="blocked", enabled_at=at, reason="no")]))
    page = page_of(view, "s")
    assert "policy     /etc/codex/requirements.toml:14" in page
    assert "decides    your administrator" in page


def test_what_runs_without_a_table_can_only_be_ended_and_looked_at():
    row = server(status="connected", configured=False, tools=1, tools_total=1)
    offers = {offer.id: offer for offer in view_of(store_of(servers=[row])).offers("s")}
    assert offers["row.mend"].does == "servers.end"
    assert "row.switch" not in offers and "row.refresh" not in offers
    assert offers["row.edit"].why == offers["row.remove"].why == "no file names it any more"
    assert not offers["servers.traffic"].why


def test_a_plugin_s_server_is_switched_and_approved_but_not_edited():
    row = server(status="connected", plugin_id="p@m", tools_total=2)
    offers = {offer.id: offer for offer in view_of(store_of(servers=[row])).offers("s")}
    assert offers["row.edit"].why == "plugin p@m brings it"
    assert not offers["tools.approval"].why and not offers["servers.tools"].why


@pytest.mark.parametrize(
    ("status", "mend"),
    [
        ("failed", "reconnect"),
        ("cancelled", "reconnect"),
        ("notStarted", "start"),
        ("review", "review the command"),
        ("connected", ""),
        ("starting", ""),
        ("authenticationRequired", "sign in"),
    ],
)
def test_mending_is_offered_where_a_key_can_mend(status: str, mend: str):
    view = view_of(store_of(servers=[server(status=status)]))
    labels = {offer.id: offer.label for offer in view.offers("s")}
    assert labels.get("row.mend", "") == mend


def test_a_start_can_be_cancelled_and_a_connection_made_anew():
    def offered(status: str) -> list[str]:
        return [o.id for o in view_of(store_of(servers=[server(status=status)])).offers("s")]

    assert offered("starting")[0] == offered("waiting")[0] == "row.cancel"
    assert offered("connected")[0] == "row.refresh"


@pytest.mark.parametrize("status", ["disabled", "invalid", "blocked", "untrusted", "review"])
def test_what_is_not_to_be_started_cannot_be_reconnected_and_says_why(status: str):
    view = view_of(store_of(servers=[server(status=status, reason="so it is")]))
    offers = {offer.id: offer for offer in view.offers("s")}
    assert offers["row.refresh"].why == "so it is"


def test_what_policy_decides_cannot_be_switched():
    offers = {offer.id: offer for offer in view_of().offers("shell-exec")}
    assert "requirements.toml:14" in offers["row.switch"].why
    assert {o.id: o for o in view_of().offers("cache")}["row.switch"].why


def test_the_peek_says_the_whole_reason():
    assert text(view_of().peek("metrics").below) == "failed: exited 3 — boom: missing API key"
    assert text(view_of().peek("github").top) == "github  code-review@acme-tools"


def test_a_server_that_has_just_left_can_still_be_drawn():
    view = view_of(store_of())
    view.row("gone")
    view.peek("gone")
    assert page_of(view, "gone") == "" and view.offers("gone") == []
