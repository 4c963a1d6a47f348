"""The recorded cases: which there are, which are ours to pass, and what a run of them said."""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RUN_LIMIT = 900  # seconds for a whole suite


@dataclass(frozen=True)
class Outcome:
    """What a runner said of one case: `ok`, `failed` or `skipped`, with the steps that differ.

    `steps` is empty where the runner names none.
    """

    state: str
    steps: frozenset[int] = frozenset()
    detail: str = ""


@dataclass(frozen=True)
class Suite:
    """One of the two folders of recorded cases, and how its runner is called and read."""

    name: str
    folder: Path
    scope: Mapping[str, Any]

    def cases(self) -> list[str]:
        """Names of the cases in scope."""
        if not self.folder.is_dir():
            return []
        found = sorted(path.parent.name for path in self.folder.glob("cases/*/request.json"))
        return [
            name
            for name in found
            if _matches(name, self.scope["include"]) and not _matches(name, self.scope["exclude"])
        ]

    def run(self, names: Iterable[str], scratch: Path) -> dict[str, Outcome]:
        """Run cases against our app-server and our command line."""
        environ = {**os.environ, "TMPDIR": str(scratch)}
        done = subprocess.run(
            [sys.executable, "run_cases.py", *self._arguments(names)],
            cwd=self.folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_LIMIT,
            check=False,
        )
        read = read_mcp if self.name == "mcp" else read_plugins
        outcomes = read(done.stdout)
        if not outcomes:
            raise RuntimeError(f"the runner said nothing: {done.stderr[-2000:]}")
        return outcomes

    def _arguments(self, names: Iterable[str]) -> list[str]:
        # JACKFIELD_WIRE=socket: through a unix socket and a relay to it.
        over = {"socket": "socket_server.py"}.get(os.environ.get("JACKFIELD_WIRE", ""), "server.py")
        ours = [sys.executable, str(HERE / over)]
        server, cli = shlex.join([*ours, "app-server"]), shlex.join(ours)
        if self.name == "mcp":
            loose = ["--loose"] if self.scope.get("loose") else []
            chosen = [part for name in names for part in ("--case", name)]
            return ["--command", server, "--cli", cli, "--verbose", "--jobs", "2", *loose, *chosen]
        chosen = [part for name in names for part in ("--only", name)]
        level = ["--level", self.scope["level"]]
        return ["--cmd", server, "--cli", cli, "-v", "--jobs", "2", *level, *chosen]


def suites(shared: Path) -> dict[str, Suite]:
    """Both suites, with the scope that `scope.toml` gives them."""
    scope = tomllib.loads((HERE / "scope.toml").read_text())
    return {name: Suite(name, shared / "conformance" / name, scope[name]) for name in scope}


def differences() -> list[dict[str, Any]]:
    """Where we differ from the recording and mean to: `differences.toml`."""
    return tomllib.loads((HERE / "differences.toml").read_text()).get("difference", [])


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def read_plugins(text: str) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = {}
    for block in re.split(r"^(?=ok    |FAIL  |ERROR )", text, flags=re.MULTILINE):
        if head := re.match(r"(ok|FAIL|ERROR)\s+([^:\s]+)", block):
            steps = re.findall(r"^  step (-?\d+):", block, flags=re.MULTILINE)
            state = "ok" if head[1] == "ok" else "failed"
            outcomes[head[2]] = Outcome(state, frozenset(map(int, steps)), block)
    return outcomes


_MCP_STATES = {"ok": "ok", "skip": "skipped", "FAIL": "failed", "error": "failed"}


def read_mcp(text: str) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = {}
    for block in re.split(r"^(?=(?:ok|FAIL|error|skip) +[a-z0-9-]+$)", text, flags=re.MULTILINE):
        if head := re.match(r"(ok|FAIL|error|skip) +([a-z0-9-]+)$", block, flags=re.MULTILINE):
            outcomes[head[2]] = Outcome(_MCP_STATES[head[1]], detail=block)
    return outcomes
