"""A server's table on its way to and from a form: masked, given back, compared, judged."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from typing import Any, cast

from core.config.edit_plan import Edit
from core.config.server_entry import SERVER, ServerEntry
from core.config.toml.render import Unwritable, render
from core.errors import InvalidRequest
from core.mcp.masking import (
    MASK,
    Secrets,
    is_secret_name,
    masked_arguments,
    masked_url,
    url_secrets,
)
from core.mcp.targets import INHERITED
from core.protocol.jackfield_servers import TextLine

Table = dict[str, Any]
_AROUND = 2
"""Unchanged lines that are shown around a change."""
_VALUES = ("env", "http_headers")
_PAIR = re.compile(
    r"""(?P<before>(?P<name>[\w.-]+)["']?\s*=\s*)(?:"(?:[^"\\]|\\.)+"|'[^']+')""", re.ASCII
)
_VARIABLE = re.compile(r"\$\{\w+\}|\$[A-Z_][A-Z0-9_]*")


def as_table(value: object) -> Table:
    """A TOML table; {} for anything else."""
    return cast("Table", value) if isinstance(value, dict) else {}


def _texts(value: object) -> list[str] | None:
    """A list of texts; None for anything else."""
    if not isinstance(value, list):
        return None
    items = cast("list[object]", value)
    texts = [item for item in items if isinstance(item, str)]
    return texts if len(texts) == len(items) else None


# -- masking


def shown_table(table: Mapping[str, Any]) -> Table:
    """The table with its secrets masked: values of variables and headers, and what looks so."""
    shown: Table = dict(table)
    for member in _VALUES:
        if values := as_table(table.get(member)):
            shown[member] = dict.fromkeys(values, MASK)
    if (args := _texts(table.get("args"))) is not None:
        shown["args"] = list(masked_arguments(args))
    if isinstance(url := table.get("url"), str):
        shown["url"] = masked_url(url)
    if isinstance(helper := table.get("http_headers_helper"), str):
        shown["http_headers_helper"] = Secrets().mask(helper)
    oauth = as_table(table.get("oauth"))
    if "client_secret" in oauth:
        shown["oauth"] = {**oauth, "client_secret": MASK}
    if "bearer_token" in table:
        shown["bearer_token"] = MASK
    return shown


def restored(table: Mapping[str, Any], present: Mapping[str, Any]) -> Table:
    """The table with what was shown masked, and came back so, as it stands.

    Raises:
        InvalidRequest: A masked value has been changed, or has no value to stand for.
    """
    shown = shown_table(present)
    return {key: _restored(key, table[key], shown.get(key), present.get(key)) for key in table}


def _restored(where: str, value: Any, shown: Any, present: Any) -> Any:
    if value == shown and present is not None:
        return present
    if isinstance(value, dict):
        old, was = as_table(shown), as_table(present)
        return {
            key: _restored(f"{where}.{key}", member, old.get(key), was.get(key))
            for key, member in cast("Table", value).items()
        }
    if isinstance(value, list):
        pairs = list(zip(_texts(shown) or [], _texts(present) or [], strict=False))
        return [_restored_item(where, item, pairs) for item in cast("list[Any]", value)]
    if isinstance(value, str) and MASK in value:
        raise InvalidRequest(f"{where}: write the masked value whole, or leave it as it was shown")
    return value


def _restored_item(where: str, item: Any, pairs: list[tuple[str, str]]) -> Any:
    if not isinstance(item, str) or MASK not in item:
        return item
    for at, (shown, present) in enumerate(pairs):
        if shown == item:
            pairs.pop(at)
            return present
    raise InvalidRequest(f"{where}: write the masked value whole, or leave it as it was shown")


def literals(*tables: Mapping[str, Any]) -> list[str]:
    """Texts in these tables that must not be shown, the longest first."""
    found: set[str] = set()
    for table in tables:
        for member in _VALUES:
            found.update(v for v in as_table(table.get(member)).values() if isinstance(v, str))
        secret = as_table(table.get("oauth")).get("client_secret")
        found.update(v for v in (secret, table.get("bearer_token")) if isinstance(v, str))
        found.update(argument for argument, shown in _masked_args(table) if shown != argument)
        if isinstance(url := table.get("url"), str):
            found.update(url_secrets(url))
    return sorted((text for text in found if text), key=len, reverse=True)


def _masked_args(table: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    args = _texts(table.get("args")) or []
    return zip(args, masked_arguments(args), strict=False)


def masked_line(line: str, secrets: Iterable[str]) -> str:
    """A line of a TOML file without these texts, however they are quoted, and without others
    that are secret by their name.
    """
    for text in secrets:
        try:
            line = line.replace(render(text), f'"{MASK}"')
        except Unwritable:
            continue
        if len(text) >= 6:
            line = line.replace(text, MASK)
    return _PAIR.sub(_masked_pair, Secrets().mask(line))


def _masked_pair(pair: re.Match[str]) -> str:
    name = pair["name"]
    if name in SERVER.fields or not is_secret_name(name):
        return pair[0]
    return f'{pair["before"]}"{MASK}"'


# -- changing


def edits_of(path: tuple[str, ...], old: Mapping[str, Any] | None, new: Table) -> list[Edit]:
    """Single edits that make `new` of `old`; what is the same is not touched."""
    if old is None:
        return [Edit.at(*path, value=new)]
    edits: list[Edit] = []
    for key in old.keys() - new.keys():
        edits.append(Edit.at(*path, key, value=None))
    for key, value in new.items():
        was = old.get(key)
        if (inner := as_table(value)) and (outer := as_table(was)):
            edits += edits_of((*path, key), outer, inner)
        elif value != was or type(value) is not type(was):
            edits.append(Edit.at(*path, key, value=value))
    return sorted(edits, key=lambda edit: edit.value is not None)


def merged(present: Mapping[str, Any] | None, members: Mapping[str, Any]) -> Table:
    """`present` with these members; a None takes one out."""
    whole = {**(present or {}), **members}
    return {key: value for key, value in whole.items() if value is not None}


def changed_lines(before: str, after: str, secrets: Iterable[str]) -> tuple[TextLine, ...]:
    """What a change of a file comes to, with a few lines around it."""
    old, new = before.splitlines(), after.splitlines()
    hidden = list(secrets)
    lines: list[TextLine] = []

    def add(sign: Any, source: list[str], start: int, end: int) -> None:
        for at in range(start, end):
            text = masked_line(source[at], hidden)
            lines.append(TextLine(sign=sign, text=text, line=at + 1))

    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_AROUND):
        for what, old_from, old_to, new_from, new_to in group:
            if what == "equal":
                add(" ", new, new_from, new_to)
                continue
            add("-", old, old_from, old_to)
            add("+", new, new_from, new_to)
    while lines and lines[0].sign == " " and not lines[0].text.strip():
        lines.pop(0)
    while lines and not lines[-1].text.strip():
        lines.pop()
    return tuple(lines)


# -- judging


def warnings_of(entry: ServerEntry, environ: Mapping[str, str], base: str) -> list[str]:
    """What is unwise about an entry. Looks at the disk."""
    found = [*_clear_secrets(entry), *_unexpanded(entry)]
    wanted = [variable.name for variable in entry.env_vars]
    wanted += [entry.bearer_token_env_var or "", *(entry.env_http_headers or {}).values()]
    found += [f"{name} is not set here" for name in wanted if name and not environ.get(name)]
    if entry.transport == "stdio":
        found += _not_there(entry, environ, base)
    return found


def _clear_secrets(entry: ServerEntry) -> Iterable[str]:
    for name, value in (entry.env or {}).items():
        if value and (is_secret_name(name) or Secrets().mask(value) != value):
            yield f"env.{name} is a secret in clear; env_vars takes it from your environment"
    for name, value in (entry.http_headers or {}).items():
        if is_secret_name(name) or Secrets().mask(f"{name}: {value}") != f"{name}: {value}":
            instead = "bearer_token_env_var" if name.lower() == "authorization" else ""
            other = instead or "env_http_headers"
            yield f"http_headers.{name} is a secret in clear; {other} names a variable instead"
    if entry.url and masked_url(entry.url) != entry.url:
        yield "the URL holds a secret in clear"
    if masked_arguments(entry.args) != entry.args:
        yield "an argument is a secret in clear; most servers take it from a variable too"
    if entry.oauth is not None and entry.oauth.client_secret:
        yield "oauth.client_secret is a secret in clear"


def _unexpanded(entry: ServerEntry) -> Iterable[str]:
    texts = {
        **{f"env.{name}": value for name, value in (entry.env or {}).items()},
        **{f"http_headers.{name}": value for name, value in (entry.http_headers or {}).items()},
        **{f"args[{at}]": value for at, value in enumerate(entry.args)},
        "url": entry.url,
    }
    for where, text in texts.items():
        if found := _VARIABLE.search(text):
            yield f"{where}: Codex hands {found[0]} on as it stands, it expands no variables"


def _not_there(entry: ServerEntry, environ: Mapping[str, str], base: str) -> Iterable[str]:
    folder = os.path.join(base, entry.cwd) if entry.cwd else base
    if not os.path.isdir(folder):
        yield f"there is no folder {folder}"
    env = {name: environ[name] for name in INHERITED if name in environ} | dict(entry.env or {})
    if program_at(entry.command, env.get("PATH", ""), folder) is None:
        yield f"no program {entry.command} is found"


def program_at(command: str, path: str, folder: str) -> str | None:
    """Where a program is found, as the system looks for it."""
    if not command:
        return None
    found = shutil.which(os.path.join(folder, command) if "/" in command else command, path=path)
    return os.path.join(folder, found) if found else None


def tool_edits(
    base: tuple[str, ...], table: Mapping[str, Any], tools: Iterable[str], *, enabled: bool
) -> list[Edit]:
    """Edits of `enabled_tools` and `disabled_tools` that turn these tools on or off.

    Args:
        table: The effective one.
    """
    names = list(dict.fromkeys(tools))
    allowed, denied = _texts(table.get("enabled_tools")), _texts(table.get("disabled_tools")) or []
    edits: list[Edit] = []
    if enabled:
        left = [name for name in denied if name not in names]
        if left != denied:
            edits.append(Edit.at(*base, "disabled_tools", value=left or None))
        missing = [name for name in names if allowed is not None and name not in allowed]
        if allowed is not None and missing:
            edits.append(Edit.at(*base, "enabled_tools", value=[*allowed, *missing]))
    elif more := [name for name in names if name not in denied]:
        edits.append(Edit.at(*base, "disabled_tools", value=[*denied, *more]))
    return edits
