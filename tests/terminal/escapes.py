"""What a panel may write to a terminal: Textual's own sequences and plain text."""

from __future__ import annotations

import re
import unicodedata

# As Textual 8.2.8 and our own question for the background write them; sorted by what they do.
OWN = re.compile(
    r"\x1b\[\d*(?:;\d+)*m"  # colours and styles
    r"|\x1b\[\d+;\d+H"  # where to write
    r"|\x1b\[\?(?:7|25|1000|1003|1004|1006|1015|1049|2004|2026|2048)[hl]"
    r"|\x1b\[\?(?:2026|2048)\$p|\x1b\[[<>]\d*u"  # modes, and whether they are known
    r"|\x1b\]22;default\x07"  # shape of the pointer
    r"|\x1b\]11;\?\x1b\\\x1b\[c"  # our question for the background
)
MARKS = 3
"""Combining marks on one letter."""


def strays(output: bytes) -> list[str]:
    """Everything in the output that is neither Textual's own nor plain text."""
    text = output.decode("utf-8", "backslashreplace")
    found = [f"undecodable: {it}" for it in re.findall(r"\\x[89a-f][0-9a-f]", text)]
    plain = OWN.sub("", text)
    for at, char in enumerate(plain):
        if (
            unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
            and char not in "\r\n"
        ):
            found.append(repr(plain[max(0, at - 10) : at + 20]))
    for piled in re.findall(rf"[\u0300-\u036f]{{{MARKS + 1},}}", plain):
        found.append(f"{len(piled)} marks")
    return found
