"""Variables in other agents' files: who fills them in, and with what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

CLAUDE = re.compile(r"\$\{(?P<name>[A-Za-z_]\w*)(?::-(?P<default>[^}]*))?\}")
"""`${NAME}` and `${NAME:-default}`."""
EDITOR = re.compile(r"\$\{(?:(?P<kind>env|input|command|config):)?(?P<name>[^}:]+)\}")
"""`${env:NAME}`, `${input:ID}`, `${workspaceFolder}`: VS Code and Cursor."""
SHELL = re.compile(
    r"\$\{(?P<name>[A-Za-z_]\w*)(?::-(?P<default>[^}]*))?\}|\$(?P<bare>[A-Za-z_]\w*)"
)
"""`$NAME`, `${NAME}` and `${NAME:-default}`: Gemini CLI."""
PLAIN = re.compile(r"(?!)")
"""Nothing is filled in: Claude Desktop."""


@dataclass(frozen=True, slots=True)
class Ref:
    """A place that is filled in when a server starts.

    Attributes:
        kind: `env` (a variable of the environment), `input` (asked for), or `other`.
        default: Stands where the variable is not set; None without one.
        written: As it stands in the file.
    """

    kind: str
    name: str
    written: str
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A text with its references; what is known already has been filled in."""

    parts: tuple[str | Ref, ...]

    @property
    def refs(self) -> tuple[Ref, ...]:
        """The references in it."""
        return tuple(part for part in self.parts if isinstance(part, Ref))

    @property
    def plain(self) -> str:
        """As it stands in the file, known places filled in."""
        return "".join(part.written if isinstance(part, Ref) else part for part in self.parts)

    @property
    def only(self) -> Ref | None:
        """The reference that it is, when it is nothing else."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Ref):
            return self.parts[0]
        return None

    def after(self, prefix: str) -> Text | None:
        """What follows a beginning, in any case; None when it begins otherwise."""
        first = self.parts[0] if self.parts else ""
        if not isinstance(first, str) or not first.lower().startswith(prefix.lower()):
            return None
        rest = first[len(prefix) :].lstrip()
        return Text((*((rest,) if rest else ()), *self.parts[1:]))


def parse(text: str, syntax: re.Pattern[str], known: Mapping[str, str]) -> Text:
    """Split a text at its references.

    Args:
        known: Values of names such as `workspaceFolder`, filled in at once.
    """
    parts: list[str | Ref] = []
    at = 0
    for found in syntax.finditer(text):
        groups = found.groupdict()
        name = groups.get("name") or groups.get("bare") or ""
        kind = groups.get("kind")
        parts.append(text[at : found.start()])
        at = found.end()
        if kind is None and name in known:
            parts.append(known[name])
        elif syntax is EDITOR:
            parts.append(Ref(kind if kind in ("env", "input") else "other", name, found[0]))
        else:
            parts.append(Ref("env", name, found[0], groups.get("default")))
    parts.append(text[at:])
    return Text(_joined(parts))


def _joined(parts: list[str | Ref]) -> tuple[str | Ref, ...]:
    """Neighbouring texts as one, empty ones left out."""
    whole: list[str | Ref] = []
    for part in parts:
        if isinstance(part, str) and whole and isinstance(whole[-1], str):
            whole[-1] += part
        elif part:
            whole.append(part)
    return tuple(whole) or ("",)
