"""A server's table on its way into a file: read, compared and judged, off the event loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.config.edit_judge import judge
from core.config.edit_plan import Edit, apply_edits
from core.config.edit_text import TextEditor
from core.config.files import Unreadable, read_bytes
from core.config.model import Loaded
from core.config.server_entry import EntryError, ServerEntry, parse_server
from core.config.spans import place
from core.config.toml.fault import TomlFault
from core.config.toml.read import NotUtf8, TomlText, decode, read_toml
from core.config.toml.render import Unwritable
from core.config.version import jsonable
from core.errors import ConfigWriteError, InternalError
from core.mcp.hosted import HOSTED_NAME
from core.mcp.targets import endpoint_of, program_of, start_fault
from core.protocol.facts import Evidence
from core.protocol.jackfield_servers import ServerEntryParams, ServerLayer, ServerTestParams
from core.service.server_tables import Table, as_table, edits_of, merged, restored

TABLES = "mcp_servers"


@dataclass(frozen=True)
class Draft:
    """A table as it is to be.

    Attributes:
        present: What the file has under the name; None when nothing.
        entry: None when `fault` says why the table cannot be used.
        others: All tables of servers in the file, whose secrets may stand near.
        fault_key: The member at fault, dotted; "" = the table as a whole.
    """

    file: Path
    read: TomlText
    present: Table | None
    table: Table
    edits: list[Edit]
    entry: ServerEntry | None
    others: tuple[Table, ...] = ()
    fault: str = ""
    fault_key: str = ""


def parsed(file: Path) -> TomlText:
    """A file, empty when it is not there. Raises InternalError when it cannot be read."""
    try:
        return read_toml(decode(read_bytes(str(file)) or b""))
    except (Unreadable, NotUtf8) as error:
        raise InternalError(f"{file} cannot be read: {error}") from None
    except TomlFault as fault:
        raise InternalError(f"{file} is no TOML: {fault.reason}") from None


def drafted(file: Path, params: ServerEntryParams | ServerTestParams) -> Draft:
    """Compare with what the file has.

    Raises:
        InternalError: It cannot be read.
        InvalidRequest: A masked value came back changed.
    """
    read = parsed(file)
    tables = as_table(read.value.get(TABLES))
    merge = isinstance(params, ServerEntryParams) and params.merge
    new = isinstance(params, ServerEntryParams) and params.new
    source = params.was or params.name
    present = _present(tables, source)
    there = _present(tables, params.name)
    table = merged(present, params.table) if merge else params.table
    table = restored(table, present or {})
    renamed = bool(params.was) and params.was != params.name
    fault, key, entry = "", "", None
    if (new or renamed) and there is not None:
        fault, key = f"{file.name} has a server of that name already", "name"
    else:
        entry, fault, key = _judged(params.name, table)
    if renamed:
        edits = [
            Edit.at(TABLES, params.was, value=None),
            Edit.at(TABLES, params.name, value=table),
        ]
    else:
        edits = edits_of((TABLES, params.name), there, table)
    others = tuple(map(as_table, tables.values()))
    return Draft(file, read, present, table, edits, entry, others, fault, key)


def _present(tables: Mapping[str, Any], name: str) -> Table | None:
    table = tables.get(name)
    return as_table(jsonable(table)) if isinstance(table, dict) else None


def _judged(name: str, table: Table) -> tuple[ServerEntry | None, str, str]:
    """The entry, or why there is none and which member is at fault."""
    if not name:
        return None, "a name is needed", "name"
    try:
        entry = parse_server(name, table)
    except EntryError as error:
        words = {"invalid transport": "a command or a URL is needed"}
        key = ".".join(map(str, error.key_path))
        return None, words.get(error.message, error.message), key
    if name == HOSTED_NAME:
        return None, "this name is reserved for the account's apps", "name"
    make = program_of if entry.transport == "stdio" else endpoint_of
    fault = start_fault(name, entry, make(entry, {}, Path("/")))
    if fault.startswith("Invalid MCP server name"):
        return None, "only letters, digits and _ : @ / . - in a name", "name"
    return entry, "", ""


def edited(draft: Draft, loaded: Loaded, layer: ServerLayer) -> str:
    """The file's text afterwards. Raises ConfigWriteError, InternalError."""
    plan = apply_edits(draft.read.value, draft.edits)
    if layer == "user":
        judge(plan, draft.read.value, loaded, tolerant=True)
    editor = TextEditor(draft.read)
    try:
        for segments, value in plan.changes:
            if value is None:
                editor.clear(segments)
            else:
                editor.set(segments, value)
    except Unwritable as error:
        raise ConfigWriteError(f"invalid value: {error}", "configValidationError") from None
    except (TomlFault, LookupError) as error:
        raise InternalError(f"this file cannot be edited safely: {error}") from None
    return editor.text


def evidence(file: Path, read: TomlText, layer: str, name: str) -> Evidence:
    """Where a server's table begins."""
    found = place(read, (TABLES, name))
    return Evidence(
        file=str(file),
        line=found.line if found else None,
        column=found.column if found else None,
        layer=layer,
        key=f"{TABLES}.{name}",
    )
