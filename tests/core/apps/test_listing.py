from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from core.errors import CoreError, InternalError
from core.ports import Deps
from core.protocol.events import (
    AppsChanged,
    Notice,
    RefreshFailed,
    RefreshFinished,
    RefreshProgress,
    RefreshStarted,
)
from core.seams import NamedApp
from core.threads.policy import PANEL
from tests.core.apps.world import AppsWorld, apps_world
from tests.fakes.chatgpt_backend import Answer, tool
from tests.fakes.seen import Seen

pytestmark = pytest.mark.anyio
LIST = "/connectors/directory/list"


def ids(apps: Any) -> list[str]:
    return [app.id for app in apps]


async def loads(world: AppsWorld, count: int) -> None:
    """Wait until so many loads have come to their end, the one behind an answer included."""
    await world.events.until(lambda: len(world.of(RefreshFinished)) >= count)


# --- app/list ---


async def test_app_list_emits_updates_and_returns_after_both_lists_load(
    deps: Deps, home: Path
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "alpha", "name": "Alpha"}, {"id": "beta", "name": "beta"}]]
        world.hosted.tools = [tool("beta", "Beta App")]
        gate = world.backend.hold("directory")
        answers: Seen[Any] = Seen()

        async def ask() -> None:
            answers.append(await world.list())

        world.group.start_soon(ask)
        await world.told.until(lambda: world.told)
        assert [(app.id, app.name, app.install_url) for app in world.told[0]] == [
            ("beta", "Beta App", "https://chatgpt.com/apps/beta-app/beta")
        ]
        assert answers == []
        gate.set()
        await answers.until(lambda: answers)
        assert len(world.told) == 2
        assert answers[0] == world.told[1]
        assert [(app.id, app.name, app.is_accessible) for app in answers[0]] == [
            ("beta", "Beta App", True),
            ("alpha", "Alpha", False),
        ]
        assert answers[0][0].install_url == "https://chatgpt.com/apps/beta/beta"


async def test_app_list_waits_for_accessible_data_before_directory_updates(
    deps: Deps, home: Path
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "alpha", "name": "Alpha"}, {"id": "beta", "name": "beta"}]]
        world.hosted.tools = [tool("beta", "Beta App")]
        world.hosted.gate = anyio.Event()
        answers: Seen[Any] = Seen()

        async def ask() -> None:
            answers.append(await world.list())

        world.group.start_soon(ask)
        # The directory has come as a whole, and the panel shows it.
        await world.events.until(lambda: any(it.note for it in world.of(RefreshProgress)))
        assert list(world.apps.owner.current.rows) == ["alpha", "beta"]
        assert world.told == []
        world.hosted.gate.set()
        await answers.until(lambda: answers)
        assert [ids(apps) for apps in world.told] == [["beta", "alpha"]]


async def test_a_cached_answer_sends_one_update_and_asks_nobody(deps: Deps, home: Path) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "alpha", "name": "Alpha"}]]
        await world.list()
        asked, hosted = len(world.backend.requests), len(world.hosted.asked)
        assert ids(await world.list()) == ["alpha"]
        assert [ids(apps) for apps in world.told] == [["alpha"]]
        assert len(world.backend.requests) == asked
        assert len(world.hosted.asked) == hosted


async def test_a_forced_list_shows_the_cached_one_until_both_have_come(
    deps: Deps, home: Path
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]]
        world.hosted.tools = [tool("b")]
        await world.list()
        world.backend.pages = [[{"id": "c", "name": "C"}]]
        world.hosted.tools = [tool("c")]
        assert ids(await world.list(forced=True)) == ["c"]
        assert [ids(apps) for apps in world.told] == [["b", "a"], ["c"]]


async def test_a_failing_forced_list_says_so_and_the_old_list_stays(deps: Deps, home: Path) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}]]
        await world.list()
        world.backend.answers["directory"] = Answer(500, b"forced")
        with pytest.raises(InternalError) as caught:
            await world.list(forced=True)
        assert caught.value.message == (
            "failed to list apps: Request failed with status 500 Internal Server Error: forced"
        )
        assert ids(await world.list()) == ["a"]


async def test_one_unreadable_entry_fails_the_wires_list_but_not_the_panels(
    deps: Deps, home: Path
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}, {"id": "broken"}]]
        with pytest.raises(InternalError, match="failed to list apps: Failed to parse JSON"):
            await world.list()
        world.policy = PANEL
        assert ids(await world.list()) == ["a"]
        [failed] = [event for event in world.of(RefreshFailed) if "left out" in event.message]
        assert failed.message.startswith("1 unreadable, left out: page 1, entry 2: ")
        assert world.of(RefreshFinished)[-1].outcome == "partly"


async def test_tools_that_cannot_be_listed_are_no_error_and_one_reload_follows(
    deps: Deps, home: Path
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}]]
        world.hosted.failure = CoreError("HTTP 503 from apps.example")
        apps = await world.list()
        assert [(app.id, app.is_accessible) for app in apps or ()] == [("a", False)]
        await loads(world, 2)
        assert len(world.hosted.asked) == 2
        assert world.backend.count(LIST) == 2
        world.hosted.failure = None
        world.hosted.tools = [tool("a")]
        apps = await world.list()
        assert [(app.id, app.is_accessible) for app in apps or ()] == [("a", True)]
        assert world.backend.count(LIST) == 2  # the directory was cached


async def test_a_snapshot_not_heard_for_the_list_answers_at_once_and_is_confirmed_behind(
    deps: Deps, home: Path
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}]]
        world.hosted.tools = [tool("a"), tool("gone")]
        await world.installed.read(await world.view(), forced=True, policy=world.policy)
        assert ids(await world.list()) == ["a"]
        assert [ids(apps) for apps in world.told[:2]] == [["a", "gone"], ["a"]]
        await loads(world, 2)
        assert len(world.hosted.asked) == 2
        await world.list()
        assert len(world.hosted.asked) == 2


async def test_a_workspace_has_a_list_of_its_own_whose_failure_is_no_error(
    deps: Deps, home: Path
) -> None:
    async with apps_world(deps, home) as world:
        world.sign_in(plan="team")
        world.backend.pages = [[{"id": "d", "name": "Dir"}]]
        world.backend.workspace = [
            {"id": "ws", "name": "Workspace app"},
            {"id": "d", "name": "Other name", "description": "from the workspace"},
        ]
        apps = await world.list()
        assert [(app.id, app.name, app.description) for app in apps or ()] == [
            ("d", "Dir", "from the workspace"),
            ("ws", "Workspace app", None),
        ]
        world.backend.answers["workspace"] = Answer(500, b"no")
        assert ids(await world.list(forced=True)) == ["d"]


async def test_directory_requests_carry_token_account_and_the_next_pages_token(
    deps: Deps, home: Path
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}], [{"id": "b", "name": "B"}]]
        assert ids(await world.list()) == ["a", "b"]
        first, second = world.backend.requests
        assert first.query == {"external_logos": ["true"]}
        assert second.query == {"token": ["1"], "external_logos": ["true"]}
        assert first.headers["authorization"] == "Bearer token-1"
        assert first.headers["chatgpt-account-id"] == "account-1"
        assert first.headers["oai-product-sku"] == "codex"
        assert first.headers["originator"] == "test"


async def test_without_a_chatgpt_sign_in_there_is_no_list_and_no_request(
    deps: Deps, home: Path
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}]]
        (world.codex_home / "auth.json").write_text('{"OPENAI_API_KEY": "sk-x"}')
        assert await world.list() is None
        world.sign_in()
        world.configure("features.apps = false")
        assert await world.list() is None
        assert world.backend.requests == []
        assert world.told == []


async def test_apps_that_plugins_name_are_added_with_the_plugins_names(
    deps: Deps, home: Path
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}]]
        world.plugins.named = [
            NamedApp(app_id="a", plugin_id="p@m", plugin_display_name="Zebra"),
            NamedApp(app_id="a", plugin_id="q@m", plugin_display_name="Aardvark"),
            NamedApp(app_id="new", plugin_id="p@m", plugin_display_name="Zebra"),
        ]
        world.hosted.tools = [tool("new", "New App")]
        apps = await world.list()
        assert [(app.id, app.name, app.plugin_display_names) for app in apps or ()] == [
            ("new", "New App", ("Zebra",)),
            ("a", "A", ("Aardvark", "Zebra")),
        ]


async def test_another_account_in_the_middle_of_a_load_gets_its_own_list(
    deps: Deps, home: Path
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "theirs", "name": "Theirs"}]]

        def switch(asked: Any) -> None:
            if asked.headers["authorization"] == "Bearer token-1":
                world.backend.token = "token-1"
                world.sign_in(user="user-2", token="token-2")
            else:
                world.backend.token = "token-2"
                world.backend.pages = [[{"id": "mine", "name": "Mine"}]]

        world.backend.before["directory"] = switch
        assert ids(await world.list()) == ["mine"]
        rows = world.apps.owner.current.rows
        assert list(rows) == ["mine"]


# --- the panel's rows ---


async def test_rows_come_page_by_page_beside_the_old_ones_which_the_end_removes(
    deps: Deps, home: Path
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}], [{"id": "b", "name": "B"}]]
        await world.apps.refresh(forced=False, refresh_id="r1")
        assert list(world.apps.owner.current.rows) == ["a", "b"]
        world.events.clear()
        world.backend.pages = [[{"id": "c", "name": "C"}], [{"id": "b", "name": "B two"}]]
        gate = world.backend.hold("directory", page=2)
        done = anyio.Event()

        async def refresh() -> None:
            await world.apps.refresh(forced=True, refresh_id="r2")
            done.set()

        world.group.start_soon(refresh)
        await world.events.until(lambda: "c" in world.apps.owner.current.rows)
        rows = world.apps.owner.current.rows
        assert {key: row.cached for key, row in rows.items()} == {"a": True, "b": True, "c": False}
        gate.set()
        with anyio.fail_after(5):
            await done.wait()
        rows = world.apps.owner.current.rows
        assert {key: (row.name, row.cached) for key, row in rows.items()} == {
            "b": ("B two", False),
            "c": ("C", False),
        }
        intermediate = [event for event in world.of(AppsChanged) if event.phase == "intermediate"]
        assert intermediate
        assert all(event.removed == () for event in intermediate)
        assert world.of(AppsChanged)[-1].removed == ("a",)


async def test_a_refresh_tells_its_sources_progress_and_its_end(deps: Deps, home: Path) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}], [{"id": "b", "name": "B"}]]
        world.hosted.tools = [tool("a"), tool("a", tool_name="other")]
        await world.apps.refresh(forced=False, refresh_id="r1")
        await world.apps.refresh(forced=True, refresh_id="r2")
        [first, second] = world.of(RefreshStarted)
        assert (first.id, first.sources) == ("r1", ("directory", "tools"))
        assert (second.id, second.forced) == ("r2", True)
        progress = [
            (event.id, event.done, event.total, event.note)
            for event in world.of(RefreshProgress)
            if event.source == "directory"
        ]
        # Before the end of the first reading nobody knows how many pages there are.
        assert progress == [
            ("r1", 1, None, ""),
            ("r1", 2, 2, ""),
            ("r1", 2, 2, "2 apps"),
            ("r2", 1, 2, ""),
            ("r2", 2, 2, ""),
            ("r2", 2, 2, "2 apps"),
        ]
        [tools] = [
            event
            for event in world.of(RefreshProgress)
            if (event.id, event.source) == ("r1", "tools")
        ]
        assert (tools.done, tools.total) == (2, 2)
        [one, two] = world.of(RefreshFinished)
        assert (one.id, one.outcome, one.added, one.removed) == ("r1", "ok", 2, 0)
        assert (two.id, two.outcome, two.added, two.changed) == ("r2", "ok", 0, 0)


async def test_a_failing_refetch_puts_the_old_list_back_and_says_so(deps: Deps, home: Path) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}], [{"id": "b", "name": "B"}]]
        await world.apps.refresh(forced=True)
        world.events.clear()
        world.backend.pages = [[{"id": "c", "name": "C"}], []]
        world.backend.before["directory"] = lambda asked: (
            world.backend.answers.update(directory=Answer(503, b"busy", {"retry-after": "30"}))
            if "token" in asked.query
            else None
        )
        world.hosted.failure = CoreError("no answer within 90 s")
        await world.apps.refresh(forced=True)
        rows = world.apps.owner.current.rows
        assert list(rows) == ["a", "b"]
        host = world.backend.url.removeprefix("http://")
        assert {event.source: event.message for event in world.of(RefreshFailed)} == {
            "directory": f"HTTP 503 from {host}; try again in 30 s",
            "tools": "no answer within 90 s",
        }
        [finished] = world.of(RefreshFinished)
        assert (finished.outcome, finished.kept_previous) == ("failed", True)
        assert (finished.added, finished.changed, finished.removed) == (0, 0, 0)


async def test_the_first_rows_of_a_new_process_come_from_disk_and_are_marked(
    deps: Deps, home: Path
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}]]
        await world.apps.refresh(forced=False)
        url = world.backend.url
        kept = next((deps.cache_dir / "apps").glob("*-directory.json")).read_bytes()
    async with apps_world(deps, home) as world:
        account = await world.account.backend_account()
        assert account is not None
        assert world.backend.url != url
        path = deps.cache_dir / "apps" / f"{account.identity}-directory.json"
        path.write_bytes(kept)
        gate = world.backend.hold("directory")
        world.group.start_soon(lambda: world.apps.refresh(forced=False))
        await world.events.until(lambda: world.apps.owner.current.rows)
        assert world.of(AppsChanged)[0].phase == "cached"
        assert [row.cached for row in world.apps.owner.current.rows.values()] == [True]
        gate.set()


async def test_codexs_own_cache_gives_first_rows_too_and_is_never_written(
    deps: Deps, home: Path
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.url = "http://127.0.0.1:39941"
        world.configure("")
        world.sign_in(account="account-123", user="user-123")
        cache = world.codex_home / "cache" / "codex_app_directory"
        cache.mkdir(parents=True)
        # Named by Codex 0.171.0 for this backend, account and user.
        file = cache / "a7d81ff35f4687a7626ad9fae921f6791691e2bd.json"
        file.write_text(
            json.dumps({"schema_version": 1, "connectors": [{"id": "old", "name": "Old"}]})
        )
        tools = world.codex_home / "cache" / "codex_apps_tools"
        tools.mkdir()
        (tools / "1d2759ad0ca48d6201f95f35dc7b0b782652ec0a.json").write_text(
            json.dumps({"schema_version": 4, "tools": [{"tool": tool("old", "Old app")}]})
        )
        before = sorted(path.name for path in world.codex_home.rglob("*"))
        world.hosted.failure = CoreError("HTTP 503 from apps.example")
        await world.apps.refresh(forced=False)
        row = world.apps.owner.current.rows["old"]
        assert (row.name, row.accessible, row.cached) == ("Old", True, True)
        assert sorted(path.name for path in world.codex_home.rglob("*")) == before


async def test_a_cache_that_cannot_be_read_is_deleted_and_everything_goes_on(
    deps: Deps, home: Path
) -> None:
    async with apps_world(deps, home) as world:
        account = await world.account.backend_account()
        assert account is not None
        path = deps.cache_dir / "apps" / f"{account.identity}-directory.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(b'{"schemaVersion": 1, "entries"')
        world.backend.answers["directory"] = Answer(500)
        await world.apps.refresh(forced=False)
        assert not path.exists()
        assert world.of(RefreshFinished)[-1].outcome == "partly"


async def test_a_change_of_switches_is_shown_without_asking_anybody(deps: Deps, home: Path) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]]
        await world.apps.refresh(forced=False)
        asked = len(world.backend.requests)
        world.configure("[apps.a]\nenabled = false")
        await world.apps.reconsider()
        row = world.apps.owner.current.rows["a"]
        assert (row.enabled, row.enabled_at.key) == (False, "apps.a.enabled")
        assert world.apps.owner.current.rows["b"].enabled
        assert len(world.backend.requests) == asked


async def test_signing_out_empties_the_rows_and_says_why_once(deps: Deps, home: Path) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}]]
        await world.apps.refresh(forced=False)
        (world.codex_home / "auth.json").unlink()
        await world.apps.refresh(forced=False)
        await world.apps.reconsider()
        assert dict(world.apps.owner.current.rows) == {}
        assert [event.text for event in world.of(Notice)] == ["apps need a sign-in with ChatGPT"]


async def test_a_sign_in_that_cannot_be_read_leaves_the_rows_and_says_so(
    deps: Deps, home: Path
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}]]
        world.hosted.tools = [tool("a")]
        await world.apps.refresh(forced=False)
        await world.installed.refresh(forced=False)
        (world.codex_home / "auth.json").write_text('{"tokens": ')  # somebody is writing it
        await world.apps.refresh(forced=True)
        await world.layer.reconsider()
        await world.installed.refresh(forced=True)
        assert [(it.domain, it.source, it.message) for it in world.of(RefreshFailed)] == [
            ("apps", "account", "the sign-in cannot be used: it is no JSON"),
            ("installed", "account", "the sign-in cannot be used: it is no JSON"),
        ]
        assert list(world.apps.owner.current.rows) == ["a"]
        assert list(world.installed.owner.current.rows) == ["a"]
        assert await world.list() is None


async def test_a_refetch_that_is_broken_off_puts_the_old_rows_back(deps: Deps, home: Path) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}], [{"id": "b", "name": "B"}]]
        await world.apps.refresh(forced=False)
        before = dict(world.apps.owner.current.rows)
        world.backend.pages = [[{"id": "c", "name": "C"}], []]
        world.backend.hold("directory", page=2)
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: world.apps.refresh(forced=True))
            await world.events.until(lambda: "c" in world.apps.owner.current.rows)
            group.cancel_scope.cancel()
        assert dict(world.apps.owner.current.rows) == before
        ended = world.of(RefreshFinished)[-1]
        assert (ended.outcome, ended.added) == ("cancelled", 0)


async def test_an_older_load_that_ends_late_does_not_win(deps: Deps, home: Path) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "old", "name": "Old"}]]
        gate = world.backend.hold("directory")
        done = anyio.Event()

        async def older() -> None:
            await world.apps.refresh(forced=True)
            done.set()

        world.group.start_soon(older)
        await world.backend.asked(LIST)
        world.backend.before.clear()
        world.backend.pages = [[{"id": "new", "name": "New"}]]
        await world.apps.refresh(forced=True)
        world.backend.pages = [[{"id": "old", "name": "Old"}]]
        gate.set()
        with anyio.fail_after(5):
            await done.wait()
        assert list(world.apps.owner.current.rows) == ["new"]


# --- a backend in bad shape ---

BAD: dict[str, tuple[Answer, str]] = {
    "html": (
        Answer(
            200,
            b"<html><title>Just a moment&hellip;</title></html>",
            {"content-type": "text/html; charset=utf-8"},
        ),
        "HTML page “Just a moment…” from {host}",
    ),
    "html-403": (
        Answer(403, b"<!doctype html><title>Attention</title>", {"content-type": "text/html"}),
        "HTTP 403 from {host}: HTML page “Attention”",
    ),
    "401": (Answer(401, b"no"), "HTTP 401 from {host}"),
    "429": (
        Answer(429, b"slow down", {"retry-after": "12"}),
        "HTTP 429 from {host}; try again in 12 s",
    ),
    "redirect": (
        Answer(302, b"", {"location": "https://elsewhere.example/"}),
        "HTTP 302 from {host}",
    ),
    "truncated": (
        Answer(200, b'{"apps": [{"id": "a", "name": "A"}, {"id": "b", "na', cut=40),
        "{host}: the connection was closed too early",
    ),
    "cut json": (
        Answer(200, b'{"apps": [{"id": "a"'),
        "page 1 of {host} is unreadable: Input data was truncated",
    ),
    "nothing": (Answer(200, b""), "an empty answer from {host}"),
    "no page": (
        Answer(200, b"[1]"),
        "page 1 of {host} is unreadable: Expected `object`, got `array`",
    ),
    "deep": (
        Answer(200, b'{"apps": ' + b"[" * 200_000),
        "page 1 of {host} is unreadable: nested too deeply",
    ),
    "bomb": (
        Answer(200, gzip.compress(b" " * (40 << 20), 6), {"content-encoding": "gzip"}),
        "{host}: the answer is larger than 16777216 bytes",
    ),
    "brotli": (
        Answer(200, b"xxxx", {"content-encoding": "br"}),
        "{host}: the answer is packed as br, which was not offered",
    ),
    "circle": (
        Answer(200, b'{"apps": [], "next_token": "again"}'),
        "the pages of {host} go round in a circle",
    ),
}


@pytest.mark.parametrize("case", BAD)
async def test_a_bad_backend_is_told_in_words_and_the_rows_stay(
    deps: Deps, home: Path, case: str
) -> None:
    answer, words = BAD[case]
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}]]
        await world.apps.refresh(forced=True)
        world.backend.answers["directory"] = answer
        await world.apps.refresh(forced=True)
        [failed] = world.of(RefreshFailed)
        assert failed.message == words.format(host=world.backend.url.removeprefix("http://"))
        assert failed.evidence.wire == failed.message
        assert list(world.apps.owner.current.rows) == ["a"]
        finished = world.of(RefreshFinished)[-1]
        assert (finished.outcome, finished.kept_previous) == ("partly", True)


async def test_a_backend_that_says_nothing_is_left_at_the_deadline(deps: Deps, home: Path) -> None:
    async with apps_world(deps, home, deadline=0.2) as world:
        world.backend.hold("directory")
        await world.apps.refresh(forced=True)
        [failed] = world.of(RefreshFailed)
        assert failed.message in (
            "no answer within 0.2 s",
            f"no answer from {world.backend.url.removeprefix('http://')}",
        )


async def test_a_backend_that_is_not_there_is_named(deps: Deps, home: Path) -> None:
    async with apps_world(deps, home) as world:
        world.backend.url = "http://127.0.0.1:9"
        world.configure("")
        await world.apps.refresh(forced=True)
        [failed] = world.of(RefreshFailed)
        assert failed.message == "127.0.0.1:9: Connection refused"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        (
            "http://backend.example",
            "backend.example is asked for over plain http; the token is not sent",
        ),
        ("nonsense", "chatgpt_base_url is no usable URL"),
        ("http://[::1", "chatgpt_base_url is no usable URL"),
    ],
)
async def test_the_token_leaves_only_for_a_safe_address(
    deps: Deps, home: Path, url: str, words: str
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.url = url
        world.configure("")
        await world.apps.refresh(forced=True)
        assert [event.message for event in world.of(RefreshFailed)] == [words]


async def test_a_token_that_cannot_be_sent_is_never_quoted(deps: Deps, home: Path) -> None:
    async with apps_world(deps, home) as world:
        world.sign_in(token="secret\nline")
        await world.apps.refresh(forced=True)
        [failed] = world.of(RefreshFailed)
        assert failed.message == "the stored sign-in cannot be sent"
        assert "secret" not in repr(world.events)
