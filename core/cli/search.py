"""`jackfield search`: plugins of all marketplaces by relevance, as the panel's filter does it."""

from __future__ import annotations

import argparse

import anyio
import msgspec

from core.cli.options import add_overrides, add_place, deps_of, overrides_of
from core.cli.text import safe, table
from core.errors import InternalError
from core.protocol.jackfield_search import SearchHit, SearchParams, SearchResult

DEADLINE = 60.0
ABOUT = 60
"""Characters of a description that a line shows."""
_STATES = {"notInstalled": "enabled, not installed", "leftOver": "left over", "notOffered": "-"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `search` takes."""
    parser.add_argument("query", nargs="+", metavar="QUERY", help="words as they stand in a name")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument(
        "--limit", type=int, default=0, metavar="N", help="the best N only; 0, the default, is all"
    )
    add_place(parser)
    add_overrides(parser)


def run(given: argparse.Namespace) -> int:
    """Print the hits, best first; no hit is no failure."""
    result = anyio.run(_search, given)
    if given.json:
        print(msgspec.json.format(msgspec.json.encode(result)).decode())
    elif result.hits:
        print(table(("PLUGIN", "FOUND", "STATE", "ABOUT"), map(_line, result.hits)))
    else:
        print(f"No plugin for “{safe(result.query)}” among {result.total:,}.")
    return 0


async def _search(given: argparse.Namespace) -> SearchResult:
    from core import method_table as methods
    from core.compose import open_core

    params = SearchParams(query=" ".join(given.query), limit=given.limit)
    async with open_core(deps_of(given), overrides=overrides_of(given)) as core:
        try:
            with anyio.fail_after(DEADLINE):
                return await core.client().call(methods.JACKFIELD_SEARCH, params)
        except TimeoutError:
            raise InternalError(f"the marketplaces were not read in {DEADLINE:.0f} s") from None


def _line(hit: SearchHit) -> tuple[str, str, str, str]:
    row = hit.plugin
    state = _STATES.get(row.state, row.state)
    version = f" {row.version}" if row.version else ""
    about = " ".join((row.description or row.display_name).split())
    cut = about if len(about) <= ABOUT else f"{about[: ABOUT - 1]}…"
    return row.id, hit.found, f"{state}{version}", cut
