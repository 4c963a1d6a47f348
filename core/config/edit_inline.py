"""Changes inside inline tables and arrays: as little as possible of the text around them."""

from __future__ import annotations

from typing import Any

from core.config.toml.lexer import lex
from core.config.toml.render import render, render_keys
from core.config.toml.syntax import Entry, Value
from core.config.toml.tree import Node
from core.config.toml.words import read_key

Change = tuple[int, int, str]
"""Replace `text[start:end]` by this."""


def _value(node: Node) -> Value:
    if node.value is None:
        raise ValueError("not written inline")
    return node.value


def insertion(text: str, table: Node, below: tuple[str, ...], value: Any) -> Change:
    """A key path that does not exist yet in an inline table."""
    written = _value(table)
    deepest, rest = _descend(table, below)
    if deepest is not table and deepest.value is not None:
        return insertion(text, deepest, rest, value)
    if deepest is table:
        keys = below[:1]
        for key in reversed(below[1:]):
            value = {key: value}
    else:
        keys = below
    pair = f"{render_keys(keys)} = {_single_line(value)}"
    if not written.entries:
        comments = "#" in text[written.start : written.end]
        at = written.end - 1
        return (at, at, f" {pair} ") if comments else (written.start, written.end, f"{{ {pair} }}")
    last = written.entries[-1]
    comma = _comma_after(text, last.end, written.end)
    at = comma if comma is not None else last.end
    return at, at, f" {pair}" if comma is not None else f", {pair}"


def _descend(table: Node, below: tuple[str, ...]) -> tuple[Node, tuple[str, ...]]:
    node = table
    for index, key in enumerate(below):
        child = node.children.get(key)
        if child is None or child.kind != "table":
            return node, below[index:]
        node = child
    return node, ()


def _single_line(value: Any) -> str:
    """Multi-line strings have no place in there."""
    return render([value])[1:-1]


def _comma_after(text: str, start: int, end: int) -> int | None:
    """Offset after a comma between two offsets, comments left out."""
    for token in lex(text[start:end]):
        if token.kind == ",":
            return start + token.end
    return None


def removals(text: str, table: Node, below: tuple[str, ...]) -> list[tuple[int, int]]:
    """Ranges that take a key path out of an inline table; in the order of the text."""
    deepest, rest = _descend(table, below[:-1])
    if deepest is not table and deepest.value is not None:
        return removals(text, deepest, (*rest, below[-1]))
    written = _value(table)
    entries = written.entries
    gone = [
        index for index, entry in enumerate(entries) if _names(text, entry)[: len(below)] == below
    ]
    if len(gone) == len(entries) > 0:
        last = entries[-1].end
        return [(entries[0].start, _comma_after(text, last, written.end) or last)]
    return _entry_ranges(entries, gone)


def _names(text: str, entry: Entry) -> tuple[str, ...]:
    return tuple(read_key(text, key) for key in entry.keys)


def _entry_ranges(entries: list[Entry], gone: list[int]) -> list[tuple[int, int]]:
    kept = [index for index in range(len(entries)) if index not in gone]
    ranges: list[tuple[int, int]] = []
    for index in gone:
        if any(after > index for after in kept):
            ranges.append((entries[index].start, entries[index + 1].start))
        else:
            # Nothing stays behind it: take the comma before it along.
            start = entries[index - 1].end if index else entries[index].start
            ranges.append((start, entries[index].end))
    return merged_ranges(ranges)


def array_change(text: str, node: Node, old: Any, new: list[Any]) -> Change:
    """An array with other items: what stays keeps its text, comments and lines.

    Items that go are cut out and new ones are added at the end; anything else writes it anew.
    """
    items = _value(node).items
    kept = _kept(old, new)
    if kept is None:
        return node.start, node.end, render(new)
    gone = [index for index in range(len(items)) if index not in kept]
    cuts = merged_ranges([_item_range(text, items, index, kept, node) for index in gone])
    changes: list[Change] = [(start, end, "") for start, end in cuts]
    if added := new[len(kept) :]:
        changes += _addition(text, node, max(kept), added, cuts)
    result = text
    # From the end; at the same place first cut, then add.
    for start, end, piece in sorted(changes, key=lambda change: (-change[0], bool(change[2]))):
        result = result[:start] + piece + result[end:]
    length = len(result) - len(text)
    return node.start, node.end, result[node.start : node.end + length]


def merged_ranges(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same characters as ranges that neither overlap nor touch, in order."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _kept(old: list[Any], new: list[Any]) -> set[int] | None:
    """Indices of old items that the new list begins with, in order; None when there are none."""
    kept: set[int] = set()
    for index, item in enumerate(old):
        wanted = new[len(kept)] if len(kept) < len(new) else None
        if type(item) is type(wanted) and item == wanted:
            kept.add(index)
    return kept or None


def _addition(
    text: str, node: Node, anchor: int, added: list[Any], cuts: list[tuple[int, int]]
) -> list[Change]:
    """New items after the item `anchor`, one per line where the array is written so."""
    last = _value(node).items[anchor]
    pieces = [_single_line(item) for item in added]
    comma = _comma_after(text, last.end, node.end)
    if comma is not None and any(start < comma <= end for start, end in cuts):
        comma = None
    indent = text[text.rfind("\n", 0, last.start) + 1 : last.start]
    line_end = _rest_of_line(text, comma or last.end)
    if "\n" in text[node.start : last.start] and not indent.strip() and line_end is not None:
        newline = "\r\n" if "\r\n" in text[node.start : node.end] else "\n"
        lines = f",{newline}{indent}".join(pieces)
        if comma is not None:
            return [(line_end, line_end, f"{newline}{indent}{lines},")]
        return [(last.end, last.end, ","), (line_end, line_end, f"{newline}{indent}{lines}")]
    joined = ", ".join(pieces)
    if comma is None:
        return [(last.end, last.end, f", {joined}")]
    return [(comma, comma, f" {joined}")]


def _rest_of_line(text: str, at: int) -> int | None:
    """End of the line when nothing but a comment is left on it."""
    end = text.find("\n", at)
    if end < 0:
        return None
    rest = text[at:end].strip()
    if rest and not rest.startswith("#"):
        return None
    return end - 1 if text[end - 1] == "\r" else end


def _item_range(
    text: str, items: list[Value], index: int, kept: set[int], node: Node
) -> tuple[int, int]:
    """What to cut for one item: its lines when it has them for itself, else it and a comma."""
    start, end = items[index].start, items[index].end
    line_start = text.rfind("\n", 0, start) + 1
    comma = _comma_after(text, end, node.end) or end
    line_end = text.find("\n", comma)
    if line_start > node.start and not text[line_start:start].strip() and line_end >= 0:
        rest = text[comma:line_end].strip()
        if not rest or rest.startswith("#"):
            return line_start, line_end + 1
    if any(after > index for after in kept):
        return start, items[index + 1].start
    return (items[index - 1].end if index else start), end
