"""plugin/*, skills/* and hooks/list: parameters in, the layer's answer out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from core.config.store import ConfigStore
from core.errors import InternalError, InvalidRequest, Unavailable
from core.plugins import remote
from core.plugins.detail import DetailReader
from core.plugins.hooks_list import HookLists
from core.plugins.listing import DEADLINE, Found, PluginLists
from core.plugins.search import search
from core.plugins.skill_switch import selector, write_rule
from core.plugins.skills_list import SkillLists
from core.plugins.workers import in_thread, start
from core.protocol.hooks import HooksListResult
from core.protocol.plugins import (
    PluginInstalledResult,
    PluginListResult,
    PluginReadResult,
    PluginReconcileResult,
    PluginSearchResult,
    PluginSummary,
)
from core.protocol.skills import (
    SkillsConfigWriteResult,
    SkillsExtraRootsSetResult,
    SkillsListResult,
)
from core.scope import RequestScope
from core.service.dispatch import Encoded, Handler

if TYPE_CHECKING:
    from core.compat.refresh_on_list import RefreshOnList
    from core.config.edit import ConfigEditor
    from core.config.model import Loaded
    from core.protocol.plugin_params import (
        PluginInstalledParams,
        PluginListParams,
        PluginReadParams,
        PluginReconcileParams,
        PluginSearchParams,
        PluginShareCheckoutParams,
        PluginShareDeleteParams,
        PluginShareListParams,
        PluginShareSaveParams,
        PluginShareUpdateTargetsParams,
        PluginSkillReadParams,
    )
    from core.protocol.skill_params import (
        HooksListParams,
        SkillsConfigWriteParams,
        SkillsExtraRootsSetParams,
        SkillsListParams,
    )
    from core.seams import ThreadConfigs

    ShareParams = (
        PluginShareListParams
        | PluginShareSaveParams
        | PluginShareCheckoutParams
        | PluginShareDeleteParams
        | PluginShareUpdateTargetsParams
    )

T = TypeVar("T")
_encode = msgspec.json.Encoder().encode


class PluginService:
    """The plugin layer towards clients.

    Args:
        lists: Reads marketplaces.
        editor: Writes skills/config/write; None where nothing may be written.
        threads: For hooks/list of a thread.
        refresh: What a list does besides for callers that want the real server's side effects.
        cwd: Directory of requests that name none.
    """

    def __init__(
        self,
        lists: PluginLists,
        configs: ConfigStore,
        cwd: Path,
        *,
        editor: ConfigEditor | None = None,
        threads: ThreadConfigs | None = None,
        refresh: RefreshOnList | None = None,
    ) -> None:
        self._lists = lists
        self._configs = configs
        self._cwd = cwd
        self._editor = editor
        self._threads = threads
        self._refresh = refresh
        self.skills = SkillLists(lists.home, configs, cwd)
        self.hooks = HookLists(lists.home, configs, cwd)

    def handlers(self) -> dict[str, Handler]:
        """Handlers by method."""
        shares: dict[str, Handler] = {
            method: partial(self._share, method) for method in remote.SHARE_ACTIONS
        }
        return {
            "plugin/list": self.list,
            "plugin/installed": self.installed,
            "plugin/read": self.read,
            "plugin/search": self.search,
            "plugin/reconcile": self.reconcile,
            "plugin/skill/read": self.skill_read,
            "skills/list": self.skills_list,
            "skills/config/write": self.skills_config_write,
            "skills/extraRoots/set": self.skills_extra_roots_set,
            "hooks/list": self.hooks_list,
            **shares,
        }

    async def list(self, params: PluginListParams, scope: RequestScope) -> Encoded:
        """What can be found. Reads only, but for callers whose policy says otherwise."""
        kinds = params.marketplace_kinds
        if kinds is not None:
            views, account = await self._blocking(
                lambda: (self._lists.views(params.cwds), self._lists.account())
            )
            on = next((view.loaded for view in views if view.on), None)
            if on is not None:
                remote.check_kinds(list(kinds), on, account)
            if "local" not in kinds:
                return Encoded(_encode(PluginListResult(marketplaces=())))
        read = partial(self._lists.read, params.cwds, kept=not params.force_refetch)
        found = await self._refreshed(params, await read(), scope)
        body = await self._blocking(lambda: found.encoded(self._lists.shares() if found.on else {}))
        if self._lists.wants_keeping(found):  # after the answer, so that nobody waits for it
            scope.after_answer(partial(start, partial(self._lists.keep, found), "plugins-keep"))
        return Encoded(body)

    async def _refreshed(
        self, params: PluginListParams, found: Found, scope: RequestScope
    ) -> Found:
        """Side effects of a list: before the answer when it is forced, else after it."""
        if self._refresh is None or not scope.caller.policy.installs_on_list or not found.on:
            return found
        if not params.force_refetch:
            scope.after_answer(partial(self._refresh.start, found, scope))
        elif await self._refresh.run(found, scope):
            return await self._lists.read(params.cwds)
        return found

    async def installed(
        self, params: PluginInstalledParams, scope: RequestScope
    ) -> PluginInstalledResult:
        """What is installed, and what is suggested by name."""
        found = await self._lists.read(params.cwds)
        shares = await self._blocking(self._lists.shares) if found.on else {}
        suggested = frozenset(params.install_suggestion_plugin_names or ())

        def wanted(plugin: PluginSummary) -> bool:
            return plugin.installed or plugin.name in suggested

        return PluginInstalledResult(
            marketplaces=tuple(found.entries(shares, wanted)),
            marketplace_load_errors=tuple(found.errors),
        )

    async def read(self, params: PluginReadParams, scope: RequestScope) -> PluginReadResult:
        """One plugin with its parts."""
        path, marketplace = params.marketplace_path, params.remote_marketplace_name
        if (path is None) == (marketplace is None):
            which = "exactly one of marketplacePath or remoteMarketplaceName"
            raise InvalidRequest(f"plugin/read requires {which}")

        def work() -> PluginReadResult:
            loaded, account = self._configs.load(None), self._lists.account()
            if path is None:
                remote.refuse_read(marketplace or "", params.plugin_name, loaded, account)
                raise Unavailable("the remote plugin catalog is not offered by Jackfield")
            shares = self._lists.shares()
            reader = DetailReader(self._lists.home, loaded, shares, account)
            return PluginReadResult(plugin=reader.read(path, params.plugin_name))

        return await self._blocking(work)

    async def search(self, params: PluginSearchParams, scope: RequestScope) -> PluginSearchResult:
        """Local plugins by name, display name and keywords."""
        if params.cursor is not None or params.scope not in (None, "personal"):
            return PluginSearchResult(data=())
        found = await self._lists.read(params.cwds)
        shares = await self._blocking(partial(self._lists.shares, lenient=True))
        hits = await self._blocking(lambda: search(params.search_term, found.entries(shares)))
        return PluginSearchResult(data=tuple(hits))

    async def reconcile(
        self, params: PluginReconcileParams, scope: RequestScope
    ) -> PluginReconcileResult:
        """There are no remote plugins to bring up to date."""
        return PluginReconcileResult()

    async def skill_read(self, params: PluginSkillReadParams, scope: RequestScope) -> None:
        """A skill of the remote catalog: always refused."""

        def work() -> None:
            remote.refuse_skill(
                params.remote_marketplace_name,
                params.remote_plugin_id,
                params.skill_name,
                self._configs.load(None),
                self._lists.account(),
            )

        await self._blocking(work)

    async def _share(self, method: str, params: ShareParams, scope: RequestScope) -> None:
        remote_id: str | None = getattr(params, "remote_plugin_id", None)

        def work() -> None:
            loaded, account = self._configs.load(None), self._lists.account()
            remote.refuse_share(method, remote_id, loaded, account)

        await self._blocking(work)

    async def skills_list(self, params: SkillsListParams, scope: RequestScope) -> SkillsListResult:
        """Skills of directories, errors included."""
        cwds = params.cwds or [str(self._cwd)]
        data = await self._blocking(lambda: tuple(map(self.skills.entry, cwds)))
        return SkillsListResult(data=data)

    async def skills_config_write(
        self, params: SkillsConfigWriteParams, scope: RequestScope
    ) -> SkillsConfigWriteResult:
        """Switch a skill in the user's configuration."""
        chosen = selector(params.name, params.path)
        if self._editor is None:
            raise Unavailable("the configuration cannot be written here")
        await write_rule(self._configs, self._editor, chosen, params.enabled)
        return SkillsConfigWriteResult(effective_enabled=params.enabled)

    async def skills_extra_roots_set(
        self, params: SkillsExtraRootsSetParams, scope: RequestScope
    ) -> SkillsExtraRootsSetResult:
        """More directories to look for skills in, until the core ends."""
        self.skills.extra_roots = tuple(params.extra_roots)
        return SkillsExtraRootsSetResult()

    async def hooks_list(self, params: HooksListParams, scope: RequestScope) -> HooksListResult:
        """Hooks of directories or of a thread; none is run."""
        if params.thread_id is not None:
            if params.cwds:
                raise InvalidRequest("specify either threadId or cwds")
            if self._threads is None:
                raise Unavailable("there are no threads here")
            loaded = self._threads.config_of(params.thread_id)
            entry = await self._blocking(partial(self._hooks_of, loaded))
            return HooksListResult(data=(entry,))
        cwds = params.cwds or [str(self._cwd)]
        data = await self._blocking(lambda: tuple(map(self.hooks.entry, cwds)))
        return HooksListResult(data=data)

    def _hooks_of(self, loaded: Loaded) -> Any:
        return self.hooks.of(str(loaded.cwd or self._cwd), loaded)

    async def _blocking(self, run: Callable[[], T]) -> T:
        try:
            return await in_thread(run, deadline=DEADLINE)
        except TimeoutError:
            raise InternalError(f"the disk did not answer within {DEADLINE:.0f} s") from None
