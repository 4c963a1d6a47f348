"""What a marketplace entry amounts to: the entry with the manifest of its plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from core.plugins.entries import Entry
from core.plugins.entry_manifest import entry_manifest
from core.plugins.manifest import Manifest, read_classic, read_manifest
from core.plugins.manifest_file import ManifestFault, find_manifest
from core.plugins.marketplace_file import Marketplace
from core.plugins.state import PluginStates
from core.protocol.plugins import (
    LocalSource,
    PluginInterface,
    PluginSummary,
    ShareContext,
)


class Offer(msgspec.Struct, frozen=True, gc=False):
    """An entry with what its plugin says of itself.

    Attributes:
        version: Of the source's manifest, or of the installed copy's for git and npm.
        description: Of the manifest, else of the entry.
        fault: Why the manifest cannot be used.
        format: Of the manifest; "" when there is none.
    """

    entry: Entry
    version: str | None = None
    description: str = ""
    keywords: tuple[str, ...] = ()
    interface: PluginInterface | None = None
    fault: ManifestFault | None = None
    format: str = ""

    def summary(
        self, marketplace: str, states: PluginStates, share: ShareContext | None = None
    ) -> PluginSummary:
        """As the wire tells it."""
        entry = self.entry
        plugin_id = f"{entry.name}@{marketplace}"
        configured = plugin_id in states.switches
        return PluginSummary(
            id=plugin_id,
            local_version=self.version,
            name=entry.name,
            share_context=share,
            source=entry.source,
            installed=configured and states.installed(plugin_id),
            enabled=configured and states.enabled(plugin_id),
            install_policy=entry.installation,
            auth_policy=entry.authentication,
            interface=self.interface,
            keywords=self.keywords,
        )


class OfferReader:
    """Reads offers; remembers manifests by file, time and size. One per thread at a time."""

    def __init__(self, known: dict[str, Known] | None = None) -> None:
        self._known = known if known is not None else {}

    def read(self, entry: Entry, installed: str | None) -> Offer:
        """The offer of an entry. `installed`: the copy in use, which git and npm are read from."""
        source = entry.source
        root = source.path if isinstance(source, LocalSource) else installed
        manifest: Manifest | ManifestFault | None = None
        if root is not None:
            manifest = self._manifest(root)
        if manifest is None:
            manifest = entry_manifest(entry, root or "")
        if manifest is None or isinstance(manifest, ManifestFault):
            return _bare(entry, manifest)
        interface = with_category(manifest.interface, entry.category)
        described = manifest.description or entry_description(entry)
        return Offer(
            entry,
            manifest.version,
            described,
            manifest.keywords,
            interface,
            None,
            manifest.format,
        )

    def _manifest(self, root: str) -> Manifest | ManifestFault | None:
        found = find_manifest(root)
        if found is None or isinstance(found, ManifestFault):
            return found
        if found.format == "agent-plugins":
            return read_manifest(root)
        known = self._known.get(found.path)
        if known is not None and known.stamp == found.stamp:
            return known.manifest
        manifest = read_classic(found.path, root, found.format, found.stamp[1])
        if isinstance(manifest, Manifest):
            manifest = _lean(manifest)
        self._known[found.path] = Known(found.stamp, manifest)
        return manifest


def _lean(manifest: Manifest) -> Manifest:
    """Without what a list does not show, which may be big."""
    parts = (manifest.skills, manifest.hooks, manifest.mcp_servers, manifest.commands)
    if all(part is None for part in parts):
        return manifest
    return msgspec.structs.replace(
        manifest, skills=None, hooks=None, mcp_servers=None, commands=None
    )


class Known(msgspec.Struct, frozen=True, gc=False):
    """A manifest as it was when its file had this time, size and number."""

    stamp: tuple[int, int, int]
    manifest: Manifest | ManifestFault


def _bare(entry: Entry, fault: ManifestFault | None) -> Offer:
    return Offer(
        entry,
        description=entry_description(entry),
        interface=with_category(None, entry.category),
        fault=fault,
    )


def with_category(
    interface: PluginInterface | None, category: str | None
) -> PluginInterface | None:
    """The entry's category wins, also when empty."""
    if category is None or (interface is not None and interface.category == category):
        return interface
    return msgspec.structs.replace(interface or PluginInterface(), category=category)


def entry_description(entry: Entry) -> str:
    """What the entry says of the plugin, which Codex does not show beside a manifest."""
    text: Any = entry.metadata.get("description")
    return text if isinstance(text, str) else ""


def listed_offers(
    market: Marketplace,
    states: PluginStates,
    reader: OfferReader,
    *,
    every: bool = False,
    tick: Callable[[], None] | None = None,
) -> list[Offer]:
    """The offers of what Codex lists of a marketplace.

    Args:
        every: Of a file that Codex refuses as well.
        tick: Called after each.
    """
    offers: list[Offer] = []
    for entry in market.entries if every else market.listed:
        installed = None
        if not isinstance(entry.source, LocalSource):
            plugin_id = f"{entry.name}@{market.name}"
            installed = states.root(plugin_id) if plugin_id in states.switches else None
        offers.append(reader.read(entry, installed))
        if tick is not None:
            tick()
    return offers
