"""The panel's marketplaces and plugins: published as they come, kept when a source is silent."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from core.plugins import reading
from core.plugins.catalog import PluginCatalog
from core.plugins.discovery import Candidate, Place
from core.protocol.events import (
    Event,
    PluginsChanged,
    RefreshFailed,
    RefreshFinished,
    RefreshProgress,
    RefreshStarted,
)
from core.protocol.rows import MarketplaceRow, PluginRow
from tests.core.plugins.world import CODEX_PLACE, World, put, put_market, put_plugin
from tests.fakes.seen import Seen

pytestmark = pytest.mark.anyio


class Panel:
    """A catalog with everything that it has emitted."""

    def __init__(self, world: World, deadline: float = 10.0) -> None:
        self.events: Seen[Event] = Seen()
        self.catalog = PluginCatalog(
            world.home,
            world.configs,
            world.deps,
            self.events.append,
            lambda: world.account,
            deadline=deadline,
        )

    @property
    def rows(self) -> dict[str, PluginRow]:
        return dict(self.catalog.plugins.current.rows)

    @property
    def markets(self) -> dict[str, MarketplaceRow]:
        """By name."""
        return {row.name: row for row in self.catalog.marketplaces.current.rows.values()}

    async def refresh(self, *, forced: bool = False) -> None:
        with anyio.fail_after(10):
            await self.catalog.refresh(forced=forced)

    async def counted(self, plugin_id: str) -> PluginRow:
        """A row with the counts of what it brings."""
        with anyio.fail_after(5):
            await self.catalog.counted()
        return self.rows[plugin_id]

    async def kept(self, world: World) -> Path:
        """The cache's file, once it has been written."""
        with anyio.fail_after(5):
            await self.catalog.counted()
        (path,) = world.deps.cache_dir.glob("plugins-*.jsonl")
        return path

    def told(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def panel(world: World) -> Panel:
    return Panel(world)


async def test_rows_come_with_state_place_and_version(world: World, panel: Panel):
    path = put_market(
        world.user,
        "plain",
        {"name": "far", "source": {"source": "npm", "package": "a", "version": "^1"}},
        {"name": "never", "source": "./plugins/plain", "policy": {"installation": "NOT_AVAILABLE"}},
        "gone",
    )
    put_plugin(world.user / "plugins/plain", version="1.0", description="about")
    await panel.refresh()
    rows = panel.rows
    assert list(rows) == ["plain@m", "far@m", "never@m", "gone@m"]
    plain = rows["plain@m"]
    assert (plain.state, plain.offered, plain.version) == ("available", "1.0", None)
    assert (plain.marketplace, plain.source, plain.source_kind) == (
        str(path),
        "./plugins/plain",
        "local",
    )
    assert (rows["far@m"].source, rows["far@m"].source_kind) == ("a@^1", "npm")
    assert rows["never@m"].state == "notOffered"
    assert (rows["gone@m"].state, rows["gone@m"].reason) == ("broken", "its folder is missing")


async def test_installed_copies_and_switches_decide_on_the_state(world: World, panel: Panel):
    put_market(world.user, "on", "off", "old", "wanted", "torn")
    for name in ("on", "off", "old", "wanted", "torn"):
        put_plugin(world.user / f"plugins/{name}", version="2.0")
    for name in ("on", "off"):
        world.install(f"{name}@m", version="2.0")
    world.install("old@m", version="1.0")
    put(world.install("torn@m") / ".codex-plugin/plugin.json", "{")
    for name in ("on", "old", "wanted", "torn"):
        world.switch(f"{name}@m")
    world.switch("off@m", False)
    await panel.refresh()
    states = {row.name: (row.state, row.installed, row.enabled) for row in panel.rows.values()}
    assert states == {
        "on": ("enabled", True, True),
        "off": ("disabled", True, False),
        "old": ("update", True, True),
        "wanted": ("notInstalled", False, True),
        "torn": ("broken", True, True),
    }
    old = panel.rows["old@m"]
    assert (old.version, old.offered) == ("1.0", "2.0")
    assert old.enabled_at.file == str(world.home.config_file)
    assert old.enabled_at.line is not None
    assert panel.rows["torn@m"].reason.startswith("installed copy: ")


async def test_entries_that_codex_leaves_out_are_rows_with_their_line(world: World, panel: Panel):
    text = """{
  "name": "m",
  "plugins": [
    {"name": "good", "source": "./plugins/good"},
    {"name": "bad", "source": {"source": "github", "repo": "acme/bad"}}
  ]
}"""
    path = put(world.user / CODEX_PLACE, text)
    put_plugin(world.user / "plugins/good")
    await panel.refresh()
    row = panel.rows["bad@m"]
    assert (row.state, row.reason) == ("skipped", 'source kind "github"')
    (problem,) = row.problems
    assert (problem.evidence.file, problem.evidence.line) == (str(path), 5)
    assert problem.codex == "leaves the entry out, says nothing"
    wanted = 'write {"source": "url", "url": "https://github.com/acme/bad.git"}'
    assert problem.hint == wanted
    assert panel.markets["m"].total == 2


async def test_entries_of_one_name_are_all_shown_under_ids_of_their_own(
    world: World, panel: Panel, tmp_path: Path
):
    put_market(world.user, "p", {"name": "p", "source": "./other"}, name="same")
    put_market(tmp_path / "two", "p", name="same")
    world.add_market(tmp_path / "two", "same")
    await panel.refresh()
    states = {key: row.state for key, row in panel.rows.items()}
    assert list(states) == ["p@same", "p@same#2", "p@same#3"]
    assert states["p@same#2"] == "skipped"
    assert [row.plugin_id for row in panel.rows.values()] == ["p@same"] * 3
    (problem,) = panel.rows["p@same#2"].problems
    assert problem.subject == "p@same#2"


async def test_left_overs_say_what_is_left(world: World, panel: Panel):
    put_market(world.user, "p")
    put_plugin(world.user / "plugins/p")
    world.install("cached@gone", interface={"displayName": "Once"})
    world.install("both@m")
    world.switch("both@m")
    world.switch("named@gone", False)
    world.switch("nonsense")
    await panel.refresh()
    left = {row.id: row.reason for row in panel.rows.values() if row.state == "leftOver"}
    assert left == {
        "both@m": "configured and cached, no longer offered",
        "cached@gone": "cached, its marketplace is gone",
        "named@gone": "configured, its marketplace is gone",
        "nonsense": "its key is no PLUGIN@MARKETPLACE",
    }
    assert panel.rows["cached@gone"].display_name == "Once"


async def test_marketplaces_that_cannot_be_read_are_rows_with_problems(
    world: World, panel: Panel, tmp_path: Path
):
    bad = put(tmp_path / "bad" / CODEX_PLACE, '{"name": "bad",\n]')
    world.add_market(tmp_path / "bad", "bad")
    world.add_market(tmp_path / "gone", "gone")
    (tmp_path / "empty").mkdir()
    world.add_market(tmp_path / "empty", "empty")
    world.configure('[marketplaces.team]\nsource_type = "git"\nsource = "https://x.test/r.git"')
    world.configure('[marketplaces.odd]\nsource = "x"')
    put_market(tmp_path / "taken", "p", name="openai-curated")
    world.add_market(tmp_path / "taken", "taken")
    await panel.refresh()
    found = {
        name: (row.listed, row.problems[0].rule, row.problems[0].message)
        for name, row in panel.markets.items()
    }
    assert found["bad"] == ("unreadable", "json", "key must be a string at line 2 column 1")
    assert found["gone"] == (
        "missing",
        "source-missing",
        f"no such directory: {tmp_path / 'gone'}",
    )
    assert found["empty"][:2] == ("missing", "file-missing")
    assert found["team"] == ("missing", "checkout-missing", "it has not been cloned yet")
    assert found["odd"] == ("missing", "marketplace-entry", "it has no `source_type`")
    assert found["openai-curated"][0] == "reserved"
    evidence = panel.markets["bad"].problems[0].evidence
    assert (evidence.file, evidence.line, evidence.column) == (str(bad), 2, 1)
    assert panel.markets["gone"].problems[0].evidence.file == str(world.home.config_file)


async def test_a_link_that_git_wrote_out_as_text_is_recognised(
    world: World, panel: Panel, tmp_path: Path
):
    put_market(tmp_path / "m", "p", place="real.json")
    put(tmp_path / "m" / CODEX_PLACE, "../../real.json")
    world.add_market(tmp_path / "m", "m")
    await panel.refresh()
    (problem,) = panel.markets["m"].problems
    assert problem.message == (
        f"it is a link written out as text; the file is {tmp_path / 'm/real.json'}"
    )


async def test_plugins_are_blocked_where_they_are_turned_off(world: World, panel: Panel):
    put_market(world.user, "p")
    world.configure("[features]\nplugins = false")
    await panel.refresh()
    row = panel.rows["p@m"]
    assert (row.state, row.reason) == ("blocked", "plugins are turned off")
    assert panel.markets["m"].listed == "off"


async def test_a_checkout_tells_its_commit(world: World, panel: Panel):
    root = world.home.marketplaces_dir / "team"
    put_market(root, "p", name="team")
    put(root / ".git/HEAD", "ref: refs/heads/main\n")
    put(root / ".git/packed-refs", f"# pack-refs\n{'a1b2c3d' * 5} refs/heads/main\n")
    world.configure(
        '[marketplaces.team]\nsource_type = "git"\nsource = "https://x.test/r.git"\nref = "main"'
    )
    await panel.refresh()
    assert panel.markets["team"].ref == "main@a1b2c3d"


async def test_what_plugins_bring_is_counted_afterwards(world: World, panel: Panel):
    put_market(world.user, "rich", "poor", "claude")
    skill = "---\ndescription: d\n---\n"
    put_plugin(
        world.user / "plugins/rich",
        {
            "skills/a/SKILL.md": skill,
            "commands/run.md": f"{skill}Run.",
            "commands/with.md": f"{skill}$ARGUMENTS",
            ".mcp.json": {"s": {"command": "x"}},
            ".app.json": {"apps": {"x": {"id": "a"}}},
            "hooks/hooks.json": {
                "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}
            },
        },
    )
    put_plugin(world.user / "plugins/poor")
    put_plugin(world.user / "plugins/claude", {"agents/a.md": "x"})
    await panel.refresh()
    brings = (await panel.counted("rich@m")).brings
    assert brings is not None
    assert (brings.skills, brings.hooks, brings.servers, brings.apps) == (2, 1, 1, 1)
    assert brings.ignored == ("1 command",)
    poor = await panel.counted("poor@m")
    assert (poor.state, poor.reason) == ("empty", "")
    claude = await panel.counted("claude@m")
    assert (claude.state, claude.reason) == ("empty", "only 1 agent")


async def test_counts_stay_when_the_lists_are_read_again(world: World, panel: Panel):
    put_market(world.user, "p")
    put_plugin(world.user / "plugins/p", {"skills/a/SKILL.md": "---\ndescription: d\n---\n"})
    await panel.refresh()
    counted = await panel.counted("p@m")
    await panel.refresh()
    assert panel.rows["p@m"] == counted


async def test_a_forced_refresh_counts_again_what_lies_in_marketplaces(world: World, panel: Panel):
    put_market(world.user, "p")
    root = put_plugin(world.user / "plugins/p", {"agents/a.md": "x"})
    await panel.refresh()
    assert (await panel.counted("p@m")).state == "empty"
    put(root / "skills/a/SKILL.md", "---\ndescription: d\n---\n")
    await panel.refresh(forced=True)
    row = await panel.counted("p@m")
    assert row.brings is not None
    assert (row.state, row.reason, row.brings.skills) == ("available", "", 1)


async def test_what_is_installed_is_counted_with_every_refresh(world: World, panel: Panel):
    put_market(world.user, "p")
    put_plugin(world.user / "plugins/p")
    root = world.install("p@m")
    world.switch("p@m")
    await panel.refresh()
    await panel.counted("p@m")
    put(root / "skills/a/SKILL.md", "---\ndescription: d\n---\n")
    await panel.refresh()
    brings = (await panel.counted("p@m")).brings
    assert brings is not None
    assert brings.skills == 1


# --- how it is published ---


async def test_each_refresh_tells_its_beginning_progress_and_end(world: World, panel: Panel):
    put_market(world.user, "p")
    with anyio.fail_after(10):
        await panel.catalog.refresh(refresh_id="r1")
    started = [event for event in panel.events if isinstance(event, RefreshStarted)]
    assert [(event.id, event.domain) for event in started] == [
        ("r1", "plugins"),
        ("r1/marketplaces", "marketplaces"),
    ]
    assert "home" in started[0].sources
    progress = [event for event in panel.events if isinstance(event, RefreshProgress)]
    assert [(event.id, event.source, event.done, event.total) for event in progress] == [
        ("r1", "home", 1, 1),
        ("r1/marketplaces", "home", 1, 1),
    ]
    finished = [event for event in panel.events if isinstance(event, RefreshFinished)]
    assert [(event.domain, event.outcome, event.added) for event in finished] == [
        ("marketplaces", "ok", 1),
        ("plugins", "ok", 1),
    ]


async def test_a_refresh_counts_what_has_changed(world: World, panel: Panel):
    put_market(world.user, "a", "b")
    await panel.refresh()
    put_market(world.user, {"name": "b", "source": "./other"}, "c")
    await panel.refresh()
    last = panel.told(RefreshFinished)[-1]
    assert isinstance(last, RefreshFinished)
    assert (last.domain, last.added, last.changed, last.removed) == ("plugins", 1, 1, 1)
    assert list(panel.rows) == ["b@m", "c@m"]


async def test_rows_of_the_last_time_come_first_and_are_marked(world: World, panel: Panel):
    put_market(world.user, "p")
    put_plugin(world.user / "plugins/p", {"skills/a/SKILL.md": "---\ndescription: d\n---\n"})
    await panel.refresh()
    await panel.kept(world)
    again = Panel(world)
    await again.refresh()
    (first, *_) = [event for event in again.events if isinstance(event, PluginsChanged)]
    assert (first.phase, first.upserted[0].cached) == ("cached", True)
    assert first.upserted[0].brings is not None
    assert not again.rows["p@m"].cached
    assert not again.markets["m"].cached


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"schemaVersion": 999}\n'])
async def test_a_damaged_cache_counts_for_nothing(world: World, panel: Panel, content: bytes):
    put_market(world.user, "p")
    await panel.refresh()
    path = await panel.kept(world)
    path.write_bytes(content)
    again = Panel(world)
    await again.refresh()
    changed = [event for event in again.events if isinstance(event, PluginsChanged)]
    assert all(event.phase != "cached" for event in changed)
    assert list(again.rows) == ["p@m"]


async def test_a_torn_line_of_the_cache_keeps_the_lines_before_it(world: World, panel: Panel):
    put_market(world.user, "p")
    world.switch("left@over")
    await panel.refresh()
    path = await panel.kept(world)
    path.write_bytes(path.read_bytes()[:-20])
    again = Panel(world)
    await again.refresh()
    assert list(again.rows) == ["p@m", "left@over"]


async def test_long_lists_come_bare_before_the_plugins_are_looked_at(world: World, panel: Panel):
    names = [f"p{number:03}" for number in range(reading.DRAFT_FROM)]
    put_market(world.user, *names)
    put_plugin(world.user / "plugins/p000", description="about")
    await panel.refresh()
    changed = [event for event in panel.events if isinstance(event, PluginsChanged)]
    assert [event.phase for event in changed[:2]] == ["intermediate", "intermediate"]
    assert (len(changed[0].upserted), changed[0].upserted[0].description) == (len(names), "")
    assert changed[1].upserted[0].description == "about"
    assert panel.rows["p001@m"].state == "broken"


async def test_a_change_on_disk_is_seen_by_the_next_refresh(world: World, panel: Panel):
    put_market(world.user, "p")
    root = put_plugin(world.user / "plugins/p", version="1")
    await panel.refresh()
    put_plugin(root, version="2.0")
    await panel.refresh()
    assert panel.rows["p@m"].offered == "2.0"


async def test_a_forced_refresh_trusts_no_time_stamp(world: World, panel: Panel):
    put_market(world.user, "p")
    root = put_plugin(world.user / "plugins/p", version="1")
    manifest = root / ".codex-plugin/plugin.json"
    await panel.refresh()
    before = os.stat(manifest)
    with manifest.open("r+") as file:
        text = file.read().replace('"1"', '"2"')
        file.seek(0)
        file.write(text)
    os.utime(manifest, ns=(before.st_atime_ns, before.st_mtime_ns))
    await panel.refresh(forced=True)
    assert panel.rows["p@m"].offered == "2"


async def test_nothing_that_is_as_it_was_is_published_again(world: World, panel: Panel):
    put_market(world.user, "p")
    put_plugin(world.user / "plugins/p")
    await panel.refresh()
    await panel.counted("p@m")
    number = len(panel.events)
    await panel.refresh()
    assert not [event for event in panel.events[number:] if isinstance(event, PluginsChanged)]


async def test_reading_for_the_panel_writes_nothing_into_the_home(world: World, panel: Panel):
    put_market(world.user, "p", {"name": "q", "source": {"source": "url", "url": "a/b"}})
    put_plugin(world.user / "plugins/p")
    world.switch("q@m")
    before = everything(world.user)
    await panel.refresh()
    await panel.kept(world)
    assert everything(world.user) == before


def everything(root: Path) -> list[str]:
    return sorted(str(path) for path in root.rglob("*"))


# --- silent sources ---


class Hung:
    """Makes one directory as silent as a dead network mount."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.free = threading.Event()
        real = reading.resolve

        def resolve(candidate: Candidate) -> Place | None:
            if candidate.root == str(root):
                self.free.wait(30)
            return real(candidate)

        monkeypatch.setattr(reading, "resolve", resolve)


@pytest.fixture
def hang(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], Hung]]:
    made: list[Hung] = []

    def make(root: Path) -> Hung:
        made.append(Hung(root, monkeypatch))
        return made[-1]

    yield make
    for hung in made:
        hung.free.set()


async def test_a_silent_source_delays_no_other(
    world: World, tmp_path: Path, hang: Callable[[Path], Hung]
):
    put_market(world.user, "p")
    put_market(tmp_path / "dead", "q", name="dead")
    world.add_market(tmp_path / "dead", "dead")
    hung = hang(tmp_path / "dead")
    panel = Panel(world, deadline=5.0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(panel.refresh)
        await panel.events.until(lambda: "p@m" in panel.rows)
        assert "q@dead" not in panel.rows
        hung.free.set()
    assert list(panel.rows) == ["p@m", "q@dead"]


async def test_a_source_that_never_answers_is_told_and_its_rows_are_kept(
    world: World, tmp_path: Path, hang: Callable[[Path], Hung]
):
    put_market(world.user, "p")
    path = put_market(tmp_path / "dead", "q", name="dead")
    world.add_market(tmp_path / "dead", "dead")
    panel = Panel(world, deadline=0.3)
    await panel.refresh()
    hung = hang(tmp_path / "dead")
    put_market(world.user, "p", "more")
    await panel.refresh()
    assert list(panel.rows) == ["p@m", "more@m", "q@dead"]
    row = panel.markets["dead"]
    assert (row.id, row.listed) == (str(path), "listed")
    assert (row.problems[0].rule, row.problems[0].severity) == ("silent", "warning")
    failed = [event for event in panel.events if isinstance(event, RefreshFailed)]
    assert {event.source for event in failed} == {"dead"}
    last = panel.told(RefreshFinished)[-1]
    assert isinstance(last, RefreshFinished)
    assert (last.outcome, last.kept_previous) == ("partly", True)
    hung.free.set()
    await panel.refresh()
    assert panel.markets["dead"].problems == ()


async def test_a_source_that_has_never_answered_is_a_row_all_the_same(
    world: World, tmp_path: Path, hang: Callable[[Path], Hung]
):
    world.add_market(tmp_path / "dead", "dead")
    hang(tmp_path / "dead")
    panel = Panel(world, deadline=0.2)
    await panel.refresh()
    row = panel.markets["dead"]
    assert (row.listed, row.problems[0].severity) == ("unreadable", "error")
    assert row.problems[0].evidence.file == str(world.home.config_file)


async def test_refreshes_that_wait_share_the_next_one(world: World, panel: Panel):
    put_market(world.user, "p")
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(panel.refresh)
    started = [
        event
        for event in panel.events
        if isinstance(event, RefreshStarted) and event.domain == "plugins"
    ]
    assert 1 <= len(started) <= 2


async def test_a_refresh_of_the_marketplaces_has_the_id_that_was_asked_for(
    world: World, panel: Panel
):
    put_market(world.user, "p")
    with anyio.fail_after(10):
        await panel.catalog.refresh(refresh_id="r1", domain="marketplaces")
    for kind in (RefreshStarted, RefreshFinished):
        told = {(event.id, event.domain) for event in panel.told(kind)}
        assert told == {("r1", "marketplaces"), ("r1/plugins", "plugins")}


async def test_a_refresh_that_was_asked_for_is_told_though_it_waited_for_another(
    world: World, panel: Panel
):
    put_market(world.user, "p")
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            for number in range(4):
                tasks.start_soon(lambda n=f"r{number}": panel.catalog.refresh(refresh_id=n))
    ended = {event.id for event in panel.told(RefreshFinished)}
    assert ended >= {"r0", "r1", "r2", "r3"}


async def test_what_never_answered_keeps_nothing(
    world: World, tmp_path: Path, hang: Callable[[Path], Hung]
):
    world.add_market(tmp_path / "dead", "dead")
    hang(tmp_path / "dead")
    panel = Panel(world, deadline=0.2)
    await panel.refresh()
    assert not any(event.kept_previous for event in panel.told(RefreshFinished))


# --- questions ---


async def test_two_names_for_one_directory_are_one_marketplace(
    world: World, panel: Panel, tmp_path: Path
):
    put_market(tmp_path / "m", "p")
    world.add_market(tmp_path / "m", "one")
    world.add_market(tmp_path / "m", "two")
    await panel.refresh()
    assert len(panel.catalog.marketplaces.current.rows) == 1
    assert list(panel.rows) == ["p@m"]


async def test_a_row_leads_to_its_offer(world: World, panel: Panel):
    put_market(world.user, "p")
    world.switch("left@over")
    await panel.refresh()
    found = panel.catalog.offer_of("p@m")
    assert found is not None
    row, offer = found
    assert offer is not None
    assert (row.id, offer.entry.name) == ("p@m", "p")
    left = panel.catalog.offer_of("left@over")
    assert left is not None
    assert left[1] is None
    assert panel.catalog.offer_of("nobody@m") is None


async def test_files_that_can_make_the_lists_stale_are_named(
    world: World, panel: Panel, tmp_path: Path
):
    path = put_market(world.user, "p")
    world.add_market(tmp_path / "gone", "gone")
    await panel.refresh()
    watched = set(panel.catalog.watched_paths())
    assert {path, tmp_path / "gone" / CODEX_PLACE, world.home.plugins_cache} <= watched


async def test_a_ref_that_git_would_take_for_an_option_is_a_problem(world: World, panel: Panel):
    source = {"source": "url", "url": "https://git.test/p.git", "ref": "--help"}
    put_market(world.user, {"name": "p", "source": source})
    await panel.refresh()
    row = panel.rows["p@m"]
    said = "its ref begins with `-`, which git takes for an option"
    assert (row.state, row.reason) == ("broken", said)
    (problem,) = row.problems
    assert problem.codex == "gives it to git as it is"
    assert problem.evidence.key == "plugins[0].ref"


async def test_skills_behind_links_are_not_counted_for_they_are_not_copied(
    world: World, panel: Panel
):
    put_market(world.user, "p")
    skill = "---\nname: s\ndescription: d\n---\n"
    root = put_plugin(world.user / "plugins/p", {"skills/own/SKILL.md": skill})
    put(world.user / "elsewhere/SKILL.md", skill)
    (root / "skills/linked").symlink_to(world.user / "elsewhere")
    await panel.refresh()
    row = await panel.counted("p@m")
    assert row.brings is not None
    assert (row.brings.skills, row.brings.ignored) == (1, ("1 linked skill",))
