"""A form: its fields as they are filled in now, and the JSON value that they make."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from tui.forms.schema import MOST_FIELDS, UNSET, Option, Shape
from tui.text import clean

Path: TypeAlias = tuple[str | int, ...]

NOT_SET = -1
LINE_CHARS = 1_500  # a line of the screen takes no longer value
BEGUN = 5  # items that a list which needs some begins with
_WHOLE = re.compile(r"[+-]?\d{1,400}")
_NUMBER = re.compile(r"[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,4})?")


@dataclass(eq=False)
class Field:
    """One field.

    Attributes:
        text: What is typed: a text, a number, raw JSON.
        as_json: A text that is typed as JSON, because it holds what one line cannot show.
        chosen: Number of the chosen option, or `NOT_SET`.
        ticked: Numbers of the ticked options.
        fields: Members of an object, items of a list.
    """

    name: str | int
    label: str
    shape: Shape
    required: bool
    parent: Field | None = None
    text: str = ""
    as_json: bool = False
    chosen: int = NOT_SET
    ticked: set[int] = field(default_factory=set[int])
    fields: list[Field] = field(default_factory=list["Field"])
    given: bool = False
    _initial: Any = None

    @property
    def path(self) -> Path:
        """Where its value stands."""
        above = self.parent.path if self.parent is not None else ()
        return (*above, self.name) if self.parent is not None else ()

    @property
    def depth(self) -> int:
        """How many objects and lists it is in, below the form itself."""
        return max(0, len(self.path) - 1)

    @property
    def removable(self) -> bool:
        """It is an item of a list."""
        return self.parent is not None and self.parent.shape.kind == "list"

    @property
    def _has_null(self) -> bool:
        return self.shape.nullable and all(o.value is not None for o in self.shape.options)

    @property
    def options(self) -> tuple[Option, ...]:
        """The options, null among them where it is allowed."""
        extra = (Option(None, "null"),) if self._has_null else ()
        return (*self.shape.options, *extra)

    def begin(self) -> None:
        """What it holds now is what it began with."""
        for inner in self.fields:
            inner.begin()
        self._initial = self._state()

    @property
    def touched(self) -> bool:
        """Somebody has put something in."""
        return self.given or self._state() != self._initial

    def _state(self) -> Any:
        inner = [one.state for one in self.fields]
        return (self.text, self.chosen, tuple(sorted(self.ticked)), inner)

    @property
    def state(self) -> Any:
        """Everything that is filled in, for comparing."""
        return self._state()


@dataclass(frozen=True)
class Reading:
    """What a form holds: its value, and the faults that stand in the way of one, by field."""

    value: Any
    faults: Mapping[Path, str]


class Form:
    """Fields after a shape, with its defaults filled in.

    Args:
        titled: Fields are called by their titles, where they have one.
    """

    def __init__(self, shape: Shape, *, titled: bool = False) -> None:
        self._titled = titled
        self.root = self._field("", "", shape, True, None)
        self.root.begin()

    def walk(self) -> Iterator[Field]:
        """All fields as they stand below one another."""
        waiting = list(reversed(self.root.fields))
        while waiting:
            one = waiting.pop()
            yield one
            waiting.extend(reversed(one.fields))

    def find(self, path: Path) -> Field | None:
        """The field whose value stands at `path`, else the nearest one above it."""
        here = self.root
        for part in path:
            inner = next((one for one in here.fields if one.name == part), None)
            if inner is None:
                break
            here = inner
        return None if here is self.root else here

    # -- lists

    def full(self, many: Field) -> str:
        """Why a list takes no more items, or ""."""
        if many.shape.most is not None and len(many.fields) >= many.shape.most:
            return f"at most {many.shape.most}"
        if sum(1 for _ in self.walk()) >= MOST_FIELDS * 2:
            return "a form takes no more fields; ^e takes any number as JSON"
        return ""

    def add(self, many: Field) -> Field:
        """Another item at the end of a list."""
        return self._item(many, begun=True)

    def remove(self, item: Field) -> None:
        """Take an item out of its list; those behind it move up."""
        many = item.parent
        if many is None or item not in many.fields:
            return
        many.fields.remove(item)
        for at, one in enumerate(many.fields):
            one.name, one.label = at, f"{many.label} {at + 1}"

    def _item(self, many: Field, *, begun: bool) -> Field:
        shape = many.shape.item
        assert shape is not None
        at = len(many.fields)
        one = self._field(at, f"{many.label} {at + 1}", shape, True, many)
        if begun:
            one.begin()
        many.fields.append(one)
        return one

    # -- making fields

    def _field(
        self, name: str | int, label: str, shape: Shape, required: bool, parent: Field | None
    ) -> Field:
        made = Field(name, label, shape, required, parent)
        for member in shape.members:
            called = (member.shape.title if self._titled else "") or member.name
            made.fields.append(
                self._field(member.name, called, member.shape, member.required, made)
            )
        if shape.kind == "const" and required:
            made.chosen = 0
        if shape.default is not UNSET:
            self._put(made, shape.default)
        elif shape.kind == "list" and required:
            for _ in range(min(shape.least, BEGUN)):
                self._item(made, begun=False)
        return made

    # -- filling in

    def fill(self, value: Any) -> bool:
        """Put a value in; what it does not have is left empty, defaults too.

        Returns:
            False when the form cannot hold all of it: it would make another value.
        """
        for one in list(self.root.fields):
            self._clear(one)
        self._put(self.root, value)
        made = self.read()
        return not made.faults and made.value == value

    def _clear(self, one: Field) -> None:
        one.text, one.as_json, one.given = "", False, False
        one.chosen = 0 if one.shape.kind == "const" and one.required else NOT_SET
        one.ticked = set()
        if one.shape.kind == "list":
            one.fields = []
        for inner in one.fields:
            self._clear(inner)

    def _put(self, one: Field, value: Any) -> None:
        match one.shape.kind:
            case "object" if isinstance(value, dict):
                known = cast("dict[str, Any]", value)
                one.given = True
                for inner in one.fields:
                    if inner.name in known:
                        self._put(inner, known[str(inner.name)])
            case "list" if isinstance(value, list):
                one.given, one.fields = True, []
                for item in cast("list[Any]", value)[:MOST_FIELDS]:
                    self._put(self._item(one, begun=True), item)
            case "choices" if isinstance(value, list):
                one.given = True
                places = [_place(one.options, item) for item in cast("list[Any]", value)]
                one.ticked = {place for place in places if place != NOT_SET}
            case "choice" | "const":
                one.chosen = _place(one.options, value)
            case "text" if isinstance(value, str) and len(value) <= LINE_CHARS:
                one.as_json = clean(value) != value
                one.text = json.dumps(value) if one.as_json else value
            case "integer" | "number" | "text" if value is None and one.shape.nullable:
                one.text = ""
            case "raw":
                one.text = _compact(value)
            case _ if one.shape.kind in ("integer", "number"):
                one.text = _compact(value)
            case _:
                return

    # -- the value

    def read(self) -> Reading:
        """The value, and what is wrong with single fields."""
        faults: dict[Path, str] = {}
        value = self._object(self.root, faults)
        return Reading(value, faults)

    def _value(self, one: Field, faults: dict[Path, str]) -> Any:
        """What a field stands for; `UNSET` when it is to be left out."""
        match one.shape.kind:
            case "object":
                if not one.required and not one.touched:
                    return UNSET
                return self._object(one, faults)
            case "list":
                if not one.fields and not one.required and not one.given:
                    return UNSET
                return self._items(one, faults)
            case "choices":
                if not one.ticked and not one.required and not one.given:
                    return UNSET
                return [one.options[at].value for at in sorted(one.ticked)]
            case "choice" | "const":
                if 0 <= one.chosen < len(one.options):
                    return one.options[one.chosen].value
                return self._missing(one, faults)
            case _:
                return self._typed(one, faults)

    def _object(self, one: Field, faults: dict[Path, str]) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for inner in one.fields:
            found = self._value(inner, faults)
            if found is not UNSET:
                value[str(inner.name)] = found
        return value

    def _items(self, one: Field, faults: dict[Path, str]) -> list[Any]:
        found = [self._value(inner, faults) for inner in one.fields]
        return [value for value in found if value is not UNSET]

    def _missing(self, one: Field, faults: dict[Path, str]) -> Any:
        if not one.required:
            return UNSET
        if one.shape.nullable:
            return None
        faults[one.path] = "required"
        return UNSET

    def _typed(self, one: Field, faults: dict[Path, str]) -> Any:
        text = one.text
        if text == "" and one.required and one.shape.kind == "text" and one.shape.default == "":
            return ""
        if text == "" or (text.isspace() and one.shape.kind != "text"):
            return self._missing(one, faults)
        try:
            return _parsed(one, text)
        except ValueError as fault:
            faults[one.path] = str(fault)
            return UNSET


def _parsed(one: Field, text: str) -> Any:
    """The value of a text. Raises ValueError in words for people."""
    match one.shape.kind:
        case "text":
            return json_of(text) if one.as_json else text
        case "integer":
            if not _WHOLE.fullmatch(text.strip()):
                raise ValueError("must be a whole number")
            return int(text)
        case "number":
            if not _NUMBER.fullmatch(text.strip()):
                raise ValueError("must be a number")
            if _WHOLE.fullmatch(text.strip()):
                return int(text)
            if not math.isfinite(number := float(text)):
                raise ValueError("is too large a number")
            return number
        case _:
            return json_of(text)


def json_of(text: str) -> Any:
    """A JSON value. Raises ValueError in words for people."""

    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is not JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as fault:
        place = f"column {fault.colno}" if fault.lineno == 1 else f"line {fault.lineno}"
        said = fault.msg[:1].lower() + fault.msg[1:]
        raise ValueError(f"not JSON: {said}, {place}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def json_text(value: Any) -> str:
    """A value as people edit it."""
    try:
        return json.dumps(value, indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


def _compact(value: Any) -> str:
    """On one line, and printable: what is filled into a line of the screen comes out the same."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        if len(text) > LINE_CHARS:
            return ""
        return text if clean(text) == text else json.dumps(value)
    except (ValueError, RecursionError):
        return ""


def _place(options: tuple[Option, ...], value: Any) -> int:
    for at, option in enumerate(options):
        if type(option.value) is type(value) and option.value == value:
            return at
    return NOT_SET
