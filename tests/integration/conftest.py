"""The guarded MCP server, once for all tests, and an authorization server for each."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.integration.oauth.world import Guarded, Provider, guarded, needs_provider


@pytest.fixture(scope="session")
def server() -> Generator[Guarded]:
    needs_provider()
    with guarded() as made:
        yield made


@pytest.fixture
def provider(server: Guarded, tmp_path: Path) -> Generator[Provider]:
    """Not started yet."""
    made = Provider(server, tmp_path / "provider.log")
    try:
        yield made
    finally:
        made.stop()
