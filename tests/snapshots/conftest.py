from __future__ import annotations

import time
from collections.abc import Generator
from importlib.metadata import version

import pytest


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(autouse=True)
def _colour(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "COLORFGBG", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)


PINNED = {"textual": "8.2.8", "pytest-textual-snapshot": "1.1.0"}


def pytest_configure(config: pytest.Config) -> None:
    """Pictures of another Textual differ in ways that nobody meant; do not accept them."""
    if not config.getoption("--snapshot-update", default=False):
        return
    for name, wanted in PINNED.items():
        if (found := version(name)) != wanted:
            raise pytest.UsageError(f"pictures are made with {name} {wanted}, not {found}")
