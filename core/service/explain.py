"""jackfield/explain: gathers what every layer says, and has the path drawn."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import anyio

from core.errors import CoreError, InvalidRequest
from core.explain.chain import explain, unexplained
from core.explain.scene import Feature, Scene, ServerFacts, Target
from core.explain.targets import meaning_of
from core.mcp.rows import Held, presumed_auth, server_row
from core.protocol.events import Event, RefreshFailed, RefreshStarted
from core.protocol.jackfield import RecentParams
from core.protocol.jackfield_explain import ExplainParams, ExplainResult
from core.protocol.jackfield_install import Compatibility, CompatibilityParams
from core.protocol.rows import ServerRow
from core.scope import RequestScope
from core.service.dispatch import Handler
from core.service.explain_facts import facts_of

if TYPE_CHECKING:
    from core.apps.layer import AppLayer
    from core.auth.account import Account
    from core.config.model import Loaded
    from core.mcp.auth_status import AuthJudge
    from core.mcp.board import ServerBoard
    from core.mcp.connection import Connection
    from core.mcp.spec import ServerSpec
    from core.plugins.catalog import PluginCatalog
    from core.ports import Deps
    from core.service.credentials import CredentialFollower
    from core.service.plugin_details import PluginDetails
    from core.service.plugin_trust import PluginTrust
    from core.service.rows import RowsService
    from core.threads.manager import ThreadManager
    from core.threads.panel import Panel

SHELF_DEADLINE = 10.0
MOST = 600.0
_FEATURES = ("plugins", "apps")


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Who is asked; the owners do not know of it."""

    deps: Deps
    threads: ThreadManager
    panel: Panel
    board: ServerBoard
    catalog: PluginCatalog
    apps: AppLayer
    account: Account
    credentials: CredentialFollower
    judge: AuthJudge
    trust: PluginTrust
    details: PluginDetails
    rows: RowsService


@dataclass(frozen=True)
class _Servers:
    """Servers at one moment, of the panel's thread or of the files alone."""

    loaded: Loaded
    specs: Mapping[str, ServerSpec]
    rows: Mapping[str, ServerRow]
    connections: Mapping[str, Connection]


class ExplainService:
    """By itself it starts nothing and asks nobody on the network; `again` does."""

    def __init__(self, sources: Sources) -> None:
        self._of = sources
        self._turn = anyio.Lock()

    def handlers(self) -> dict[str, Handler]:
        return {"jackfield/explain": self.explain}

    async def explain(self, params: ExplainParams, scope: RequestScope) -> ExplainResult:
        """The path of what is named.

        Raises:
            InvalidRequest: The name is empty, or the deadline is none.
        """
        text = params.target.strip()
        if not text:
            raise InvalidRequest("what is to be explained?")
        if not 0 < params.deadline <= MOST:
            raise InvalidRequest(f"the deadline must be between 0 and {MOST:.0f} s")
        async with self._turn:
            return await self._explain(text, params, scope)

    async def _explain(
        self, text: str, params: ExplainParams, scope: RequestScope
    ) -> ExplainResult:
        await self._read_lists(params)
        scene, servers = await self._scene(scope, again=params.again)
        meaning = meaning_of(scene, text, params.kind)
        if params.again and (names := _concerned(scene, meaning.target)):
            with anyio.move_on_after(params.deadline):
                await self._ask(names, params)
            scene, servers = await self._scene(scope, again=True)
            meaning = meaning_of(scene, text, params.kind)
        target = meaning.target
        if target is None:
            return unexplained(scene, text, meaning, params.kind)
        compat = await self._compat(scene, target, scope)
        scene = replace(scene, compat=compat, hooks=await self._hooks(scene, target))
        facts = await self._facts(servers, _concerned(scene, target))
        return explain(replace(scene, facts=facts), text, target)

    # -- lists

    async def _read_lists(self, params: ExplainParams) -> None:
        catalog, again = self._of.catalog, params.again
        await _quietly(self._of.account.refresh())
        if again or catalog.plugins.current.phase != "final":
            with anyio.move_on_after(SHELF_DEADLINE):
                await _quietly(catalog.refresh(forced=again))
                await catalog.counted()
        apps = self._of.apps
        if not again:
            await _quietly(apps.reconsider())
        elif params.kind in (None, "app", "tool", "plugin"):
            with anyio.move_on_after(params.deadline):
                async with anyio.create_task_group() as both:
                    both.start_soon(_quietly, apps.apps.refresh(forced=True))
                    both.start_soon(_quietly, apps.installed.refresh(forced=True))

    async def _scene(self, scope: RequestScope, *, again: bool) -> tuple[Scene, _Servers]:
        of = self._of
        servers = await self._servers()
        loaded, home = servers.loaded, of.threads.source.home
        installed = of.apps.installed.owner.current
        accounts = of.account.owner.current.rows
        scene = Scene(
            codex_home=str(home.codex_home),
            config_file=str(home.config_file),
            project_root=str(loaded.project_root or of.deps.cwd),
            trusted=loaded.trusted,
            features={name: _feature(loaded, name) for name in _FEATURES},
            config_problems=loaded.problems,
            closed=loaded.requirements.broken,
            marketplaces=of.catalog.marketplaces.current.rows,
            plugins=of.catalog.plugins.current.rows,
            apps=of.apps.apps.owner.current.rows,
            installed=installed.rows,
            servers=servers.rows,
            tools=self._tools(),
            account=next(iter(accounts.values()), None),
            refresh_failures=await self._failures(scope),
            snapshot_at=installed.refreshed_at,
            again=again,
            now=of.deps.clock.now(),
        )
        return scene, servers

    def _tools(self) -> Mapping[str, Any]:
        rows = dict(self._of.board.inventory.current.rows)
        rows.update({row.id: row for row in self._of.apps.installed.snapshot_tools()})
        return rows

    async def _failures(self, scope: RequestScope) -> dict[str, str]:
        """What the last refresh of a list could not read."""
        recent = await self._of.rows.recent(RecentParams(limit=5000), scope)
        return _last_failures(recent.events)

    # -- servers

    async def _servers(self) -> _Servers:
        of = self._of
        thread = of.panel.thread
        if thread is not None:
            runtime = thread.runtime
            rows = of.board.servers.current.rows
            return _Servers(thread.loaded, dict(runtime.specs), rows, dict(runtime.connections))
        reading = await of.threads.source.read(of.deps.cwd, account=False)
        specs = {spec.name: spec for spec in reading.specs}
        clock = of.deps.clock
        rows = {
            name: server_row(spec, None, held=Held(), auth=presumed_auth(spec), clock=clock)
            for name, spec in specs.items()
        }
        return _Servers(reading.loaded, specs, rows, {})

    async def _ask(self, names: tuple[str, ...], params: ExplainParams) -> None:
        """Start what may be started, list anew what runs, and learn how it is authorised."""
        of = self._of
        if of.panel.thread is None:
            await of.panel.open(consent_all=params.consent, only=names)
            await of.panel.refresh("explain-started", names=names)
        else:
            await of.panel.refresh("explain-again", forced=True, names=names)
        thread = of.panel.thread
        if thread is None:
            return
        specs = thread.runtime.specs

        async def judge(spec: ServerSpec) -> None:
            of.board.set_auth(spec.name, await of.judge.state(spec))

        async with anyio.create_task_group() as tasks:
            for name in names:
                if (spec := specs.get(name)) is not None and spec.usable:
                    tasks.start_soon(judge, spec)

    async def _facts(self, servers: _Servers, names: Iterable[str]) -> dict[str, ServerFacts]:
        facts: dict[str, ServerFacts] = {}

        async def gather(name: str, spec: ServerSpec) -> None:
            connection = servers.connections.get(name)
            stored = self._of.credentials.state
            facts[name] = await facts_of(spec, connection, servers.loaded, stored)

        async with anyio.create_task_group() as tasks:
            for name in names:
                if (spec := servers.specs.get(name)) is not None:
                    tasks.start_soon(gather, name, spec)
        return facts

    # -- plugins

    async def _compat(
        self, scene: Scene, target: Target, scope: RequestScope
    ) -> dict[str, Compatibility]:
        row = scene.plugins.get(target.id) if target.kind == "plugin" else None
        if row is None or row.state in ("skipped", "leftOver"):
            return {}
        try:
            params = CompatibilityParams(plugin_id=row.id)
            return {row.plugin_id: await self._of.trust.compatibility(params, scope)}
        except CoreError:
            return {}

    async def _hooks(self, scene: Scene, target: Target) -> dict[str, tuple[tuple[str, str], ...]]:
        row = scene.plugins.get(target.id) if target.kind == "plugin" else None
        if row is None or not row.installed:
            return {}
        try:
            detail = await self._of.details.detail(row.id)
        except CoreError:
            return {}
        hooks = detail.get("hooks") or ()
        return {row.plugin_id: tuple((each["event"], each["status"]) for each in hooks)}


def _concerned(scene: Scene, target: Target | None) -> tuple[str, ...]:
    """Servers that the path of a target runs over."""
    if target is None:
        return ()
    if target.kind == "server":
        return (target.id,)
    if target.kind == "tool":
        return (target.owner,) if target.owner in scene.servers else ()
    if target.kind == "plugin":
        row = scene.plugins.get(target.id)
        id = row.plugin_id if row is not None else ""
        return tuple(name for name, each in scene.servers.items() if each.plugin_id == id)
    return ()


def _feature(loaded: Loaded, name: str) -> Feature:
    pinned = name in loaded.requirements.features
    return Feature(on=loaded.feature(name), at=loaded.feature_origin(name), pinned=pinned)


def _last_failures(events: Iterable[Event]) -> dict[str, str]:
    failures: dict[str, str] = {}
    for event in events:
        match event:
            case RefreshStarted():
                failures.pop(event.domain, None)
            case RefreshFailed():
                failures[event.domain] = f"{event.source}: {event.message}"
            case _:
                pass
    return failures


async def _quietly(work: Awaitable[Any]) -> None:
    """A list that cannot be read tells so itself; what is known is explained."""
    try:
        await work
    except CoreError:
        pass
