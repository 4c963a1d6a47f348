"""credentials_of.py SERVER: what a core says is stored for a server, as JSON, and how long it took."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import anyio
import msgspec

from core import method_table as methods
from core.compose import open_core
from core.deps import real_deps
from core.protocol.jackfield import NameParams


async def main(name: str) -> None:
    async with open_core(real_deps(dict(os.environ), Path.cwd())) as core:
        began = time.monotonic()
        params = NameParams(name=name)
        state = await core.client().call(methods.JACKFIELD_LOGIN_CREDENTIALS, params)
        took = time.monotonic() - began
    print(msgspec.json.encode({"state": state, "took": took}).decode())


anyio.run(main, sys.argv[1])
