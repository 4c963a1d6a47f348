"""Where the screen changes its shape. The classes sit on the screen, not on its widgets."""

from __future__ import annotations

from typing import Final

WIDTHS: Final[list[tuple[int, str]]] = [(0, "-narrow"), (100, "-wide")]
"""From 100 columns the details stand beside the list."""
HEIGHTS: Final[list[tuple[int, str]]] = [(0, "-short"), (34, "-tall")]
"""From 34 rows there is air around the filter and in sheets."""
