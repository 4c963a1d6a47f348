"""Details of a tool: its names, its parameters, and whether the model may call it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.protocol.rows import ToolRow
from tui.text import pad
from tui.views.base import Details, State
from tui.views.details import JsonObject, object_of, text_of, texts_of
from tui.widgets.page import Page

if TYPE_CHECKING:
    from tui.views.tools import ToolFacts

_EFFECTS = {
    "reads": "reads only",
    "writes": "writes, can be undone",
    "destroys": "destroys, cannot be undone",
}


def tool_page(
    page: Page, row: ToolRow, owner: str, facts: ToolFacts, detail: Details, seen: str
) -> None:
    """Everything about a tool; the five checks last."""
    state = facts.callable
    page.title(row.name, f"{row.tokens} tokens" if row.tokens else "")
    word = "callable" if state.sign == "works" else state.word
    page.state(state.sign, word, state.reason)
    page.gap()
    if row.title and row.title != row.name:
        page.text(row.title, "strong")
    page.text(row.description or "No description.", "" if row.description else "muted", limit=6)
    page.gap()
    page.fact("model sees", _model_name(row), path=True)
    page.fact("app" if row.source == "app" else "server", owner)
    page.fact("effect", _EFFECTS.get(row.effect, "it does not say"))
    if approval := text_of(detail, "approval"):
        page.fact("approval", approval)
    if seen:
        page.fact("listed at", seen)
    _parameters(page, object_of(object_of(detail.get("declaration")).get("inputSchema")))
    page.section("May the model call it?")
    for check, fact in _checks(row, facts):
        page.item(fact.sign, check, fact.reason if fact.sign != "works" else "")


def _model_name(row: ToolRow) -> str:
    return row.name if row.source == "app" else f"mcp__{row.owner}__{row.name}"


def _checks(row: ToolRow, facts: ToolFacts) -> list[tuple[str, State]]:
    visible = State("works" if row.visible else "none", "", "" if row.visible else "hidden by it")
    stopped = facts.callable.sign in ("policy", "problem")
    verdict = facts.callable if stopped else State("works", "")
    found = "in the committed snapshot" if row.source == "app" else "found in tools/list"
    checks = [(found, facts.found), ("turned on", facts.enabled)]
    if row.source != "app":
        checks.append(("server connected", facts.connected))
    return [*checks, ("visible to the model", visible), ("schema and policy allow it", verdict)]


def _parameters(page: Page, schema: JsonObject) -> None:
    properties = object_of(schema.get("properties"))
    if not properties:
        return
    required = set(texts_of(schema.get("required")))
    needed = sum(name in required for name in properties)
    page.section("Parameters", f"{len(properties)}, {needed} required")
    for name, value in properties.items():
        entry = object_of(value)
        wanted = name in required
        page.add(
            (pad(f"{name} *" if wanted else name, 14), "strong" if wanted else ""),
            (pad(f" {kind_of(entry)}", 11), "accent"),
            (f" {text_of(entry, 'description')}", "muted"),
        )
    if needed:
        page.gap()
        page.text("* required", "muted")


def kind_of(schema: JsonObject) -> str:
    """`string`, `string[]`, `enum`, … of a parameter."""
    if "enum" in schema:
        return "enum"
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(texts_of(kind))  # pyright: ignore[reportUnknownArgumentType]
    if kind == "array":
        return f"{kind_of(object_of(schema.get('items')))}[]"
    return text_of(schema, "format") or str(kind or "any")
