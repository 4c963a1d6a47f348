"""What every test gets: its own home, a clock and a keyring of its own, and no way outside."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from core.ports import Deps
from tests.fakes.ports import FakeBrowser, FakeClock, MemorySecrets
from tests.integration.everything import EVERYTHING, everything_command

if TYPE_CHECKING:
    import httpx

REPO = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("JACKFIELD_SHARED") or REPO.parent / "shared")
"""The project's folder of facts, cases and examples; not there on other machines."""
REQUIRE_TOOLS = "JACKFIELD_REQUIRE_TOOLS"
"""Set to 1 where every tool is expected: a missing one then fails its tests."""
_OURS = (REQUIRE_TOOLS, "JACKFIELD_NODE_MODULES", "JACKFIELD_SHARED")

# How long an example takes says more of the machine than of the code.
settings.register_profile("jackfield", deadline=None)
settings.load_profile("jackfield")

_missing: dict[str, int] = {}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


# --- isolation ---


@pytest.fixture(autouse=True, scope="session")
def _no_keyring() -> None:
    """No test reaches the keyring of whoever runs it, in this process or one started from it."""
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    import keyring
    from keyring.backends import fail

    keyring.set_keyring(fail.Keyring())


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HOME, CODEX_HOME and the XDG folders lie below the test's own folder."""
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    for name in list(os.environ):
        if name.startswith(("XDG_", "CODEX_", "JACKFIELD_")) and name not in _OURS:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CODEX_HOME", str(home / ".codex"))


# --- tools of the machine ---


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        for tool in mark.args:
            if not is_there(tool):
                note_missing(tool)
                pytest.skip(f"{tool} is missing")
    if item.get_closest_marker("shared") is not None and not SHARED.is_dir():
        note_missing("the shared folder")
        pytest.skip("the shared folder is missing")


def is_there(tool: str) -> bool:
    """Whether this machine has an outside tool."""
    if tool == EVERYTHING:
        return everything_command() is not None
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
    return shutil.which(tool, path=path) is not None


def note_missing(tool: str) -> None:
    """Name it at the end of the run; where every tool is expected, the test fails."""
    _missing[tool] = _missing.get(tool, 0) + 1
    if os.environ.get(REQUIRE_TOOLS) == "1":
        pytest.fail(f"{tool} is missing", pytrace=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _missing:
        return
    terminalreporter.section("left out for want of a tool")
    for tool, count in sorted(_missing.items()):
        tests = "1 test" if count == 1 else f"{count} tests"
        terminalreporter.write_line(f"{tool}: {tests}")


# --- what a core is made from ---


class NoHttp:
    """Makes clients that reach nobody."""

    async def client(self, *, timeout: float = 30.0) -> httpx.AsyncClient:
        import httpx

        def refuse(request: httpx.Request) -> httpx.Response:
            raise httpx.ConnectError(f"nothing is at {request.url.host}", request=request)

        return httpx.AsyncClient(transport=httpx.MockTransport(refuse), timeout=timeout)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The test's HOME; CODEX_HOME is `.codex` in it and exists."""
    (tmp_path / "home" / ".codex").mkdir(parents=True, exist_ok=True)
    return tmp_path / "home"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def secrets() -> MemorySecrets:
    return MemorySecrets()


@pytest.fixture
def browser() -> FakeBrowser:
    return FakeBrowser()


@pytest.fixture
def deps(
    home: Path, tmp_path: Path, clock: FakeClock, secrets: MemorySecrets, browser: FakeBrowser
) -> Deps:
    """Fakes at every port, folders of the test's own, an environment of three variables."""
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    return Deps(
        clock=clock,
        secrets=secrets,
        http=NoHttp(),
        browser=browser,
        environ={
            "HOME": str(home),
            "CODEX_HOME": str(home / ".codex"),
            "PATH": os.environ.get("PATH", ""),
        },
        cwd=work,
        state_dir=tmp_path / "state",
        config_dir=tmp_path / "config",
        cache_dir=tmp_path / "cache",
        system_dir=tmp_path / "etc",
    )
