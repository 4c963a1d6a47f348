"""What the importer is told of secrets: how to know one and how to hide it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

MASK = "•••"


@dataclass(frozen=True)
class Masks:
    """Given by whoever owns the rules.

    Attributes:
        name: A variable, header or flag of this name holds a secret.
        url, arguments, text: The same with its secrets masked.
    """

    name: Callable[[str], bool]
    url: Callable[[str], str]
    arguments: Callable[[Iterable[str]], tuple[str, ...]]
    text: Callable[[str], str]

    def holds_secret(self, name: str, value: str) -> bool:
        """Whether a literal value of that name is to be kept to ourselves."""
        if not value.strip():
            return False
        return self.name(name) or self.url(value) != value or self.text(value) != value
