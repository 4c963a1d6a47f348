"""Faults of hook matchers, told as Rust's regex parser tells them; the common ones only."""

from __future__ import annotations

from collections.abc import Iterator

_ESCAPED = frozenset("\\.+*?()|[]{}^$#&-~/ tnrfvaAbBzdDsSwWpPxuU!\"%',:;<=>@`")
_LOOK = ("(?=", "(?!", "(?<=", "(?<!")


def matcher_fault(pattern: str) -> str:
    """What is wrong with a matcher, or ""."""
    if pattern in ("", "*"):
        return ""
    for start, length, reason in _faults(pattern):
        marks = " " * start + "^" * max(length, 1)
        return f"regex parse error:\n    {pattern}\n    {marks}\nerror: {reason}"
    return ""


def _faults(pattern: str) -> Iterator[tuple[int, int, str]]:
    groups: list[int] = []
    repeatable = False
    at = 0
    while at < len(pattern):
        char = pattern[at]
        step = 1
        if char in "*+?{":
            if not repeatable:
                yield at, 1, "repetition operator missing expression"
            step = _counted(pattern, at) if char == "{" else 1
            if not step:
                yield at, len(pattern) - at, "unclosed counted repetition"
                return
        elif char in "()":
            yield from _group(pattern, at, groups)
            step = _group_head(pattern, at)
            repeatable = char == ")"
        else:
            repeatable = char != "|"
            step = _atom(pattern, at)
            if not step:
                yield at, 1, "unclosed character class"
                return
            if char == "\\":
                yield from _escape(pattern, at)
        at += step
    if groups:
        yield groups[-1], 1, "unclosed group"


def _atom(pattern: str, at: int) -> int:
    """Length of a class, an escape or a plain character; 0 for a class without an end."""
    if pattern[at] == "[":
        return _class_end(pattern, at) - at + 1 if _class_end(pattern, at) > 0 else 0
    return 2 if pattern[at] == "\\" else 1


def _group(pattern: str, at: int, groups: list[int]) -> Iterator[tuple[int, int, str]]:
    if pattern[at] == "(":
        for look in _LOOK:
            if pattern.startswith(look, at):
                message = "look-around, including look-ahead and look-behind, is not supported"
                yield at, len(look), message
        groups.append(at)
    elif groups:
        groups.pop()
    else:
        yield at, 1, "unopened group"


def _escape(pattern: str, at: int) -> Iterator[tuple[int, int, str]]:
    if at + 1 >= len(pattern):
        message = "incomplete escape sequence, reached end of pattern prematurely"
        yield at, 1, message
        return
    char = pattern[at + 1]
    if char.isdigit():
        yield at, 2, "backreferences are not supported"
    elif char not in _ESCAPED:
        yield at, 2, "unrecognized escape sequence"


def _class_end(pattern: str, at: int) -> int:
    """Index of the bracket that closes a class, or -1."""
    depth = 0
    index = at
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            index += 1
        elif char == "[":
            depth += 1
            if pattern[index + 1 : index + 2] == "^":
                index += 1
            if pattern[index + 1 : index + 2] == "]":
                index += 1
        elif char == "]":
            depth -= 1
            if not depth:
                return index
        index += 1
    return -1


def _group_head(pattern: str, at: int) -> int:
    """Length of `(`, `(?:`, `(?<name>` and the like."""
    if not pattern.startswith("(?", at):
        return 1
    for index in range(at + 2, len(pattern)):
        if pattern[index] in ":>":
            return index - at + 1
        if pattern[index] == ")":
            return index - at
    return 1


def _counted(pattern: str, at: int) -> int:
    end = pattern.find("}", at)
    return end - at + 1 if end > 0 else 0
