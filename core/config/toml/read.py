"""Reads TOML as Codex does: values at once, places only when somebody asks for one."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any, cast

import tomli

from core.config.toml.fault import TomlFault

if TYPE_CHECKING:
    from core.config.toml.tree import Tree

# What the `toml` crate refuses and tomli takes: numbers beyond 64 bits and infinite exponents.
_BIG = re.compile(r"[0-9_]{19,}|0[xob][0-9A-Fa-f_]{16,}|[eE][+-]?[0-9_]{3,}")
_MAX_DEPTH = 80
_NESTING = re.compile(r"[\[{.]")


def build(text: str) -> Tree:
    """The syntax tree; its modules are loaded when the first place or fault is asked for."""
    from core.config.toml.tree import build as build_tree

    return build_tree(text)


class NotUtf8(ValueError):
    """The bytes are no UTF-8; the text is the real one's."""


class TomlText:
    """A TOML text and its value.

    Attributes:
        text: As on disk, BOM and line ends included.
        value: Plain dicts, lists and scalars; dates as `datetime` objects. Never changed.
    """

    def __init__(self, text: str, value: dict[str, Any], tree: Tree | None = None) -> None:
        self.text = text
        self.value = value
        self._lock = threading.Lock()
        self._tree = tree

    @property
    def tree(self) -> Tree:
        """Places of all keys; made on the first call, in about 1 µs per character."""
        with self._lock:
            if self._tree is None:
                self._tree = build(self.text)
            return self._tree


def decode(data: bytes) -> str:
    """The text of a file. Raises NotUtf8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            reason = f"incomplete utf-8 byte sequence from index {error.start}"
        else:
            length = max(error.end - error.start, 1)
            reason = f"invalid utf-8 sequence of {length} bytes from index {error.start}"
        raise NotUtf8(reason) from None


def read_toml(text: str) -> TomlText:
    """Read a text.

    Raises:
        TomlFault: With the place and in the words of Codex 0.171.0.
    """
    plain = text.removeprefix("\ufeff")
    try:
        value = tomli.loads(plain)
    except (tomli.TOMLDecodeError, RecursionError, ValueError) as error:
        raise _why(text, error) from None
    may_be_deep = len(_NESTING.findall(text)) >= _MAX_DEPTH
    if _BIG.search(text) or (may_be_deep and _too_deep(value)):
        return TomlText(text, value, build(text))
    return TomlText(text, value)


def _why(text: str, error: Exception) -> TomlFault:
    """The fault in Codex' words; tomli's where our own reading finds none."""
    try:
        build(text)
    except TomlFault as fault:
        return fault
    offset = getattr(error, "pos", None)
    message = getattr(error, "msg", None) or str(error) or type(error).__name__
    plain_offset = offset if isinstance(offset, int) else 0
    return TomlFault(min(plain_offset, len(text)), str(message))


def _too_deep(value: dict[str, Any]) -> bool:
    """Whether something lies deeper than a text may nest; level by level, so never recursive."""
    level: list[Any] = [value]
    for _ in range(_MAX_DEPTH):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return False
    return True


def _children(parent: Any) -> list[Any]:
    is_table = type(parent) is dict
    values = cast("dict[str, Any]", parent).values() if is_table else cast("list[Any]", parent)
    return [child for child in values if type(child) is dict or type(child) is list]
