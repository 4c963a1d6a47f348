"""Marketplaces as the configuration names them, and what makes a directory one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from core.config.model import Loaded
from core.config.paths import Home
from core.errors import InternalError, InvalidRequest
from core.plugins.discovery import managed_name
from core.plugins.layout import marketplace_file
from core.plugins.marketplace_file import Marketplace, load
from core.plugins.names import RESERVED, marketplace_name_fault
from core.protocol.facts import Evidence

STAGING = ".staging"
PREFIX = "marketplace-linux-"
NO_MANIFEST = "marketplace root does not contain a supported manifest"


@dataclass(frozen=True)
class Configured:
    """A `[marketplaces.NAME]` table of the user's configuration.

    Attributes:
        kind: `local`, `git`, or "".
    """

    name: str
    kind: str
    source: str
    ref: str | None = None
    sparse: tuple[str, ...] = ()


def configured(loaded: Loaded) -> dict[str, Configured]:
    """The user's marketplaces by name."""
    tables: Any = loaded.get("marketplaces", default={})
    if not isinstance(tables, Mapping):
        return {}
    found = cast("Mapping[str, Any]", tables)
    return {
        name: _configured(name, cast("Mapping[str, Any]", table))
        for name, table in found.items()
        if isinstance(table, Mapping)
    }


def _configured(name: str, table: Mapping[str, Any]) -> Configured:
    kind, source, ref = table.get("source_type"), table.get("source"), table.get("ref")
    sparse: Any = table.get("sparse_paths")
    return Configured(
        name,
        kind if isinstance(kind, str) else "",
        source if isinstance(source, str) else "",
        ref if isinstance(ref, str) else None,
        tuple(map(str, cast("list[Any]", sparse))) if isinstance(sparse, list) else (),
    )


def read_root(home: Home, root: str) -> Marketplace:
    """The marketplace of a directory that is to be added. Blocks.

    Raises:
        CoreError: It is none, or may not be called so; in the words of Codex 0.171.0.
    """
    market = validated(home, root)
    name = market.name
    if name in RESERVED and managed_name(home, root) != name:
        raise InvalidRequest(
            f"marketplace `{name}` is reserved and cannot be added from this source"
        )
    return market


def validated(home: Home, root: str) -> Marketplace:
    """The same without a look at reserved names."""
    found = marketplace_file(root)
    if found is None:
        message = f"invalid marketplace file `{root}`: {NO_MANIFEST}"
        raise InvalidRequest(message, evidence=Evidence(file=root))
    path, format = found
    market = load(path, root, home=str(home.home), format=format)
    if market.refusal is not None:
        place = Evidence(file=path, line=market.refusal.line or None)
        kind = InternalError if market.refusal.rule == "read" else InvalidRequest
        raise kind(market.refusal.message, evidence=place)
    if fault := marketplace_name_fault(market.name):
        raise InvalidRequest(fault, evidence=Evidence(file=path))
    return market


def staging_folder(home: Home) -> str:
    """Where checkouts are made before they are moved into their place."""
    return f"{home.marketplaces_dir}/{STAGING}"


def checkout_of(home: Home, name: str) -> str:
    """Where the checkout of a git marketplace lies."""
    return f"{home.marketplaces_dir}/{name}"


def holds_marketplace(root: str) -> bool:
    """Whether a checkout is there and has a marketplace file."""
    return os.path.isdir(root) and marketplace_file(root) is not None
