"""Hooks that plugins and configuration layers declare, read and never run.

Shapes and words as observed in Codex 0.171.0.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from core.plugins.json_shape import (
    TEXT,
    Items,
    Maybe,
    Record,
    Shape,
    around,
    read_exactly,
    unknown_variant,
)
from core.plugins.json_text import Repeated, Scanner, describe
from core.plugins.json_tokens import U64_MAX, JsonFault, Unplaced
from core.plugins.layout import os_reason, read_file
from core.plugins.manifest import Manifest, below

EVENTS: tuple[tuple[str, str, str], ...] = (
    ("PreModelRequest", "preModelRequest", "pre_model_request"),
    ("PostModelRequest", "postModelRequest", "post_model_request"),
    ("PreToolUse", "preToolUse", "pre_tool_use"),
    ("PermissionRequest", "permissionRequest", "permission_request"),
    ("PostToolUse", "postToolUse", "post_tool_use"),
    ("PreCompact", "preCompact", "pre_compact"),
    ("PostCompact", "postCompact", "post_compact"),
    ("SessionStart", "sessionStart", "session_start"),
    ("SessionEnd", "sessionEnd", "session_end"),
    ("UserPromptSubmit", "userPromptSubmit", "user_prompt_submit"),
    ("SubagentStart", "subagentStart", "subagent_start"),
    ("SubagentStop", "subagentStop", "subagent_stop"),
    ("Stop", "stop", "stop"),
    ("Interrupt", "interrupt", "interrupt"),
)
"""Spelling in files, on the wire and in keys; in the order in which hooks are listed."""

TYPES = ("command", "mcp_tool", "prompt", "agent")
_REQUIRED = {"command": ("command",), "mcp_tool": ("server", "tool"), "prompt": (), "agent": ()}
_COMMON = ("timeout", "async", "statusMessage", "additionalContextLimit")
_ARRAYS: dict[str, tuple[str, ...]] = {
    "command": ("command", "commandWindows", *_COMMON),
    "mcp_tool": ("server", "tool", "input"),
    "prompt": (),
    "agent": (),
}
_TEXTS = frozenset({"command", "commandWindows", "statusMessage", "server", "tool"})
_COUNTS = {"timeout": "u64", "additionalContextLimit": "usize"}


class _Handler:
    """One handler: an object told apart by its `type`, or the array form of one."""

    def read(self, scanner: Scanner) -> dict[str, Any]:
        first = scanner.peek()
        if first == 0x7B:
            handler = around(scanner, lambda: self._object(scanner), scanner.end_object)
        elif first == 0x5B:
            handler = around(scanner, lambda: self._array(scanner), scanner.end_list)
        else:
            scanner.wrong_type("internally tagged enum HookHandlerConfig")
        if fault := handler_fault(handler):
            raise Unplaced(fault)
        return handler

    def _object(self, scanner: Scanner) -> dict[str, Any]:
        pairs: list[tuple[str, Any]] = []
        kind: str | None = None
        first = True
        while scanner.next_key(first=first):
            first = False
            key = scanner.string()
            if key != "type":
                scanner.colon()
                pairs.append((key, scanner.value()))
                continue
            if kind is not None:
                raise Unplaced("duplicate field `type`")
            scanner.colon()
            kind = self._kind(scanner)
        if kind is None:
            raise Unplaced("missing field `type`")
        handler = Repeated(pairs)
        handler["type"] = kind
        return handler

    def _kind(self, scanner: Scanner) -> str:
        if scanner.peek() != 0x22:
            scanner.wrong_type("variant identifier")
        kind = scanner.string()
        if kind not in TYPES:
            raise scanner.fault(unknown_variant(kind, TYPES))
        return kind

    def _array(self, scanner: Scanner) -> dict[str, Any]:
        if not scanner.next_item(first=True):
            raise Unplaced("missing field `type`")
        handler: dict[str, Any] = {"type": self._kind(scanner)}
        for name in _ARRAYS[handler["type"]]:
            if not scanner.next_item(first=False):
                break
            handler[name] = scanner.value()
        return handler


def handler_fault(handler: Mapping[str, Any]) -> str:
    """Why Codex refuses the file for a handler, or ""; the `type` is known to be good."""
    kind = handler["type"]
    if kind in ("prompt", "agent"):
        return ""
    repeated = handler.repeated if isinstance(handler, Repeated) else frozenset[str]()
    for name, value in handler.items():
        if name in repeated and (name in _TEXTS or name in _COUNTS or name == "async"):
            return f"duplicate field `{name}`"
        if fault := _member_fault(name, value, name in _REQUIRED[kind]):
            return fault
    missing = [name for name in _REQUIRED[kind] if name not in handler]
    return f"missing field `{missing[0]}`" if missing else ""


def _member_fault(name: str, value: Any, required: bool) -> str:
    if value is None and not required and name != "async":
        return ""
    found = describe(value, buffered=True)
    if name in _TEXTS:
        return "" if isinstance(value, str) else f"invalid type: {found}, expected a string"
    if name == "async":
        return "" if isinstance(value, bool) else f"invalid type: {found}, expected a boolean"
    wanted = _COUNTS.get(name)
    if wanted is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int):
        return f"invalid type: {found}, expected {wanted}"
    fits = 0 <= value <= U64_MAX
    return "" if fits else f"invalid value: integer `{value}`, expected {wanted}"


_GROUP = Record("MatcherGroup", {"matcher": Maybe(TEXT), "hooks": Items(_Handler())})
_EVENT: Shape = Items(_GROUP)
HOOKS_FILE = Record(
    "HooksFile",
    {
        "description": Maybe(TEXT),
        "hooks": Record("HookEventsToml", dict.fromkeys((name for name, _, _ in EVENTS), _EVENT)),
    },
    refuses_others=True,
)
"""What the real reader wants of a hooks file."""


@dataclass(frozen=True)
class HookSet:
    """The hooks of one file, or of one inline object.

    Attributes:
        path: The file; the manifest for inline ones.
        place: Middle part of their keys: a path below the plugin, or `plugin.json#hooks[N]`;
            "" for a layer's.
        events: By event as files spell it: matcher groups in file order.
    """

    path: str
    place: str
    events: Mapping[str, list[dict[str, Any]]]


@dataclass
class HookSets:
    """All hooks of a plugin or layer, and what could not be read."""

    sets: list[HookSet] = field(default_factory=list[HookSet])
    warnings: list[str] = field(default_factory=list[str])


def read_hooks_file(path: str, place: str, sets: HookSets, what: str) -> None:
    """Add the hooks of a file, or a warning. `what`: `plugin hooks config` or `hooks config`."""
    try:
        data = read_file(path)
        data.decode()
    except OSError as error:
        sets.warnings.append(f"failed to read {what} {path}: {os_reason(error)}")
        return
    except UnicodeDecodeError:
        reason = "stream did not contain valid UTF-8"
        sets.warnings.append(f"failed to read {what} {path}: {reason}")
        return
    try:
        value = read_exactly(data, HOOKS_FILE)
    except JsonFault as fault:
        sets.warnings.append(f"failed to parse {what} {path}: {fault}")
        return
    if events := value.get("hooks"):
        sets.sets.append(HookSet(path, place, events))


def plugin_hooks(manifest: Manifest) -> HookSets:
    """The hooks of a plugin of the classic format; the other one has none."""
    sets = HookSets()
    if manifest.agent_plugins:
        return sets
    written = manifest.hooks
    inline = _inline(written)
    if inline is not None:
        for number, events in enumerate(inline):
            if events:
                place = f"plugin.json#hooks[{number}]"
                sets.sets.append(HookSet(manifest.path, place, events))
        return sets
    paths = _paths(written, manifest.root)
    if not paths:
        default = f"{manifest.root}/hooks/hooks.json"
        paths = [default] if os.path.isfile(default) else []
    for path in paths:
        place = path.removeprefix(f"{manifest.root}/")
        read_hooks_file(path, place, sets, "plugin hooks config")
    return sets


def _paths(written: Any, root: str) -> list[str]:
    paths = cast("list[Any]", written) if isinstance(written, list) else [written]
    if not all(isinstance(path, str) for path in paths):
        return []
    return [found for path in paths if (found := below(path, root)) is not None]


def _inline(written: Any) -> list[dict[str, Any]] | None:
    """Event maps of inline hooks, or None when the member is no such thing."""
    if isinstance(written, str) or written is None:
        return None
    if isinstance(written, list):
        items = cast("list[Any]", written)
        if not items or all(isinstance(item, str) for item in items):
            return None
        one = hooks_value(items)
        if one is not None:
            return [one]
        many = [hooks_value(item) for item in items]
        return None if None in many else cast("list[dict[str, Any]]", many)
    one = hooks_value(written)
    return None if one is None else [one]


def hooks_value(value: Any) -> dict[str, Any] | None:
    """The events of a value that has the shape of a hooks file, or None."""
    if not isinstance(value, dict | list):
        return None
    try:
        read = read_exactly(msgspec.json.encode(value), HOOKS_FILE)
    except JsonFault:
        return None
    return read.get("hooks", {})


def hook_keys(sets: HookSets, plugin_id: str) -> Iterator[tuple[str, str]]:
    """Key and event of every declared hook, as `plugin/read` lists them."""
    for group in sets.sets:
        for event, wire, key in EVENTS:
            for number, matcher in enumerate(group.events.get(event, ())):
                for index, _ in enumerate(matcher.get("hooks", ())):
                    yield f"{plugin_id}:{group.place}:{key}:{number}:{index}", wire
