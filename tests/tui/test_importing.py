"""Both sheets over the real core: what is shown is what is written, and nothing before a yes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from textual.pilot import Pilot

from core.client.contract import CoreClient
from core.compose import open_core
from core.ports import Deps
from tests.core.importer.world import SECRET, put
from tests.core.plugins.world import put_market, put_plugin
from tui.app import JackfieldApp
from tui.screens.importing import ImportSheet
from tui.screens.validate import ValidateSheet
from tui.widgets.page_view import PageView
from tui.widgets.row_list import RowList

pytestmark = pytest.mark.anyio
NARROW, WIDE = (80, 24), (120, 40)
HOSTILE = "\x1b[2J[bold]x\u202e"


class Screen:
    def __init__(self, app: JackfieldApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def until(self, condition: Any) -> None:
        with anyio.fail_after(10):
            while not condition():
                await self.pilot.pause()
                await anyio.lowlevel.checkpoint()

    async def open(self, command: str, kind: type) -> Any:
        self.app.run_command(command)
        await self.until(lambda: isinstance(self.app.screen, kind))
        return self.app.screen

    def rows(self) -> list[str]:
        listed = self.app.screen.query_one(RowList)
        height = listed.scrollable_content_region.height
        return [text for y in range(height) if (text := listed.render_line(y).text.rstrip())]

    def page(self, id: str = "said") -> str:
        view = self.app.screen.query_one(f"#{id}", PageView)
        return "\n".join(line.rstrip() for line in view.page.text_lines)

    @property
    def keys(self) -> list[str]:
        shown, tail = self.app.screen.hints()  # type: ignore[attr-defined]
        return [hint[0] for hint in (*shown, *tail)]

    @property
    def toasts(self) -> list[str]:
        return [notification.message for notification in self.app._notifications]  # type: ignore[reportPrivateUsage]


@asynccontextmanager
async def panel(deps: Deps, size: tuple[int, int] = WIDE) -> AsyncGenerator[Screen]:
    async with open_core(deps) as core:

        async def connect() -> CoreClient:
            return core.client()

        app = JackfieldApp(connect)
        app.animation_level = "none"
        async with app.run_test(size=size, notifications=True) as pilot:
            screen = Screen(app, pilot)
            await screen.until(lambda: app.controller is not None)
            yield screen


@pytest.fixture
def config(home: Path) -> Path:
    servers: dict[str, Any] = {
        "good": {"command": "x", "args": ["1"]},
        "there": {"command": "y"},
        "keyed": {"command": "x", "env": {"API_KEY": SECRET}},
        HOSTILE: {"command": "x"},
    }
    put(home / ".cursor/mcp.json", {"mcpServers": servers})
    put(home / ".gemini/settings.json", "{")
    return put(home / ".codex/config.toml", '[mcp_servers.there]\ncommand = "z"\nenabled = false\n')


def text_of(path: Path) -> str:
    return path.read_text()


# ── import ──


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_rows_stand_below_their_files_and_say_what_would_be_written(
    deps: Deps, config: Path, size: tuple[int, int]
):
    async with panel(deps, size) as screen:
        await screen.open("agents.import", ImportSheet)
        await screen.until(lambda: len(screen.rows()) >= 6)
        rows = "\n".join(screen.rows())
        assert "Cursor  ~/.cursor/mcp.json" in rows
        assert "cannot be read" in rows
        assert "[✓] good" in rows and "[ ] there" in rows
        assert "name taken" in rows
        assert '+ command = "x"' in screen.page()
        await screen.press("down")
        assert '- command = "z"' in screen.page()
        whole = rows + screen.page()
        assert SECRET not in whole and "\x1b" not in whole and "\u202e" not in whole


async def test_what_is_ticked_is_written_at_once_and_z_takes_it_back(deps: Deps, config: Path):
    before = text_of(config)
    async with panel(deps) as screen:
        await screen.open("agents.import", ImportSheet)
        await screen.until(lambda: len(screen.rows()) >= 6)
        await screen.press("down", "space")  # there: beside it, under a free name
        assert "there → there-cursor" in "\n".join(screen.rows())
        await screen.press("ctrl+s")
        await screen.until(lambda: not isinstance(screen.app.screen, ImportSheet))
        written = text_of(config)
        assert written.startswith(before)
        assert '[mcp_servers.good]\ncommand = "x"\nargs = ["1"]' in written
        assert '[mcp_servers.there-cursor]\ncommand = "y"' in written
        assert any("z undoes" in toast for toast in screen.toasts)
        await screen.press("z")
        await screen.until(lambda: text_of(config) == before)


async def test_closing_writes_nothing(deps: Deps, config: Path):
    before = text_of(config)
    async with panel(deps) as screen:
        await screen.open("agents.import", ImportSheet)
        await screen.until(lambda: len(screen.rows()) >= 6)
        await screen.press("down", "space", "m", "escape")
        await screen.until(lambda: not isinstance(screen.app.screen, ImportSheet))
    assert text_of(config) == before


async def test_m_writes_over_what_is_there(deps: Deps, config: Path):
    async with panel(deps) as screen:
        await screen.open("agents.import", ImportSheet)
        await screen.until(lambda: len(screen.rows()) >= 6)
        await screen.press("space", "down", "m")
        assert "replaces" in "\n".join(screen.rows())
        await screen.press("ctrl+s")
        await screen.until(lambda: 'command = "y"' in text_of(config))
        assert "good" not in text_of(config) and "there-cursor" not in text_of(config)


async def test_a_secret_is_copied_only_after_y(deps: Deps, config: Path):
    async with panel(deps) as screen:
        await screen.open("agents.import", ImportSheet)
        await screen.until(lambda: len(screen.rows()) >= 6)
        await screen.press("down", "down")
        assert "holds a literal secret in env API_KEY: not copied" in screen.page()
        assert "set API_KEY in your environment" in screen.page()
        assert "y" in screen.keys
        await screen.press("space", "y")
        assert "the literal secret in env API_KEY is copied" in screen.page()
        assert SECRET not in screen.page()
        await screen.press("y", "ctrl+s")
        await screen.until(lambda: 'env_vars = ["API_KEY"]' in text_of(config))
    assert SECRET not in text_of(config)


async def test_another_name_is_asked_for_in_a_field(deps: Deps, config: Path):
    async with panel(deps) as screen:
        await screen.open("agents.import", ImportSheet)
        await screen.until(lambda: len(screen.rows()) >= 6)
        await screen.press("E")
        await screen.press(*["backspace"] * 4, *"mine", "enter")
        assert "good → mine" in "\n".join(screen.rows())
        assert "+ [mcp_servers.mine]" in screen.page()
        await screen.press("ctrl+s")
        await screen.until(lambda: "[mcp_servers.mine]" in text_of(config))


async def test_why_nothing_was_written_stays_in_the_sheet(deps: Deps, home: Path, config: Path):
    before = text_of(config)
    async with panel(deps) as screen:
        await screen.open("agents.import", ImportSheet)
        await screen.until(lambda: len(screen.rows()) >= 6)
        put(home / ".cursor/mcp.json", {"mcpServers": {"good": {"command": "evil"}}})
        await screen.press("ctrl+s")
        await screen.until(lambda: "has changed since it was shown" in screen.page())
    assert text_of(config) == before


async def test_nothing_of_other_agents(deps: Deps, home: Path):
    async with panel(deps) as screen:
        await screen.open("agents.import", ImportSheet)
        await screen.until(lambda: "Nothing of other agents here" in screen.page())


# ── validate ──


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_findings_stand_below_their_files_and_one_is_told_whole(
    deps: Deps, size: tuple[int, int]
):
    root = Path(deps.cwd) / "market"
    put_market(root, "p", {"name": HOSTILE, "source": 7})
    put_plugin(root / "plugins/p", {".mcp.json": "{"})
    async with panel(deps, size) as screen:
        await screen.open("folders.validate", ValidateSheet)
        await screen.press(*"market", "enter")
        await screen.until(lambda: len(screen.rows()) >= 4)
        rows = "\n".join(screen.rows())
        assert ".agents/plugins/marketplace.json" in rows
        assert "plugins/p/.mcp.json" in rows
        assert "source-shape" in rows and "mcp-file" in rows
        assert "marketplace m: Codex lists 1 of 2" in screen.page("summary")
        assert "leaves the entry out, says nothing" in screen.page()
        assert "\x1b" not in rows + screen.page()


async def test_errors_only_and_all_again(deps: Deps):
    root = Path(deps.cwd) / "p"
    put_plugin(root, {"agents/a.md": "x"}, version="1/2")
    async with panel(deps) as screen:
        await screen.open("folders.validate", ValidateSheet)
        await screen.press(*"p", "enter")
        await screen.until(lambda: len(screen.rows()) >= 4)
        everything = screen.rows()
        await screen.press("f")
        assert "version-form" in "\n".join(screen.rows())
        assert "empty-plugin" not in "\n".join(screen.rows())
        await screen.press("f")
        assert screen.rows() == everything


@pytest.mark.parametrize(
    ("typed", "said"),
    [("nowhere", "there is no such file or folder"), ("", "name a folder")],
)
async def test_what_cannot_be_looked_at_is_said(deps: Deps, typed: str, said: str):
    async with panel(deps) as screen:
        sheet = await screen.open("folders.validate", ValidateSheet)
        await screen.press(*typed, "enter")
        await screen.until(
            lambda: said in screen.page("summary") + screen.page() + sheet._path.fault
        )


async def test_a_marketplaces_row_offers_its_own_folder(deps: Deps, home: Path):
    put_market(home, "p", name="mine")
    put_plugin(home / "plugins/p", {"skills/a/SKILL.md": "---\ndescription: d\n---\n"})
    async with panel(deps) as screen:
        await screen.until(lambda: bool(screen.app.store.plugins.rows))
        await screen.until(lambda: screen.app.pane.selected is not None)
        screen.app.pane.go_to(next(iter(screen.app.pane.list.ids)))
        await screen.pilot.pause()
        await screen.open("folders.validate", ValidateSheet)
        await screen.until(lambda: "marketplace mine" in screen.page("summary"))
        assert "nothing to find fault with" in screen.page("summary")
