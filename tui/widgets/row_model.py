"""Which rows a list shows: order, groups, folds, and where the cursor goes when rows change."""

from __future__ import annotations

from collections.abc import Collection, Sequence


class RowModel:
    """The ids of a list, all of them and those that folds leave visible.

    Attributes:
        ids: All rows in order.
        heads: Group rows; the rows after one belong to it, up to the next.
        folded: Heads whose rows are hidden.
        visible: The rows that have a line.
    """

    def __init__(self) -> None:
        self.ids: Sequence[str] = ()
        self.heads: frozenset[str] = frozenset()
        self.folded: set[str] = set()
        self.visible: Sequence[str] = ()
        self._line_of: dict[str, int] = {}

    def replace(self, ids: Sequence[str], heads: Collection[str] = ()) -> None:
        """Take other rows; folds are kept by id."""
        self.ids = ids
        self.heads = frozenset(heads)
        self._arrange()

    def shows(self, ids: Sequence[str], heads: Collection[str] = ()) -> bool:
        """Whether these are the rows that it has, in the same order."""
        same = ids is self.ids or (len(ids) == len(self.ids) and list(ids) == list(self.ids))
        return same and (heads is self.heads or frozenset(heads) == self.heads)

    def _arrange(self) -> None:
        self.visible = self._unfolded() if self.folded and self.heads else self.ids
        self._line_of = {id: line for line, id in enumerate(self.visible)}

    def _unfolded(self) -> list[str]:
        visible: list[str] = []
        hidden = False
        for id in self.ids:
            if id in self.heads:
                hidden = id in self.folded
                visible.append(id)
            elif not hidden:
                visible.append(id)
        return visible

    def line_of(self, id: str | None) -> int | None:
        """The line of a row; None when it is hidden or not there."""
        return None if id is None else self._line_of.get(id)

    def head_of(self, line: int) -> str | None:
        """The group that the row on `line` belongs to, itself when it is one."""
        if not self.heads:
            return None
        for at in range(min(line, len(self.visible) - 1), -1, -1):
            if self.visible[at] in self.heads:
                return self.visible[at]
        return None

    def fold(self, head: str, shut: bool) -> bool:
        """Fold or unfold a group.

        Returns:
            Whether that changed anything.
        """
        if head not in self.heads or (head in self.folded) == shut:
            return False
        if shut:
            self.folded.add(head)
        else:
            self.folded.discard(head)
        self._arrange()
        return True

    def successor(self, id: str, before: Sequence[str], line: int) -> int:
        """The line for the cursor after a change of rows.

        Args:
            id: The row that had the cursor.
            before: The visible rows of that time.
            line: Its line then.

        Returns:
            The row's own line; its group's when it is folded away; else that of the nearest row
            which is still there, those below it first.
        """
        found = self._line_of.get(id)
        if found is None and len(self.visible) != len(self.ids):
            found = self._line_of.get(self.hidden_in(id) or "")
        if found is not None:
            return found
        for at in (*range(line + 1, len(before)), *range(min(line, len(before)) - 1, -1, -1)):
            if (found := self._line_of.get(before[at])) is not None:
                return found
        return 0

    def hidden_in(self, id: str) -> str | None:
        """The group before a row, visible or not; None when there is no such row."""
        head: str | None = None
        for other in self.ids:
            if other in self.heads:
                head = other
            elif other == id:
                return head
        return None
