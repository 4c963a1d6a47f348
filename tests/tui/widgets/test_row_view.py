from hypothesis import given
from hypothesis import strategies as st

from tests.tui.test_text import foreign, is_safe
from tui.signs import UNICODE, Glyphs
from tui.text import Part, width
from tui.widgets.columns import Column, fit
from tui.widgets.row_view import (
    RowView,
    is_empty,
    matcher,
    merge,
    paint_group,
    paint_heads,
    paint_row,
    text_of,
)

COLUMNS = (
    Column("name", "Server", 11, match=True),
    Column("state", "State", 20, spill=True),
    Column("tools", "Tools", 5, right=True),
    Column("ms", "ms", 4, right=True),
)
LAYOUT = fit(COLUMNS, 46)


def row(**cells: object) -> str:
    return text_of(paint_row(RowView("works", cells), LAYOUT, UNICODE))  # type: ignore[arg-type]


def test_cells_stand_in_their_columns() -> None:
    assert row(name="github", state="connected", tools="38/41", ms="112") == (
        "● github       connected             38/41   112"
    )


def test_a_reason_runs_over_the_empty_cells_to_its_right() -> None:
    reason = "exited 3 — boom: missing API key"
    assert row(name="metrics", state=reason) == "● metrics      " + reason + " "
    assert row(name="metrics", state=reason, ms="7").rstrip() == (
        "● metrics      exited 3 — boom: missing A…     7"
    )
    assert row(name="m", state=reason, tools=[("", "muted")], ms=[]) == row(name="m", state=reason)


@given(st.dictionaries(st.sampled_from(["name", "state", "tools", "ms"]), foreign))
def test_a_row_is_exactly_as_wide_as_its_columns_whatever_it_says(cells: dict[str, str]) -> None:
    painted = paint_row(RowView("busy", cells), LAYOUT, UNICODE, matcher("a"))
    assert width(text_of(painted)) == 48
    assert is_safe(text_of(painted))


@given(foreign, foreign, foreign, st.integers(20, 100))
def test_a_group_row_is_exactly_as_wide_as_asked(
    name: str, source: str, note: str, cells: int
) -> None:
    view = RowView("none", {"name": [(name, ""), (source, "muted")]}, note=[(note, "muted")])
    painted = paint_group(view, cells, UNICODE, folded=False)
    assert width(text_of(painted)) == cells
    assert is_safe(text_of(painted))


def test_a_group_row_cuts_its_source_in_the_middle_and_keeps_its_name() -> None:
    parts: list[Part] = [
        ("northwind", ""),
        ("  git.northwind.example/agents main@a81d07e", "muted"),
    ]
    view = RowView("none", {"name": parts}, note=[("72  ", "muted"), ("checked now", "muted")])
    shown = text_of(paint_group(view, 60, UNICODE, folded=True))
    assert shown.startswith("▸ northwind  git.")
    assert "main@a81d07e  72  checked now" in shown
    assert shown.endswith("checked now")
    assert "…" in shown
    assert text_of(paint_group(view, 60, Glyphs(ascii=True), folded=False)).startswith("v northw")


def test_matches_are_marked_in_their_column_and_nowhere_else() -> None:
    cells = {"name": [("Re-re", ""), (" re", "muted"), (" re", "aside")], "state": "re"}
    painted = paint_row(RowView("works", cells), fit(COLUMNS, 60), UNICODE, matcher("RE"))
    assert [text for text, look in painted if look == "match"] == ["Re", "re", "re"]


def test_every_word_of_the_filter_is_marked_and_taken_literally() -> None:
    found = matcher("a.b  (")
    assert found is not None
    assert found.findall("a.b axb (") == ["a.b", "("]
    assert matcher("  ") is None


def test_heads_stand_over_their_columns() -> None:
    heads = paint_heads(LAYOUT, "…")
    shown = "   " + row(name="github", state="connected", tools="38/41", ms="112")
    for title, cell in (("Server", "github"), ("State", "connected")):
        assert heads.index(title) == shown.index(cell)
    assert heads.index("Tools") + 5 == shown.index("38/41") + 5
    assert len(heads) == len(shown)


def test_a_cell_without_text_is_empty() -> None:
    assert is_empty(None)
    assert is_empty("")
    assert is_empty([])
    assert is_empty([("", "muted")])
    assert not is_empty([("", ""), ("x", "")])
    assert not is_empty("0")


def test_blanks_take_the_tone_before_them_and_nothing_is_lost() -> None:
    painted = [
        ("\u25cf ", "good"),
        ("github", ""),
        ("  ", "muted"),
        ("", "bad"),
        ("on", ""),
        ("re", "match"),
        (" ", ""),
        ("\u6570\u636e", "muted"),
        ("  ", ""),
    ]
    merged = merge(painted)
    assert text_of(merged) == text_of(painted)
    assert merged == [
        ("\u25cf ", "good"),
        ("github  on", ""),
        ("re", "match"),
        (" ", ""),
        ("\u6570\u636e", "muted"),
        ("  ", ""),
    ]
