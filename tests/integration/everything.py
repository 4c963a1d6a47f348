"""Where the npm server "everything" is, if it is anywhere."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

EVERYTHING = "mcp-server-everything"
# Read at import: the tests' own environment has no JACKFIELD_ variables.
NODE_MODULES = os.environ.get("JACKFIELD_NODE_MODULES")


def everything_command() -> list[str] | None:
    """Its command line without the transport; None where it is not installed."""
    if found := shutil.which(EVERYTHING):
        return [found]
    script = Path(NODE_MODULES or "node_modules")
    script = script / "@modelcontextprotocol/server-everything/dist/index.js"
    node = shutil.which("node")
    return [node, str(script)] if node is not None and script.is_file() else None


def npx_command() -> list[str] | None:
    """The same through npx, which keeps a launcher and a shell above it; None without npx."""
    npx, command = shutil.which("npx"), everything_command()
    if npx is None or command is None:
        return None
    # …/node_modules/.bin/NAME, or the script that `everything_command` found itself.
    place = Path(command[-1])
    folder = next((up for up in place.absolute().parents if up.name == "node_modules"), None)
    where = ["--prefix", str(folder.parent)] if folder is not None else []
    return [npx, "--no-install", *where, EVERYTHING]
