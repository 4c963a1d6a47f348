"""Programs of the demo world: MCP servers that talk on stdin and stdout."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources

from core.demo import offers
from core.demo.shelves import Files

LIBRARY = "mcp_demo.py"
SLOW = 6.0
INSTALLING = (
    "resolving 214 packages",
    "fetched 61 of 214",
    "fetched 139 of 214",
    "installing 214 packages",
)


def program_files(gate: Callable[[str], str], *, delays: bool) -> Files:
    """Text by file name; `gate` names the file that a server waits for, "" for none."""
    served = {
        "atlas-docs": offers.ATLAS_DOCS,
        "billing": offers.BILLING,
        "browser-lab": offers.BROWSER_LAB,
        "memory": offers.SMALL,
        "repo-db": offers.SMALL,
        "review-index": offers.REVIEW_INDEX,
    }
    files: Files = {LIBRARY: resources.files("core.demo").joinpath("mcp_server.py").read_text()}
    for name, offer in served.items():
        slow = delays and name == "browser-lab"
        seconds, noise = (SLOW, INSTALLING) if slow else (0.0, ())
        files[f"{name}.py"] = (
            f'"""The MCP server {name} of the demo world."""\n\n'
            "from mcp_demo import run\n\n"
            f"run(\n    {offer!r},\n    gate={gate(f'server/{name}')!r},\n"
            f"    seconds={seconds!r},\n    noise={noise!r},\n)\n"
        )
    files["metrics.py"] = (
        '"""The MCP server metrics of the demo world: it does not come up."""\n\nimport sys\n\n'
        'sys.stderr.write("reading METRICS_API_KEY\\nboom: missing API key\\n")\nsys.exit(3)\n'
    )
    return files
