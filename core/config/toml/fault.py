"""Where a TOML text is wrong, and the words in which Codex' parser says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text: 1-based `line` and `column`, in characters."""

    line: int
    column: int


class TomlFault(Exception):
    """The text is no TOML that Codex reads.

    Attributes:
        offset: Character offset of the place in the text, at most its length.
        reason: The parser's words, e.g. "unclosed array, expected `]`".
    """

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(reason)
        self.offset = offset
        self.reason = reason


def place_of(text: str, offset: int) -> Place:
    """Line and column of a character offset; one past the end counts on the last line.

    A text that ends in a newline has no further line: its end is told as the column after that
    newline, as the real one does (observed in Codex 0.171.0).
    """
    if not text:
        return Place(1, 1)
    inside = min(offset, len(text) - 1)
    start = text.rfind("\n", 0, inside) + 1
    return Place(text.count("\n", 0, start) + 1, offset - start + 1)


def codex_place_of(text: str, offset: int) -> Place:
    """As `place_of`, with the real one's habit to count bytes up to a character beyond ASCII."""
    place = place_of(text, offset)
    at = min(offset, len(text) - 1)
    if not text or text[at].isascii():
        return place
    line_start = text.rfind("\n", 0, at) + 1
    prefix = len(text[line_start:at].encode("utf-8", "surrogatepass"))
    return Place(place.line, prefix + offset - at + 1)


def excerpt(text: str, offset: int, reason: str) -> str:
    """The fault as the parser prints it with the line it is on; ends in a newline."""
    place = codex_place_of(text, offset)
    lines = text.split("\n")
    line = lines[place.line - 1].rstrip("\r") if place.line <= len(lines) else ""
    gutter = " " * len(str(place.line))
    return (
        f"TOML parse error at line {place.line}, column {place.column}\n"
        f"{gutter} |\n"
        f"{place.line} | {line}\n"
        f"{gutter} | {' ' * (place.column - 1)}^\n"
        f"{reason}\n"
    )
