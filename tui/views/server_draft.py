"""A server's table as lines of text, and back; pure, so that a form need not think."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

Kind = Literal["program", "address"]
_QUOTED = frozenset("\"'\\")
_OF_PROGRAM = ("command", "args", "cwd", "env", "env_vars")
_OF_ADDRESS = (
    "url",
    "bearer_token_env_var",
    "http_headers",
    "env_http_headers",
    "http_headers_helper",
    "oauth",
    "oauth_resource",
    "scopes",
    "auth",
)
_SHOWN = (
    *_OF_PROGRAM,
    "url",
    "bearer_token_env_var",
    "http_headers",
    "env_http_headers",
    "startup_timeout_sec",
    "tool_timeout_sec",
)


class Unreadable(ValueError):
    """A line that cannot be read; the text says why."""


@dataclass
class Draft:
    """What the form holds: by field its line, and what it does not show.

    Attributes:
        rest: Members without a field; they stay as they are.
        plain: Members as the file has them, for what a line cannot say.
    """

    name: str = ""
    kind: Kind = "program"
    lines: dict[str, str] = field(default_factory=dict[str, str])
    rest: dict[str, Any] = field(default_factory=dict[str, Any])
    plain: dict[str, Any] = field(default_factory=dict[str, Any])

    @staticmethod
    def of(name: str, table: Mapping[str, Any]) -> Draft:
        """From a table."""
        lines = {key: write(table) for key, write in _WRITERS.items()}
        rest = {key: value for key, value in table.items() if key not in _SHOWN}
        kind: Kind = "address" if "url" in table and "command" not in table else "program"
        return Draft(name, kind, lines, rest, dict(table))

    def table(self) -> tuple[dict[str, Any], dict[str, str]]:
        """The table, and by field why a line cannot be read. Empty lines leave members out."""
        faults: dict[str, str] = {}
        found: dict[str, Any] = {}
        for key in _FIELDS[self.kind]:
            line = self.lines.get(key, "").strip()
            if not line:
                continue
            if line == _WRITERS[key](self.plain).strip():
                found.update(self._as_it_stands(key))
                continue
            try:
                found.update(_READERS[key](line))
            except Unreadable as fault:
                faults[key] = str(fault)
        other = _OF_ADDRESS if self.kind == "program" else _OF_PROGRAM
        kept = {key: value for key, value in self.rest.items() if key not in other}
        return {**found, **kept}, faults

    def _as_it_stands(self, key: str) -> dict[str, Any]:
        """What a line does not say in all details: the source of a variable, say."""
        members = ("command", "args") if key == "command" else (key,)
        return {member: self.plain[member] for member in members if member in self.plain}

    @property
    def hidden(self) -> list[str]:
        """Members that are kept without being shown."""
        other = _OF_ADDRESS if self.kind == "program" else _OF_PROGRAM
        return [key for key in self.rest if key not in other]


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:g}"
    return value if isinstance(value, str) else ""


def quoted(part: str) -> str:
    """An argument as one would type it."""
    unclear = not part or set(part) & _QUOTED or any(map(str.isspace, part))
    return shlex.quote(part) if unclear else part


def _command_line(table: Mapping[str, Any]) -> str:
    args: Any = table.get("args")
    parts = [_text(table, "command")]
    parts += [str(part) for part in cast("list[Any]", args)] if isinstance(args, list) else []
    return " ".join(map(quoted, parts)) if any(parts) else ""


def _pairs(key: str) -> Callable[[Mapping[str, Any]], str]:
    def write(table: Mapping[str, Any]) -> str:
        value: Any = table.get(key)
        if not isinstance(value, dict):
            return ""
        pairs = cast("dict[str, Any]", value).items()
        return " ".join(f"{name}={quoted(str(member))}" for name, member in pairs)

    return write


def _variables(table: Mapping[str, Any]) -> str:
    value: Any = table.get("env_vars")
    names: list[str] = []
    for entry in cast("list[Any]", value) if isinstance(value, list) else []:
        named = cast("dict[str, Any]", entry).get("name") if isinstance(entry, dict) else entry
        names.append(str(named))
    return " ".join(names)


def _plain(key: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda table: _text(table, key)


_WRITERS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "command": _command_line,
    "cwd": _plain("cwd"),
    "env_vars": _variables,
    "env": _pairs("env"),
    "url": _plain("url"),
    "bearer_token_env_var": _plain("bearer_token_env_var"),
    "env_http_headers": _pairs("env_http_headers"),
    "http_headers": _pairs("http_headers"),
    "startup_timeout_sec": _plain("startup_timeout_sec"),
    "tool_timeout_sec": _plain("tool_timeout_sec"),
}
_BOTH = ("startup_timeout_sec", "tool_timeout_sec")
_FIELDS: dict[Kind, tuple[str, ...]] = {
    "program": ("command", "cwd", "env_vars", "env", *_BOTH),
    "address": ("url", "bearer_token_env_var", "env_http_headers", "http_headers", *_BOTH),
}


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        raise Unreadable("a quote is not closed") from None


def _read_command(line: str) -> dict[str, Any]:
    command, *args = _split(line)
    return {"command": command, "args": args} if args else {"command": command}


def _read_pairs(key: str, example: str) -> Callable[[str], dict[str, Any]]:
    def read(line: str) -> dict[str, Any]:
        found: dict[str, str] = {}
        for part in _split(line):
            name, equals, value = part.partition("=")
            if not equals or not name:
                raise Unreadable(f"{part} is no NAME=value; {example}")
            found[name] = value
        return {key: found}

    return read


def _read_variables(line: str) -> dict[str, Any]:
    names = line.replace(",", " ").split()
    for name in names:
        if "=" in name:
            raise Unreadable("names only; a value belongs into the line below")
    return {"env_vars": names}


def _read_seconds(key: str) -> Callable[[str], dict[str, Any]]:
    def read(line: str) -> dict[str, Any]:
        try:
            seconds = float(line)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds < 1e9:
            raise Unreadable("a number of seconds is needed")
        return {key: int(seconds) if seconds.is_integer() else seconds}

    return read


_READERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "command": _read_command,
    "cwd": lambda line: {"cwd": line},
    "env_vars": _read_variables,
    "env": _read_pairs("env", "REGION=eu"),
    "url": lambda line: {"url": line},
    "bearer_token_env_var": lambda line: {"bearer_token_env_var": line},
    "env_http_headers": _read_pairs("env_http_headers", "X-Key=MY_VARIABLE"),
    "http_headers": _read_pairs("http_headers", "X-Team=blue"),
    "startup_timeout_sec": _read_seconds("startup_timeout_sec"),
    "tool_timeout_sec": _read_seconds("tool_timeout_sec"),
}
