from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.deps import real_deps


def folders(environ: dict[str, str]) -> list[str]:
    deps = real_deps(environ, Path("."))
    return [str(folder) for folder in (deps.state_dir, deps.config_dir, deps.cache_dir)]


def test_our_own_folders_follow_the_xdg_variables_and_else_lie_below_home():
    assert folders({"HOME": "/h"}) == [
        "/h/.local/state/jackfield",
        "/h/.config/jackfield",
        "/h/.cache/jackfield",
    ]
    set_all = {
        "XDG_STATE_HOME": "/s",
        "XDG_CONFIG_HOME": "/c",
        "XDG_CACHE_HOME": "relative",
        "HOME": "/h",
    }
    assert folders(set_all) == ["/s/jackfield", "/c/jackfield", "/h/.cache/jackfield"]


def test_the_environment_is_kept_as_it_was():
    environ = {"HOME": "/h", "TOKEN": "hunter2"}
    deps = real_deps(environ, Path("."), read_only=True)
    environ["TOKEN"] = "other"
    assert deps.environ["TOKEN"] == "hunter2"
    assert deps.cwd == Path.cwd()
    assert deps.read_only
    assert "hunter2" not in repr(deps)


@pytest.mark.anyio
async def test_http_clients_are_made_on_demand():
    deps = real_deps({"HOME": "/h"}, Path("."))
    async with await deps.http.client(timeout=3) as client:
        assert client.timeout.read == 3


def test_making_them_loads_neither_http_nor_keyring():
    program = (
        "import sys; from pathlib import Path; from core.deps import real_deps;"
        "real_deps({'HOME': '/h'}, Path('.'));"
        "print([name for name in ('httpx', 'ssl', 'keyring', 'secretstorage', 'pydantic')"
        " if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.strip() == "[]"
