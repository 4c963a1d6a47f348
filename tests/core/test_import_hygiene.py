from __future__ import annotations

import json
import pkgutil
import subprocess
import sys

import core
from tests.conftest import REPO

NEVER = ("textual", "rich", "tui", "mcp", "keyring", "secretstorage")


def loaded_after(program: str) -> set[str]:
    """Top-level packages that are loaded after a program of one line has run."""
    report = "import json, sys; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{report}"],
        cwd=REPO,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def modules() -> list[str]:
    found = (info.name for info in pkgutil.walk_packages(core.__path__, "core."))
    # Loaded by the keyring's own thread, for its library.
    return sorted(name for name in found if name != "core.auth.secret_service")


def test_no_module_of_the_core_reaches_the_screen_the_mcp_sdk_or_a_keyring():
    names = modules()
    assert len(names) > 40
    loaded = loaded_after("\n".join(f"import {name}" for name in names))
    assert not loaded & set(NEVER)


def test_the_core_itself_loads_next_to_nothing():
    loaded = loaded_after("import core")
    assert not loaded & {*NEVER, "httpx", "pydantic", "anyio", "asyncio"}


def test_what_the_panel_needs_first_loads_no_pydantic_and_no_http():
    loaded = loaded_after(
        "import core.client.contract, core.channels, core.method_table, core.protocol.jackfield"
    )
    assert not loaded & {*NEVER, "httpx", "pydantic"}


def test_an_app_server_answers_its_first_request_without_pydantic():
    program = (
        "from core.appserver.params import parse_params\n"
        "from core.appserver import loop\n"
        "from core.method_table import INITIALIZE\n"
        'parse_params(INITIALIZE, b\'{"clientInfo": {"name": "x", "version": "1"}}\')'
    )
    assert not loaded_after(program) & {*NEVER, "httpx", "pydantic"}
