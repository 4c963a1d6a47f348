"""Wire types of `marketplace/add`, `/remove` and `/upgrade`."""

from __future__ import annotations

from core.protocol.base import Params, Wire


class MarketplaceAddParams(Params):
    """A marketplace to add.

    Attributes:
        source: A directory, a git URL with an optional `#ref`, or `owner/repo`.
        ref_name, sparse_paths: Git sources only.
    """

    source: str
    ref_name: str | None = None
    sparse_paths: list[str] | None = None


class MarketplaceAddResult(Wire):
    """`already_added`: the same source under the same name; nothing was changed."""

    marketplace_name: str
    installed_root: str
    already_added: bool


class MarketplaceRemoveParams(Params):
    """A configured marketplace, spelled exactly."""

    marketplace_name: str


class MarketplaceRemoveResult(Wire):
    """`installed_root`: the checkout that was deleted; None for a local one."""

    marketplace_name: str
    installed_root: str | None


class MarketplaceUpgradeParams(Params):
    """A git marketplace, or all of them."""

    marketplace_name: str | None = None


class MarketplaceUpgradeFailure(Wire):
    """One that could not be upgraded; its old checkout is kept."""

    marketplace_name: str
    message: str


class MarketplaceUpgradeResult(Wire):
    """Which were looked at, which have new content, which failed."""

    selected_marketplaces: list[str]
    upgraded_roots: list[str]
    errors: list[MarketplaceUpgradeFailure]
