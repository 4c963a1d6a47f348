"""The Agent Plugins format: a `plugin.json` in the plugin's root.

Schema https://agent-plugins.org/schemas/1.0.0/plugin.schema.json, as Codex 0.171.0 reads it.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, cast

from core.plugins import json_fast
from core.plugins.json_fast import member
from core.plugins.json_shape import ANY, read_exactly
from core.plugins.json_tokens import JsonFault
from core.plugins.layout import is_file, os_reason, read_file
from core.plugins.manifest import Manifest, manifest_from, read_classic
from core.plugins.manifest_file import ManifestFault, text_fault
from core.plugins.names import is_version
from core.plugins.text import trim
from core.protocol.plugins import PluginInterface

SCHEMA = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
MCP_SCHEMA = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"
DEFAULT_VERSION = "1.0.0"
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?", re.ASCII)
_TEXTS = ("version", "description", "homepage", "repository", "license")
_AUTHOR = ("name", "email", "url")


def read_agent_manifest(path: str, root: str) -> Manifest | ManifestFault:
    """The manifest at `path`, with its extension or the overlay of a `.codex-plugin` beside it."""
    try:
        data = read_file(path)
    except OSError as error:
        return ManifestFault(path, "read", os_reason(error))
    if fault := text_fault(data, path):
        return fault
    value = json_fast.decode(data)
    if value is json_fast.SUSPECT:
        try:
            value = read_exactly(data, ANY)
        except JsonFault as fault:
            return ManifestFault(path, "json", fault.reason, fault.line, fault.column)
    members = cast("dict[str, Any]", value)
    if message := _fault(members):
        return ManifestFault(path, "schema", message)
    ours = _classic_part(members, path, root)
    if isinstance(ours, ManifestFault):
        return ours
    texts = {name: trim(members[name]) or None for name in _TEXTS if name in members}
    shown = ours.interface if ours is not None else None
    return Manifest(
        path=path,
        root=root,
        format="agent-plugins",
        name=members["name"],
        version=texts.get("version"),
        description=texts.get("description"),
        keywords=tuple(members.get("keywords", ())),
        interface=shown or _default_interface(members, texts),
        apps=ours.apps if ours is not None else None,
        hooks=ours.hooks if ours is not None else None,
        onboarding_skill=_onboarding(members),
    )


def _fault(members: dict[str, Any]) -> str:
    """What the schema says against it, or ""."""
    if members.get("$schema") != SCHEMA:
        return f"`$schema` is not {SCHEMA}"
    name: Any = members.get("name")
    if not isinstance(name, str):
        return "`name` is missing or no string"
    if not _NAME.fullmatch(name) or "--" in name or ".." in name:
        return f"`{name}` is no name: 1 to 64 of a-z, 0-9, `.`, `-`"
    for text in _TEXTS:
        if text in members and not isinstance(members[text], str):
            return f"`{text}` is no string"
    keywords: Any = members.get("keywords", [])
    if not isinstance(keywords, list) or not _all_texts(cast("list[Any]", keywords)):
        return "`keywords` is no list of strings"
    return _author_fault(members["author"]) if "author" in members else ""


def _author_fault(author: Any) -> str:
    if isinstance(author, list):
        author = dict(zip(_AUTHOR, cast("list[Any]", author), strict=False))
    if not isinstance(author, dict):
        return "`author` is no object"
    table = cast("dict[str, Any]", author)
    if other := [name for name in table if name not in _AUTHOR]:
        return f"`author.{other[0]}` is not known"
    return "" if _all_texts(list(table.values())) else "a member of `author` is no string"


def _all_texts(items: list[Any]) -> bool:
    return all(isinstance(item, str) for item in items)


def _extension(members: dict[str, Any]) -> dict[str, Any] | None:
    ours = member(members.get("extensions"), "com.openai")
    return cast("dict[str, Any]", ours) if isinstance(ours, dict) else None


def _classic_part(members: dict[str, Any], path: str, root: str) -> Manifest | ManifestFault | None:
    """The extension read as a classic manifest, else the `.codex-plugin` that overlays."""
    ours = _extension(members)
    if ours is not None:
        read = manifest_from(ours, path, root, "agent-plugins")
        if read is None:
            return ManifestFault(path, "type", "a member of `com.openai` has the wrong type")
        return read
    overlay = f"{root}/.codex-plugin/plugin.json"
    return read_classic(overlay, root, "codex") if is_file(overlay) else None


def _onboarding(members: dict[str, Any]) -> str | None:
    skill = member(_extension(members), "onboardingSkill")
    return skill if isinstance(skill, str) else None


def _default_interface(members: dict[str, Any], texts: dict[str, str | None]) -> PluginInterface:
    author: Any = members.get("author")
    if isinstance(author, list):
        named: Any = (cast("list[Any]", author) or [""])[0]
    else:
        named = cast("dict[str, Any]", author or {}).get("name", "")
    return PluginInterface(
        display_name=members["name"],
        short_description=texts.get("description"),
        long_description=texts.get("description"),
        developer_name=trim(named) or None,
        category="Other",
        website_url=texts.get("homepage"),
    )


def install_version(manifest: Manifest) -> str:
    """The cache directory's name: the version where it is fit for one, else a hash of it."""
    version = manifest.version or DEFAULT_VERSION
    if is_version(version):
        return version
    return f"agent-plugins-{hashlib.sha256(version.encode()).hexdigest()[:24]}"


def data_directory(codex_home: str, plugin: str, marketplace: str) -> str:
    """Where a plugin of this format keeps its data."""
    digest = hashlib.sha256(f"{marketplace}\0{plugin}".encode()).hexdigest()
    return f"{codex_home}/plugins/data/agent-plugins/{digest}"
