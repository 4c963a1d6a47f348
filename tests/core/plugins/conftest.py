"""A Codex home with nothing in it."""

from __future__ import annotations

import pytest

from core.ports import Deps
from tests.core.plugins.world import World


@pytest.fixture
def world(deps: Deps) -> World:
    return World(deps)
