"""`jackfield logout`: sign out of an MCP server, here and at its authorization server."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from core import method_table as methods
from core.cli.options import add_overrides, add_place, deps_of, overrides_of
from core.cli.session import in_core
from core.cli.text import safe
from core.protocol.jackfield import NameParams

if TYPE_CHECKING:
    from core.compose import Core


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `logout` takes."""
    parser.add_argument("server", metavar="SERVER", help="its name in the configuration")
    parser.add_argument(
        "--forget",
        action="store_true",
        help="forget the client that was registered for it too: the next sign-in makes another",
    )
    add_place(parser)
    add_overrides(parser)


def run(given: argparse.Namespace) -> int:
    """Sign out; that nothing was stored is no failure."""

    async def work(core: Core) -> int:
        client, params = core.client(), NameParams(name=given.server)
        result = await client.call(methods.JACKFIELD_LOGIN_SIGN_OUT, params)
        name = safe(given.server)
        if not result.removed:
            print(f"Nothing was stored for {name}.")
        elif result.revoked:
            print(f"Signed out of {name}: the tokens are revoked and removed.")
        else:
            print(
                f"Signed out of {name}: the tokens are removed, not revoked: {safe(result.note)}."
            )
        if given.forget:
            await client.call(methods.JACKFIELD_LOGIN_FORGET, params)
            print("The registered client is forgotten.")
        return 0

    return in_core(deps_of(given), overrides_of(given), work)
