"""What somebody may have meant: the words that are most like the one that is unknown."""

from __future__ import annotations

from collections.abc import Iterable

ENOUGH = 0.7


def alike(word: str, known: Iterable[str]) -> list[str]:
    """Those of `known` that are like `word`, the most alike last."""
    scored = [(likeness(word, one), one) for one in known]
    return [one for score, one in sorted(scored, key=lambda pair: pair[0]) if score > ENOUGH]


def likeness(one: str, other: str) -> float:
    """The Jaro similarity of two words, from 0 to 1."""
    if not one or not other:
        return float(one == other)
    reach = max(0, max(len(one), len(other)) // 2 - 1)
    taken: set[int] = set()
    first: list[str] = []
    for at, char in enumerate(one):
        for there in range(max(0, at - reach), min(len(other), at + reach + 1)):
            if there not in taken and other[there] == char:
                taken.add(there)
                first.append(char)
                break
    if not first:
        return 0.0
    second = [other[there] for there in sorted(taken)]
    swapped = sum(a != b for a, b in zip(first, second, strict=True)) / 2
    found = len(first)
    return (found / len(one) + found / len(other) + (found - swapped) / found) / 3
