from typing import get_args

import pytest
from rich.cells import cell_len

from tui.signs import (
    FRESH,
    SIGNS,
    UNICODE,
    Fresh,
    Glyphs,
    Line,
    SignName,
    bar_parts,
    glyphs_of,
    state_parts,
)


def test_every_name_has_a_sign_of_one_cell_and_an_ascii_one() -> None:
    assert set(SIGNS) == set(get_args(SignName))
    assert set(FRESH) == set(get_args(Fresh))
    for sign in (*SIGNS.values(), *FRESH.values()):
        assert cell_len(sign.glyph) == 1
        assert len(sign.ascii) == 1
        assert sign.ascii.isascii()
        assert sign.meaning


def test_no_two_signs_look_alike() -> None:
    assert len({sign.glyph for sign in SIGNS.values()}) == len(SIGNS)
    assert len({sign.ascii for sign in SIGNS.values()}) == len(SIGNS)


@pytest.mark.parametrize("line", get_args(Line))
def test_every_line_glyph_has_an_ascii_one(line: Line) -> None:
    assert cell_len(UNICODE.line(line)) == 1
    assert Glyphs(ascii=True).line(line).isascii()


def test_the_busy_sign_turns_and_is_itself_again_after_four() -> None:
    turns = [UNICODE.sign("busy", turn) for turn in range(5)]
    assert turns == ["◐", "◓", "◑", "◒", "◐"]
    assert UNICODE.sign("works", 3) == "●"
    assert all(Glyphs(ascii=True).sign("busy", turn).isascii() for turn in range(4))


def test_where_all_is_well_the_word_is_quiet() -> None:
    assert state_parts("works", "connected") == [("connected", "")]
    assert state_parts("works", "enabled", "1.4.2") == [("enabled    ", ""), ("1.4.2", "muted")]
    assert state_parts("failed", "failed", "exited 3") == [
        ("failed     ", "bad"),
        ("exited 3", ""),
    ]
    assert state_parts("off", "disabled", "by you")[1] == ("by you", "muted")


@pytest.mark.parametrize(("share", "done"), [(-1, 0), (0, 0), (0.5, 5), (1, 10), (7, 10)])
def test_a_bar_is_as_long_as_asked_whatever_the_share(share: float, done: int) -> None:
    heavy, light = bar_parts(UNICODE, share, 10)
    assert (len(heavy[0]), len(light[0])) == (done, 10 - done)


def test_a_small_chart_has_one_cell_for_each_value() -> None:
    assert UNICODE.spark([0, 50, 100]) == "▁▅█"
    assert UNICODE.spark([]) == Glyphs(ascii=True).spark([1]) == ""


def test_glyphs_are_those_of_the_app_else_unicode() -> None:
    class Owner:
        glyphs = Glyphs(ascii=True)

    class Part:
        app = Owner()

    assert glyphs_of(Owner()) == glyphs_of(Part()) == Glyphs(ascii=True)
    assert glyphs_of(object()) is UNICODE
