"""Marketplaces and plugins of Claude Code: its settings, and what it has added."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast

from core.importer.found import Contents, FoundMarketplace, FoundPlugin
from core.importer.jsonc import Document
from core.importer.places import Around
from core.importer.shapes import names_of
from core.protocol.facts import Evidence


def settings(document: Document, around: Around, project: bool) -> Contents:
    """`enabledPlugins` and `extraKnownMarketplaces` of a settings file."""
    plugins = tuple(
        FoundPlugin(id=name, origin=_origin(document, "enabledPlugins", name), enabled=bool(value))
        for name, value in document.table("enabledPlugins").items()
    )
    extra = document.table("extraKnownMarketplaces")
    markets = tuple(
        _marketplace(name, value, _origin(document, "extraKnownMarketplaces", name), around)
        for name, value in extra.items()
    )
    declined = names_of(document.value.get("disabledMcpjsonServers"))
    return Contents(marketplaces=markets, plugins=plugins, declined=declined)


def known_marketplaces(document: Document, around: Around, project: bool) -> Contents:
    """What `claude plugin marketplace add` has written down."""
    markets = tuple(
        _marketplace(name, value, _origin(document, name), around)
        for name, value in document.value.items()
    )
    return Contents(marketplaces=markets)


def _origin(document: Document, *place: str) -> Evidence:
    return Evidence(file=document.path, line=document.line(*place), key=".".join(place))


def _marketplace(name: str, value: Any, origin: Evidence, around: Around) -> FoundMarketplace:
    source: Any = cast("dict[str, Any]", value).get("source") if isinstance(value, dict) else None
    if not isinstance(source, dict):
        return FoundMarketplace(name=name, origin=origin, fault="it has no source")
    members = cast("dict[str, Any]", source)
    kind = members.get("source")
    table, fault = _table(kind, members, around)
    notes: list[str] = []
    if table and isinstance(members.get("path"), str) and kind in ("github", "git"):
        notes.append("Claude Code reads its file from another place in the repository")
    return FoundMarketplace(name=name, origin=origin, table=table, notes=tuple(notes), fault=fault)


def _table(kind: Any, members: Mapping[str, Any], around: Around) -> tuple[dict[str, str], str]:
    """`[marketplaces.NAME]`, or why there can be none."""
    match kind:
        case "github":
            return _git(f"https://github.com/{members.get('repo')}.git", members, "repo")
        case "git":
            return _git(str(members.get("url")), members, "url")
        case "directory" | "file":
            path = members.get("path")
            if not isinstance(path, str) or not path:
                return {}, "its source has no path"
            return {"source_type": "local", "source": _folder(path, around)}, ""
        case _:
            return {}, f"Codex has no marketplaces of the kind `{kind}`"


def _git(url: str, members: Mapping[str, Any], needed: str) -> tuple[dict[str, str], str]:
    if not isinstance(members.get(needed), str) or not members[needed]:
        return {}, f"its source has no {needed}"
    table = {"source_type": "git", "source": url}
    ref = members.get("ref")
    if isinstance(ref, str) and ref:
        if ref.startswith("-"):
            return {}, f"its ref `{ref}` begins with `-`"
        table["ref"] = ref
    return table, ""


def _folder(path: str, around: Around) -> str:
    path = os.path.join(
        around.project, path.replace("~", around.home, 1) if path[0] == "~" else path
    )
    path = os.path.normpath(path)
    file = "/.claude-plugin/marketplace.json"
    return path[: -len(file)] if path.endswith(file) else path
