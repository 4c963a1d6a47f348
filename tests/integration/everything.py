"""Where the npm server "everything" is, if it is anywhere."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

# Read at import: the tests' own environment has no JACKFIELD_ variables.
NODE_MODULES = os.environ.get("JACKFIELD_NODE_MODULES")


def everything_command() -> list[str] | None:
    """Its command line without the transport; None where it is not installed."""
    if found := shutil.which("mcp-server-everything"):
        return [found]
    script = Path(NODE_MODULES or "node_modules")
    script = script / "@modelcontextprotocol/server-everything/dist/index.js"
    node = shutil.which("node")
    return [node, str(script)] if node is not None and script.is_file() else None
