"""Looks over one plugin's folder: its manifest, then its parts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from core.plugins.brings import ignored
from core.plugins.commands import plugin_commands
from core.plugins.layout import (
    AGENT_PLUGINS_FILE,
    BOM,
    CLASSIC_MANIFESTS,
    is_file,
    read_file,
)
from core.plugins.manifest import PROMPT_LIMIT, PROMPTS_KEPT, Manifest, below, read_manifest
from core.plugins.manifest_file import AGENT_SCHEMAS, FoundManifest, ManifestFault, find_manifest
from core.plugins.names import is_version, plugin_name_fault, semver_key
from core.plugins.text import collapse, trim
from core.plugins.validate import claude
from core.plugins.validate.apps import look_at_apps
from core.plugins.validate.hooks import look_at_hooks
from core.plugins.validate.report import LARGEST_TEXT, Report
from core.plugins.validate.servers import look_at_servers
from core.plugins.validate.skills import look_at_skills
from core.plugins.validate.values import any_value

_PICTURES = ("composerIcon", "logo", "logoDark")


@dataclass(frozen=True)
class Named:
    """The entry that leads to a plugin.

    Attributes:
        file, index: Where it stands.
        substitute: The manifest that it makes up for a plugin without one.
        version: As written.
    """

    name: str
    file: str
    index: int
    substitute: Manifest | None
    version: Any = None


class PluginLook:
    """One plugin.

    Attributes:
        manifest: As it was read, or None.
        useless: Codex can use nothing of it.
    """

    def __init__(self, root: str, report: Report, entry: Named | None = None) -> None:
        self._root, self._report, self._entry = root, report, entry
        self.manifest: Manifest | None = None
        self.useless = False

    def run(self) -> None:
        """Look at the manifest, then at each part; one broken part hides no other."""
        self.manifest = self._find()
        if self.manifest is None:
            return
        self._named(self.manifest)
        self._parts(self.manifest)

    # -- the manifest

    def _find(self) -> Manifest | None:
        root, report = self._root, self._report
        top = f"{root}/{AGENT_PLUGINS_FILE}"
        if is_file(top) and not report.readable(top):
            return None
        found = find_manifest(root)
        if isinstance(found, FoundManifest):
            if not report.readable(found.path):
                return None
            self._others(found)
        read = read_manifest(root)
        if isinstance(read, ManifestFault):
            self._faulty(read)
            return None
        if read is None:
            return self._without()
        self._members(read)
        return read

    def _others(self, found: FoundManifest) -> None:
        for folder, _ in CLASSIC_MANIFESTS:
            other = f"{self._root}/{folder}/plugin.json"
            if other != found.path and is_file(other):
                read = os.path.relpath(found.path, self._root)
                self._report.add("manifest-hidden", other, f"Codex reads {read} instead of it")

    def _without(self) -> Manifest | None:
        root, entry = self._root, self._entry
        for place in ("plugin.json", ".plugin/plugin.json", "gemini-extension.json"):
            if is_file(f"{root}/{place}"):
                message = f"Codex reads it only with a `$schema` that begins {AGENT_SCHEMAS}"
                if place != "plugin.json":
                    message = "no place where Codex looks for a manifest"
                self._report.add("manifest-place", f"{root}/{place}", message)
        if entry is not None and entry.substitute is not None:
            message = f"`{entry.name}` has no plugin.json; its entry stands in for it"
            self._report.add("entry-manifest", entry.file, message, at=("plugins", entry.index))
            return entry.substitute
        self._report.add("manifest-missing", root, "it has no plugin.json")
        return None

    def _faulty(self, fault: ManifestFault) -> None:
        self._report.add(
            f"manifest-{fault.rule}",
            fault.path,
            fault.message,
            line=fault.line,
            column=fault.column,
        )

    def _named(self, manifest: Manifest) -> None:
        report, entry = self._report, self._entry
        path = manifest.path or self._root
        if entry is not None and manifest.format != "entry":
            if manifest.name != entry.name:
                message = f"it is called `{manifest.name}`, its entry `{entry.name}`"
                report.add("name-mismatch", path, message, at=("name",))
            if isinstance(entry.version, str) and entry.version != manifest.version:
                told = manifest.version or "none"
                message = f"the entry says version {entry.version}, the manifest {told}"
                report.add(
                    "version-mismatch", entry.file, message, at=("plugins", entry.index, "version")
                )
        if fault := plugin_name_fault(manifest.name):
            report.add("plugin-name", path, fault, at=("name",))

    def _members(self, manifest: Manifest) -> None:
        """Members of a manifest that was read, as they are written."""
        value: Any = any_value(read_file(manifest.path))
        if not isinstance(value, dict):
            return
        table = cast("dict[str, Any]", value)
        report, path = self._report, manifest.path
        self._version(manifest, table)
        if manifest.agent_plugins:
            return
        name: Any = table.get("name")
        if not isinstance(name, str) or not trim(name):
            report.add("name-missing", path, "it has no `name`")
        self._paths(manifest, table)
        self._pictures(manifest, table)
        if manifest.format == "claude":
            claude.check_manifest(report, path, table)
            if isinstance(name, str) and trim(name) and not claude.NAME.fullmatch(name):
                message = f"`{name}` is no kebab-case"
                report.add("plugin-name-claude", path, message, at=("name",))
        else:
            claude.check_typos(report, path, table, (), claude.MANIFEST)

    def _version(self, manifest: Manifest, table: dict[str, Any]) -> None:
        written: Any = table.get("version")
        if not isinstance(written, str) or manifest.agent_plugins:
            return
        version = trim(written)
        report, path = self._report, manifest.path
        if not version:
            report.add("version-form", path, "`version` is blank", at=("version",))
        elif not is_version(version):
            message = f"`{version}` cannot name a folder: only A-Z, a-z, 0-9, `.+_-`"
            report.add("version-form", path, message, at=("version",))
        elif semver_key(version) is None:
            report.add(
                "version-order", path, f"`{version}` is no semantic version", at=("version",)
            )

    def _paths(self, manifest: Manifest, table: dict[str, Any]) -> None:
        for member in ("skills", "mcpServers", "apps", "hooks", "commands"):
            for at, written in _strings(table.get(member)):
                place = (member, *at)
                found = below(written, self._root)
                if found is None:
                    message = f"`{member}`: `{written}` does not lie in the plugin"
                    self._report.add("member-path", manifest.path, message, at=place)
                elif not os.path.exists(found):
                    message = f"`{member}`: `{written}` is not there"
                    self._report.add("path-missing", manifest.path, message, at=place)

    def _pictures(self, manifest: Manifest, table: dict[str, Any]) -> None:
        shown: Any = table.get("interface")
        if not isinstance(shown, dict):
            return
        interface = cast("dict[str, Any]", shown)
        written = [((name,), interface.get(name)) for name in _PICTURES]
        shots: Any = interface.get("screenshots")
        if isinstance(shots, list):
            listed = cast("list[Any]", shots)
            written += [(("screenshots", number), shot) for number, shot in enumerate(listed)]
        for at, picture in written:
            if not isinstance(picture, str):
                continue
            found = below(picture, self._root)
            if found is None or not is_file(found):
                message = f"`{picture}` is not there" if found else f"`{picture}` is no path in it"
                self._report.add("asset-missing", manifest.path, message, at=("interface", *at))
        self._prompts(manifest, interface.get("defaultPrompt"))

    def _prompts(self, manifest: Manifest, written: Any) -> None:
        prompts = cast("list[Any]", written) if isinstance(written, list) else [written]
        texts = [collapse(prompt) for prompt in prompts if isinstance(prompt, str)]
        long = [text for text in texts if len(text) > PROMPT_LIMIT]
        if long or len(texts) > PROMPTS_KEPT:
            message = f"{len(texts)} prompts, {len(long)} of them longer than {PROMPT_LIMIT}"
            self._report.add(
                "prompt-dropped", manifest.path, message, at=("interface", "defaultPrompt")
            )

    # -- the parts

    def _parts(self, manifest: Manifest) -> None:
        report, root = self._report, self._root
        used = 0
        for look in (look_at_skills, look_at_hooks, look_at_servers, look_at_apps):
            report.tick()
            with report.part(root):
                used += look(manifest, report)
        left: tuple[str, ...] = ()
        with report.part(root):
            usable, others = self._commands(manifest)
            used += usable
            left = ignored(manifest, others)
        if left:
            report.add("ignored-parts", root, f"it also brings {', '.join(left)}")
        if not used:
            self.useless = True
            said = f"only {', '.join(left)}" if left else "nothing at all"
            report.add("empty-plugin", root, f"Codex can use nothing of it: {said}")

    def _commands(self, manifest: Manifest) -> tuple[int, int]:
        """Commands that become skills at an install, and those that do not."""
        if not _shallow(f"{self._root}/commands"):
            return 0, 0
        commands = plugin_commands(manifest)
        skipped = [command for command in commands if command.reason]
        for command in skipped:
            path = command.path
            self._report.add("command-skipped", path, f"`{command.slug}`: {command.reason}")
            if is_file(path) and self._report.readable(path, LARGEST_TEXT):
                self._bom(path)
        return len(commands) - len(skipped), len(skipped)

    def _bom(self, path: str) -> None:
        if read_file(path)[:3] == BOM:
            self._report.add(
                "skill-front-matter", path, "it begins with a byte order mark", severity="warning"
            )


def _shallow(folder: str) -> bool:
    """Whether a folder can be walked by a walker that calls itself."""
    deepest = folder.count("/") + 64
    level = [folder]
    while level:
        here = level.pop()
        if here.count("/") > deepest:
            return False
        try:
            with os.scandir(here) as entries:
                level += [e.path for e in entries if e.is_dir(follow_symlinks=False)]
        except OSError:
            continue
    return True


def _strings(written: Any) -> Iterator[tuple[tuple[int, ...], str]]:
    """A path-valued member's strings with their places."""
    if isinstance(written, str):
        yield (), written
    elif isinstance(written, list):
        for number, item in enumerate(cast("list[Any]", written)):
            if isinstance(item, str):
                yield (number,), item
