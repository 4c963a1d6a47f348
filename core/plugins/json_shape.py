"""What Codex expects of a JSON file, as shapes; each reads one value or says what is wrong.

The words are those of serde's derived readers, so that a message can be put beside Codex's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from core.plugins.json_text import Scanner
from core.plugins.json_tokens import EOF_VALUE, EXPECTED_VALUE, JsonFault, Unplaced


class Shape(Protocol):
    """Reads one value from a scanner. Raises `JsonFault`, or `Unplaced` to be placed around."""

    def read(self, scanner: Scanner) -> Any: ...


class _Text:
    """A string."""

    def read(self, scanner: Scanner) -> str:
        first = scanner.peek()
        if first == 0x22:
            return scanner.string()
        if first == -1:
            raise scanner.peek_fault(EOF_VALUE)
        scanner.wrong_type("a string")


class _Any:
    """Any value, kept."""

    def read(self, scanner: Scanner) -> Any:
        return scanner.value()


class _Skipped:
    """Any value, not looked at."""

    def read(self, scanner: Scanner) -> None:
        scanner.skip()


TEXT = _Text()
ANY = _Any()
SKIPPED = _Skipped()


@dataclass(frozen=True)
class Maybe:
    """The value, or null."""

    shape: Shape

    def read(self, scanner: Scanner) -> Any:
        if scanner.peek() == 0x6E:
            return scanner.word(0x6E)
        return self.shape.read(scanner)


@dataclass(frozen=True)
class Items:
    """A list of values of one shape."""

    shape: Shape

    def read(self, scanner: Scanner) -> list[Any]:
        first = scanner.peek()
        if first == -1:
            raise scanner.peek_fault(EOF_VALUE)
        if first != 0x5B:
            scanner.wrong_type("a sequence")

        def items() -> list[Any]:
            read: list[Any] = []
            while scanner.next_item(first=not read):
                read.append(self.shape.read(scanner))
            return read

        return around(scanner, items, scanner.end_list)


@dataclass(frozen=True)
class Word:
    """One of a few words; also `{"WORD": null}`, which the real reader takes."""

    words: tuple[str, ...]

    def read(self, scanner: Scanner) -> str:
        first = scanner.peek()
        if first == 0x22:
            return self._word(scanner)
        if first != 0x7B:
            raise scanner.peek_fault(EOF_VALUE if first == -1 else EXPECTED_VALUE)
        scanner.enter()
        if scanner.peek() != 0x22:
            scanner.wrong_type("variant identifier")
        word = self._word(scanner)
        scanner.colon()
        if scanner.peek() != 0x6E:
            scanner.wrong_type("unit")
        scanner.word(0x6E)
        scanner.depth += 1
        byte = scanner.peek()
        if byte != 0x7D:
            raise scanner.fault("EOF while parsing an object" if byte == -1 else EXPECTED_VALUE)
        scanner.pos += 1
        return word

    def _word(self, scanner: Scanner) -> str:
        word = scanner.string()
        if word not in self.words:
            raise scanner.fault(unknown_variant(word, self.words))
        return word


def unknown_variant(word: str, words: tuple[str, ...]) -> str:
    """`unknown variant`, with what was expected."""
    return f"unknown variant `{word}`, expected {_one_of(words)}"


def _one_of(words: tuple[str, ...]) -> str:
    named = [f"`{word}`" for word in words]
    if len(named) == 1:
        return named[0]
    if len(named) == 2:
        return f"{named[0]} or {named[1]}"
    return f"one of {', '.join(named)}"


@dataclass(frozen=True)
class Record:
    """An object with known members.

    Attributes:
        name: How the real reader calls it.
        members: Shapes of the known members, in the order of the array form.
        required: Members that must be there.
        keeps_others: Other members are kept, as any value; there is no array form then.
        refuses_others: Other members are a fault.
        aliases: Other spellings of members.
    """

    name: str
    members: Mapping[str, Shape]
    required: tuple[str, ...] = ()
    keeps_others: bool = False
    refuses_others: bool = False
    aliases: Mapping[str, str] | None = None

    def read(self, scanner: Scanner) -> dict[str, Any]:
        first = scanner.peek()
        if first == -1:
            raise scanner.peek_fault(EOF_VALUE)
        if first == 0x7B:
            return around(scanner, lambda: self._object(scanner), scanner.end_object)
        if first == 0x5B and not self.keeps_others:
            return around(scanner, lambda: self._array(scanner), scanner.end_list)
        scanner.wrong_type(f"struct {self.name}")

    def _object(self, scanner: Scanner) -> dict[str, Any]:
        read: dict[str, Any] = {}
        first = True
        while scanner.next_key(first=first):
            first = False
            written = scanner.string()
            key = (self.aliases or {}).get(written, written)
            shape = self.members.get(key)
            if shape is None:
                if self.refuses_others:
                    expected = _one_of(tuple(self.members))
                    raise Unplaced(f"unknown field `{written}`, expected {expected}")
                shape = ANY if self.keeps_others else SKIPPED
            elif key in read:
                raise Unplaced(f"duplicate field `{key}`")
            scanner.colon()
            value = shape.read(scanner)
            if shape is not SKIPPED:
                read[key] = value
        for key in self.required:
            if key not in read:
                raise Unplaced(f"missing field `{key}`")
        return read

    def _array(self, scanner: Scanner) -> dict[str, Any]:
        read: dict[str, Any] = {}
        for index, (key, shape) in enumerate(self.members.items()):
            if not scanner.next_item(first=index == 0):
                missing = [at for at, name in enumerate(self.members) if name in self.required]
                later = [at for at in missing if at >= index]
                if later:
                    size = len(self.members)
                    expected = f"struct {self.name} with {size} elements"
                    raise Unplaced(f"invalid length {later[0]}, expected {expected}")
                break
            read[key] = shape.read(scanner)
        return read


def around(scanner: Scanner, inside: Callable[[], Any], close: Callable[[], None]) -> Any:
    """Read what is between brackets; a fault of meaning is placed where the reader has come to."""
    scanner.enter()
    try:
        value = inside()
    except Unplaced as error:
        try:
            close()
        except JsonFault:
            pass
        raise scanner.place(error) from None
    scanner.depth += 1
    close()
    return value


def read_exactly(data: bytes, shape: Shape) -> Any:
    """The value of a whole text.

    Raises:
        JsonFault: In the real reader's words.
    """
    scanner = Scanner(data)
    try:
        value = shape.read(scanner)
    except Unplaced as error:
        raise scanner.place(error) from None
    scanner.finish()
    return value
