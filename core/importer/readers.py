"""One reader per kind of file: from a document to what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from core.importer import claude_plugins
from core.importer.found import Contents
from core.importer.jsonc import Document
from core.importer.places import Around
from core.importer.references import CLAUDE, EDITOR, PLAIN, SHELL
from core.importer.shapes import Dialect, Taker, names_of, text_list

Reader = Callable[[Document, Around, bool], Contents]


def _workspace(around: Around, project: bool) -> dict[str, str]:
    """What editors fill in. Without a project of its own, a folder is nobody's."""
    known = {"userHome": around.home, "pathSeparator": "/", "/": "/"}
    if project:
        name = around.project.rpartition("/")[2]
        known |= {"workspaceFolder": around.project, "workspaceFolderBasename": name}
        known |= {"workspaceRoot": around.project, "cwd": around.project}
    return known


# -- Claude


def _claude_more(table: Mapping[str, Any], known: dict[str, Any], notes: list[str]) -> None:
    if isinstance(helper := table.get("headersHelper"), str):
        known["http_headers_helper"] = helper
    oauth = table.get("oauth")
    if isinstance(oauth, dict):
        members = cast("dict[str, Any]", oauth)
        taken: dict[str, Any] = {}
        if isinstance(client := members.get("clientId"), str):
            taken["client_id"] = client
        if type(port := members.get("callbackPort")) is int:
            taken["callback_port"] = port
        if taken:
            known["oauth"] = taken
    if type(limit := table.get("timeout")) is int and limit > 0:
        known["tool_timeout_sec"] = limit / 1000


def _claude(around: Around) -> Dialect:
    known = {"CLAUDE_PROJECT_DIR": around.project, "HOME": around.home}
    return Dialect(CLAUDE, known, more=_claude_more)


def claude_state(document: Document, around: Around, project: bool) -> Contents:
    """`~/.claude.json`: the person's servers, and those of this project."""
    taker = Taker(document, _claude(around), {})
    place = ("projects", around.project)
    off = names_of(document.table(*place).get("disabledMcpServers"))
    own = taker.servers(("mcpServers",), off=off)
    declined = names_of(document.table(*place).get("disabledMcpjsonServers"))
    theirs = taker.servers((*place, "mcpServers"), off=off)
    return Contents(servers=(*own, *theirs), declined=declined)


def claude_project(document: Document, around: Around, project: bool) -> Contents:
    """`.mcp.json` of a project, with or without its wrapper."""
    wrapped = isinstance(document.value.get("mcpServers"), dict)
    taker = Taker(document, _claude(around), {})
    return Contents(servers=taker.servers(("mcpServers",) if wrapped else ()))


def claude_desktop(document: Document, around: Around, project: bool) -> Contents:
    """`claude_desktop_config.json`."""
    return Contents(servers=Taker(document, Dialect(PLAIN), {}).servers(("mcpServers",)))


# -- editors


def _cursor_more(table: Mapping[str, Any], known: dict[str, Any], notes: list[str]) -> None:
    auth = table.get("auth")
    if not isinstance(auth, dict):
        return
    members = cast("dict[str, Any]", auth)
    client = members.get("CLIENT_ID")
    if isinstance(client, str) and "${" not in client:
        known["oauth"] = {"client_id": client}
    if scopes := text_list(members.get("scopes")):
        known["scopes"] = scopes
    if "CLIENT_SECRET" in members:
        notes.append("its client secret is not copied: enter it when you sign in")


def cursor(document: Document, around: Around, project: bool) -> Contents:
    """`.cursor/mcp.json`."""
    dialect = Dialect(EDITOR, _workspace(around, project), more=_cursor_more)
    return Contents(servers=Taker(document, dialect, {}).servers(("mcpServers",)))


def _vscode_more(table: Mapping[str, Any], known: dict[str, Any], notes: list[str]) -> None:
    oauth = table.get("oauth")
    if isinstance(oauth, dict):
        client = cast("dict[str, Any]", oauth).get("clientId")
        if isinstance(client, str):
            known["oauth"] = {"client_id": client}
    if table.get("sandboxEnabled") is True:
        notes.append("VS Code runs it in a sandbox, Codex does not")


def _vscode(document: Document, around: Around, project: bool, place: tuple[str, ...]) -> Contents:
    dialect = Dialect(EDITOR, _workspace(around, project), more=_vscode_more)
    inputs: Any = document.table(*place[:-1]).get("inputs")
    asked: dict[str, str] = {}
    for item in cast("list[Any]", inputs) if isinstance(inputs, list) else []:
        if isinstance(item, dict):
            table = cast("dict[str, Any]", item)
            if isinstance(key := table.get("id"), str):
                said = table.get("description")
                asked[key] = said if isinstance(said, str) else ""
    return Contents(servers=Taker(document, dialect, asked).servers(place))


def vscode(document: Document, around: Around, project: bool) -> Contents:
    """`mcp.json` of a user or a workspace."""
    return _vscode(document, around, project, ("servers",))


def vscode_settings(document: Document, around: Around, project: bool) -> Contents:
    """`settings.json`, where older versions kept them."""
    return _vscode(document, around, project, ("mcp", "servers"))


# -- Gemini CLI


def _gemini_more(table: Mapping[str, Any], known: dict[str, Any], notes: list[str]) -> None:
    for theirs, ours in (("includeTools", "enabled_tools"), ("excludeTools", "disabled_tools")):
        if (names := text_list(table.get(theirs))) is not None:
            known[ours] = names
    limit = table.get("timeout")
    if isinstance(limit, int | float) and not isinstance(limit, bool) and limit > 0:
        known["tool_timeout_sec"] = limit / 1000
    oauth = table.get("oauth")
    if isinstance(oauth, dict):
        members = cast("dict[str, Any]", oauth)
        if isinstance(client := members.get("clientId"), str) and "$" not in client:
            known["oauth"] = {"client_id": client}
        if scopes := text_list(members.get("scopes")):
            known["scopes"] = scopes
        if "clientSecret" in members:
            notes.append("its client secret is not copied: enter it when you sign in")
    if table.get("trust") is True:
        notes.append("Gemini asks nothing before its tools run; Codex goes on asking")
    if isinstance(table.get("authProviderType"), str):
        notes.append("Gemini signs in to it with Google; Codex has no such way")


def gemini(document: Document, around: Around, project: bool) -> Contents:
    """`.gemini/settings.json`."""
    rules = document.table("mcp")
    off = names_of(rules.get("excluded"))
    if isinstance(rules.get("allowed"), list):
        off |= document.table("mcpServers").keys() - names_of(rules["allowed"])
    dialect = Dialect(SHELL, {"HOME": around.home}, "sse", _gemini_more)
    return Contents(servers=Taker(document, dialect, {}).servers(("mcpServers",), off=off))


READERS: dict[str, Reader] = {
    "claude_state": claude_state,
    "claude_project": claude_project,
    "claude_desktop": claude_desktop,
    "claude_settings": claude_plugins.settings,
    "claude_marketplaces": claude_plugins.known_marketplaces,
    "cursor": cursor,
    "vscode": vscode,
    "vscode_settings": vscode_settings,
    "gemini": gemini,
}
