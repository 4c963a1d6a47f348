"""The same command lines, given to the real `codex` and to ours, in homes of the same content."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import REPO
from tests.core.cli.world import marketplace

# No tool of ours: the product is made for those who have it, and is built where nobody does.
pytestmark = [
    pytest.mark.skipif(shutil.which("codex") is None, reason="no codex on PATH"),
    pytest.mark.slow,
]

CONFIG = """\
model = "o3" # mine

[mcp_servers.full]
command = "cmd"
args = ["a b", ""]
env = { B = "1" }
env_vars = ["HOME", { name = "BAR", source = "remote" }]
cwd = "/tmp"
startup_timeout_sec = 3
tool_timeout_sec = 2.5
enabled_tools = ["t"]
disabled_tools = []

[mcp_servers.http]
url = "http://127.0.0.1:9/mcp"
http_headers = { Authorization = "Bearer x" }

[mcp_servers.off]
url = "not a url"
enabled = false
"""
READS = [
    "mcp list",
    "mcp list --json",
    "mcp get full",
    "mcp get full --json",
    "mcp get http",
    "mcp get off",
    "mcp get zz",
    "mcp login full",
    "mcp login zz",
    "mcp logout full",
    "mcp list -c mcp_servers.q.command=1",
    "mcp list -c mcp_servers.q.command=q --json",
    "mcp -c foo list",
    "mcp --enable nope list",
    "plugin list",
    "plugin list --json --available",
    "plugin list -m mk",
    "plugin list --available",
    "plugin marketplace list",
    "plugin marketplace list --json",
    "plugin marketplace upgrade zz",
    "plugin marketplace add nope",
    "plugin add zz@mk",
    "plugin add q@mk",
]
HELP = [
    f"{path} {flag}".strip()
    for path in (
        "mcp list",
        "mcp get",
        "mcp add",
        "mcp remove",
        "mcp login",
        "mcp logout",
        "plugin",
        "plugin add",
        "plugin list",
        "plugin remove",
        "plugin marketplace",
        "plugin marketplace add",
        "plugin marketplace list",
        "plugin marketplace upgrade",
        "plugin marketplace remove",
    )
    for flag in ("-h", "--help", "--jsn", "a b c", "-x", "")
    if flag or path in ("plugin", "plugin marketplace", "mcp get")
]
Said = tuple[int, str, str]


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {who: _home(tmp_path_factory.mktemp(who)) for who in ("codex", "ours")}


def _home(root: Path) -> Path:
    (root / ".codex").mkdir()
    (root / "work").mkdir()
    off = {"name": "q", "source": "./plugins/q", "policy": {"installation": "NOT_AVAILABLE"}}
    mk = marketplace(root / "mk", "mk", "p", off)
    table = f'\n[marketplaces.mk]\nsource_type = "local"\nsource = {json.dumps(str(mk))}\n'
    (root / ".codex" / "config.toml").write_text(CONFIG + table)
    return root


def said(who: str, root: Path, words: list[str]) -> Said:
    program = ["codex"] if who == "codex" else [sys.executable, "-m", "tui"]
    closed = "http://127.0.0.1:9"
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(REPO),
        "HOME": str(root),
        "CODEX_HOME": str(root / ".codex"),
        "LANG": "C.UTF-8",
        "HTTP_PROXY": closed,
        "HTTPS_PROXY": closed,
        "NO_PROXY": "127.0.0.1",
    }
    done = subprocess.run(
        [*program, *words],
        cwd=root / "work",
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    errors = [line for line in done.stderr.splitlines() if not line.startswith("WARNING: proc")]
    out, err = (text.replace(str(root), "ROOT") for text in (done.stdout, "\n".join(errors)))
    return done.returncode, out, err


@pytest.mark.parametrize("line", READS)
def test_what_is_only_read_is_told_alike(line: str, homes: dict[str, Path]):
    words = line.split()
    assert said("ours", homes["ours"], words) == said("codex", homes["codex"], words)


@pytest.mark.parametrize("line", HELP)
def test_help_and_wrong_usage_are_alike(line: str, homes: dict[str, Path]):
    words = line.split()
    assert said("ours", homes["ours"], words) == said("codex", homes["codex"], words)


def test_changes_are_told_alike_and_come_to_the_same_file(tmp_path: Path):
    homes: dict[str, Path] = {}
    for who in ("codex", "ours"):
        (tmp_path / who).mkdir()
        homes[who] = _home(tmp_path / who)
    lines = [
        "mcp add fs --env B=2 --env A= -- npx -y x",
        "mcp add h --url http://127.0.0.1:9/ --bearer-token-env-var T --oauth-client-id c",
        "mcp add full -- other",
        "mcp remove off",
        "mcp remove zz",
        "plugin add p@mk",
        "plugin list",
        "plugin remove p -m mk --json",
        "plugin marketplace remove mk",
    ]
    for line in lines:
        words = line.split()
        answers = {who: said(who, root, words) for who, root in homes.items()}
        assert answers["ours"] == answers["codex"], line
    trees = [
        tomllib.loads((root / ".codex" / "config.toml").read_text()) for root in homes.values()
    ]
    assert trees[0] == trees[1]
