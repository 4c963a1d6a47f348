"""Changes a TOML text at key paths and leaves every other character as it is.

Comments, order, indentation, line ends and a BOM stay. Each change is found by the places of the
syntax tree; the caller reads the result back and compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from core.config import edit_inline
from core.config.spans import find
from core.config.toml.fault import TomlFault
from core.config.toml.lexer import Token
from core.config.toml.read import TomlText, read_toml
from core.config.toml.render import render, render_key, render_keys
from core.config.toml.syntax import Entry, Header
from core.config.toml.tree import Node
from core.config.toml.words import read_key

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Section:
    """A `[header]` with its entries; the root section has no header."""

    path: Path
    header: Header | None
    entries: list[Entry]

    @property
    def end(self) -> int:
        """After the last entry's value, else after the header."""
        if self.entries:
            return self.entries[-1].end
        return self.header.end if self.header is not None else 0


class TextEditor:
    """A text that is being changed; `text` is its present state."""

    def __init__(self, read: TomlText) -> None:
        self._read = read
        self.text = read.text
        first = self.text.find("\n")
        self._newline = "\r\n" if first > 0 and self.text[first - 1] == "\r" else "\n"

    def set(self, path: Path, value: Any) -> None:
        """Give a key this value; its table is made where it is missing."""
        for size in range(1, len(path)):
            above = find(self._read, path[:size])
            if above is not None and above.kind != "table":
                self.clear(path[:size])
        node = find(self._read, path)
        if node is None:
            self._insert(path, value)
        elif isinstance(value, dict) and node.kind == "table":
            self._set_table(path, node, cast("dict[str, Any]", value))
        elif _is_table_list(value) and node.kind == "tables":
            self._set_tables(path, node, cast("list[dict[str, Any]]", value))
        elif isinstance(value, list) and node.kind == "array" and node.value is not None:
            items = cast("list[Any]", value)
            self._splice(*edit_inline.array_change(self.text, node, self._old(path), items))
        elif not isinstance(value, dict) and node.entry is not None:
            self._splice(node.start, node.end, render(value, self._newline))
        elif self._holder(path) is not None and node.entry is not None:
            self._splice(node.start, node.end, render(value))
        else:
            self.clear(path)
            self._insert(path, value)

    def clear(self, path: Path) -> None:
        """Take a key, or a table with all that is below it, out of the text."""
        node = find(self._read, path)
        if node is None:
            return
        holder = self._holder(path)
        if holder is not None:
            self._cut(edit_inline.removals(self.text, *holder))
            return
        self._cut(self._gone(path))

    def _old(self, path: Path) -> Any:
        value: Any = self._read.value
        for key in path:
            value = value[key]
        return value

    def _splice(self, start: int, end: int, new: str) -> None:
        self.text = self.text[:start] + new + self.text[end:]
        self._refresh()

    def _refresh(self) -> None:
        self._read = read_toml(self.text)

    def _holder(self, path: Path) -> tuple[Node, Path] | None:
        """The inline table that a path lies in, and the rest of the path; None when in none."""
        node = self._read.tree.root
        for index, key in enumerate(path):
            if node.inline and node.value is not None:
                return node, path[index:]
            child = node.children.get(key)
            if child is None:
                return None
            node = child
        return None

    def _sections(self) -> Iterator[_Section]:
        section = _Section((), None, [])
        for statement in self._read.tree.statements:
            if isinstance(statement, Header):
                yield section
                section = _Section(self._names(statement.keys), statement, [])
            else:
                section.entries.append(statement)
        yield section

    def _names(self, keys: Sequence[Token]) -> Path:
        return tuple(read_key(self.text, key) for key in keys)

    # Tables that are there already.

    def _set_table(self, path: Path, node: Node, value: dict[str, Any]) -> None:
        old = self._old(path)
        for key in [key for key in node.children if key not in value]:
            self.clear((*path, key))
        for key, member in value.items():
            if key not in old or not _same(old[key], member):
                self.set((*path, key), member)
        if not value and find(self._read, path) is None:
            self._insert(path, {})

    def _set_tables(self, path: Path, node: Node, value: list[dict[str, Any]]) -> None:
        """An array of tables: change its members in place, add and remove at the end."""
        old = cast("list[dict[str, Any]]", self._old(path))
        if old[: len(value)] == value:
            keep = value
        elif value[: len(old)] == old:
            keep = old
        else:
            self.clear(path)
            for member in value:
                self._append_table(path, member)
            return
        self._cut(self._gone(path, skip=len(keep)))
        for member in value[len(old) :]:
            self._append_table(path, member)

    def _append_table(self, path: Path, member: dict[str, Any]) -> None:
        body = self._table_body(path, member, header=f"[[{render_keys(path)}]]")
        self._new_section(path, body)

    # What is removed.

    def _gone(self, path: Path, skip: int = 0) -> list[tuple[int, int]]:
        """Ranges of everything at or below a path; of an array the first `skip` tables stay."""
        size = len(path)
        ranges: list[tuple[int, int]] = []
        seen = 0
        for section in self._sections():
            if section.header is not None and section.path[:size] == path:
                seen += section.path == path
                if seen > skip or skip == 0:
                    ranges.append(self._section_range(section))
                continue
            for entry in section.entries:
                full = (*section.path, *self._names(entry.keys))
                if full[:size] == path:
                    ranges.append((self._line_start(entry.start), self._line_end(entry.end)))
        return edit_inline.merged_ranges(ranges)

    def _cut(self, ranges: list[tuple[int, int]]) -> None:
        for start, end in reversed(ranges):
            self.text = self.text[:start] + self.text[end:]
        self._refresh()

    def _section_range(self, section: _Section) -> tuple[int, int]:
        """The header with what is attached above it, through its last entry."""
        header = cast("Header", section.header)
        start = self._attached(self._line_start(header.start))
        end = self._line_end(section.end)
        before = self._without_blank_lines(start)
        if before > self._bom():
            return before, end
        while (following := self._blank_line_end(end)) > end:
            end = following
        return start, end

    def _bom(self) -> int:
        return 1 if self.text.startswith("\ufeff") else 0

    def _line_start(self, at: int) -> int:
        return max(self.text.rfind("\n", 0, at) + 1, self._bom())

    def _line_end(self, at: int) -> int:
        """After the newline of the line that `at` is on."""
        found = self.text.find("\n", at)
        return len(self.text) if found < 0 else found + 1

    def _attached(self, start: int) -> int:
        """Start of the comment block right above a line; one that begins the file stays."""
        first = start
        while first > self._bom():
            line = self._line_start(first - 1)
            if not self.text[line:first].lstrip(" \t").startswith("#"):
                return first
            first = line
        return start

    def _without_blank_lines(self, start: int) -> int:
        while start > self._bom():
            line = self._line_start(start - 1)
            if self.text[line:start].strip():
                return start
            start = line
        return start

    def _blank_line_end(self, at: int) -> int:
        end = self._line_end(at)
        return end if end > at and not self.text[at:end].strip() else at

    # What is added.

    def _insert(self, path: Path, value: Any) -> None:
        holder = self._holder(path)
        if holder is not None:
            inline, below = holder
            self._splice(*edit_inline.insertion(self.text, inline, below, value))
            return
        parent = find(self._read, path[:-1])
        if isinstance(value, dict) or (parent is None and len(path) > 1):
            if isinstance(value, dict):
                table, members = path, cast("dict[str, Any]", value)
            else:
                table, members = path[:-1], {path[-1]: value}
            self._insert_table(table, members)
            return
        self._insert_entry(path, value)

    def _insert_table(self, path: Path, members: dict[str, Any]) -> None:
        existing = find(self._read, path)
        if existing is not None and existing.dotted:
            for key, member in members.items():
                self._insert_entry((*path, key), member)
            return
        body = self._table_body(path, members, header=f"[{render_keys(path)}]")
        before = self.text
        try:
            self._new_section(path, body)
        except TomlFault:
            # A dotted key has closed the table to headers.
            self.text = before
            self._refresh()
            for key, member in members.items():
                self._insert_dotted((*path, key), member)

    def _table_body(self, path: Path, members: dict[str, Any], header: str) -> str:
        """A section and, after its plain members, sections for the tables in it."""
        tables = {
            key: cast("dict[str, Any]", value)
            for key, value in members.items()
            if isinstance(value, dict)
        }
        plain = [
            f"{render_key(key)} = {render(value, self._newline)}"
            for key, value in members.items()
            if key not in tables
        ]
        # A table that only holds tables needs no header of its own.
        only_tables = bool(tables) and not plain and not header.startswith("[[")
        lines = [] if only_tables else [header, *plain]
        blocks = [self._newline.join(lines) + self._newline] if lines else []
        for key, table in tables.items():
            below = (*path, key)
            blocks.append(self._table_body(below, table, header=f"[{render_keys(below)}]"))
        return self._newline.join(blocks)

    def _new_section(self, path: Path, body: str) -> None:
        at = self._place_for(path)
        before, after = self.text[:at], self.text[at:]
        glue = "" if not before.strip("\ufeff") else self._newline
        if before and not before.endswith("\n") and before != "\ufeff":
            glue = self._newline * 2
        elif before.endswith(self._newline * 2):
            glue = ""
        tail = "" if not after or after.lstrip(" \t").startswith(("\n", "\r")) else self._newline
        self._splice(at, at, glue + body + tail)

    def _place_for(self, path: Path) -> int:
        """After the last section that shares the longest part of the path, else at the end."""
        sections = list(self._sections())[1:]
        for size in range(len(path), 0, -1):
            family = [section for section in sections if section.path[:size] == path[:size]]
            if not family:
                continue
            if family[0].path != path[:size] and size == len(path):
                # Its sub-tables are there: the table itself comes before them.
                header = cast("Header", family[0].header)
                return self._attached(self._line_start(header.start))
            return self._after(family[-1])
        return len(self.text)

    def _after(self, section: _Section) -> int:
        """After a section and the comments that follow it without a blank line.

        Comments that touch the next section belong to that.
        """
        end = at = self._line_end(section.end)
        while at < len(self.text):
            following = self._line_end(at)
            if not self.text[at:following].lstrip(" \t").startswith("#"):
                break
            at = following
        rest = self.text[at:].lstrip(" \t")
        return at if not rest or rest[0] in "\r\n" else end

    def _insert_entry(self, path: Path, value: Any) -> None:
        """`key = value` into the section that has, or should have, its table."""
        table, key = path[:-1], path[-1]
        sections = list(self._sections())
        own = next((section for section in sections if self._is_own(section, table)), None)
        if own is not None:
            self._add_line(own, render_key(key), value)
            return
        for section in sections:
            for entry in reversed(section.entries):
                full = (*section.path, *self._names(entry.keys))
                if full[: len(table)] == table and len(full) > len(table) > len(section.path):
                    dotted = render_keys(path[len(section.path) :])
                    line = f"{dotted} = {render(value, self._newline)}"
                    self._add_after(entry.end, self._indent(entry.start), line)
                    return
        self._insert_table(table, {key: value})

    def _insert_dotted(self, path: Path, value: Any) -> None:
        """`dotted.key = value` after the entry that shares the longest part of the path."""
        best: tuple[int, _Section, Entry] | None = None
        for section in self._sections():
            for entry in section.entries:
                full = (*section.path, *self._names(entry.keys))
                shared = next(
                    (n for n in range(len(path)) if full[n : n + 1] != path[n : n + 1]), len(path)
                )
                if shared > len(section.path) and (best is None or shared >= best[0]):
                    best = (shared, section, entry)
        if best is None:
            raise LookupError("no entry to stand next to")
        _, section, entry = best
        dotted = render_keys(path[len(section.path) :])
        self._add_after(entry.end, self._indent(entry.start), f"{dotted} = {render(value)}")

    def _is_own(self, section: _Section, table: Path) -> bool:
        if section.path != table:
            return False
        return section.header is None or not section.header.is_array

    def _indent(self, at: int) -> str:
        return self.text[self._line_start(at) : at]

    def _add_line(self, section: _Section, key: str, value: Any) -> None:
        line = f"{key} = {render(value, self._newline)}"
        if section.entries:
            last = section.entries[-1]
            self._add_after(last.end, self._indent(last.start), line)
        elif section.header is not None:
            self._add_after(section.header.end, self._indent(section.header.start), line)
        else:
            self._add_first(line)

    def _add_after(self, end: int, indent: str, line: str) -> None:
        at = self._line_end(end)
        if at == end or not self.text[:at].endswith("\n"):
            self._splice(at, at, f"{self._newline}{indent}{line}{self._newline}")
        else:
            self._splice(at, at, f"{indent}{line}{self._newline}")

    def _add_first(self, line: str) -> None:
        """The first entry of the root: before the first section, else at the end."""
        header = next((s for s in self._read.tree.statements if isinstance(s, Header)), None)
        if header is not None:
            at = self._attached(self._line_start(header.start))
            self._splice(at, at, f"{line}{self._newline * 2}")
            return
        text = self.text
        gap = self._newline if text.strip("\ufeff") and not text.endswith("\n") else ""
        self._splice(len(text), len(text), f"{gap}{line}{self._newline}")


def _is_table_list(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) for item in cast("list[Any]", value)
    )


def _same(old: Any, new: Any) -> bool:
    """Equal, and of the same kind: `1`, `1.0` and `true` differ."""
    if type(old) is not type(new):
        return False
    if isinstance(old, dict):
        left, right = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
        return left.keys() == right.keys() and all(_same(left[k], right[k]) for k in left)
    if isinstance(old, list):
        a, b = cast("list[Any]", old), cast("list[Any]", new)
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(old == new)
