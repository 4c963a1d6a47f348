from __future__ import annotations

from typing import Any

from core.protocol.rows import DOMAINS, Row
from tests.tui import world
from tui.signs import UNICODE
from tui.store import ViewStore
from tui.text import Part
from tui.views.base import ListView, Place
from tui.widgets.columns import fit
from tui.widgets.page import Page
from tui.widgets.row_view import RowView, as_parts, paint_group, paint_row, text_of

PLACE = Place(
    home=world.HOME,
    codex_home=f"{world.HOME}/.codex",
    cwd=f"{world.HOME}/src/atlas",
    config_file=world.CONFIG,
)


def store_of(**rows: list[Any]) -> ViewStore:
    """A store whose other domains have been read and are empty."""
    store = ViewStore(world.now)
    for domain in DOMAINS:
        given: list[Row] = rows.get(domain, [])
        store.load(domain, given, revision=1, phase="final", at=world.NOW)
    return store


def whole() -> ViewStore:
    return store_of(**world.ALL)


def cell(view: RowView, key: str) -> str:
    return "".join(text for text, _ in as_parts(view.cells.get(key)))


def line(view: ListView, key: str, cells: int = 100, *, head: bool = False) -> str:
    """A row as it is painted, blanks at the end left out."""
    row = view.row(key)
    if head:
        return text_of(paint_group(row, cells, UNICODE, False)).rstrip()
    return text_of(paint_row(row, fit(view.columns(False), cells), UNICODE)).rstrip()


def page_of(view: ListView, key: str, width: int = 70) -> str:
    page = Page(width)
    view.page(key, page)
    return "\n".join(text.rstrip() for text in page.text_lines)


def text(parts: list[Part] | Any) -> str:
    return "".join(piece for piece, _ in parts)
