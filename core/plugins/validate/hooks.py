"""Looks over a plugin's hooks."""

from __future__ import annotations

import os
import re
import shlex
from typing import Any, cast

from core.plugins.hook_matchers import matcher_fault
from core.plugins.hooks import EVENTS, HookSet, HookSets, hook_keys, plugin_hooks
from core.plugins.layout import BOM, is_file, read_file
from core.plugins.manifest import Manifest, below
from core.plugins.validate.claude import EVENTS as CLAUDE_EVENTS
from core.plugins.validate.report import Path, Report, placed
from core.plugins.validate.values import any_value

_KNOWN = frozenset(name for name, _, _ in EVENTS)
_ROOT = re.compile(r"\$\{?CLAUDE_PLUGIN_ROOT\}?|\$\{?PLUGIN_ROOT\}?")
_PREFIX = re.compile(r"failed to (?:parse|read) plugin hooks config .*?: ")


def look_at_hooks(manifest: Manifest, report: Report) -> int:
    """Tell what is wrong with the hooks; how many Codex can use."""
    default = f"{manifest.root}/hooks/hooks.json"
    if manifest.agent_plugins:
        if manifest.hooks is not None or is_file(default):
            report.add("hooks-unread", default if is_file(default) else manifest.path,
                       "hooks of a plugin of the Agent Plugins format")  # fmt: skip
        return 0
    files = _files(manifest, default)
    unfit = sum(not report.readable(path) for path in files)
    if unfit:
        return 0
    sets = plugin_hooks(manifest)
    for path in files:
        if is_file(path):
            _file(path, sets, report)
    if not files:
        _events(manifest.path, manifest.hooks, ("hooks",), report)
    for group in sets.sets:
        _commands(group, manifest, report)
    return sum(1 for _ in hook_keys(sets, ""))


def _files(manifest: Manifest, default: str) -> list[str]:
    """Hook files that are there and that the reader would open."""
    written: Any = manifest.hooks
    paths = cast("list[Any]", written) if isinstance(written, list) else [written]
    if isinstance(written, dict) or any(isinstance(path, dict) for path in paths):
        return []
    named = [found for path in paths if isinstance(path, str)
             and (found := below(path, manifest.root)) is not None]  # fmt: skip
    return [path for path in named or [default] if os.path.exists(path)]


def _file(path: str, sets: HookSets, report: Report) -> None:
    data = read_file(path)
    value = any_value(data)
    warning = next((text for text in sets.warnings if path in text), "")
    if warning:
        message, line, column = placed(_PREFIX.sub("", warning, count=1).replace(f"{path}: ", ""))
        bare = isinstance(value, dict) and "hooks" not in value and _KNOWN & set(_names(value))
        rule = "hooks-unwrapped" if bare else "hooks-file"
        if bare:
            message = "the events stand at the top"
        elif data.startswith(BOM):
            message = "it begins with a byte order mark"
        report.add(rule, path, message, line=line, column=column)
        return
    _events(path, value, (), report)


def _names(value: Any) -> list[str]:
    return list(cast("dict[str, Any]", value))


def _events(path: str, value: Any, at: Path, report: Report) -> None:
    """Events that Codex has no hooks for."""
    if not isinstance(value, dict):
        return
    events: Any = cast("dict[str, Any]", value).get("hooks")
    if not isinstance(events, dict):
        return
    for name in cast("dict[str, Any]", events):
        if name in _KNOWN:
            continue
        place = (*at, "hooks", name)
        if name in CLAUDE_EVENTS:
            report.add(
                "hook-event", path, f"Codex has no event `{name}`", at=place,
                severity="info", claude="runs them",
            )  # fmt: skip
        else:
            report.add("hook-event", path, f"there is no event `{name}`", at=place)


def _commands(group: HookSet, manifest: Manifest, report: Report) -> None:
    inline = group.path == manifest.path
    top: Path = ("hooks", "hooks") if inline else ("hooks",)
    for event, matchers in group.events.items():
        for number, matcher in enumerate(matchers):
            at: Path = (*top, event, number)
            pattern = matcher.get("matcher")
            if isinstance(pattern, str) and (fault := matcher_fault(pattern)):
                reason = fault.rpartition("error: ")[2]
                report.add(
                    "hook-matcher", group.path, f"matcher `{pattern}`: {reason}",
                    at=(*at, "matcher"),
                )  # fmt: skip
            for index, handler in enumerate(matcher.get("hooks", ())):
                if handler.get("type") == "command":
                    place = (*at, "hooks", index, "command")
                    _command(str(handler.get("command", "")), group.path, place, manifest, report)


def _command(text: str, path: str, at: Path, manifest: Manifest, report: Report) -> None:
    if not text.strip():
        report.add("hook-command", path, "its command is empty", at=at)
        return
    if not _ROOT.search(text):
        return
    try:
        words = shlex.split(_ROOT.sub(lambda _: manifest.root, text))
    except ValueError:
        return
    for number, word in enumerate(words):
        if not word.startswith(f"{manifest.root}/") or any(mark in word for mark in "*?$`;|&><"):
            continue
        shown = word.removeprefix(f"{manifest.root}/")
        if not os.path.exists(word):
            report.add("hook-file-missing", path, f"`{shown}` is not in the plugin", at=at)
        elif number == 0 and is_file(word) and not os.access(word, os.X_OK):
            report.add("hook-not-executable", path, f"`{shown}` is not executable", at=at)
