"""From a key path to its place in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.config.toml.fault import Place, codex_place_of, place_of
from core.config.toml.read import TomlText

if TYPE_CHECKING:
    from core.config.toml.tree import Node

KeyPath = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class Range:
    """First and last character of something, inclusive."""

    start: Place
    end: Place


def find(read: TomlText, path: KeyPath) -> Node | None:
    """The node at a path: keys of tables, indices of arrays."""
    node = read.tree.root
    for step in path:
        found = _child(node, step)
        if found is None:
            return None
        node = found
    return node


def _child(node: Node, step: str | int) -> Node | None:
    if isinstance(step, str):
        return node.children.get(step)
    return node.items[step] if 0 <= step < len(node.items) else None


def deepest(read: TomlText, path: KeyPath) -> Node:
    """The node at a path, or at the longest part of it that exists."""
    node = read.tree.root
    for step in path:
        found = _child(node, step)
        if found is None:
            break
        node = found
    return node


def place(read: TomlText, path: KeyPath) -> Place | None:
    """Where a person would look: the key of `key = value`, the bracket of a `[header]`."""
    node = find(read, path)
    if node is None:
        return None
    return place_of(read.text, node.start if node.entry is None else node.key.start)


def value_range(read: TomlText, path: KeyPath) -> Range:
    """Where Codex says that something is wrong: the value itself; line 1, column 1 if unknown."""
    node = find(read, path)
    if node is None or not path:
        return Range(Place(1, 1), Place(1, 1))
    last = node.end - 1 if node.end > node.start else node.end
    return Range(codex_place_of(read.text, node.start), codex_place_of(read.text, last))
