"""Takes servers out of the JSON of other agents, one wrong type at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from core.importer.found import FoundServer
from core.importer.jsonc import Document
from core.importer.references import Text, parse
from core.protocol.facts import Evidence

_HTTP = frozenset({"http", "streamable-http", "streamable_http", "streamableHttp"})


@dataclass(frozen=True)
class Dialect:
    """How an agent writes servers.

    Attributes:
        syntax: Of its references.
        known: Names that are filled in at once.
        url_is: What a `url` without a type means.
        more: Takes what only this agent has: its members to Codex's, and what is lost.
    """

    syntax: re.Pattern[str]
    known: Mapping[str, str] = field(default_factory=dict[str, str])
    url_is: str = "http"
    more: Callable[[Mapping[str, Any], dict[str, Any], list[str]], None] | None = None


class Taker:
    """Makes servers of one document's tables."""

    def __init__(self, document: Document, dialect: Dialect, asked: Mapping[str, str]) -> None:
        self._document, self._dialect, self._asked = document, dialect, asked

    def servers(
        self, place: tuple[str, ...], *, off: frozenset[str] = frozenset()
    ) -> tuple[FoundServer, ...]:
        """The servers of the object at a place. `off`: names that are turned off elsewhere."""
        table = self._document.table(*place)
        return tuple(self._server(name, table[name], (*place, name), name in off) for name in table)

    def _server(self, name: str, written: Any, place: tuple[str, ...], off: bool) -> FoundServer:
        origin = self.evidence(place)
        if not isinstance(written, dict):
            return FoundServer(name=name, origin=origin, fault="it is no object")
        table = cast("dict[str, Any]", written)
        try:
            return self._taken(name, table, origin, off)
        except _Wrong as wrong:
            return FoundServer(name=name, origin=origin, fault=str(wrong))

    def evidence(self, place: tuple[str, ...]) -> Evidence:
        """Where a value stands."""
        key = ".".join(place)
        return Evidence(file=self._document.path, line=self._document.line(*place), key=key)

    def _taken(self, name: str, table: dict[str, Any], origin: Evidence, off: bool) -> FoundServer:
        notes: list[str] = []
        known: dict[str, Any] = {}
        if self._dialect.more is not None:
            self._dialect.more(table, known, notes)
        transport = self._transport(table)
        remote = transport != "stdio"
        if table.get("envFile") and not remote:
            notes.append("its envFile is not read by Codex: export the variables yourself")
        return FoundServer(
            name=name,
            origin=origin,
            enabled=not (off or table.get("disabled") is True or table.get("enabled") is False),
            transport=transport,
            command=None if remote else self._text(table, "command", required=True),
            args=() if remote else self._texts(table, "args"),
            env={} if remote else self._table(table, "env"),
            cwd=None if remote else self._text(table, "cwd"),
            url=self._url(table) if remote else None,
            headers=self._table(table, "headers") if remote else {},
            known=known,
            notes=tuple(notes),
            asked=self._asked,
        )

    def _transport(self, table: Mapping[str, Any]) -> str:
        kind = table.get("type", table.get("transport"))
        if isinstance(kind, str) and kind:
            return "http" if kind in _HTTP else kind
        if "httpUrl" in table:
            return "http"
        if "command" in table:
            return "stdio"
        if "url" in table or "serverUrl" in table:
            return self._dialect.url_is
        raise _Wrong("it has neither `command` nor `url`")

    def _url(self, table: Mapping[str, Any]) -> Text | None:
        for name in ("httpUrl", "url", "serverUrl"):
            if name in table:
                return self._text(table, name, required=True)
        raise _Wrong("it has no `url`")

    def _parse(self, text: str) -> Text:
        return parse(text, self._dialect.syntax, self._dialect.known)

    def _text(self, table: Mapping[str, Any], name: str, *, required: bool = False) -> Text | None:
        value = table.get(name)
        if value is None and not required:
            return None
        if not isinstance(value, str) or (required and not value):
            raise _Wrong(f"`{name}` is missing or no string")
        return self._parse(value)

    def _texts(self, table: Mapping[str, Any], name: str) -> tuple[Text, ...]:
        value = table.get(name)
        if value is None:
            return ()
        items = cast("list[Any]", value) if isinstance(value, list) else None
        if items is None or not all(isinstance(item, str | int | float) for item in items):
            raise _Wrong(f"`{name}` is no list of strings")
        return tuple(self._parse(str(item)) for item in items)

    def _table(self, table: Mapping[str, Any], name: str) -> dict[str, Text]:
        value = table.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise _Wrong(f"`{name}` is no object")
        members = cast("dict[str, Any]", value)
        if not all(isinstance(item, str | int | float) for item in members.values()):
            raise _Wrong(f"`{name}` holds something else than strings")
        return {key: self._parse(_spelled(item)) for key, item in members.items()}


def _spelled(value: str | int | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Wrong(Exception):
    """A type that makes a server unusable."""


def names_of(value: Any) -> frozenset[str]:
    """The strings of a list; nothing when it is none."""
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return frozenset(item for item in items if isinstance(item, str))


def text_list(value: Any) -> list[str] | None:
    """A list of strings, or None when it is none."""
    if not isinstance(value, list):
        return None
    items = cast("list[Any]", value)
    return cast("list[str]", items) if all(isinstance(item, str) for item in items) else None
