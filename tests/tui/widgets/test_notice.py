from pathlib import Path

import pytest

import tui
from tests.tui.widgets.support import Stage, drawn, screen_lines
from tui.widgets.notice import Awaited, Notice, empty, failed, loading, nothing_found
from tui.widgets.page import Build, Page
from tui.widgets.toast import toast

pytestmark = pytest.mark.anyio


def words(build: Build) -> list[str]:
    page = Page(62)
    build(page)
    return [line.rstrip() for line in page.text_lines]


async def test_loading_names_who_is_awaited() -> None:
    awaited = [
        Awaited("busy", "northwind", "git fetch, 62 %"),
        Awaited("failed", "ops-kit", "no answer"),
    ]
    lines = words(loading("Reading 7 marketplaces", "1.2 s", awaited, [("ctrl+x", "stop waiting")]))
    assert lines[0] == "◐ Reading 7 marketplaces  1.2 s"
    assert lines[4].startswith("◐ northwind")
    assert lines[4].endswith("git fetch, 62 %")
    assert lines[5].startswith("✗ ops-kit")
    assert lines[-1] == "^x stop waiting"


async def test_empty_says_what_it_is_why_and_which_key() -> None:
    text = "A marketplace is a folder that lists plugins. config.toml names none."
    assert words(empty("No marketplace yet", text, [("a", "add one")])) == [
        "No marketplace yet",
        "",
        "A marketplace is a folder that lists plugins. config.toml",
        "names none.",
        "",
        "a add one",
    ]


async def test_a_fault_says_what_was_said_and_when_it_is_tried_again() -> None:
    lines = words(
        failed(
            "The app directory did not answer",
            "HTTP 503 from directory.example",
            "12:41:30, third try; next by itself in 60 s",
            ["upstream connect error\x1b[0m"],
            [("r", "try now"), ("exclamation_mark", "all errors")],
        )
    )
    assert lines == [
        "✗ The app directory did not answer",
        "",
        "said       HTTP 503 from directory.example",
        "when       12:41:30, third try; next by itself in 60 s",
        "",
        "│ upstream connect error␛[0m",
        "",
        "There was no earlier list to show.",
        "",
        "r try now   ! all errors",
    ]


async def test_nothing_found_says_where_it_looked_and_what_is_near() -> None:
    lines = words(nothing_found("revue", "names and texts of 313 plugins", "code-review"))
    assert lines[0] == "Nothing matches “revue”"
    assert lines[2:] == ["Looked at names and texts of 313 plugins. Nearest name:", "code-review."]


async def test_what_is_quick_needs_no_notice() -> None:
    notice = Notice()
    app = Stage(notice)
    async with app.run_test(size=(80, 10)) as pilot:
        notice.show_later(loading("Reading"))
        await pilot.pause()
        assert drawn(notice) == []
        assert notice._timer is not None
        notice.hide()
        assert notice._timer is None
        notice.show_later(loading("Reading"))
        timer = notice._timer
        assert timer is not None
        await timer._tick(next_timer=0, count=0)
        await pilot.pause()
        await pilot.pause()
        assert drawn(notice)[0].strip() == "◐ Reading"
        notice.show_later(loading("Reading", "1.2 s"))
        await pilot.pause()
        assert drawn(notice)[0].strip() == "◐ Reading  1.2 s"


class Dressed(Stage):
    """With the app's own styles: they make a toast one line."""

    CSS_PATH = Path(tui.__file__).with_name("styles") / "app.tcss"


async def test_a_toast_is_one_line_of_plain_text_and_the_one_before_it_goes() -> None:
    app = Dressed()
    async with app.run_test(size=(100, 20), notifications=True) as pilot:
        toast(app, "first")
        await pilot.pause()
        toast(app, "memory is off: [/red] enabled = false\x1b[2J\nz undoes", fault=True)
        await pilot.pause()
        await pilot.pause()
        shown = "\n".join(screen_lines(app))
        assert "memory is off: [/red] enabled = false␛[2J z undoes" in shown
        assert "first" not in shown
        assert [n.timeout for n in app._notifications] == [8.0]
