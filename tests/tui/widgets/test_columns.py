from hypothesis import given
from hypothesis import strategies as st

from tui.widgets.columns import GAP, Column, fit

COLUMNS = (
    Column("name", "Server", 11, grow=1, most=24),
    Column("state", "State", 28, grow=2, most=60, spill=True),
    Column("tools", "Tools", 5, right=True),
    Column("auth", "Signed in", 11, keep=3),
    Column("ms", "ms", 4, keep=2, right=True),
    Column("from", "From", 20, grow=1, keep=4),
)


def keys(cells: int) -> list[str]:
    return [column.key for column, _ in fit(COLUMNS, cells)]


def test_columns_drop_by_priority() -> None:
    assert keys(200) == ["name", "state", "tools", "auth", "ms", "from"]
    assert keys(80) == ["name", "state", "tools", "auth", "ms"]
    assert keys(60) == ["name", "state", "tools", "ms"]
    assert keys(50) == ["name", "state", "tools"]


@given(st.integers(0, 300))
def test_what_is_chosen_fits_and_keeps_its_limits(cells: int) -> None:
    layout = fit(COLUMNS, cells)
    total = sum(width + GAP for _, width in layout) - GAP
    assert total <= max(cells, COLUMNS[0].width)
    assert all(column.width <= width <= max(column.most, column.width) for column, width in layout)


def test_what_is_left_over_is_shared_by_growth_up_to_the_limit() -> None:
    widths = {column.key: width for column, width in fit(COLUMNS, 120)}
    assert widths["auth"] == 11
    assert sum(widths.values()) + GAP * 5 == 120
    assert widths["state"] - 28 > widths["name"] - 11 > 0
    assert {column.key: width for column, width in fit(COLUMNS, 900)}["name"] == 24


def test_the_first_column_stays_where_nothing_fits() -> None:
    assert keys(3) == ["name"]
    assert fit(COLUMNS, 3)[0][1] == 11
