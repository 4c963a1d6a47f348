"""Draws the pictures of the README from the demo world: `make screenshots`.

The real panel on a real core, headless; nothing is drawn by hand. Ports and temporary folders,
which differ from run to run, are written as they would read on any machine.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from core.compose import Core, open_core
from core.demo import DemoWorld, demo_world
from tui.app import JackfieldApp
from tui.signs import Glyphs

FOLDER = Path(__file__).resolve().parents[2] / "screenshots"
PATIENCE = 60.0


@dataclass(frozen=True)
class Picture:
    """One picture: a tab at a size, after some keys."""

    name: str
    size: tuple[int, int]
    keys: tuple[str, ...]
    theme: str = "dusk"
    ascii: bool = False


PICTURES = (
    Picture("servers-120x40", (120, 40), ("4", "g", *["j"] * 7)),
    Picture("servers-80x24", (80, 24), ("4",)),
    Picture("marketplaces-120x40", (120, 40), ("1", "g", *["j"] * 13)),
    Picture("marketplaces-120x40-paper", (120, 40), ("1", "g", *["j"] * 15), theme="paper"),
    Picture("apps-120x40", (120, 40), ("2",)),
    Picture("tools-120x40", (120, 40), ("3",)),
    Picture("activity-120x40", (120, 40), ("5",)),
    Picture("help-80x24", (80, 24), ("question_mark",)),
    Picture("servers-80x24-ascii", (80, 24), ("4",), ascii=True),
)


def settled(app: JackfieldApp) -> bool:
    """Every list has been read and no server is still on its first way up."""
    rows = list(app.store.servers.rows.values())
    lists = (app.store.plugins, app.store.apps, app.store.servers)
    return (
        all(table.rows for table in lists)
        and any(row.status == "failed" for row in rows)
        and sum(row.status == "connected" for row in rows) >= 5
        and not any(table.refreshes for table in lists)
    )


def normalised(svg: str, world: DemoWorld) -> str:
    """The picture without what only this run and this machine had."""

    def plain(found: re.Match[str]) -> str:
        text = found.group(0)
        clean = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8123", text)
        clean = clean.replace(sys.executable, "/usr/bin/python3").replace(str(world.root), "/demo")
        # The length was that of the text as it was.
        return text if clean == text else re.sub(r' textLength="[^"]*"', "", clean)

    return re.sub(r"<text[^>]*>[^<]*</text>", plain, svg)


async def draw(core: Core, world: DemoWorld, picture: Picture) -> str:
    """The panel's screen as SVG."""

    async def connect() -> Any:
        return core.client()

    app = JackfieldApp(
        connect, glyphs=Glyphs(ascii=picture.ascii), theme=picture.theme, consent_all=True
    )
    async with app.run_test(size=picture.size) as pilot:
        with anyio.fail_after(PATIENCE):
            while not settled(app):
                await pilot.pause(0.1)
        await pilot.press(*picture.keys)
        await pilot.pause(0.5)
        return normalised(app.export_screenshot(title="jackfield"), world)


async def draw_all(wanted: Callable[[str], bool], environ: Mapping[str, str]) -> list[Path]:
    """Write the pictures; the files that were written."""
    written: list[Path] = []
    async with demo_world(delays=False, environ=environ) as world, open_core(world.deps()) as core:
        for picture in PICTURES:
            if wanted(picture.name):
                svg = await draw(core, world, picture)
                target = anyio.Path(FOLDER / f"{picture.name}.svg")
                await target.write_text(svg)
                written.append(Path(target))
    return written


def main() -> None:
    """Draw all pictures, or those whose names are given."""
    names = set(sys.argv[1:])
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    FOLDER.mkdir(exist_ok=True)
    environ = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    for path in anyio.run(draw_all, lambda name: not names or name in names, environ):
        print(path.relative_to(FOLDER.parent))


if __name__ == "__main__":
    main()
