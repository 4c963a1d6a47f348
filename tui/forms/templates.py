"""URI templates (RFC 6570): their variables, and the URI that values make of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote

_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
_VARIABLE = re.compile(r"([\w.%-]+)(\*|:\d{1,4})?")
_RESERVED: Final = ":/?#[]@!$&'()*+,;="
MOST = 40


class _Operator(NamedTuple):
    first: str
    between: str
    named: bool
    safe: str


_OPERATORS: Final[Mapping[str, _Operator]] = {
    "": _Operator("", ",", False, ""),
    "+": _Operator("", ",", False, _RESERVED),
    "#": _Operator("#", ",", False, _RESERVED),
    ".": _Operator(".", ".", False, ""),
    "/": _Operator("/", "/", False, ""),
    ";": _Operator(";", ";", True, ""),
    "?": _Operator("?", "&", True, ""),
    "&": _Operator("&", "&", True, ""),
}


def variables(template: str) -> dict[str, bool]:
    """Names of the variables in order, and whether each is needed for a URI at all.

    Those of a query (`{?q}`) may be left out.
    """
    found: dict[str, bool] = {}
    for operator, names in _EXPRESSION.findall(template):
        for name, _ in _named(names):
            if len(found) < MOST:
                found[name] = found.get(name, False) or operator not in ("?", "&", ";", "#")
    return found


def schema_of(template: str, about: str = "") -> dict[str, Any]:
    """What a form asks for to make a URI."""
    names = variables(template)
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": [name for name, needed in names.items() if needed],
        "description": about,
    }


def expand(template: str, values: Mapping[str, str]) -> str:
    """The URI; variables without a value are left out."""

    def one(match: re.Match[str]) -> str:
        how = _OPERATORS[match[1]]
        parts = [
            f"{name}={text}" if how.named else text
            for name, text in _filled(match[2], values, how.safe)
        ]
        return how.first + how.between.join(parts) if parts else ""

    return _EXPRESSION.sub(one, template)


def _filled(names: str, values: Mapping[str, str], safe: str) -> Iterator[tuple[str, str]]:
    for name, modifier in _named(names):
        value = values.get(name, "")
        if modifier.startswith(":"):
            value = value[: int(modifier[1:])]
        if value:
            yield name, quote(value, safe=safe + "-._~")


def _named(names: str) -> Iterator[tuple[str, str]]:
    for part in names.split(","):
        if match := _VARIABLE.fullmatch(part.strip()):
            yield match[1], match[2] or ""
