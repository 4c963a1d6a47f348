"""plugin/read of a plugin in a marketplace file."""

from __future__ import annotations

import errno
from collections.abc import Callable

from core.config.model import Loaded
from core.config.paths import Home
from core.errors import CoreError, InternalError, InvalidRequest
from core.plugins.allowed import SourcePolicy
from core.plugins.apps_file import plugin_apps
from core.plugins.discovery import CHATGPT, managed_name_of_file
from core.plugins.entries import Entry
from core.plugins.entry_manifest import entry_manifest
from core.plugins.hooks import hook_keys, plugin_hooks
from core.plugins.layout import is_directory, split_marketplace_path
from core.plugins.manifest import Manifest, below, read_manifest
from core.plugins.manifest_file import ManifestFault
from core.plugins.marketplace_file import Marketplace, Refusal, load
from core.plugins.mcp_file import plugin_servers
from core.plugins.names import marketplace_name_fault, plugin_name_fault
from core.plugins.offers import with_category
from core.plugins.skills import Found, Skill, Switches, plugin_skills
from core.plugins.state import PluginStates
from core.protocol.facts import Evidence
from core.protocol.plugins import (
    AppSummary,
    GitSource,
    LocalSource,
    NpmSource,
    PluginDetail,
    PluginHookSummary,
    PluginSummary,
    ShareContext,
    SkillSummary,
)

INVALID_MANIFEST = "missing or invalid plugin.json"
NO_DIRECTORY = "path does not exist or is not a directory"


def open_marketplace(path: str, home: Home, action: str) -> Marketplace:
    """A marketplace file by its path.

    Args:
        action: Beginning of the message when it cannot be read: `failed to read plugin details`.

    Raises:
        CoreError: It is not there, unreadable or refused, in the words of Codex 0.171.0.
    """
    split = split_marketplace_path(path)
    root, format = split if split is not None else ("", "")
    managed = managed_name_of_file(home, path)
    market = load(path, root, home=str(home.home), format=format, managed=managed)
    if market.refusal is not None:
        raise _refused(market.refusal, path, action)
    return market


def _refused(refused: Refusal, path: str, action: str) -> CoreError:
    evidence = Evidence(file=path, line=refused.line or None, column=refused.column or None)
    if refused.errno in (errno.ENOENT, errno.ENOTDIR):
        return InvalidRequest(f"marketplace file `{path}` does not exist", evidence=evidence)
    if refused.message.startswith("invalid marketplace file"):
        return InvalidRequest(refused.message, evidence=evidence)
    return InternalError(f"{action}: {refused.message}", evidence=evidence)


def find_entry(market: Marketplace, name: str) -> Entry:
    """A usable entry by name.

    Raises:
        InvalidRequest: There is none, or the marketplace or the plugin may not be called so.
    """
    entry = next((entry for entry in market.entries if entry.name == name), None)
    misnamed = any(skip.name == name and skip.rule == "plugin-name" for skip in market.skipped)
    if entry is None and not misnamed:
        raise InvalidRequest(f"plugin `{name}` was not found in marketplace `{market.name}`")
    for fault in (marketplace_name_fault(market.name), plugin_name_fault(name)):
        if fault:
            raise InvalidRequest(fault)
    if market.name_fault:
        raise InvalidRequest(f"invalid marketplace file `{market.path}`: {market.name_fault}")
    if entry is None:
        raise InvalidRequest(f"plugin `{name}` was not found in marketplace `{market.name}`")
    return entry


class DetailReader:
    """Reads one plugin with its parts.

    Args:
        loaded: The user's configuration; project layers do not count here.
        shares: Shared local plugins by path.
        account: Who is signed in; apps are named only with a ChatGPT sign-in.
        describe_app: Name and description of an app by id, where they are known.
    """

    def __init__(
        self,
        home: Home,
        loaded: Loaded,
        shares: dict[str, ShareContext],
        account: str,
        describe_app: Callable[[str], tuple[str, str | None]] = lambda app_id: ("", None),
    ) -> None:
        self._home = home
        self._loaded = loaded
        self._shares = shares
        self._account = account
        self._describe_app = describe_app
        self._states = PluginStates(home, [loaded])

    def read(self, path: str, name: str) -> PluginDetail:
        """The plugin `name` of the marketplace file `path`. Blocks.

        Raises:
            CoreError: In the words of Codex 0.171.0.
        """
        if not self._loaded.feature("plugins"):
            raise InvalidRequest("plugins feature is disabled")
        market = open_marketplace(path, self._home, "failed to read plugin details")
        entry = find_entry(market, name)
        SourcePolicy(self._home, self._loaded).check(market)
        plugin_id = f"{entry.name}@{market.name}"
        source = entry.source
        if isinstance(source, LocalSource):
            if not is_directory(source.path):
                raise InvalidRequest(NO_DIRECTORY, evidence=Evidence(file=source.path))
            return self._of_directory(market, entry, source.path)
        if self._states.installed(plugin_id) and (root := self._states.root(plugin_id)):
            return self._of_directory(market, entry, root)
        return self._elsewhere(market, entry)

    def _of_directory(self, market: Marketplace, entry: Entry, root: str) -> PluginDetail:
        manifest = usable_manifest(entry, root)
        plugin_id = f"{entry.name}@{market.name}"
        found = Found(skills=[], faults=[], seen=set())
        plugin_skills(manifest, found)
        found.sort()
        switches = Switches(self._loaded.get("skills", "config"))
        hooks = hook_keys(plugin_hooks(manifest), plugin_id)
        return PluginDetail(
            marketplace_name=market.name,
            marketplace_path=market.path,
            summary=self._summary(market, entry, manifest, manifest.version),
            description=manifest.description,
            skills=tuple(skill.summary(switches) for skill in found.skills),
            onboarding_skill=self._onboarding(manifest, plugin_id, found.skills, switches),
            hooks=tuple(PluginHookSummary(key=key, event_name=event) for key, event in hooks),
            apps=self._apps(manifest),
            mcp_servers=tuple(plugin_servers(manifest).entries),
        )

    def _apps(self, manifest: Manifest) -> tuple[AppSummary, ...]:
        if self._account != CHATGPT:
            return ()
        return tuple(app.summary(*self._describe_app(app.id)) for app in plugin_apps(manifest))

    def _onboarding(
        self, manifest: Manifest, plugin_id: str, skills: list[Skill], switches: Switches
    ) -> SkillSummary | None:
        path = below(manifest.onboarding_skill, manifest.root)
        shown = self._states.installed(plugin_id) and self._states.enabled(plugin_id)
        if path is None or not shown:
            return None
        skill = next((skill for skill in skills if skill.path == path), None)
        return skill.summary(switches) if skill is not None else None

    def _summary(
        self, market: Marketplace, entry: Entry, manifest: Manifest | None, version: str | None
    ) -> PluginSummary:
        plugin_id = f"{entry.name}@{market.name}"
        source = entry.source
        local = isinstance(source, LocalSource)
        interface = manifest.interface if manifest is not None else None
        return PluginSummary(
            id=plugin_id,
            local_version=version,
            name=entry.name,
            share_context=self._shares.get(source.path) if local else None,
            source=source,
            installed=self._states.installed(plugin_id),
            enabled=self._states.enabled(plugin_id),
            install_policy=entry.installation,
            auth_policy=entry.authentication,
            interface=with_category(interface, entry.category),
            keywords=manifest.keywords if manifest is not None else (),
        )

    def _elsewhere(self, market: Marketplace, entry: Entry) -> PluginDetail:
        """A git or npm plugin that is not installed: nothing is fetched for it."""
        manifest = entry_manifest(entry, "")
        return PluginDetail(
            marketplace_name=market.name,
            marketplace_path=market.path,
            summary=self._summary(market, entry, manifest, None),
            description=elsewhere_text(entry),
        )


def usable_manifest(entry: Entry, root: str) -> Manifest:
    """The manifest below `root`, else what the entry says. Raises InvalidRequest."""
    manifest = read_manifest(root)
    if manifest is None:
        manifest = entry_manifest(entry, root)
    if manifest is None:
        raise InvalidRequest(INVALID_MANIFEST, evidence=Evidence(file=root))
    if isinstance(manifest, ManifestFault):
        place = Evidence(file=manifest.path, line=manifest.line or None)
        raise InvalidRequest(INVALID_MANIFEST, evidence=place, hint=manifest.message)
    return manifest


def elsewhere_text(entry: Entry) -> str:
    """The sentence that stands for the description of a plugin that was not fetched."""
    match entry.source:
        case GitSource(url=url, path=path, ref_name=ref, sha=sha):
            what = "a cross-repo plugin"
            parts = [url, path and f"path `{path}`", ref and f"ref `{ref}`", sha and f"sha `{sha}`"]
        case NpmSource(package=package, version=version, registry=registry):
            what = "an npm plugin"
            parts = [
                package,
                version and f"version `{version}`",
                registry and f"registry `{registry}`",
            ]
        case _:
            return ""
    source = ", ".join(part for part in parts if part)
    return (
        f"This is {what}. Install it to view more detailed information. "
        f"The source of the plugin is {source}."
    )
