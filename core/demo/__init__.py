"""The demo world: `jackfield demo` shows it, tests and pictures are made in it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from core.demo.gates import Gates
from core.demo.world import DemoWorld, demo_world

if TYPE_CHECKING:
    from core.client.contract import CoreClient

__all__ = ["DemoWorld", "Gates", "demo_world", "open_demo"]


@asynccontextmanager
async def open_demo(environ: Mapping[str, str]) -> AsyncGenerator[CoreClient]:
    """A core in a world of its own; its programs count as agreed to, since we wrote them.

    Args:
        environ: Of the terminal; only what says how to draw is taken from it.
    """
    from core.compose import open_core
    from core.method_table import JACKFIELD_PANEL_START
    from core.protocol.jackfield import PanelStartParams

    async with demo_world(environ=environ) as world, open_core(world.deps()) as core:
        client = core.client()
        await client.call(JACKFIELD_PANEL_START, PanelStartParams(consent_all=True))
        yield client
