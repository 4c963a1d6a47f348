from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from core.compat.startup_upgrade import StartupUpgrade
from core.scope import RequestScope
from tests.core.plugins.install.world import Workshop
from tests.core.plugins.world import put

pytestmark = [pytest.mark.anyio, pytest.mark.needs("git")]
FILE = ".agents/plugins/marketplace.json"


def noting(causes: list[str]) -> Callable[[str, RequestScope], Awaitable[None]]:
    async def changed(cause: str, scope: RequestScope) -> None:
        causes.append(cause)

    return changed


def configured(shop: Workshop, more: str = "") -> None:
    shop.repository("mk.git", {FILE: {"name": "gm", "plugins": []}})
    source = f'source_type = "git"\nsource = "{shop.repositories}/mk.git"\nauto_update = false\n'
    put(shop.home.config_file, f"[marketplaces.gm]\n{source}{more}")


@pytest.mark.parametrize(
    ("more", "there", "told"),
    [
        ("", True, ["startup"]),
        ("[features]\nplugins = false\n", False, []),
        ('[plugins."x@y"]\nenabled = "yes"\n', False, []),
    ],
)
async def test_missing_checkouts_are_cloned_at_the_start_whatever_auto_update_says(
    shop: Workshop, more: str, there: bool, told: list[str]
):
    configured(shop, more)
    causes: list[str] = []
    await StartupUpgrade(shop.configs, shop.upgrader, noting(causes)).run()
    assert (shop.home.marketplaces_dir / "gm" / FILE).exists() == there
    assert causes == told


async def test_a_marketplace_that_is_up_to_date_is_left_alone(shop: Workshop):
    configured(shop)
    causes: list[str] = []
    starting = StartupUpgrade(shop.configs, shop.upgrader, noting(causes))
    await starting.run()
    await starting.run()
    assert causes == ["startup"]


async def test_a_repository_that_is_gone_stops_nothing(shop: Workshop):
    configured(shop)
    (shop.repositories / "mk.git").rename(shop.repositories / "gone")
    causes: list[str] = []
    await StartupUpgrade(shop.configs, shop.upgrader, noting(causes)).run()
    assert causes == []
