import pytest

from tui.widgets.row_model import RowModel

IDS = ["A", "a1", "a2", "B", "b1", "C"]
HEADS = {"A", "B", "C"}


@pytest.fixture
def model() -> RowModel:
    model = RowModel()
    model.replace(IDS, HEADS)
    return model


def test_all_rows_are_visible_until_something_is_folded(model: RowModel) -> None:
    assert list(model.visible) == IDS
    assert model.line_of("b1") == 4
    assert model.line_of("nothing") is None


def test_a_folded_group_hides_its_rows_and_no_others(model: RowModel) -> None:
    assert model.fold("A", True)
    assert list(model.visible) == ["A", "B", "b1", "C"]
    assert model.line_of("a1") is None
    assert model.hidden_in("a1") == "A"
    assert model.fold("A", False)
    assert list(model.visible) == IDS


def test_folding_what_is_folded_or_no_group_changes_nothing(model: RowModel) -> None:
    assert not model.fold("A", False)
    assert not model.fold("a1", True)
    assert not model.fold("nothing", True)


def test_folds_are_kept_over_other_rows(model: RowModel) -> None:
    model.fold("B", True)
    model.replace(["B", "b1", "b2", "A", "a9"], {"A", "B"})
    assert list(model.visible) == ["B", "A", "a9"]


def test_a_row_knows_its_group(model: RowModel) -> None:
    assert [model.head_of(line) for line in range(6)] == ["A", "A", "A", "B", "B", "C"]
    model.replace(["x", "y"])
    assert model.head_of(1) is None


@pytest.mark.parametrize(
    ("after", "lands_on"),
    [
        (["z", "a2", "a1", "A"], "a2"),
        (["A", "a1", "b1", "C"], "b1"),
        (["A", "a1"], "a1"),
        (["new"], "new"),
        ([], None),
    ],
)
def test_the_cursor_stays_or_goes_to_the_nearest_row_below_then_above(
    model: RowModel, after: list[str], lands_on: str | None
) -> None:
    before, line = model.visible, 2
    model.replace(after)
    to = model.successor("a2", before, line)
    assert (model.visible[to] if after else None) == lands_on


def test_a_cursor_that_is_folded_away_goes_to_its_group(model: RowModel) -> None:
    before = model.visible
    model.fold("A", True)
    assert model.visible[model.successor("a2", before, 2)] == "A"
