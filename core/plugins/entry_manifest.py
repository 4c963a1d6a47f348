"""Members of a marketplace entry that stand in for a manifest that the plugin does not have."""

from __future__ import annotations

from typing import Any, cast

from core.plugins.entries import Entry
from core.plugins.json_fast import member
from core.plugins.manifest import Manifest, manifest_from
from core.plugins.text import trim


def has_metadata(entry: Entry) -> bool:
    """Whether the entry says anything that a manifest could say."""
    return entry.category is not None or bool(entry.metadata)


def entry_manifest(entry: Entry, root: str) -> Manifest | None:
    """The manifest that the entry makes up.

    Args:
        root: Directory of the plugin, base of its paths; "" when it is not here, and its paths
            are dropped.

    Returns:
        None when the entry says nothing or its types are wrong; it is listed bare then.
    """
    if not has_metadata(entry):
        return None
    members = entry_members(entry)
    return manifest_from(members, "", root, "entry")


def entry_members(entry: Entry) -> dict[str, Any]:
    """The manifest as JSON, the way Codex 0.171.0 puts it together."""
    metadata = entry.metadata
    written: Any = metadata.get("interface")
    interface = dict(cast("dict[str, Any]", written)) if isinstance(written, dict) else {}
    _fill(interface, "displayName", metadata.get("displayName"))
    developer = member(metadata.get("author"), "name")
    if isinstance(developer, str):
        _fill(interface, "developerName", trim(developer) or None)
    if "websiteURL" not in interface:
        _fill(interface, "websiteUrl", metadata.get("homepage"))
    if entry.category is not None:
        interface["category"] = entry.category
    return {**metadata, "name": entry.name, "interface": interface}


def _fill(interface: dict[str, Any], name: str, value: Any) -> None:
    if isinstance(value, str) and name not in interface:
        interface[name] = value
