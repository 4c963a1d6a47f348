from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from core.errors import CoreError
from core.protocol import jackfield as wire
from core.protocol import jackfield_plugins as plugins
from core.protocol.events import OperationProgress
from core.protocol.rows import MarketplaceRow, PluginRow
from tests.fakes.client import FakeClient
from tests.tui import world
from tests.tui.panel import NARROW, Panel, panel

pytestmark = pytest.mark.anyio
UPDATE, PIN = "jackfield/plugin/update", "jackfield/plugin/pin"


def changed(**more: dict[str, Any]) -> list[PluginRow]:
    """The world's plugins, some with other members."""
    return [replace(row, **more.get(row.name.replace("-", "_"), {})) for row in world.PLUGINS]


def client_with(**more: dict[str, Any]) -> FakeClient:
    return FakeClient(**{**world.ALL, "plugins": changed(**more)})


def outcome(id: str, what: Any = "updated", message: str = "0.9.0 → 1.1.0") -> Any:
    return plugins.UpdateOutcome(id=id, name=id.partition("@")[0], outcome=what, message=message)


def answer(client: FakeClient, *outcomes: Any, faults: Any = ()) -> None:
    client.answers[UPDATE] = plugins.UpdateResult(outcomes=outcomes, faults=faults)


async def go(shown: Panel, name: str) -> None:
    key = next(key for key in shown.pane.view.keys("all") if name in key)
    shown.pane.go_to(key)
    await shown.pilot.pause()


RELEASE = "release-notes@acme-tools"


# --- rows


async def test_rows_say_what_is_offered_and_what_has_changed_under_its_version():
    rows = {
        "changelog_writer": {"changed": True, "offered": "1.0.0"},
        "db_migrations": {"newer": True, "offered": "3.3.0"},
        "code_review": {
            "state": "update",
            "newer": True,
            "offered": None,
            "reason": "→ 89abcde",
        },
        "csv_cleaner": {"pinned": "2.8.0", "newer": True, "codex": "Codex will move this"},
    }
    async with panel(client_with(**rows)) as shown:
        assert "↑ release-notes" in shown.line("release-notes")
        assert "update     0.9.0 → 1.1.0" in shown.line("release-notes")
        assert "changed    still 1.0.0" in shown.line("changelog-writer")
        assert "disabled   3.2.1 → 3.3.0" in shown.line("db-migrations")
        assert "update     → 89abcde" in shown.line("code-review")
        assert "enabled    2.8.0 pinned" in shown.line("csv-cleaner")


async def test_the_updates_view_leaves_pinned_ones_out():
    rows = {
        "release_notes": {"pinned": "0.9.0", "state": "enabled", "newer": True},
        "db_migrations": {"newer": True},
    }
    async with panel(client_with(**rows)) as shown:
        assert shown.pane.view.counts()["updates"] == 2
        names = [shown.pane.view.name(key) for key in shown.pane.view.keys("updates")]
        assert names == ["changelog-writer", "db-migrations"]


# --- updating


async def test_u_updates_the_row_and_says_what_came_of_it():
    client = client_with()
    answer(client, outcome(RELEASE))
    async with panel(client) as shown:
        await go(shown, "release-notes")
        assert "u update" in shown.keys
        await shown.press("u")
        (asked,) = await shown.calls(UPDATE)
        assert (asked.ids, asked.fetch) == ((RELEASE,), True)
        await shown.toast("release-notes is updated: 0.9.0 → 1.1.0")


async def test_U_updates_all_and_counts():
    client = client_with()
    answer(
        client,
        outcome("a@m"),
        outcome("b@m"),
        outcome("c@m", "skipped", "pinned at 1.0.0"),
        outcome("d@m", "failed", "git clone x failed with status 128\nstderr:\nfatal: no way"),
        faults=(("acme", "git ls-remote failed"),),
    )
    async with panel(client) as shown:
        await shown.press("U")
        (asked,) = await shown.calls(UPDATE)
        assert asked.ids is None
        await shown.toast("Plugins: 2 updated, 1 pinned, 1 failed")
        await shown.toast("d: not updated: fatal: no way")
        await shown.toast("acme: not brought up to date: git ls-remote failed")


async def test_marked_rows_are_updated_together():
    client = client_with()
    answer(client, outcome(RELEASE), outcome("csv-cleaner@data", "unchanged", "is the newest"))
    async with panel(client) as shown:
        for name in ("release-notes", "csv-cleaner", "notebook-tidy"):
            await go(shown, name)
            await shown.press("b")
        assert "u update 2" in shown.keys
        await shown.press("u")
        (asked,) = await shown.calls(UPDATE)
        assert set(asked.ids) == {RELEASE, "csv-cleaner@data"}


async def test_a_running_update_shows_in_its_row_and_is_cancelled_by_its_key():
    client = client_with()
    client.answers["jackfield/operation/cancel"] = wire.Done()
    async with panel(client) as shown:
        await go(shown, "release-notes")
        client.push(
            OperationProgress(
                id="update-1", subject=RELEASE, verb="update", share=0.43, at=world.NOW
            )
        )
        await shown.until(lambda: "43%" in shown.line("release-notes"))
        assert "update" in shown.line("release-notes")
        await shown.press("ctrl+x")
        (asked,) = await shown.calls("jackfield/operation/cancel")
        assert asked.id == RELEASE


async def test_what_is_not_installed_is_not_updated():
    client = client_with()
    async with panel(client) as shown:
        await go(shown, "notebook-tidy")
        await shown.press("u")
        await shown.toast("update: not installed")
        assert client.asked(UPDATE) == []


async def test_a_failure_of_the_whole_request_is_told():
    client = client_with()
    client.answers[UPDATE] = CoreError("Jackfield runs read-only")
    async with panel(client) as shown:
        await go(shown, "release-notes")
        await shown.press("u")
        await shown.toast("not updated: Jackfield runs read-only")


async def test_read_only_greys_the_keys():
    client = client_with()
    async with panel(client, read_only=True) as shown:
        await go(shown, "release-notes")
        await shown.press("u")
        assert client.asked(UPDATE) == []
        await shown.toast("read-only")


async def test_all_can_be_asked_for_while_nothing_newer_is_known():
    client = FakeClient(plugins=[row for row in world.PLUGINS if row.state == "enabled"])
    answer(client)
    async with panel(client) as shown:
        await shown.press("U")
        await shown.toast("Every installed plugin is the newest that its marketplace offers")


async def test_without_an_installed_plugin_there_is_nothing_to_update():
    client = FakeClient(plugins=[row for row in world.PLUGINS if row.state == "available"])
    async with panel(client) as shown:
        await shown.press("U")
        await shown.toast("update all: no plugin is installed")


# --- pins and the way back


async def test_p_pins_and_unpins():
    client = client_with(csv_cleaner={"pinned": "2.8.0"})

    def pinned(params: plugins.PinParams) -> plugins.PinResult:
        return plugins.PinResult(pinned=params.pinned, message="said so")

    client.answers[PIN] = pinned
    async with panel(client) as shown:
        await go(shown, "release-notes")
        await shown.press("p")
        await go(shown, "csv-cleaner")
        assert "p unpin" in shown.keys
        await shown.press("p")
        asked = await shown.calls(PIN, 2)
        assert [(one.id, one.pinned) for one in asked] == [
            (RELEASE, True),
            ("csv-cleaner@data", False),
        ]
        await shown.toast("said so")


async def test_p_on_a_git_marketplace_pins_its_commit():
    client = client_with()
    git = [replace(row, commit="3f9c2ab" * 5 + "12345") for row in world.MARKETPLACES[1:2]]
    client.put("marketplaces", world.MARKETPLACES[0], *git, world.MARKETPLACES[2])
    client.answers["jackfield/marketplace/pin"] = plugins.PinResult(
        pinned=True, message="data-workshop stays at commit 3f9c2ab"
    )
    async with panel(client) as shown:
        shown.pane.go_to("group:data")
        await shown.press("p")
        (asked,) = await shown.calls("jackfield/marketplace/pin")
        assert (asked.name, asked.pinned) == ("data-workshop", True)
        await shown.toast("stays at commit 3f9c2ab")


async def test_a_former_version_comes_back_from_the_palette():
    client = client_with(csv_cleaner={"before": "2.7.0"})
    client.answers["jackfield/plugin/rollback"] = plugins.RollbackResult(
        version="2.7.0", before="2.8.0", message="csv-cleaner is 2.7.0 again, and pinned"
    )
    async with panel(client) as shown:
        await go(shown, "csv-cleaner")
        await shown.app.deeds.run("plugins.roll-back")
        (asked,) = await shown.calls("jackfield/plugin/rollback")
        assert (asked.id, asked.version) == ("csv-cleaner@data", None)
        await shown.toast("csv-cleaner is 2.7.0 again, and pinned")
        await go(shown, "release-notes")
        await shown.app.deeds.run("plugins.roll-back")
        await shown.toast("no former version is kept")


async def test_the_details_tell_versions_pins_and_what_changed():
    client = client_with(
        csv_cleaner={
            "pinned": "2.8.0",
            "before": "2.7.0",
            "changed": True,
            "codex": "Codex may move this",
            "commit": "1234567890abcdef",
            "offered_commit": "fedcba0987654321",
        }
    )
    client.answers["jackfield/plugin/detail"] = wire.DetailResult(
        detail={
            "former": [{"version": "2.7.0", "kept": "kept 28 Nov 09:12"}],
            "changed": [f"skills/{number}.md" for number in range(14)],
        }
    )
    async with panel(client) as shown:
        await go(shown, "csv-cleaner")
        await shown.until(lambda: "skills/0.md" in shown.details)
        for text in (
            "pinned     at 2.8.0",
            "Codex may move this.",
            "before     2.7.0, kept 28 Nov 09:12",
            "1234567890ab",
            "fedcba098765",
            "and 2 more",
        ):
            assert text in shown.details, text


# --- left-overs

ORPHAN = plugins.Orphan(
    id="old-linter@gone",
    name="old-linter",
    kind="marketplaceGone",
    reason="configured and cached, its marketplace is gone",
    action="remove its entry and its copy",
    writes='[plugins."old-linter@gone"]',
    removes=("/home/dev/.codex/plugins/cache/gone/old-linter",),
)


def with_orphan(orphan: plugins.Orphan = ORPHAN) -> FakeClient:
    client = client_with(old_linter={"left_over": orphan.kind})
    client.answers["jackfield/orphans"] = plugins.OrphansResult(orphans=(orphan,))
    client.answers["jackfield/orphan/clean"] = plugins.OrphanCleanResult(
        message="old-linter: removed its entry and its copy", undo="u1"
    )
    return client


def sheet_text(shown: Panel) -> str:
    from tui.widgets.page_view import PageView

    view = shown.app.screen.query_one(PageView)
    return "\n".join(text.rstrip() for text in view.page.text_lines)


@pytest.mark.parametrize("size", [(120, 40), NARROW])
async def test_m_on_a_left_over_says_what_goes_and_cleans_up(size: tuple[int, int]):
    client = with_orphan()
    async with panel(client, size=size) as shown:
        await go(shown, "old-linter")
        assert "m clean up" in shown.keys
        await shown.press("m")
        await shown.calls("jackfield/orphans")
        await shown.until(lambda: len(shown.app.screen_stack) > 1)
        text = " ".join(sheet_text(shown).split())
        assert '[plugins."old-linter@gone"] goes from ~/.codex/config.toml' in text
        assert "~/.codex/plugins/cache/gone/old-linter" in text
        await shown.press("tab", "enter")
        (asked,) = await shown.calls("jackfield/orphan/clean")
        assert asked.id == "old-linter@gone"
        await shown.toast("removed its entry and its copy   z undoes")
        await shown.press("z")
        (undone,) = await shown.calls("jackfield/undo")
        assert undone.token == "u1"


async def test_cancel_is_focused_and_leaves_everything():
    client = with_orphan()
    async with panel(client) as shown:
        await go(shown, "old-linter")
        await shown.press("m")
        await shown.until(lambda: len(shown.app.screen_stack) > 1)
        await shown.press("enter")
        assert client.asked("jackfield/orphan/clean") == []


async def test_a_left_over_that_nothing_cleans_up_says_why():
    client = with_orphan(
        replace(ORPHAN, kind="unreadable", reason="mend the marketplace first", action="")
    )
    async with panel(client) as shown:
        await go(shown, "old-linter")
        assert "clean up" not in shown.keys


async def test_a_checkout_that_nothing_configures_is_a_row_to_clean_up():
    client = with_orphan(
        plugins.Orphan(
            id="checkout:gm", name="gm", kind="checkout", action="remove the checkout", undo=False
        )
    )
    client.answers["jackfield/orphan/clean"] = plugins.OrphanCleanResult(
        message="gm: removed the checkout"
    )
    left = MarketplaceRow(
        id="checkout:gm", name="gm", root="/c/gm", source="git", listed="leftOver"
    )
    client.put("marketplaces", *world.MARKETPLACES, left)
    async with panel(client) as shown:
        assert "◇" in shown.line("gm  ")
        shown.pane.go_to("group:checkout:gm")
        await shown.press("m")
        await shown.until(lambda: len(shown.app.screen_stack) > 1)
        await shown.press("tab", "enter")
        await shown.toast("gm: removed the checkout   it cannot be undone")
