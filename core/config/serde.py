"""Checks values against types and says what is wrong in the words of Rust's serde.

A check is a function of a value; None means fine. Codex validates its configuration with serde, so
its messages, and the order in which fields are judged, are the ones that users and clients know.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, and at which path below the value that was checked.

    Attributes:
        path: Keys and indices.
        message: As Codex words it when it reads the file.
        merged: As it words it for values that no longer have a file, where that differs.
        cut: Steps at the end of the path that are not told for such values.
    """

    path: tuple[str | int, ...]
    message: str
    merged: str = ""
    cut: int = 0

    def under(self, *steps: str | int) -> Fault:
        """The same fault, seen from a parent."""
        return Fault((*steps, *self.path), self.message, self.merged, self.cut)

    @property
    def merged_path(self) -> tuple[str | int, ...]:
        """The path as it is told for values that no longer have a file."""
        return self.path[: len(self.path) - self.cut]

    @property
    def merged_message(self) -> str:
        """`merged` or, where it is the same, `message`."""
        return self.merged or self.message


Check = Callable[[Any], Fault | None]
_TEMPORAL = (datetime.datetime, datetime.date, datetime.time)
_FRACTION = re.compile(r"(\.\d*[1-9])0+(?=\D|$)")
_DEBUG_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\0": "\\0",
}


def quoted(text: str) -> str:
    """A string as Rust's debug format prints it."""
    out: list[str] = []
    for mark in text:
        if mark in _DEBUG_ESCAPES:
            out.append(_DEBUG_ESCAPES[mark])
        elif mark.isprintable():
            out.append(mark)
        else:
            out.append(f"\\u{{{ord(mark):x}}}")
    return '"' + "".join(out) + '"'


def float_text(value: float) -> str:
    """A float as Rust prints it: never with an exponent, always with a fraction."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = format(Decimal(repr(value)), "f")
    return text if "." in text else text + ".0"


def temporal_text(value: datetime.datetime | datetime.date | datetime.time) -> str:
    """A date or time in TOML spelling, with no more digits than needed."""
    text = value.isoformat().replace("+00:00", "Z")
    return _FRACTION.sub(lambda match: match[1], text)


def found(value: Any) -> str:
    """What a value is, as serde's "invalid type" names it."""
    if isinstance(value, bool):
        return f"boolean `{str(value).lower()}`"
    if isinstance(value, int):
        return f"integer `{value}`"
    if isinstance(value, float):
        return f"floating point `{float_text(value)}`"
    if isinstance(value, str):
        return f"string {quoted(value)}"
    if isinstance(value, _TEMPORAL):
        return "map"
    if isinstance(value, Mapping):
        return "map"
    return "null" if value is None else "sequence"


def wrong_type(value: Any, expected: str) -> Fault:
    """`invalid type: …, expected …`."""
    merged = ""
    if isinstance(value, _TEMPORAL):
        merged = f"invalid type: string {quoted(temporal_text(value))}, expected {expected}"
    return Fault((), f"invalid type: {found(value)}, expected {expected}", merged)


def string(value: Any) -> Fault | None:
    """A string; dates pass too, as they do in the `toml` crate."""
    if type(value) is str or isinstance(value, _TEMPORAL):
        return None
    return wrong_type(value, "a string")


def boolean(value: Any) -> Fault | None:
    return None if type(value) is bool else wrong_type(value, "a boolean")


def floating(value: Any) -> Fault | None:
    """A float; integers pass."""
    return None if type(value) in (float, int) else wrong_type(value, "f64")


def anything(value: Any) -> Fault | None:
    return None


def integer(expected: str, low: int, high: int) -> Check:
    """An integer in a range."""

    def check(value: Any) -> Fault | None:
        if type(value) is not int:
            return wrong_type(value, expected)
        if low <= value <= high:
            return None
        return Fault((), f"invalid value: integer `{value}`, expected {expected}")

    return check


u16 = integer("u16", 0, 2**16 - 1)
u32 = integer("u32", 0, 2**32 - 1)
u64 = integer("u64", 0, 2**64 - 1)
i64 = integer("i64", -(2**63), 2**63 - 1)
usize = integer("usize", 0, 2**64 - 1)
nonzero_usize = integer("a nonzero usize", 1, 2**64 - 1)


def duration_fault(seconds: float) -> str:
    """Why a number of seconds is no duration, or ""."""
    if seconds < 0:
        return "cannot convert float seconds to Duration: value is negative"
    if math.isnan(seconds) or seconds >= 2.0**64:
        return "cannot convert float seconds to Duration: value is either too big or NaN"
    return ""


def duration(value: Any) -> Fault | None:
    """Seconds, judged where they stand."""
    if fault := floating(value):
        return fault
    reason = duration_fault(float(value))
    return Fault((), reason) if reason else None


def options(*names: str) -> str:
    """Allowed words, as serde lists them: "`a` or `b`", "one of `a`, `b`, `c`"."""
    ticked = [f"`{name}`" for name in names]
    if len(ticked) == 1:
        return ticked[0]
    if len(ticked) == 2:
        return " or ".join(ticked)
    return "one of " + ", ".join(ticked)


def variant(*names: str, flattened: bool = False) -> Check:
    """One of a few words; `flattened`: inside a record that is read through a buffer."""
    allowed = frozenset(names)
    expected = options(*names)

    def check(value: Any) -> Fault | None:
        if type(value) is str:
            if value in allowed:
                return None
            return Fault((), f"unknown variant `{value}`, expected {expected}")
        if isinstance(value, Mapping):
            return _variant_table(cast("Mapping[str, Any]", value), allowed, expected)
        if flattened:
            return wrong_type(value, "string or map")
        return Fault(
            (), "wanted string or table", "invalid type: unit variant, expected string only"
        )

    return check


def _variant_table(
    value: Mapping[str, Any], allowed: frozenset[str], expected: str
) -> Fault | None:
    if len(value) != 1:
        return Fault(
            (),
            "wanted exactly 1 element, " + ("more than 1 element" if value else "found 0 elements"),
        )
    (name, inner), *_ = value.items()
    if name not in allowed:
        return Fault((), f"unknown variant `{name}`, expected {expected}")
    if isinstance(inner, (dict, list)) and not inner:
        return None
    kind = found(inner).split(" ", 1)[0]
    return Fault((name,), f"expected table, found {kind}", cut=1)


def word(value: Any) -> str:
    """The word of a value that `variant` has let pass: as such, or as `{word = {}}`."""
    return value if isinstance(value, str) else next(iter(value))


def array(item: Check, expected: str = "a sequence") -> Check:
    """A list whose items all pass."""

    def check(value: Any) -> Fault | None:
        if type(value) is not list:
            return wrong_type(value, expected)
        for index, element in enumerate(cast("list[Any]", value)):
            if fault := item(element):
                return fault.under(index)
        return None

    return check


def table(item: Check, expected: str = "a map") -> Check:
    """A table whose values all pass, whatever the keys."""

    def check(value: Any) -> Fault | None:
        if type(value) is not dict:
            return wrong_type(value, expected)
        for key, element in cast("dict[str, Any]", value).items():
            if fault := item(element):
                return fault.under(key)
        return None

    return check


strings = array(string)
string_table = table(string)


@dataclass(frozen=True, slots=True)
class Struct:
    """A table with known keys; call it as a check.

    Attributes:
        name: As serde names it when something else is found.
        fields: Checks by key; judged in the order of the table.
        required: Keys that must be there.
        closed: Unknown keys are refused.
        from_list: Something else than "invalid type: sequence" when a list is found: "" accepts
            an empty one, "N" tells that N elements are wanted.
    """

    name: str
    fields: Mapping[str, Check]
    required: Sequence[str] = ()
    closed: bool = False
    from_list: str | None = None
    after: Callable[[dict[str, Any]], Fault | None] | None = field(default=None)

    def __call__(self, value: Any) -> Fault | None:
        if type(value) is not dict:
            return self._not_a_table(value)
        fields = self.fields
        table_value = cast("dict[str, Any]", value)
        for key, element in table_value.items():
            check = fields.get(key)
            if check is None:
                if self.closed:
                    expected = options(*fields)
                    message = f"unknown field `{key}`, expected {expected}"
                    return Fault((key,), message, cut=1)
            elif fault := check(element):
                return fault.under(key)
        for key in self.required:
            if key not in table_value:
                return Fault((), f"missing field `{key}`")
        return self.after(table_value) if self.after is not None else None

    def _not_a_table(self, value: Any) -> Fault | None:
        if type(value) is not list or self.from_list is None:
            return wrong_type(value, f"struct {self.name}")
        # A list is read as the members in their order.
        elements = cast("list[Any]", value)
        for index, (element, check) in enumerate(zip(elements, self.fields.values(), strict=False)):
            if fault := check(element):
                return fault.under(index)
        if not self.from_list:
            return None
        wanted = f"struct {self.name} with {self.from_list}"
        return Fault((), f"invalid length {len(elements)}, expected {wanted}")

    def unknown(self, value: Any) -> list[str]:
        """Keys of a table that the struct does not know."""
        if type(value) is not dict or self.closed:
            return []
        return [key for key in cast("dict[str, Any]", value) if key not in self.fields]
