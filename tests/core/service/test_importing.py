"""Scanning and applying on a whole core: nothing is written before a yes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from core import method_table as methods
from core.client.contract import CoreClient
from core.compose import open_core
from core.errors import CoreError
from core.ports import Deps
from core.protocol.jackfield import UndoParams
from core.protocol.jackfield_import import ApplyParams, ImportChoice, ImportRow, ScanParams
from core.protocol.jackfield_search import SearchParams
from core.protocol.jackfield_validate import ValidateParams
from tests.core.importer.world import SECRET, put
from tests.core.plugins.world import put_market, put_plugin

pytestmark = pytest.mark.anyio
OWN = '# mine\n[mcp_servers.there]\ncommand = "y" # kept\n'


@asynccontextmanager
async def client_of(deps: Deps) -> AsyncGenerator[CoreClient]:
    async with open_core(deps) as core:
        yield core.client()


def cursor(home: Path, servers: dict[str, Any]) -> None:
    put(home / ".cursor/mcp.json", {"mcpServers": servers})


def text_of(path: Path) -> str:
    return path.read_text()


def times(root: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in root.rglob("*")}


def commit_all(repository: Path) -> None:
    git = ["git", "-C", str(repository), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True, capture_output=True)


async def rows(client: CoreClient) -> dict[str, ImportRow]:
    found = await client.call(methods.JACKFIELD_IMPORT_SCAN, ScanParams())
    return {row.name: row for row in found.rows}


def yes(row: ImportRow, **more: Any) -> ImportChoice:
    return ImportChoice(id=row.id, digest=row.digest, **more)


async def apply(client: CoreClient, *choices: ImportChoice) -> Any:
    return await client.call(methods.JACKFIELD_IMPORT_APPLY, ApplyParams(choices=choices))


@pytest.fixture
def config(home: Path) -> Path:
    return put(home / ".codex/config.toml", OWN)


async def test_looking_writes_nothing(deps: Deps, home: Path, config: Path):
    cursor(home, {"s": {"command": "x"}})
    before = times(home)
    async with client_of(deps) as client:
        assert (await rows(client))["s"].proposed
    assert times(home) == before
    assert times(deps.state_dir) == {}


async def test_what_was_shown_is_what_is_written_and_undo_takes_it_back(
    deps: Deps, home: Path, config: Path
):
    cursor(home, {"s": {"command": "x", "args": ["1"]}, "t": {"command": "z"}})
    async with client_of(deps) as client:
        found = await rows(client)
        result = await apply(client, yes(found["s"]), yes(found["t"], name="t2"))
        assert [(one.name, one.state) for one in result.outcomes] == [
            ("s", "written"), ("t2", "written"),
        ]  # fmt: skip
        written = text_of(config)
        assert written.startswith(OWN)
        assert found["s"].toml in written
        assert '[mcp_servers.t2]\ncommand = "z"' in written
        assert len(list((deps.state_dir / "backups").iterdir())) == 1
        assert result.undo is not None
        await client.call(methods.JACKFIELD_UNDO, UndoParams(token=result.undo))
    assert text_of(config) == OWN


async def test_a_taken_name_is_replaced_only_when_that_was_said(
    deps: Deps, home: Path, config: Path
):
    cursor(home, {"there": {"command": "x"}})
    async with client_of(deps) as client:
        row = (await rows(client))["there"]
        assert row.state == "clash"
        with pytest.raises(CoreError, match="there is in the configuration already"):
            await apply(client, yes(row))
        assert text_of(config) == OWN
        await apply(client, yes(row, replace=True))
    assert 'command = "x" # kept' in text_of(config)


async def test_one_that_cannot_be_written_leaves_all_others_unwritten(
    deps: Deps, home: Path, config: Path
):
    cursor(home, {"s": {"command": "x"}, "bad": {"type": "ws", "url": "wss://x"}})
    async with client_of(deps) as client:
        found = await rows(client)
        with pytest.raises(CoreError, match="bad cannot be written"):
            await apply(client, yes(found["s"]), yes(found["bad"]))
        with pytest.raises(CoreError, match="two of them would be called s"):
            await apply(client, yes(found["s"]), yes(found["s"]))
        with pytest.raises(CoreError, match="s needs a name"):
            await apply(client, yes(found["s"], name=" "))
    assert text_of(config) == OWN


async def test_a_source_that_has_changed_since_it_was_shown_is_refused(
    deps: Deps, home: Path, config: Path
):
    cursor(home, {"s": {"command": "x"}})
    async with client_of(deps) as client:
        row = (await rows(client))["s"]
        cursor(home, {"s": {"command": "evil"}})
        with pytest.raises(CoreError, match="s has changed since it was shown"):
            await apply(client, yes(row))
        cursor(home, {})
        with pytest.raises(CoreError, match="has changed since"):
            await apply(client, yes(row))
    assert text_of(config) == OWN


async def test_a_secret_is_copied_only_after_a_yes_of_its_own(deps: Deps, home: Path, config: Path):
    cursor(
        home,
        {
            "env": {"command": "x", "env": {"API_KEY": SECRET}},
            "args": {"command": "x", "args": ["--token", SECRET]},
        },
    )
    async with client_of(deps) as client:
        found = await rows(client)
        await apply(client, yes(found["env"]))
        assert SECRET not in text_of(config)
        with pytest.raises(CoreError, match="holds a literal secret in args") as caught:
            await apply(client, yes(found["args"]))
        assert SECRET not in repr(caught.value)
        result = await apply(client, yes(found["args"], copy_secrets=True))
        assert SECRET not in repr(result)
    assert SECRET in text_of(config)
    assert "•" not in text_of(config)


async def test_a_core_that_may_not_write_says_so(deps: Deps, home: Path, config: Path):
    from dataclasses import replace

    cursor(home, {"s": {"command": "x"}})
    async with client_of(replace(deps, read_only=True)) as client:
        row = (await rows(client))["s"]
        with pytest.raises(CoreError, match="read-only"):
            await apply(client, yes(row))
    assert text_of(config) == OWN


async def test_only_one_agents_files_and_no_unknown_agent(deps: Deps, home: Path):
    cursor(home, {"s": {"command": "x"}})
    async with client_of(deps) as client:
        asked = ScanParams(app="gemini")
        assert (await client.call(methods.JACKFIELD_IMPORT_SCAN, asked)).rows == ()
        with pytest.raises(CoreError, match="no agent 'emacs'"):
            await client.call(methods.JACKFIELD_IMPORT_SCAN, ScanParams(app="emacs"))


@pytest.mark.needs("git")
async def test_a_git_marketplace_is_cloned_after_the_write_and_a_dead_one_is_told(
    deps: Deps, home: Path, tmp_path: Path
):
    repository = tmp_path / "repo"
    put_market(repository, "p")
    put_plugin(repository / "plugins/p", {"skills/a/SKILL.md": "---\ndescription: d\n---\n"})
    commit_all(repository)

    def known(url: str) -> dict[str, Any]:
        return {"source": {"source": "git", "url": url}}

    put(
        home / ".claude/plugins/known_marketplaces.json",
        {"m": known(str(repository)), "dead": known(str(tmp_path / "gone"))},
    )
    async with client_of(deps) as client:
        found = await rows(client)
        result = await apply(client, yes(found["m"]), yes(found["dead"]))
        states = {one.name: one.state for one in result.outcomes}
        assert states == {"m": "cloned", "dead": "failed"}
        assert "gone" in next(one.message for one in result.outcomes if one.name == "dead")
        searched = await client.call(methods.JACKFIELD_SEARCH, SearchParams(query="p"))
        assert [hit.plugin.plugin_id for hit in searched.hits] == ["p@m"]


async def test_searching_reads_the_marketplaces_first_and_knows_names_of_skills(
    deps: Deps, home: Path
):
    put_market(home, "review", "code-review", "reviewer", "other")
    for name in ("review", "code-review", "reviewer"):
        put_plugin(home / "plugins" / name)
    put_plugin(home / "plugins/other", {"skills/review-all/SKILL.md": "---\ndescription: d\n---\n"})
    async with client_of(deps) as client:
        result = await client.call(methods.JACKFIELD_SEARCH, SearchParams(query="review"))
        assert [(hit.plugin.name, hit.found) for hit in result.hits] == [
            ("review", "exact"), ("reviewer", "prefix"), ("code-review", "word"), ("other", "text"),
        ]  # fmt: skip
        assert result.total == 4 and result.hits[0].marketplace_name == "m"
        assert not (await client.call(methods.JACKFIELD_SEARCH, SearchParams(query=" "))).hits
        best = await client.call(methods.JACKFIELD_SEARCH, SearchParams(query="review", limit=1))
        assert len(best.hits) == 1


async def test_validating_takes_paths_from_the_workspace_and_from_the_home(deps: Deps, home: Path):
    put_market(Path(deps.cwd) / "here", {"name": "p", "source": 7})
    put(home / "there/.agents/plugins/marketplace.json", json.dumps({"name": "x y"}))
    async with client_of(deps) as client:
        for path in ("here", "./here/", str(deps.cwd / "here")):
            result = await client.call(methods.JACKFIELD_VALIDATE, ValidateParams(path=path))
            assert (result.kind, result.name) == ("marketplace", "m")
        result = await client.call(methods.JACKFIELD_VALIDATE, ValidateParams(path="~/there"))
        assert result.count("error") == 2
        for path in ("", "  ", "a\0b"):
            with pytest.raises(CoreError, match="name a folder"):
                await client.call(methods.JACKFIELD_VALIDATE, ValidateParams(path=path))
