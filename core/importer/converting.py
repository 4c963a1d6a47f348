"""From what was found to a table of `[mcp_servers]`; secrets become names of variables."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.config.server_entry import EntryError, parse_server
from core.importer.found import FoundServer
from core.importer.masks import MASK, Masks
from core.importer.references import Ref, Text

NAME = re.compile(r"[A-Za-z0-9_:@/.-]+", re.ASCII)
"""Names that Codex starts servers under (observed in 0.171.0)."""
_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_APART = re.compile(r"[^A-Z0-9]+")


@dataclass
class Converted:
    """A server as Codex would have it.

    Attributes:
        table: Members in the order in which they are written; without literal secrets.
        copied: The same with the literal secrets in it, for an explicit yes only.
        secrets: Places that hold one.
        target: For people, masked.
        wants: Variables that have to be set.
        care: Something will not work as it did; not proposed.
        bare: A place holds a secret that no variable can stand for: it is copied, or nothing is.
        fault: Why Codex cannot have it, or "".
    """

    table: dict[str, Any] = field(default_factory=dict[str, Any])
    copied: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)
    secrets: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    wants: list[str] = field(default_factory=list[str])
    target: str = ""
    care: bool = False
    bare: bool = False
    fault: str = ""


def convert(found: FoundServer, masks: Masks) -> Converted:
    """The table of a server; never raises for what is wrong with it."""
    made = Converted(notes=list(found.notes), fault=found.fault)
    if made.fault:
        return made
    work = _Work(found, masks, made)
    if found.transport == "stdio":
        work.stdio()
    elif found.transport in ("http", "sse"):
        work.http()
    else:
        made.fault = f"Codex has no transport `{found.transport}`"
        return made
    for table in (made.table, made.copied):
        table.update(_fitting(found.known, found.transport == "stdio"))
        if not found.enabled:
            table["enabled"] = False
    try:
        parse_server(found.name, made.table)
    except EntryError as error:
        made.fault = error.message
    made.wants = list(dict.fromkeys(made.wants))
    return made


def _fitting(known: Mapping[str, Any], stdio: bool) -> dict[str, Any]:
    http_only = ("oauth", "http_headers_helper")
    return {key: value for key, value in known.items() if not (stdio and key in http_only)}


class _Work:
    """One conversion."""

    def __init__(self, found: FoundServer, masks: Masks, made: Converted) -> None:
        self._found, self._masks, self._made = found, masks, made

    def stdio(self) -> None:
        """A program that is started."""
        found, made = self._found, self._made
        command = self._filled(found.command or Text(("",)), "command")
        args = [self._filled(text, "args") for text in found.args]
        shown = self._masks.arguments([command, *args])
        made.target = shlex.join(shown).replace(f"'{MASK}'", MASK)
        made.table = {"command": command}
        if args:
            made.table["args"] = args
        made.copied = dict(made.table)
        if list(shown) != [command, *args]:
            made.secrets.append("args")
            made.care = made.bare = True
            made.notes.append("Codex fills in no variable in args: the secret would be copied")
            # Written only after an explicit yes: what the mask hides is left as it shows.
            made.table = {"command": shown[0], "args": list(shown[1:])}
        self._cwd()
        self._environment()

    def _cwd(self) -> None:
        if self._found.cwd is None:
            return
        cwd = self._filled(self._found.cwd, "cwd")
        if cwd:
            self._made.table["cwd"] = self._made.copied["cwd"] = cwd

    def _environment(self) -> None:
        """`env` for what is plain, `env_vars` for what has to come from outside."""
        plain: dict[str, str] = {}
        literal: dict[str, str] = {}
        passed: list[str] = []
        for name, text in self._found.env.items():
            if text.refs:
                passed.append(name)
                self._explain(name, text)
            elif self._masks.holds_secret(name, text.plain):
                literal[name] = text.plain
                passed.append(name)
                self._made.wants.append(name)
                self._made.secrets.append(f"env {name}")
            else:
                plain[name] = text.plain
        copied = {**plain, **literal}
        self._put("env_vars", passed, [name for name in passed if name not in literal])
        self._put("env", plain, copied)

    def _put(self, key: str, value: Any, copied: Any) -> None:
        if value:
            self._made.table[key] = value
        if copied:
            self._made.copied[key] = copied

    def _explain(self, name: str, text: Text) -> None:
        """A variable that is filled in at the start; Codex only hands on those of its own."""
        made, ref = self._made, text.only
        made.wants.append(name)
        if ref is None:
            made.notes.append(f"env {name} is put together from {_told(text)}: set it whole")
        elif ref.kind == "input":
            asked = self._found.asked.get(ref.name, "")
            said = f" ({asked})" if asked else ""
            made.notes.append(f"env {name} is asked for in VS Code{said}: set it beforehand")
        elif ref.name != name:
            made.notes.append(f"env {name} takes {ref.written}: set {name} itself")
        elif ref.default:
            made.notes.append(f"env {name} has a default, which is lost")

    def _filled(self, text: Text, where: str) -> str:
        """A text of a place where Codex fills nothing in."""
        for ref in text.refs:
            if ref.default is not None and ref.kind == "env":
                self._made.notes.append(f"{ref.written} in {where} becomes its default")
                continue
            self._made.care = True
            self._made.notes.append(
                f"{ref.written} in {where}: Codex fills in nothing there, write the value"
            )
        return "".join(part if isinstance(part, str) else _default(part) for part in text.parts)

    def http(self) -> None:
        """A server that is reached by URL."""
        found, made = self._found, self._made
        url = self._filled(found.url or Text(("",)), "url")
        made.target = self._masks.url(url)
        made.table, made.copied = {"url": made.target}, {"url": url}
        if found.transport == "sse":
            made.care = True
            made.notes.append("it speaks SSE; Codex speaks streamable HTTP only")
        if made.target != url:
            made.secrets.append("url")
            made.care = made.bare = True
            made.notes.append("Codex fills in no variable in url: the secret would be copied")
        if not url.startswith(("http://", "https://")) and "$" not in url:
            made.fault = "its url is neither http nor https"
        self._headers()

    def _headers(self) -> None:
        plain: dict[str, str] = {}
        literal: dict[str, str] = {}
        named: dict[str, str] = {}
        copied_names: dict[str, str] = {}
        for name, text in self._found.headers.items():
            bearer = text.after("bearer ") if name.lower() == "authorization" else None
            if bearer is not None and self._bearer(name, text, bearer, literal):
                continue
            if text.refs:
                named[name] = copied_names[name] = self._variable(name, text)
            elif self._masks.holds_secret(name, text.plain):
                literal[name] = text.plain
                named[name] = self._own_variable(name)
                self._made.secrets.append(f"header {name}")
                self._made.wants.append(named[name])
            else:
                plain[name] = text.plain
        self._put("http_headers", plain, {**plain, **literal})
        self._put("env_http_headers", named, copied_names)

    def _bearer(self, header: str, whole: Text, token: Text, literal: dict[str, str]) -> bool:
        """`Authorization: Bearer …` has a member of its own; True when that was used."""
        ref = token.only
        if ref is not None:
            variable = ref.name if ref.kind == "env" else self._own_variable("TOKEN")
            if not _VARIABLE.fullmatch(variable):
                variable = self._own_variable("TOKEN")
            self._input(ref, variable)
            self._made.copied["bearer_token_env_var"] = variable
        elif not token.refs:
            variable = self._own_variable("TOKEN")
            literal[header] = whole.plain
            self._made.secrets.append(f"header {header}")
        else:
            return False
        self._made.table["bearer_token_env_var"] = variable
        self._made.wants.append(variable)
        return True

    def _variable(self, header: str, text: Text) -> str:
        """The variable that a header is to be taken from."""
        ref = text.only
        variable = ref.name if ref is not None and ref.kind == "env" else ""
        if not _VARIABLE.fullmatch(variable):
            variable = self._own_variable(header)
            if ref is not None:
                self._input(ref, variable)
            else:
                told = _told(text)
                self._made.notes.append(
                    f"header {header} is put together from {told}: set {variable} to all of it"
                )
        self._made.wants.append(variable)
        return variable

    def _input(self, ref: Ref, variable: str) -> None:
        if ref.kind == "input":
            asked = self._found.asked.get(ref.name, "")
            said = f" ({asked})" if asked else ""
            self._made.notes.append(f"{ref.written}{said} becomes the variable {variable}")

    def _own_variable(self, what: str) -> str:
        """`GITHUB_TOKEN` for the token of `github`."""
        server = _APART.sub("_", self._found.name.upper()).strip("_") or "MCP"
        rest = _APART.sub("_", what.upper()).strip("_")
        name = f"{server}_{rest}"
        return name if _VARIABLE.fullmatch(name) else f"MCP_{name}"


def _default(ref: Ref) -> str:
    return ref.default if ref.default is not None and ref.kind == "env" else ref.written


def _told(text: Text) -> str:
    return ", ".join(ref.written for ref in text.refs)
