import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.test_text import foreign, is_safe
from tui.signs import Glyphs
from tui.text import Hint, width
from tui.widgets.page import Page, key_parts

ASCII = Glyphs(ascii=True)


def written(width: int = 40, glyphs: Glyphs | None = None) -> Page:
    return Page(width, glyphs or Glyphs())


def write_all(page: Page, text: str) -> None:
    page.title(text, text)
    page.state("failed", text, text)
    page.text(text, "muted", indent=2, limit=3)
    page.step("1", text)
    page.fact(text, text)
    page.fact(text, text, path=True)
    page.section(text, text)
    page.item("needs", text, text)
    page.item("needs", [(text, ""), (text, "key")], [(text, "muted")])
    page.quote([text, text], last="strong")
    page.exact(text, indent=2)
    page.change(text, text)
    page.link(text)
    page.bar(0.4, text)
    page.keys(("m", text), ("ctrl+x", text))
    page.button_like(text)
    page.both([(text, "")], [(text, "")])
    page.add(text, (text, "bad"))


@given(foreign, st.integers(20, 60))
def test_no_line_is_wider_than_the_page_and_none_is_unsafe(text: str, cells: int) -> None:
    page = written(cells)
    write_all(page, text)
    for line in page.text_lines:
        assert width(line) <= cells
        assert is_safe(line)


@given(foreign)
def test_what_is_agreed_to_is_never_cut(text: str) -> None:
    page = written(30)
    page.exact(text)
    shown = written(3000)
    shown.exact(text)
    assert "".join(page.text_lines) == "".join(shown.text_lines)


def test_a_command_and_a_difference_keep_every_character() -> None:
    command = "npx -y @acme/deploys-mcp@2 --token-from DEPLOY_TOKEN --very-long-option=true\tx"
    page = written(30)
    page.exact(command)
    assert "".join(page.text_lines) == command.replace("\t", "␉")
    page = written(30)
    page.change("a\nb", command)
    assert page.text_lines[:2] == ["- a", "- b"]
    assert page.text_lines[2].startswith("+ npx")
    assert "".join(line[2:] for line in page.text_lines[2:]) == command.replace("\t", "␉")


def test_a_short_reason_stands_beside_its_word_and_a_long_one_below() -> None:
    page = written()
    page.state("failed", "failed", "exited 3")
    page.state("failed", "failed", "exited 3 — boom: missing API key, and more")
    assert page.text_lines == [
        "✗ failed  exited 3",
        "✗ failed",
        "  exited 3 — boom: missing API key, and",
        "  more",
    ]


def test_facts_are_aligned_and_wrap_under_themselves() -> None:
    page = written(30)
    page.fact("id", "code-review@acme-tools")
    page.fact("brought by", "one plugin and then another one")
    page.fact("from", "~/src/acme/plugins/marketplace.json:118", path=True)
    assert page.text_lines == [
        "id         code-review@acme-to",
        "           ols",
        "brought by one plugin and then",
        "           another one",
        "from       ~/src/acm….json:118",
    ]


def test_a_section_runs_to_the_right_end_with_its_note() -> None:
    page = written(30)
    page.text("before")
    page.section("Tools", "9 of 9")
    page.section("Also")
    assert page.text_lines == [
        "before",
        "",
        "Tools ───────────────── 9 of 9",
        "",
        "Also ─────────────────────────",
    ]
    assert all(width(line) == 30 for line in page.text_lines[2::2])


def test_blank_lines_are_never_first_and_never_two() -> None:
    page = written()
    page.gap()
    page.text("one")
    page.gap()
    page.gap()
    page.section("two")
    assert page.text_lines[:2] == ["one", ""]
    assert page.text_lines[2].startswith("two")


def test_a_note_keeps_its_end_and_two_blanks_before_it() -> None:
    page = written(30)
    page.item("works", "a text which is far too long for it", "connected")
    assert page.text_lines == ["● a text which is…   connected"]
    page = written(30)
    page.item("works", "a text", "")
    assert page.text_lines[0].rstrip() == "● a text"


def test_other_words_stay_as_they_were_and_are_cut_by_line() -> None:
    page = written(24)
    page.quote(["Traceback:", '\tFile "x.py", line 31 in run', "boom\nbang"], last="strong")
    assert page.text_lines == [
        "│ Traceback:",
        '│     File "x.py", line…',
        "│ boom",
        "│ bang",
    ]
    assert "bold" in str(page.lines[-1].spans[-1].style)


def test_limited_text_says_that_it_was_cut() -> None:
    page = written(20)
    page.text("one two three four five six seven eight nine ten", limit=2)
    assert page.text_lines == ["one two three four", "five six seven eigh…"]


def test_keys_take_as_many_lines_as_they_need() -> None:
    page = written(24)
    page.keys(("m", "write the git form"), ("e", "explain"), ("escape", "close"))
    assert page.text_lines == ["m write the git form", "e explain   esc close"]


def test_a_greyed_key_is_muted() -> None:
    parts = key_parts([Hint("space", "off (read-only)", True), Hint("e", "explain")])
    assert parts[0] == ("space", "muted")
    assert ("e", "key") in parts


def test_a_link_is_cut_on_the_screen_and_whole_behind_it() -> None:
    url = "https://auth.traces.example/authorize?client_id=jackfield-7f2c&state=abcdef"
    page = written(40)
    page.link(url, indent=2)
    assert width(page.text_lines[0]) == 40
    assert any(getattr(span.style, "link", None) == url for span in page.lines[0].spans)
    page = written(40)
    page.link("https://x.example/\x1b]8;;evil")
    assert not any(getattr(span.style, "link", None) for span in page.lines[0].spans)


def test_pages_can_stand_side_by_side() -> None:
    left, right = written(20), written(20)
    left.text("one\ntwo")
    right.text("three")
    page = written(44)
    page.beside([left, right])
    assert page.text_lines == ["one" + " " * 21 + "three", "two" + " " * 21]


@pytest.mark.parametrize(("share", "shown"), [(0, "────────"), (0.5, "━━━━────"), (2, "━━━━━━━━")])
def test_a_bar_shows_its_share(share: float, shown: str) -> None:
    page = written(20)
    page.bar(share, "4:12 left", indent=1)
    assert page.text_lines == [f" {shown}  4:12 left"]


def test_in_ascii_no_glyph_of_ours_is_anything_else() -> None:
    page = written(30, ASCII)
    write_all(page, "plain text which is long enough to be cut somewhere")
    assert all(line.isascii() for line in page.text_lines)
