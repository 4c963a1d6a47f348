"""What Codex uses of a plugin: skills, hooks, servers and apps, exactly as it would take them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, cast

from core.plugins.apps_file import plugin_apps
from core.plugins.commands import plugin_commands
from core.plugins.hooks import EVENTS, plugin_hooks
from core.plugins.layout import read_file
from core.plugins.manifest import Manifest
from core.plugins.mcp_file import DATA, ROOT, PluginServers, plugin_servers
from core.plugins.skills import Found, plugin_skills
from core.protocol.facts import Evidence
from core.protocol.jackfield_install import UsedPart

VARIABLE = re.compile(r"\$\{[A-Za-z_][^}]*\}")
RUNNABLE = frozenset({"command", "mcp_tool"})
_HOOK_ROOTS = ("${CLAUDE_PLUGIN_ROOT}", "$CLAUDE_PLUGIN_ROOT", ROOT)
_DATA_STANDIN = "/.jackfield-plugin-data"
_HASHED = 4 << 20


def skills(manifest: Manifest, *, installed: bool) -> Iterator[UsedPart]:
    """Skills, and commands that an install makes skills of. What a link leads to is not copied."""
    found = Found(skills=[], faults=[], seen=set())
    plugin_skills(manifest, found, installed=installed)
    base = os.path.realpath(manifest.root)
    for skill in found.skills:
        if installed or not is_linked(skill.path, base):
            about = skill.short_description or skill.description
            yield UsedPart(
                kind="skill", name=skill.name, about=about, evidence=Evidence(file=skill.path)
            )
    if installed:
        return
    for command in plugin_commands(manifest):
        if not command.reason:
            yield UsedPart(
                kind="skill",
                name=f"{manifest.name}:source-command-{command.slug}",
                about=command.description,
                notes=(f"made of the command {command.slug} when it is installed",),
                evidence=Evidence(file=command.path),
            )


def is_linked(path: str, base: str) -> bool:
    """The file is not where its path says: a link is on the way, and links are not copied."""
    return not os.path.realpath(path).startswith(f"{base}/")


def hooks(manifest: Manifest, plugin_id: str) -> Iterator[UsedPart]:
    """Each handler that runs something, with exactly what it runs."""
    for group in plugin_hooks(manifest).sets:
        for event, wire, snake in EVENTS:
            for number, matcher in enumerate(group.events.get(event, ())):
                handlers = cast("list[dict[str, Any]]", matcher.get("hooks", ()))
                for index, handler in enumerate(handlers):
                    if handler.get("type") in RUNNABLE:
                        place = f"{group.place}:{snake}:{number}:{index}"
                        one = _Hook(manifest, plugin_id, wire, matcher.get("matcher"), handler)
                        yield one.part(place, group.path)


class _Hook:
    def __init__(
        self,
        manifest: Manifest,
        plugin_id: str,
        event: str,
        matcher: Any,
        handler: Mapping[str, Any],
    ) -> None:
        self._manifest, self._plugin_id = manifest, plugin_id
        self._event, self._handler = event, handler
        self._matcher = matcher if isinstance(matcher, str) else ""

    def part(self, place: str, path: str) -> UsedPart:
        """The hook; `place`: middle and end of its key."""
        command = self._command()
        files = tuple(_named_files(command, self._manifest.root))
        handler = self._handler
        exact = [self._plugin_id, self._event, self._matcher, dict(handler), files]
        notes: list[str] = []
        if timeout := handler.get("timeout"):
            notes.append(f"may take {timeout} s")
        if handler.get("async") is True:
            notes.append("is not waited for")
        return UsedPart(
            kind="hook",
            name=f"{self._event} {place}",
            id=digest("hook", exact),
            event=self._event,
            matcher=self._matcher,
            command=(command,),
            files=files,
            notes=tuple(notes),
            key=f"{self._plugin_id}:{place}",
            evidence=Evidence(file=path or self._manifest.path),
        )

    def _command(self) -> str:
        if self._handler["type"] == "command":
            return str(self._handler["command"])
        server, tool = self._handler.get("server"), self._handler.get("tool")
        arguments = json.dumps(self._handler.get("input"), ensure_ascii=False)
        return f"tool {server}/{tool} {'' if arguments == 'null' else arguments}".strip()


def _named_files(command: str, root: str) -> Iterator[tuple[str, str]]:
    """Files of the plugin that the command names: what it runs may change while it does not."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    base, seen = os.path.realpath(root), set[str]()
    for word in words:
        for name in _HOOK_ROOTS:
            word = word.replace(name, base)
        path = os.path.realpath(os.path.join(base, word)) if word and "\0" not in word else ""
        if path.startswith(f"{base}/") and path not in seen and os.path.isfile(path):
            seen.add(path)
            yield os.path.relpath(path, base), _hash_of(path)


def _hash_of(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            return hashlib.sha256(stream.read(_HASHED)).hexdigest()
    except OSError:
        return "unreadable"


def servers(manifest: Manifest, plugin_id: str, home: str) -> tuple[PluginServers, list[UsedPart]]:
    """The servers as they would be started from the installed copy.

    Args:
        home: Directory of the installed copy, or where it will be; a relative `cwd` begins there.
    """
    found = plugin_servers(manifest, _DATA_STANDIN)
    parts = [
        _server(manifest, plugin_id, name, entry, home, found.path)
        for name, entry in found.entries.items()
    ]
    return found, parts


def _server(
    manifest: Manifest,
    plugin_id: str,
    name: str,
    entry: Mapping[str, Any],
    home: str,
    path: str,
) -> UsedPart:
    exact = json.loads(_portable(json.dumps(entry, sort_keys=True, default=str), manifest.root))
    moved = cast(
        "dict[str, Any]", _moved(entry, {manifest.root: home, _DATA_STANDIN: "${PLUGIN_DATA}"})
    )
    common: dict[str, Any] = {
        "kind": "server",
        "name": name,
        "id": digest("server", [plugin_id, name, exact]),
        "enabled": entry.get("enabled") is not False,
        "env_names": _env_names(entry),
        "evidence": Evidence(file=path or None, key=name),
    }
    if "command" not in entry:
        bearer = entry.get("bearer_token_env_var")
        oauth = "" if _headers_authorize(entry) else "oauth"
        return UsedPart(
            url=str(entry.get("url", "")),
            sign_in=str(bearer) if bearer else oauth,
            notes=tuple(_http_notes(entry)),
            **common,
        )
    cwd = str(moved.get("cwd") or "")
    if cwd and not os.path.isabs(cwd):
        cwd = os.path.normpath(f"{home}/{cwd}")
    words = [str(moved["command"]), *map(str, moved.get("args") or ())]
    return UsedPart(
        command=tuple(words),
        cwd=cwd,
        notes=tuple(_stdio_notes(words, cwd, home, manifest.root)),
        **common,
    )


def _portable(text: str, root: str) -> str:
    """Without the directory that the plugin happens to lie in."""
    return text.replace(json.dumps(root)[1:-1], ROOT).replace(_DATA_STANDIN, DATA)


def _moved(value: Any, names: Mapping[str, str]) -> Any:
    """The same in another directory."""
    if isinstance(value, str):
        for old, new in names.items():
            value = value.replace(old, new)
        return value
    if isinstance(value, Mapping):
        return {k: _moved(v, names) for k, v in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list):
        return [_moved(item, names) for item in cast("list[Any]", value)]
    return value


def _env_names(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of variables, whichever member they come from; never a value."""
    names: set[str] = set()
    for member in ("env", "env_vars", "env_http_headers"):
        value: Any = entry.get(member)
        if isinstance(value, Mapping):
            table = cast("Mapping[str, Any]", value)
            names |= set(map(str, table.values() if member == "env_http_headers" else table))
        elif isinstance(value, list):
            for item in cast("list[Any]", value):
                named = cast("dict[str, Any]", item).get("name") if isinstance(item, dict) else item
                names.add(str(named))
    if bearer := entry.get("bearer_token_env_var"):
        names.add(str(bearer))
    return tuple(sorted(names))


def _headers_authorize(entry: Mapping[str, Any]) -> bool:
    for member in ("http_headers", "env_http_headers"):
        value: Any = entry.get(member)
        if isinstance(value, Mapping):
            names = map(str, cast("Mapping[str, Any]", value))
            if any(name.lower() == "authorization" for name in names):
                return True
    return False


def _http_notes(entry: Mapping[str, Any]) -> Iterator[str]:
    headers: Any = entry.get("http_headers")
    if isinstance(headers, Mapping) and headers:
        names = ", ".join(sorted(map(str, cast("Mapping[str, Any]", headers))))
        yield f"sends the headers {names}"
    if helper := entry.get("http_headers_helper"):
        yield f"runs for its headers: {helper}"


def _stdio_notes(words: list[str], cwd: str, home: str, root: str) -> Iterator[str]:
    """What of a command is not where one would look for it."""
    if not cwd:
        yield "starts in the folder of the session, not in the plugin's"
    lies = f"{root}{cwd[len(home) :]}" if cwd == home or cwd.startswith(f"{home}/") else cwd
    command = words[0]
    for word in words:
        path = "/" in word if word == command else word.startswith(("./", "../"))
        if os.path.isabs(word) or VARIABLE.search(word) or "\0" in word:
            continue
        if not cwd and os.path.isfile(os.path.join(root, word)):
            yield f"{word} is looked for there, though the plugin has it"
        elif path and cwd and not os.path.exists(os.path.join(lies, word)):
            yield f"{word} is not there: no such file in the plugin"
        elif path and not cwd and word == command:
            yield f"{word} is looked for there"


def apps(manifest: Manifest) -> Iterator[UsedPart]:
    """Apps, which need the account's sign-in."""
    for app in plugin_apps(manifest):
        summary = app.summary()
        yield UsedPart(
            kind="app",
            name=app.id,
            url=summary.install_url or "",
            about=app.category or "",
            notes=("counts only with a ChatGPT sign-in",),
        )


def digest(kind: str, exact: Any) -> str:
    """Identity of exactly this: what a person agrees to."""
    text = json.dumps([kind, exact], sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def manifest_members(manifest: Manifest) -> Mapping[str, Any]:
    """The manifest's own JSON, for members that Codex does not read; {} when there is none."""
    if not manifest.path:
        return {}
    try:
        value: Any = json.loads(read_file(manifest.path))
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
