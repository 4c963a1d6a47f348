"""All of the app layer on a backend of the test's own, with a configuration and a sign-in."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup

from core.apps.installed import Installed
from core.apps.layer import AppLayer, build_app_layer
from core.apps.listing import AppList, Asked
from core.apps.metadata import AppMetadataReader
from core.apps.view import View, Views
from core.auth.account import Account
from core.config.paths import Home
from core.config.store import ConfigStore
from core.errors import CoreError
from core.net.http import HttpClients
from core.ports import Deps
from core.protocol.app_info import AppInfo
from core.protocol.events import Event
from core.scope import Caller, RequestScope
from core.seams import HostedServer, HostedTool, NamedApp
from core.service.apps import AppsService
from core.threads.policy import CODEX, ThreadPolicy
from tests.fakes.chatgpt_backend import ChatGptBackend, auth_json, write_auth
from tests.fakes.seen import Seen


class FakeHosted:
    """The hosted tools: a list, a failure, or a wait until `gate` is set."""

    def __init__(self) -> None:
        self.tools: list[dict[str, Any]] = []
        self.failure: CoreError | None = None
        self.gate: anyio.Event | None = None
        self.asked: list[HostedServer] = []

    async def list_hosted_tools(
        self, server: HostedServer, *, policy: ThreadPolicy, deadline: float
    ) -> Sequence[HostedTool]:
        self.asked.append(server)
        if self.gate is not None:
            await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return [HostedTool(raw=raw) for raw in self.tools]


class FakePluginApps:
    """The apps that enabled plugins name."""

    def __init__(self) -> None:
        self.named: list[NamedApp] = []

    def named_apps(self, cwd: Path | None) -> tuple[NamedApp, ...]:
        return tuple(self.named)


@dataclass
class AppsWorld:
    """What a test works with.

    Attributes:
        told: Each list that `app/list` sent before an answer.
        log: Notifications and answers of the service in the order in which they left.
    """

    backend: ChatGptBackend
    hosted: FakeHosted
    plugins: FakePluginApps
    deps: Deps
    codex_home: Path
    account: Account
    views: Views
    apps: AppList
    installed: Installed
    metadata: AppMetadataReader
    service: AppsService
    layer: AppLayer
    group: TaskGroup
    events: Seen[Event]
    told: Seen[tuple[AppInfo, ...]] = field(default_factory=Seen[tuple[AppInfo, ...]])
    policy: ThreadPolicy = CODEX

    def configure(self, text: str) -> None:
        content = f'chatgpt_base_url = "{self.backend.url}"\n{text}'
        (self.codex_home / "config.toml").write_text(content, encoding="utf-8")

    def sign_in(self, **members: Any) -> None:
        write_auth(self.codex_home, auth_json(**members))

    async def view(self) -> View:
        return await self.views.at(None)

    async def list(self, *, forced: bool = False) -> tuple[AppInfo, ...] | None:
        self.told.clear()
        asked = Asked(
            view=await self.view(),
            policy=self.policy,
            originator="test",
            updated=self.told.append,
            forced=forced,
        )
        with anyio.fail_after(10):
            return await self.apps.list(asked)

    def scope(self, log: list[tuple[str, Any]] | None = None) -> RequestScope:
        def notify(method: str, params: Any) -> None:
            if log is not None:
                log.append((method, params))

        return RequestScope(caller=Caller(policy=self.policy, name="test"), notify=notify)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


class _NoThreads:
    def config_of(self, thread_id: str) -> Any:
        raise AssertionError("no thread is named here")


@asynccontextmanager
async def apps_world(
    deps: Deps, home: Path, *, deadline: float = 10.0
) -> AsyncGenerator[AppsWorld]:
    """Signed in, an empty directory, no tools."""
    events: Seen[Event] = Seen()
    codex_home = home / ".codex"
    deps = replace(deps, http=HttpClients({}))
    hosted, plugins = FakeHosted(), FakePluginApps()
    configs = ConfigStore(Home.of(deps), deps)
    backend = ChatGptBackend()
    with backend.running():
        account = Account(
            deps=deps,
            load=configs.load,
            auth_file=codex_home / "auth.json",
            codex_home=codex_home,
            emit=events.append,
        )
        async with anyio.create_task_group() as group:
            layer = build_app_layer(
                deps=deps,
                codex_home=codex_home,
                load=configs.load,
                accounts=account,
                hosted=hosted,
                plugins=plugins,
                emit=events.append,
                spawn=group.start_soon,
                deadline=deadline,
            )
            world = AppsWorld(
                backend=backend,
                hosted=hosted,
                plugins=plugins,
                deps=deps,
                codex_home=codex_home,
                account=account,
                views=layer.views,
                layer=layer,
                apps=layer.apps,
                installed=layer.installed,
                metadata=layer.metadata,
                service=AppsService(layer, _NoThreads()),
                group=group,
                events=events,
            )
            world.configure("")
            world.sign_in()
            yield world
            group.cancel_scope.cancel()
