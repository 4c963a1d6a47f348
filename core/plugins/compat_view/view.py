"""The compatibility view: a plugin's files as Codex 0.171.0 would read them, before or after.

It reads a local source's folder, the installed copy, or a copy or checkout of the source that is
on this machine already. Nothing is fetched for it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from core.config.model import Loaded
from core.config.paths import Home
from core.errors import CoreError
from core.plugins.compat_view.ignores import ignored_parts
from core.plugins.compat_view.uses import apps, hooks, servers, skills
from core.plugins.entries import Entry
from core.plugins.entry_manifest import entry_manifest
from core.plugins.hooks import plugin_hooks
from core.plugins.install.judging import judge
from core.plugins.manifest import Manifest, read_manifest
from core.plugins.marketplaces.roots import checkout_of, configured
from core.plugins.skills import Found, plugin_skills
from core.plugins.sources.parse import describe_source
from core.plugins.state import PluginStates
from core.protocol.jackfield_install import Compatibility, IgnoredPart, UsedPart
from core.protocol.plugins import GitSource, LocalSource, NpmSource


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A plugin to look at.

    Attributes:
        plugin_id: `PLUGIN@MARKETPLACE`.
        entry: None for one that no marketplace offers.
        market_root: Of the marketplace, for naming the source.
        installed: Directory of the copy in use, or "".
    """

    plugin_id: str
    entry: Entry | None = None
    market_path: str = ""
    market_root: str = ""
    installed: str = ""

    @property
    def name(self) -> str:
        """The plugin's."""
        return self.plugin_id.rpartition("@")[0] or self.plugin_id


class CompatibilityReader:
    """Looks at plugins; every method blocks."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def read(self, subject: Subject, loaded: Loaded, *, offered: bool = False) -> Compatibility:
        """What Codex makes of a plugin.

        Args:
            offered: What would be installed, although a copy is installed.
        """
        if subject.installed and not offered:
            return self.of_directory(subject, subject.installed, installed=True)
        root, why = self._source(subject, loaded)
        if not root:
            return self._unknown(subject, why)
        return self.of_directory(subject, root, installed=False)

    def of_directory(self, subject: Subject, root: str, *, installed: bool) -> Compatibility:
        """A plugin's directory, part by part."""
        head = self._head(subject)
        manifest = read_manifest(root)
        if manifest is None and subject.entry is not None:
            manifest = entry_manifest(subject.entry, root)
        if not isinstance(manifest, Manifest):
            path = manifest.path if manifest is not None else root
            reason = manifest.message if manifest is not None else "it has no plugin.json"
            return _replaced(
                head,
                installed=installed,
                read_from=root,
                nothing=True,
                refusal="" if installed else self._refusal(subject, root),
                faults=((path, reason),),
            )
        uses, ignores, faults = self._parts(subject, manifest, installed=installed)
        shown = manifest.interface.display_name if manifest.interface is not None else None
        return _replaced(
            head,
            display_name=shown or "",
            version=manifest.version or "",
            format=manifest.format,
            installed=installed,
            read_from=root,
            uses=uses,
            ignores=ignores,
            nothing=not uses,
            refusal="" if installed else self._refusal(subject, root),
            faults=faults,
        )

    def _parts(
        self, subject: Subject, manifest: Manifest, *, installed: bool
    ) -> tuple[tuple[UsedPart, ...], tuple[IgnoredPart, ...], tuple[tuple[str, str], ...]]:
        plugin_id = subject.plugin_id
        home = manifest.root if installed else self._future(subject, manifest)
        declared, endpoints = servers(manifest, plugin_id, home)
        uses = (
            *skills(manifest, installed=installed),
            *hooks(manifest, plugin_id),
            *endpoints,
            *apps(manifest),
        )
        found = Found(skills=[], faults=[], seen=set())
        plugin_skills(manifest, found, installed=installed)
        faults = [(fault.path, fault.message) for fault in found.faults]
        faults += [(declared.path, declared.fault)] if declared.fault else []
        faults += [(manifest.root, warning) for warning in plugin_hooks(manifest).warnings]
        metadata = subject.entry.metadata if subject.entry is not None else {}
        ignores = tuple(ignored_parts(manifest, declared, metadata, installed=installed))
        return uses, ignores, tuple(faults)

    def _future(self, subject: Subject, manifest: Manifest) -> str:
        """Where the copy will lie once it is installed."""
        name, _, market = subject.plugin_id.rpartition("@")
        version = manifest.version or "local"
        if subject.entry is not None:
            try:
                version = judge(subject.entry, manifest.root).version
            except CoreError:
                pass
        return f"{self._home.plugins_cache}/{market}/{name}/{version}"

    def _refusal(self, subject: Subject, root: str) -> str:
        """Why it cannot be installed, in Codex' words."""
        if subject.entry is None:
            return ""
        if subject.entry.installation == "NOT_AVAILABLE":
            return "its marketplace does not offer it for installing"
        try:
            judge(subject.entry, root)
        except CoreError as error:
            return error.message
        return ""

    def _source(self, subject: Subject, loaded: Loaded) -> tuple[str, str]:
        """A directory with the source's files, or why there is none here."""
        entry = subject.entry
        if entry is None:
            return "", "no marketplace offers it, and no copy is installed"
        match entry.source:
            case LocalSource(path=path):
                return (path, "") if os.path.isdir(path) else ("", f"no such directory: {path}")
            case GitSource() as source:
                place = self._checkout(source, loaded)
            case NpmSource():
                place = ""
            case _:
                return "", "it is in the remote catalog"
        return (place, "") if place else ("", "known after download")

    def _checkout(self, source: GitSource, loaded: Loaded) -> str:
        """The plugin in the checkout of a marketplace that is the same repository, or ""."""
        if source.sha is not None:
            return ""
        for known in configured(loaded).values():
            same = known.kind == "git" and known.source == source.url and not known.sparse
            if same and known.ref == source.ref_name:
                base = checkout_of(self._home, known.name)
                place = f"{base}/{source.path}" if source.path else base
                inside = os.path.realpath(place).startswith(os.path.realpath(base))
                if inside and os.path.isdir(place):
                    return place
        return ""

    def _unknown(self, subject: Subject, why: str) -> Compatibility:
        refusal = "" if why == "known after download" else why
        head = self._head(subject)
        return _replaced(head, known=False, why=why, refusal=refusal)

    def _head(self, subject: Subject) -> Compatibility:
        entry = subject.entry
        source = describe_source(entry.source, subject.market_root) if entry is not None else ""
        return Compatibility(
            plugin_id=subject.plugin_id,
            name=subject.name,
            marketplace_path=subject.market_path,
            source=source,
        )


def installed_root(home: Home, loaded: Loaded, plugin_id: str) -> str:
    """The copy of a plugin that Codex uses, or ""."""
    return PluginStates(home, [loaded]).root(plugin_id) or ""


def _replaced(value: Compatibility, **more: object) -> Compatibility:
    from msgspec.structs import replace

    return replace(value, **more)
