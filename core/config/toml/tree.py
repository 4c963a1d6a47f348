"""The tables of a TOML text by key path, with their places; finds keys that are not new."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.config.pace import Pace
from core.config.toml.fault import TomlFault
from core.config.toml.lexer import Token
from core.config.toml.syntax import Entry, Header, Statement, Value, parse
from core.config.toml.words import LateFault, judge_scalar, read_key

_DUPLICATE = "duplicate key"
MAX_KEYS = 128
"""A key path with more segments is refused: "recursion limit"."""


@dataclass(slots=True)
class Node:
    """A key's value.

    Attributes:
        kind: `table`, `tables` (array of tables), `array`, or the scalar's kind.
        start, end: Of the value; for a `[header]` table its header; for a table that is only
            named on the way to another one the key there.
        key: First token that spells its key.
        children: Of a table, by key in order.
        items: Of an array or an array of tables.
        implicit: Only named on the way to another table.
        dotted: Named by a dotted key.
        inline: Written as `{…}`.
        header: The statement that opens it, for a table with one.
        entry: The statement that gives it, for what is written as `key = value`; None for
            tables that arise otherwise.
        value: Of an array or an inline table, as it is written.
    """

    kind: str
    start: int
    end: int
    key: Token
    children: dict[str, Node] = field(default_factory=dict[str, "Node"])
    items: list[Node] = field(default_factory=list["Node"])
    implicit: bool = False
    dotted: bool = False
    inline: bool = False
    header: Header | None = None
    entry: Entry | None = None
    value: Value | None = None

    @property
    def word(self) -> str:
        """What the parser calls it when it cannot be extended."""
        if self.inline:
            return "inline table"
        return "datetime" if self.kind == "date-time" else self.kind


@dataclass(slots=True)
class Tree:
    """The text with all that was found in it."""

    text: str
    root: Node
    statements: list[Statement]


def build(text: str) -> Tree:
    """Read the whole text.

    Raises:
        TomlFault: The first fault that Codex tells.
    """
    return _Builder(text).run()


_NOWHERE = Token("$", 0, 0)


class _Builder:
    """Second pass: keys, values and the rules on what may be defined twice."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._root = Node("table", 0, len(text), _NOWHERE)
        self._table = self._root
        self._pending: tuple[Header, list[str], Node] | None = None
        self._late: LateFault | None = None

    def run(self) -> Tree:
        statements = parse(self._text)
        pace = Pace()
        for statement in statements:
            pace.tick()
            if isinstance(statement, Header):
                self._finish()
                self._open(statement)
            else:
                self._entry(statement)
        self._finish()
        if self._late is not None:
            raise self._late
        return Tree(self._text, self._root, statements)

    def _names(self, keys: list[Token]) -> list[str]:
        names = [read_key(self._text, key) for key in keys]
        if len(names) > MAX_KEYS:
            raise TomlFault(keys[0].start, "recursion limit")
        return names

    def _open(self, header: Header) -> None:
        """Begin a `[table]`; an array of tables is judged when it is complete."""
        names = self._names(header.keys)
        fresh = Node("table", header.start, header.end, header.keys[-1], header=header)
        if not header.is_array:
            parent = self._descend(self._root, names[:-1], header.keys, dotted=False)
            old = parent.children.pop(names[-1], None)
            if old is not None:
                if not (old.kind == "table" and old.implicit and not old.dotted):
                    raise TomlFault(header.keys[-1].start, _DUPLICATE)
                fresh.children = old.children
                fresh.key = old.key
        self._table = fresh
        self._pending = (header, names, fresh)

    def _finish(self) -> None:
        if self._pending is None:
            return
        header, names, node = self._pending
        self._pending = None
        parent = self._descend(self._root, names[:-1], header.keys, dotted=False)
        if not header.is_array:
            parent.children[names[-1]] = node
            return
        tables = parent.children.get(names[-1])
        if tables is None:
            tables = Node("tables", header.start, header.end, header.keys[-1])
            parent.children[names[-1]] = tables
        if tables.kind != "tables":
            raise TomlFault(header.keys[-1].start, _DUPLICATE)
        tables.items.append(node)
        tables.end = header.end

    def _entry(self, entry: Entry) -> None:
        names = self._names(entry.keys)
        node = self._value(entry.value, entry.keys[-1])
        node.entry = entry
        dotted = len(names) > 1
        parent = self._descend(self._table, names[:-1], entry.keys, dotted=dotted)
        if (dotted and not parent.implicit) or names[-1] in parent.children:
            raise TomlFault(entry.keys[-1].start, _DUPLICATE)
        parent.children[names[-1]] = node

    def _descend(self, table: Node, names: list[str], keys: list[Token], *, dotted: bool) -> Node:
        for name, key in zip(names, keys, strict=False):
            child = table.children.get(name)
            if child is None:
                child = Node("table", key.start, key.end, key, implicit=True, dotted=dotted)
                table.children[name] = child
            elif child.kind == "tables":
                child = child.items[-1]
            elif child.kind != "table" or child.inline:
                raise TomlFault(
                    key.start, f"cannot extend value of type {child.word} with a dotted key"
                )
            elif dotted:
                if not child.implicit:
                    raise TomlFault(key.start, _DUPLICATE)
                child.dotted = True
            table = child
        return table

    def _value(self, value: Value, key: Token) -> Node:
        if value.kind == "[":
            node = Node("array", value.start, value.end, key, value=value)
            node.items = [self._value(item, key) for item in value.items]
            return node
        if value.kind == "{":
            node = Node("table", value.start, value.end, key, inline=True, value=value)
            for entry in value.entries:
                self._inline_entry(node, entry)
            return node
        try:
            kind = judge_scalar(self._text, value.kind, value.start, value.end)
        except LateFault as fault:
            self._late = self._late or fault
            kind = "integer"
        return Node(kind, value.start, value.end, key)

    def _inline_entry(self, table: Node, entry: Entry) -> None:
        names = self._names(entry.keys)
        node = self._value(entry.value, entry.keys[-1])
        node.entry = entry
        for name, key in zip(names[:-1], entry.keys, strict=False):
            child = table.children.get(name)
            if child is None:
                child = Node(
                    "table", key.start, key.end, key, implicit=True, dotted=True, inline=True
                )
                table.children[name] = child
            elif child.kind != "table":
                raise TomlFault(
                    key.start, f"cannot extend value of type {child.word} with a dotted key"
                )
            elif not child.implicit:
                raise TomlFault(key.start, _DUPLICATE)
            table = child
        if names[-1] in table.children:
            raise TomlFault(entry.keys[-1].start, _DUPLICATE)
        table.children[names[-1]] = node
