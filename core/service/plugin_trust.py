"""What a person has agreed to of a plugin, tied to exactly what it runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

import anyio.to_thread
import msgspec

from core.config.edit_plan import Edit
from core.config.model import Loaded
from core.config.paths import Home
from core.config.store import ConfigStore
from core.errors import InvalidRequest
from core.mcp.servers import ServerSet
from core.mcp.spec import ServerSpec
from core.plugins.agent_plugins import data_directory
from core.plugins.catalog import PluginCatalog
from core.plugins.compat_view.view import CompatibilityReader, Subject, installed_root
from core.plugins.detail import open_marketplace
from core.plugins.install.judging import installable_entry
from core.plugins.manifest import Manifest, read_manifest
from core.plugins.mcp_file import plugin_servers
from core.plugins.workers import in_thread
from core.ports import Deps
from core.protocol.facts import Evidence
from core.protocol.jackfield import ConsentItem
from core.protocol.jackfield_install import Compatibility, CompatibilityParams, UsedPart
from core.scope import RequestScope
from core.seams import DeclaredServer, DeclaredServers
from core.service.dispatch import Handler
from core.threads.consent import Consent, ConsentStore, item_of, lines_of

DEADLINE = 20.0


class PluginTrust:
    """jackfield/plugin/compatibility, and the book of what was agreed to.

    Answers are kept in our own state folder under the sha256 of exactly what runs: command,
    arguments, environment, and the files of the plugin that a hook's command names.

    Args:
        consent: Of the panel's thread: what was agreed to here need not be asked about there.
    """

    def __init__(
        self,
        deps: Deps,
        configs: ConfigStore,
        catalog: PluginCatalog,
        consent: Callable[[], Consent],
    ) -> None:
        self._deps, self._configs, self._catalog = deps, configs, catalog
        self._consent = consent
        self._store = ConsentStore(deps.state_dir, deps.clock)
        self._reader = CompatibilityReader(configs.home)

    def handlers(self) -> dict[str, Handler]:
        return {"jackfield/plugin/compatibility": self.compatibility}

    async def compatibility(
        self, params: CompatibilityParams, scope: RequestScope
    ) -> Compatibility:
        """What Codex uses and ignores of a plugin, and what of it was agreed to. Fetches nothing.

        Raises:
            InvalidRequest: There is no such plugin, or its folder does not answer.
        """
        try:
            seen = await in_thread(lambda: self._look(params), deadline=DEADLINE)
        except TimeoutError:
            raise InvalidRequest(f"its folder did not answer within {DEADLINE:.0f} s") from None
        return await self.judged(seen)

    def _look(self, params: CompatibilityParams) -> Compatibility:
        loaded = self._configs.load(self._deps.cwd)
        return self._reader.read(self._subject(params, loaded), loaded)

    def _subject(self, params: CompatibilityParams, loaded: Loaded) -> Subject:
        if params.plugin_id is None:
            path, name = params.marketplace_path or "", params.plugin_name or ""
            market = open_marketplace(path, self._configs.home, "failed to read plugin details")
            entry = installable_entry(market, name)
            plugin_id = f"{entry.name}@{market.name}"
            return Subject(
                plugin_id=plugin_id,
                entry=entry,
                market_path=market.path,
                market_root=market.root,
                installed=installed_root(self._configs.home, loaded, plugin_id),
            )
        found = self._catalog.offer_of(params.plugin_id)
        if found is None:
            raise InvalidRequest(f"no plugin {params.plugin_id!r} here")
        row, offer = found
        market = self._catalog.marketplaces.current.rows.get(row.marketplace)
        return Subject(
            plugin_id=row.plugin_id,
            entry=offer.entry if offer is not None else None,
            market_path=row.marketplace if offer is not None else "",
            market_root=market.root if market is not None else "",
            installed=installed_root(self._configs.home, loaded, row.plugin_id),
        )

    async def judged(self, seen: Compatibility) -> Compatibility:
        """The same with what was agreed to and what is switched off."""
        await self._store.load()
        loaded = await anyio.to_thread.run_sync(self._configs.load, self._deps.cwd)
        uses = tuple(self._standing(part, seen.plugin_id, loaded) for part in seen.uses)
        return msgspec.structs.replace(seen, uses=uses)

    def _standing(self, part: UsedPart, plugin_id: str, loaded: Loaded) -> UsedPart:
        if not part.id:
            return part
        item = part_item(part, plugin_id)
        standing, answer = self._store.standing(item)
        if switched_off(part, plugin_id, loaded):
            standing = "declined"
        was: tuple[str, ...] = ()
        if standing == "changed" and answer is not None:
            now = set(lines_of(item))
            was = tuple(line for line in answer.lines if line not in now)
        since = answer.at if answer is not None else 0.0
        return msgspec.structs.replace(part, standing=standing, was=was, since=since)

    async def look_at_copy(self, plugin_id: str, root: str) -> Compatibility:
        """An installed copy, before anything of it counts."""
        subject = Subject(plugin_id=plugin_id, installed=root)
        return await in_thread(
            lambda: self._reader.of_directory(subject, root, installed=True), deadline=DEADLINE
        )

    async def record(
        self, copy: Compatibility, agreed: Collection[str], declined: Collection[str]
    ) -> None:
        """Remember what was said to parts of an installed copy; other ids are passed over."""
        said = [
            (part_item(part, copy.plugin_id), part.id in agreed)
            for part in copy.programs
            if part.id in agreed or part.id in declined
        ]
        if said:
            await self._store.answer(said)
        answers = {
            part.name: part.id in agreed
            for part in copy.programs
            if part.kind == "server" and (part.id in agreed or part.id in declined)
        }
        if answers:
            specs = await anyio.to_thread.run_sync(self._specs, copy, answers)
            by_id = {
                item.id: answers[spec.name] for spec in specs if (item := item_of(spec)) is not None
            }
            await self._consent().answer(specs, by_id)

    def _specs(self, copy: Compatibility, wanted: Mapping[str, bool]) -> list[ServerSpec]:
        """Servers of a copy as the panel's thread will have them once the plugin is on."""
        manifest = read_manifest(copy.read_from)
        if not isinstance(manifest, Manifest):
            return []
        data = _data_root(self._configs.home, manifest, copy.plugin_id)
        found = plugin_servers(manifest, data)
        declared = tuple(
            DeclaredServer(
                name=name,
                plugin_id=copy.plugin_id,
                entry=entry,
                root=Path(copy.read_from),
                origin=Evidence(file=found.path or None, layer="plugin", key=name),
                agent_plugins=manifest.agent_plugins,
            )
            for name, entry in found.entries.items()
        )
        made = ServerSet(
            loaded=self._configs.load(self._deps.cwd),
            declared=DeclaredServers(servers=declared),
            environ=self._deps.environ,
            base=self._deps.cwd,
        )
        return [
            spec
            for spec in made.specs()
            if spec.plugin_id == copy.plugin_id and spec.name in wanted
        ]


def part_item(part: UsedPart, plugin_id: str) -> ConsentItem:
    """A part as the book of answers knows it."""
    files = tuple(f"{name} sha256 {digest}" for name, digest in part.files)
    return ConsentItem(
        id=part.id,
        kind=part.kind,
        name=f"{part.kind} {part.name}",
        command=(*part.command, *files),
        url=part.url,
        env_names=part.env_names,
        plugin_id=plugin_id,
        origin=part.evidence,
    )


def switched_off(part: UsedPart, plugin_id: str, loaded: Loaded) -> bool:
    """The configuration turns this part off."""
    return loaded.get(*_switch(part, plugin_id)) is False


def switches(
    parts: Iterable[UsedPart],
    plugin_id: str,
    loaded: Loaded,
    agreed: Collection[str],
    declined: Collection[str],
) -> list[Edit]:
    """Edits that turn declined parts off, and agreed ones that were off back on."""
    edits: list[Edit] = []
    for part in parts:
        off = switched_off(part, plugin_id, loaded)
        if part.id in declined and not off:
            edits.append(Edit.at(*_switch(part, plugin_id), value=False))
        elif part.id in agreed and off:
            edits.append(Edit.at(*_switch(part, plugin_id), value=None))
    return edits


def _switch(part: UsedPart, plugin_id: str) -> tuple[str, ...]:
    if part.kind == "hook":
        return ("hooks", "state", part.key, "enabled")
    return ("plugins", plugin_id, "mcp_servers", part.name, "enabled")


def _data_root(home: Home, manifest: Manifest, plugin_id: str) -> str:
    name, _, market = plugin_id.rpartition("@")
    if manifest.agent_plugins:
        return data_directory(str(home.codex_home), name, market)
    return f"{home.plugins_data}/{name}-{market}"
