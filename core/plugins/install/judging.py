"""What has to be right with a plugin before it is copied, in the real server's order and words."""

from __future__ import annotations

from dataclasses import dataclass
from json import dumps

from core.errors import InternalError, InvalidRequest
from core.plugins.agent_plugins import install_version
from core.plugins.entries import Entry
from core.plugins.entry_manifest import entry_members, has_metadata
from core.plugins.install.copying import FAILED
from core.plugins.json_shape import ANY, Maybe, Record, read_exactly
from core.plugins.json_tokens import JsonFault
from core.plugins.layout import is_directory, os_reason, read_file
from core.plugins.manifest import MANIFEST, Manifest, read_manifest
from core.plugins.manifest_file import FoundManifest, ManifestFault, find_manifest
from core.plugins.marketplace_file import Marketplace
from core.plugins.names import is_version, marketplace_name_fault, plugin_name_fault
from core.plugins.text import trim
from core.protocol.facts import Evidence

MISSING = "missing plugin.json"
INVALID = "missing or invalid plugin.json"
UNVERSIONED = "local"
_VERSION = Record("RawPluginManifestVersion", {"version": Maybe(ANY)})
_BAD_VERSION = "only ASCII letters, digits, `.`, `+`, `_`, and `-` are allowed"


@dataclass(frozen=True)
class Judged:
    """A plugin that can be installed.

    Attributes:
        version: Name of its directory in the cache.
        substitute: The `plugin.json` that the marketplace entry makes up for it, or None.
    """

    version: str
    substitute: bytes | None = None


def installable_entry(market: Marketplace, name: str) -> Entry:
    """The entry of a plugin that may be installed.

    Raises:
        InvalidRequest: There is none, or a rule forbids it.
    """
    entry = next((entry for entry in market.entries if entry.name == name), None)
    rules = {skip.rule for skip in market.skipped if skip.name == name}
    if entry is None and not rules & {"plugin-name", "product"}:
        raise InvalidRequest(f"plugin `{name}` was not found in marketplace `{market.name}`")
    for fault in (marketplace_name_fault(market.name), plugin_name_fault(name)):
        if fault:
            raise InvalidRequest(fault)
    if entry is None or entry.installation == "NOT_AVAILABLE":
        where = f"in marketplace `{market.name}`"
        raise InvalidRequest(f"plugin `{name}` is not available for install {where}")
    if market.name_fault:
        raise InvalidRequest(f"invalid marketplace file `{market.path}`: {market.name_fault}")
    return entry


def judge(entry: Entry, root: str, version: str | None = None) -> Judged:
    """Whether the plugin in `root` can be installed, and as what. Blocks.

    Args:
        version: Decided already: that of the product's own snapshot.

    Raises:
        CoreError: In the words of Codex 0.171.0.
    """
    found = find_manifest(root)
    if not isinstance(found, FoundManifest):
        return _substituted(entry, root, version)
    place = Evidence(file=found.path)
    if found.format == "agent-plugins":
        manifest = _usable(read_manifest(root), place)
        version = version or install_version(manifest)
    else:
        version = version or declared_version(_read(found.path))
        manifest = _usable(read_manifest(root), place)
    _check_directory(root)
    if fault := plugin_name_fault(manifest.name):
        raise InvalidRequest(fault, evidence=place)
    if manifest.name != entry.name:
        names = f"name `{manifest.name}` does not match marketplace plugin name `{entry.name}`"
        raise InvalidRequest(f"plugin.json {names}", evidence=place)
    return Judged(version)


def _substituted(entry: Entry, root: str, version: str | None) -> Judged:
    if not has_metadata(entry):
        raise InvalidRequest(MISSING, evidence=Evidence(file=root))
    members = entry_members(entry)
    if entry.category is not None:
        members = {**members, "category": entry.category}
    text = dumps(members, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass")
    version = version or declared_version(text)
    _check_directory(root)
    try:
        read_exactly(text, MANIFEST)
    except JsonFault as fault:
        raise InvalidRequest(f"failed to parse plugin.json: {fault}") from None
    return Judged(version, text)


def _check_directory(root: str) -> None:
    if not is_directory(root):
        message = f"plugin source path is not a directory: {root}"
        raise InvalidRequest(message, evidence=Evidence(file=root))


def _read(path: str) -> bytes:
    try:
        data = read_file(path)
        data.decode()
    except OSError as error:
        raise InternalError(f"{FAILED}failed to read plugin.json: {os_reason(error)}") from None
    except UnicodeDecodeError:
        reason = "stream did not contain valid UTF-8"
        raise InternalError(f"{FAILED}failed to read plugin.json: {reason}") from None
    return data


def _usable(manifest: Manifest | ManifestFault | None, place: Evidence) -> Manifest:
    if isinstance(manifest, Manifest):
        return manifest
    hint = manifest.message if manifest is not None else ""
    raise InvalidRequest(INVALID, evidence=place, hint=hint)


def declared_version(data: bytes) -> str:
    """The directory name that a classic manifest asks for.

    Raises:
        InvalidRequest: It is no JSON, or its version cannot name a directory.
    """
    try:
        version = read_exactly(data, _VERSION).get("version")
    except JsonFault as fault:
        raise InvalidRequest(f"failed to parse plugin.json: {fault}") from None
    if version is None:
        return UNVERSIONED
    where = "invalid plugin version in plugin.json"
    if not isinstance(version, str):
        raise InvalidRequest(f"{where}: expected string")
    if not (version := trim(version)):
        raise InvalidRequest(f"{where}: must not be blank")
    if version in (".", ".."):
        raise InvalidRequest("invalid plugin version: path traversal is not allowed")
    if not is_version(version):
        raise InvalidRequest(f"invalid plugin version: {_BAD_VERSION}")
    return version
