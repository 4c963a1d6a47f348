"""What edits make of a tree, before any text is touched."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import tomli

from core.config.keypath import KeyPathError, format_key_path, parse_key_path
from core.config.merge import merge
from core.errors import ConfigWriteError

INVALID = "configValidationError"
_DATETIME = "$__toml_private_datetime"

Strategy = Literal["replace", "upsert"]
Segments = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """One change.

    Attributes:
        key_path: Dotted path as on the wire.
        value: JSON; None deletes.
        strategy: `upsert` merges a table into one that is there, `replace` does not.
    """

    key_path: str
    value: Any
    strategy: Strategy = "replace"

    @staticmethod
    def at(*segments: str, value: Any) -> Edit:
        """An edit of a path given in segments."""
        return Edit(format_key_path(segments), value)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to become of a tree.

    Attributes:
        tree: The result.
        changes: Paths whose value changes, with the new value; None where it goes.
        paths: Of all edits, changed or not.
        undo: Edits that take everything back.
    """

    tree: dict[str, Any]
    changes: tuple[tuple[Segments, Any], ...]
    paths: tuple[Segments, ...]
    undo: tuple[Edit, ...]


def apply_edits(tree: Mapping[str, Any], edits: Sequence[Edit]) -> Plan:
    """Apply all edits in order to a copy of the tree.

    Raises:
        ConfigWriteError: A path or a value cannot be used; texts as of Codex 0.171.0.
    """
    result: dict[str, Any] = copy.deepcopy(dict(tree))
    changes: list[tuple[Segments, Any]] = []
    paths: list[Segments] = []
    undo: list[Edit] = []
    for edit in edits:
        segments = _segments(edit)
        before = copy.deepcopy(_value_at(result, segments))
        inverse = _inverse(result, segments, before)
        if edit.value is None:
            _clear(result, segments)
        else:
            _put(result, segments, _toml(edit.value), edit.strategy)
        after = _value_at(result, segments)
        if before != after or _deep_types_differ(before, after):
            changes.append((segments, copy.deepcopy(after)))
            undo.insert(0, inverse)
        paths.append(segments)
    return Plan(result, tuple(changes), tuple(paths), tuple(undo))


def _segments(edit: Edit) -> Segments:
    try:
        segments = parse_key_path(edit.key_path)
    except KeyPathError as error:
        raise ConfigWriteError(str(error), INVALID) from None
    if edit.value is not None and segments == ("profile",):
        raise ConfigWriteError(
            "`profile` is a legacy config selector and can no longer be written; use `--profile "
            "<name>` with `<name>.config.toml` instead",
            INVALID,
        )
    if edit.value is not None and segments[0] == "profiles":
        raise ConfigWriteError(
            "`profiles` contains legacy config profile tables and can no longer be written; use "
            "`--profile <name>` with `<name>.config.toml` instead",
            INVALID,
        )
    return segments


def _value_at(tree: Any, segments: Segments) -> Any:
    value: Any = tree
    for segment in segments:
        if type(value) is not dict or segment not in value:
            return None
        value = cast("dict[str, Any]", value)[segment]
    return value


def _inverse(tree: dict[str, Any], segments: Segments, before: Any) -> Edit:
    """The edit that restores what is there now; a table that will be new is deleted whole."""
    if before is not None:
        return Edit(format_key_path(segments), before)
    table = tree
    for index, segment in enumerate(segments[:-1], 1):
        path = format_key_path(segments[:index])
        if segment not in table:
            return Edit(path, None)
        child = table[segment]
        if type(child) is not dict:
            return Edit(path, child)
        table = cast("dict[str, Any]", child)
    return Edit(format_key_path(segments), None)


def _clear(tree: dict[str, Any], segments: Segments) -> None:
    table = tree
    for segment in segments[:-1]:
        child = table.get(segment)
        if type(child) is not dict:
            return
        table = cast("dict[str, Any]", child)
    table.pop(segments[-1], None)


def _put(tree: dict[str, Any], segments: Segments, value: Any, strategy: Strategy) -> None:
    # What is no table gives way to one, the direct parent aside: Codex 0.171.0 does it so.
    table = tree
    *parents, last = segments
    for index, segment in enumerate(parents):
        child = table.get(segment)
        if type(child) is not dict:
            if child is not None and index == len(parents) - 1:
                raise ConfigWriteError("cannot set value on non-table parent", INVALID)
            child = table[segment] = {}
        table = cast("dict[str, Any]", child)
    present = table.get(last)
    if strategy == "upsert" and type(present) is dict and type(value) is dict:
        value = merge(cast("dict[str, Any]", present), cast("dict[str, Any]", value))
    table[last] = value


def _toml(value: Any) -> Any:
    """A JSON value as TOML. Raises ConfigWriteError for what TOML cannot hold."""
    if value is None:
        raise _invalid("invalid type: null, expected any valid TOML value")
    if type(value) is dict:
        table = cast("dict[str, Any]", value)
        if set(table) == {_DATETIME}:
            return _datetime(table[_DATETIME])
        return {key: _toml(member) for key, member in table.items()}
    if type(value) is list:
        return [_toml(item) for item in cast("list[Any]", value)]
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise _invalid("u64 value was too large")
    if type(value) is str:
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise _invalid("lone surrogate in a text") from None
    return value


def _invalid(reason: str) -> ConfigWriteError:
    return ConfigWriteError(f"invalid value: {reason}", INVALID)


def _datetime(text: Any) -> Any:
    try:
        return tomli.loads(f"a = {text}")["a"]
    except tomli.TOMLDecodeError:
        raise _invalid("invalid datetime") from None


def _deep_types_differ(left: Any, right: Any) -> bool:
    """Whether equal values differ in kind somewhere: `1`, `1.0` and `true` are equal in Python."""
    if type(left) is not type(right):
        return True
    if type(left) is dict:
        a, b = cast("dict[str, Any]", left), cast("dict[str, Any]", right)
        return any(_deep_types_differ(a[key], b[key]) for key in a if key in b)
    if type(left) is list:
        pairs = zip(cast("list[Any]", left), cast("list[Any]", right), strict=False)
        return any(_deep_types_differ(a, b) for a, b in pairs)
    return False


def equivalent(left: Any, right: Any) -> bool:
    """Equal but for empty tables, which a text need not spell."""
    return _pruned(left) == _pruned(right) and not _deep_types_differ(_pruned(left), _pruned(right))


def _pruned(value: Any) -> Any:
    if type(value) is dict:
        members = {key: _pruned(member) for key, member in cast("dict[str, Any]", value).items()}
        return {key: member for key, member in members.items() if member != {}}
    if type(value) is list:
        return [_pruned(item) for item in cast("list[Any]", value)]
    if type(value) is float and value != value:
        return "nan"
    return value
