"""Pictures of Explain. Look at a changed one before accepting it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.snapshots.test_panel import SIZES, Scene, at, picture
from tests.tui.panel import Panel
from tests.tui.test_explain import AMBIGUOUS, STOPPED, WORKS, Explaining
from tui.screens.explain import ExplainSheet
from tui.signs import Glyphs
from tui.widgets.page_view import PageView

__all__ = ["picture"]
Picture = Callable[..., None]
Size = tuple[int, int]


def explaining(words: str, *keys: str) -> Scene:
    """Open it on a row, and wait for what it says."""

    async def scene(p: Panel) -> None:
        await at("metrics")(p)
        await p.press("e")
        await p.until(lambda: isinstance(p.app.screen, ExplainSheet))
        sheet = p.app.screen
        await p.until(lambda: words in "\n".join(sheet.query_one(PageView).page.text_lines))
        await p.press(*keys)

    return scene


@SIZES
def test_the_path_with_its_stop(picture: Picture, size: Size):
    picture(explaining("sign-in is over"), Explaining(STOPPED), size=size, tab="4")


@SIZES
def test_nothing_is_in_the_way(picture: Picture, size: Size):
    picture(explaining("can use it"), Explaining(WORKS), size=size, tab="4")


def test_a_name_may_be_several_things(picture: Picture):
    picture(explaining("which one", "down"), Explaining(AMBIGUOUS), tab="4")


def test_its_colours_are_not_needed(picture: Picture, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "1")
    picture(explaining("sign-in is over"), Explaining(STOPPED), tab="4")


def test_it_is_drawn_in_ascii(picture: Picture):
    glyphs = Glyphs(ascii=True)
    picture(explaining("sign-in is over"), Explaining(STOPPED), tab="4", glyphs=glyphs)


def test_it_is_drawn_on_paper(picture: Picture):
    picture(explaining("sign-in is over"), Explaining(STOPPED), tab="4", theme="paper")
