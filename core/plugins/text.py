"""White space as Unicode and Rust see it; Python counts four control characters more."""

from __future__ import annotations

import re

_BLANK = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_RUN = re.compile(f"[{_BLANK}]+")


def trim(text: str) -> str:
    """Without white space at both ends."""
    return text.strip(_BLANK)


def collapse(text: str) -> str:
    """Every run of white space as one blank, none at the ends."""
    if text.isprintable() and "  " not in text:
        return text.strip(" ")
    return _RUN.sub(" ", text).strip(" ")
