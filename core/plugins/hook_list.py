"""Hooks as `hooks/list` tells them: limits, switches and trust.

Words as observed in Codex 0.171.0.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from core.plugins.hook_matchers import matcher_fault
from core.plugins.hooks import EVENTS, HookSets
from core.plugins.json_text import quoted
from core.protocol.hooks import HookMetadata

_WITHOUT_MATCHER = frozenset(
    {"PreModelRequest", "PostModelRequest", "UserPromptSubmit", "Stop", "Interrupt"}
)
_WITH_CONTEXT = frozenset(
    {"PreToolUse", "PostToolUse", "SessionStart", "UserPromptSubmit", "SubagentStart"}
)
_SHORT = frozenset({"SessionEnd", "Interrupt"})
SHORT_LIMIT = 3
DEFAULT_SECONDS = 600


@dataclass(frozen=True)
class HookOwner:
    """Whose hooks are listed.

    Attributes:
        key: What their keys begin with: the plugin id; "" for a layer, whose files' paths do.
        source: `user`, `project`, `plugin`, ...
        root, data_root: For `${CLAUDE_PLUGIN_ROOT}` and `${CLAUDE_PLUGIN_DATA}` in commands.
    """

    key: str
    source: str
    plugin_id: str | None = None
    root: str = ""
    data_root: str = ""
    content_hash: str = ""


def listed(
    sets: HookSets, owner: HookOwner, state: Mapping[str, Any], order: int, warnings: list[str]
) -> Iterator[HookMetadata]:
    """The hooks as `hooks/list` tells them; what is left out goes to `warnings`.

    Args:
        state: `[hooks.state]` of the configuration.
        order: Number of the first one.
    """
    for group in sets.sets:
        for event, wire, key in EVENTS:
            for number, matcher in enumerate(group.events.get(event, ())):
                pattern = None if event in _WITHOUT_MATCHER else matcher.get("matcher")
                if pattern is not None and (fault := matcher_fault(pattern)):
                    where = f"{quoted(pattern)} in {group.path}"
                    warnings.append(f"invalid matcher {where}: {fault}")
                    continue
                for index, handler in enumerate(matcher.get("hooks", ())):
                    place = f"{key}:{number}:{index}"
                    if group.place:
                        place = f"{group.place}:{place}"
                    one = _Listing(event, wire, key, pattern, handler, group.path)
                    hook = one.hook(owner, place, state, order, warnings)
                    if hook is not None:
                        order += 1
                        yield hook


@dataclass(frozen=True)
class _Listing:
    event: str
    wire: str
    snake: str
    matcher: str | None
    handler: Mapping[str, Any]
    path: str

    def hook(
        self,
        owner: HookOwner,
        place: str,
        state: Mapping[str, Any],
        order: int,
        warnings: list[str],
    ) -> HookMetadata | None:
        kind = self.handler["type"]
        if kind in ("prompt", "agent"):
            reason = f"{kind} hooks are not supported yet"
            warnings.append(f"skipping {kind} hook in {self.path}: {reason}")
            return None
        if kind == "command" and not self.handler["command"].strip():
            warnings.append(f"skipping empty hook command in {self.path}")
            return None
        seconds = self._seconds(warnings)
        limit = self._context(warnings)
        key = f"{owner.key}:{place}" if owner.key else f"{self.path}:{place}"
        digest = self._digest(seconds, limit)
        entry = _table(state.get(key))
        shown = self._command(owner) if kind == "command" else self._tool()
        return HookMetadata(
            key=key,
            event_name=self.wire,
            matcher=self.matcher,
            timeout_sec=seconds,
            status_message=self.handler.get("statusMessage"),
            additional_context_limit=limit,
            source_path=self.path,
            source=owner.source,
            plugin_id=owner.plugin_id,
            display_order=order,
            enabled=entry.get("enabled") is not False,
            current_hash=f"{digest}/{owner.content_hash}" if owner.content_hash else digest,
            trust_status=trust(digest, entry),
            **shown,
        )

    def _seconds(self, warnings: list[str]) -> int:
        short = self.event in _SHORT
        written = self.handler.get("timeout")
        seconds = (1 if short else DEFAULT_SECONDS) if written is None else max(1, written)
        if short and seconds > SHORT_LIMIT:
            warnings.append(f"clamping {self.event} hook timeout to {SHORT_LIMIT}s in {self.path}")
            return SHORT_LIMIT
        return seconds

    def _context(self, warnings: list[str]) -> int | None:
        limit = self.handler.get("additionalContextLimit")
        if limit is not None and self.event not in _WITH_CONTEXT:
            reason = "this event cannot emit additionalContext"
            where = f"{self.event} hook in {self.path}"
            warnings.append(f"ignoring additionalContextLimit for {where}: {reason}")
            return None
        return limit

    def _digest(self, seconds: int, limit: int | None) -> str:
        """SHA-256 of what the hook does, written compactly with sorted members."""
        handler: dict[str, Any] = {"type": self.handler["type"], "timeout": seconds}
        if self.handler["type"] == "command":
            handler["command"] = self.handler["command"]
            handler["async"] = self.handler.get("async", False)
        else:
            handler |= {name: self.handler[name] for name in ("server", "tool")}
            handler["input"] = _numbers_apart(self.handler.get("input") or {})
        if limit is not None:
            handler["additionalContextLimit"] = limit
        if (message := self.handler.get("statusMessage")) is not None:
            handler["statusMessage"] = message
        said: dict[str, Any] = {"event_name": self.snake, "hooks": [handler]}
        if self.matcher is not None:
            said["matcher"] = self.matcher
        text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"

    def _command(self, owner: HookOwner) -> dict[str, Any]:
        command: str = self.handler["command"]
        if owner.root:
            for name in ("CLAUDE_PLUGIN_ROOT", "PLUGIN_ROOT"):
                command = command.replace(f"${{{name}}}", owner.root)
            for name in ("CLAUDE_PLUGIN_DATA", "PLUGIN_DATA"):
                command = command.replace(f"${{{name}}}", owner.data_root)
        asynchronous = bool(self.handler.get("async", False))
        return {"handler_type": "command", "command": command, "is_async": asynchronous}

    def _tool(self) -> dict[str, Any]:
        handler = self.handler
        return {"handler_type": "mcpTool", "server": handler["server"], "tool": handler["tool"]}


def trust(digest: str, entry: Mapping[str, Any]) -> str:
    """`untrusted`, `trusted` or `modified`.

    Only what the hook does is compared: how Codex 0.171.0 takes the digest of a plugin's files
    is not known.
    """
    stored = entry.get("trusted_hash")
    if not isinstance(stored, str):
        return "untrusted"
    return "trusted" if stored.split("/")[0] == digest else "modified"


def _table(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _numbers_apart(value: Any) -> Any:
    """Numbers as the real one's buffered reader hands them on, which its digests show."""
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return {name: _numbers_apart(inner) for name, inner in table.items()}
    if isinstance(value, list):
        return [_numbers_apart(inner) for inner in cast("list[Any]", value)]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"$serde_json::private::Number": str(value)}
    return value
