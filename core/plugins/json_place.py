"""Where in a JSON text a member or an item stands."""

from __future__ import annotations

from core.json_place import column_of, items_of, line_of, offset_of

__all__ = ["column_of", "items_of", "line_of", "offset_of"]
