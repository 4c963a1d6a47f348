"""A workshop that installs."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from core.ports import Deps
from tests.core.plugins.install.world import Workshop, workshop


@pytest.fixture
async def shop(deps: Deps, tmp_path: Path) -> AsyncGenerator[Workshop]:
    async with workshop(deps, tmp_path) as made:
        yield made
