"""JSON with comments and trailing commas, as editors write it; places are kept."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from dataclasses import dataclass, field
from typing import Any, cast

from core.json_place import line_of, offset_of

LARGEST = 64 * 1024 * 1024
"""Bytes; the state file of one agent grows to tens of megabytes."""
_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_NOT_BREAK = re.compile(r"[^\n]")


class Unreadable(Exception):
    """Why a file gives nothing: `reason`, and the `line` where there is one.

    Attributes:
        absent: There is no such file.
    """

    def __init__(self, reason: str, line: int = 0, *, absent: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.absent = absent


@dataclass(frozen=True)
class Document:
    """A file's members, and where they stand.

    Attributes:
        text: Without comments, as long as the file; may hold secrets.
    """

    path: str
    value: dict[str, Any] = field(repr=False)
    text: str = field(repr=False)

    def line(self, *place: str | int) -> int | None:
        """1-based line of the value at a place, or None."""
        offset = offset_of(self.text, place)
        return None if offset is None else line_of(self.text, offset)

    def table(self, *place: str) -> dict[str, Any]:
        """The object at a place; empty when there is none."""
        value: Any = self.value
        for step in place:
            value = cast("dict[str, Any]", value).get(step) if isinstance(value, dict) else None
        return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def read(path: str) -> Document:
    """Read a file. Never waits for a pipe or a device.

    Raises:
        Unreadable: It is not there, or no object can be read from it.
    """
    text = _text(path)
    plain = without_comments(text)
    try:
        value: Any = json.loads(plain)
    except json.JSONDecodeError as fault:
        raise Unreadable(f"no JSON: {fault.msg}", fault.lineno) from None
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise Unreadable("it holds no object")
    return Document(path, cast("dict[str, Any]", value), plain)


def without_comments(text: str) -> str:
    """The text as JSON: comments and trailing commas have become blanks, places are the same."""
    return _COMMA.sub(_blank_comma, _COMMENT.sub(_blank_comment, text))


def _blank_comment(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') else _NOT_BREAK.sub(" ", found[0])


def _blank_comma(found: re.Match[str]) -> str:
    return " " if found[0] == "," else found[0]


def _text(path: str) -> str:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        gone = error.errno in (errno.ENOENT, errno.ENOTDIR)
        raise Unreadable(os.strerror(error.errno or 0), absent=gone) from None
    except ValueError:
        raise Unreadable("no file can be called so", absent=True) from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("it is no regular file")
        if status.st_size > LARGEST:
            raise Unreadable(f"{status.st_size / 1e6:.0f} MB: too large")
        with os.fdopen(os.dup(handle), "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise Unreadable(os.strerror(error.errno or 0)) from None
    finally:
        os.close(handle)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("it is not UTF-8") from None
