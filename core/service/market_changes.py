"""jackfield/marketplace/source, remove and kinds: what the panel asks about marketplaces."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from core.config.edit_plan import Edit
from core.config.model import Loaded
from core.errors import CoreError, InvalidRequest
from core.plugins.allowed import SourcePolicy, written
from core.plugins.layout import marketplace_file
from core.plugins.marketplaces.roots import checkout_of, configured, read_root
from core.plugins.marketplaces.source_text import GitPlace, LocalPlace, marketplace_source
from core.plugins.sources.git import without_secrets
from core.plugins.workers import in_thread
from core.protocol.facts import Evidence
from core.protocol.jackfield import IdParams, NoParams
from core.protocol.jackfield_install import (
    KindsResult,
    KindState,
    MarketplaceRemoveParams,
    RemovedResult,
    SourceParams,
    SourceRead,
)
from core.scope import RequestScope
from core.service.dispatch import Handler

if TYPE_CHECKING:
    from core.plugins.marketplaces.removing import MarketplaceRemover
    from core.service.plugin_installing import PluginInstalling
    from core.service.undoing import Undoes
    from core.service.workbench import Workbench

DEADLINE = 10.0
_HTTPS = re.compile(r"https?://(?:[^/@]+@)?([^/:]+)(?::\d+)?/(.+)")
_SSH = re.compile(r"(?:ssh://)?git@([^/:]+)[:/](?:\d+/)?(.+)")
# Kind, name for people, the feature that it needs besides `plugins`.
_KINDS = (
    ("remote", "OpenAI's remote catalogue", "remote_plugin"),
    ("vertical", "catalogue for this account's trade", ""),
    ("workspace-directory", "directory of the workspace", ""),
    ("shared-with-me", "shared with me", "plugin_sharing"),
    ("created-by-me-remote", "made by me, in the remote catalogue", "remote_plugin"),
)


class MarketChanges:
    """Marketplaces, as the panel adds and removes them.

    Args:
        account: Who is signed in: `none`, `apiKey`, `chatgpt`. May block.
    """

    def __init__(
        self,
        bench: Workbench,
        remover: MarketplaceRemover,
        plugins: PluginInstalling,
        undoes: Undoes,
        account: Callable[[], str],
    ) -> None:
        self._bench, self._remover, self._plugins = bench, remover, plugins
        self._undoes, self._account = undoes, account

    def handlers(self) -> dict[str, Handler]:
        return {
            "jackfield/marketplace/source": self.source,
            "jackfield/marketplace/remove": self.remove,
            "jackfield/marketplace/kinds": self.kinds,
        }

    # -- adding

    async def source(self, params: SourceParams, scope: RequestScope) -> SourceRead:
        """How a source is read, before anything is done; reads a folder, fetches nothing."""
        try:
            return await in_thread(partial(self._source, params), deadline=DEADLINE)
        except TimeoutError:
            return SourceRead(fault=f"the folder did not answer within {DEADLINE:.0f} s")

    def _source(self, params: SourceParams) -> SourceRead:
        bench = self._bench
        home, cwd = str(bench.configs.home.home), str(bench.deps.cwd)
        try:
            place = marketplace_source(
                params.source, params.ref_name, params.sparse_paths, cwd=cwd, home=home
            )
        except CoreError as error:
            return SourceRead(fault=error.message)
        loaded = bench.configs.load(None)
        policy = SourcePolicy(bench.configs.home, loaded)
        fault = policy.place_fault(place)
        evidence = policy.evidence if fault else Evidence()
        if isinstance(place, GitPlace):
            shown = without_secrets(written(place))
            return SourceRead(
                kind="git",
                place=shown,
                fault=fault,
                evidence=evidence,
                other=other_form(place.url),
            )
        return self._folder(place, fault, evidence, loaded)

    def _folder(
        self, place: LocalPlace, fault: str, evidence: Evidence, loaded: Loaded
    ) -> SourceRead:
        found = marketplace_file(place.root)
        name = taken = ""
        try:
            name = read_root(self._bench.configs.home, place.root).name
        except CoreError as error:
            fault, evidence = fault or error.message, error.evidence or evidence
        known = configured(loaded).get(name) if name else None
        if known is not None:
            same = known.kind == "local" and os.path.realpath(known.source) == place.root
            taken = "" if same else known.source
        return SourceRead(
            kind="local",
            place=place.root,
            fault=fault,
            evidence=evidence,
            found=found[0] if found is not None else "",
            name=name,
            taken=taken,
        )

    # -- removing

    async def remove(self, params: MarketplaceRemoveParams, scope: RequestScope) -> RemovedResult:
        """Forget a marketplace; its plugins stay, or go with it.

        Raises:
            InvalidRequest: The user's configuration does not name it.
            CoreError: The configuration cannot be written, or the checkout cannot be moved.
        """
        bench, name = self._bench, params.name
        bench.may_write()
        loaded = await anyio.to_thread.run_sync(bench.configs.load, None)
        checkout = checkout_of(bench.configs.home, name)
        cloned = await anyio.to_thread.run_sync(os.path.lexists, checkout)
        if name not in configured(loaded) and not cloned:
            raise InvalidRequest(f"marketplace `{name}` is not configured or installed")
        tokens: list[str] = []
        token: str | None = None
        async with bench.operations.run("remove", name):
            with anyio.CancelScope(shield=True):
                for plugin_id in self._installed(name) if params.plugins else ():
                    gone = await self._plugins.uninstall(IdParams(id=plugin_id), scope)
                    tokens += [gone.undo] if gone.undo is not None else []
                edit = Edit.at("marketplaces", name, value=None)
                token = bench.config.undoable(await bench.config.write([edit], tolerant=True))
                if cloned:
                    await self._remover.remove(name)
                await bench.plugin_set.changed("marketplace/remove", scope)
        undo = None
        if token is not None:
            undo = self._undoes.add(
                partial(self._put_back, name, token, tokens, scope, cloned=cloned)
            )
        kept = f", with {len(tokens)} of its plugins" if tokens else ""
        lasting = "its checkout is deleted; undoing it clones it again" if cloned else ""
        return RemovedResult(message=f"{name} is removed{kept}", undo=undo, lasting=lasting)

    def _installed(self, name: str) -> list[str]:
        rows = self._bench.catalog.plugins.current.rows.values()
        return sorted(
            {
                row.plugin_id
                for row in rows
                if row.plugin_id.endswith(f"@{name}") and (row.installed or row.configured)
            }
        )

    async def _put_back(
        self, name: str, token: str, plugins: list[str], scope: RequestScope, *, cloned: bool
    ) -> str:
        bench = self._bench
        await bench.config.undo(token)
        if cloned:
            async with bench.operations.run("upgrade", name) as progress:
                upgraded = await bench.upgrader.upgrade(name, progress)
            if upgraded.errors:
                raise InvalidRequest(f"{name} is configured again; {upgraded.errors[0][1]}")
        for one in reversed(plugins):
            if (run := self._undoes.take(one)) is not None:
                await run()
        await bench.plugin_set.changed("marketplace/add", scope)
        return f"{name} is there again, as it was"

    # -- kinds

    async def kinds(self, params: NoParams, scope: RequestScope) -> KindsResult:
        """Every kind of marketplace, with the first condition that keeps it from being shown."""
        bench = self._bench

        def work() -> KindsResult:
            loaded, account = bench.configs.load(bench.deps.cwd), self._account()
            count = len(bench.catalog.marketplaces.current.rows)
            fault = _off(loaded, "plugins")
            local = KindState(
                kind="local",
                label="folders and git repositories",
                shown=fault is None,
                why=fault[0] if fault is not None else "",
                evidence=fault[1] if fault is not None else Evidence(),
                count=count,
            )
            remote = (_remote(*kind, loaded, account) for kind in _KINDS)
            return KindsResult(kinds=(local, *remote))

        return await in_thread(work, deadline=DEADLINE)


def _off(loaded: Loaded, feature: str) -> tuple[str, Evidence] | None:
    if not feature or loaded.feature(feature):
        return None
    return f"the feature {feature} is off", loaded.feature_origin(feature)


def _remote(kind: str, label: str, feature: str, loaded: Loaded, account: str) -> KindState:
    fault = _off(loaded, "plugins") or _off(loaded, feature)
    if fault is None and kind == "vertical" and loaded.feature("remote_plugin"):
        fault = ("the remote catalogue takes its place", loaded.feature_origin("remote_plugin"))
    if fault is None and account == "apiKey":
        fault = ("not signed in with ChatGPT: an API key does not do", Evidence(layer="account"))
    if fault is None and account != "chatgpt":
        fault = ("not signed in with ChatGPT", Evidence(layer="account"))
    if fault is None:
        fault = ("not asked: only what lies on this machine is listed", Evidence())
    return KindState(kind=kind, label=label, shown=False, why=fault[0], evidence=fault[1])


def other_form(url: str) -> str:
    """The ssh form of an https URL, and the reverse; "" where there is none."""
    if match := _SSH.fullmatch(url):
        return f"https://{match[1]}/{match[2]}"
    if match := _HTTPS.fullmatch(url):
        return f"git@{match[1]}:{match[2]}"
    return ""
