"""What the MCP servers of the demo world offer."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
TEXT: Json = {"type": "string"}


def _tool(
    name: str,
    about: str,
    effect: str = "reads",
    needs: Json | None = None,
    may: Json | None = None,
    **more: Any,
) -> Json:
    """A tool; `more` may hold `demo`, `outputSchema`, `title`."""
    needs, may = needs or {}, may or {}
    hints: Json = {"readOnlyHint": effect == "reads", "openWorldHint": False}
    if effect != "reads":
        hints["destructiveHint"] = effect == "destroys"
    return {
        "name": name,
        "description": about,
        "inputSchema": {
            "type": "object",
            "properties": {**needs, **may},
            "required": list(needs),
            "additionalProperties": False,
        },
        "annotations": hints,
        **more,
    }


def _page(uri: str, name: str, about: str, text: str) -> Json:
    return {
        "uri": uri,
        "name": name,
        "description": about,
        "mimeType": "text/markdown",
        "demo": {"text": text},
    }


def _prompt(name: str, about: str, text: str, *arguments: str) -> Json:
    return {
        "name": name,
        "description": about,
        "arguments": [{"name": argument, "required": True} for argument in arguments],
        "demo": {"text": text},
    }


QUERY: Json = {"query": {**TEXT, "description": "Words to look for"}}
LIMIT: Json = {"limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10}}

ATLAS_DOCS: Json = {
    "name": "atlas-docs",
    "title": "Atlas Docs",
    "version": "2.4.1",
    "instructions": "Search first, then read; pages are long.",
    "tools": [
        _tool("search_docs", "Finds pages by words.", needs=QUERY, may=LIMIT),
        _tool("read_page", "Reads a page as Markdown.", needs={"page": TEXT}),
        _tool("list_spaces", "Lists the spaces of the shelf."),
        _tool("list_children", "Pages below a page.", needs={"page": TEXT}),
        _tool("page_history", "Who changed a page, and when.", needs={"page": TEXT}, may=LIMIT),
        _tool("find_owner", "Who answers for a page.", needs={"page": TEXT}),
        _tool("compare_versions", "What changed between two versions.", needs={"page": TEXT}),
        _tool(
            "count_words",
            "Counts the words of a text.",
            needs={"text": TEXT},
            outputSchema={
                "type": "object",
                "properties": {"words": {"type": "integer"}},
                "required": ["words"],
            },
            demo={"text": "42 words", "structured": {"words": 42}},
        ),
        _tool("create_page", "Writes a new page.", "writes", needs={"title": TEXT, "body": TEXT}),
        _tool("append_to_page", "Adds to the end of a page.", "writes", needs={"page": TEXT}),
        _tool("rename_page", "Gives a page another title.", "writes", needs={"page": TEXT}),
        _tool(
            "delete_page",
            "Deletes a page and all below it.",
            "destroys",
            needs={"page": TEXT},
            demo={"text": "the page has children; delete them first", "error": True},
        ),
    ],
    "resources": [
        _page("atlas://start", "Start here", "How the shelf is sorted", "# Start here\n\nRead on."),
        _page("atlas://style", "Style", "How pages are written", "# Style\n\nShort sentences."),
        _page("atlas://glossary", "用語集", "Words of the house", "# 用語集\n\n- 用語 — word"),
    ],
    "templates": [
        {
            "uriTemplate": "atlas://page/{id}",
            "name": "A page",
            "description": "Any page by its number",
        }
    ],
    "prompts": [
        _prompt("summarise", "A page in five lines", "Summarise {page} in five lines.", "page"),
        _prompt("review_style", "Checks a text", "Does {page} keep to atlas://style?", "page"),
    ],
}

BILLING: Json = {
    "name": "billing",
    "version": "0.9.0",
    "tools": [
        _tool("list_invoices", "Open invoices.", may=LIMIT),
        _tool("read_invoice", "One invoice with its lines.", needs={"number": TEXT}),
        _tool(
            "monthly_report",
            "Adds a month up; takes a while.",
            needs={"month": {**TEXT, "pattern": "^\\d{4}-\\d{2}$", "description": "2026-11"}},
            demo={"text": "184 invoices, 92,310.50 in all", "seconds": 3},
        ),
        _tool(
            "create_invoice",
            "Makes a draft.",
            "writes",
            needs={
                "customer": TEXT,
                "amount": {"type": "number", "minimum": 0},
                "currency": {"type": "string", "enum": ["EUR", "USD", "JPY"]},
            },
            may={
                "due": {"type": "string", "format": "date"},
                "send": {"type": "boolean", "default": False},
                "labels": {"type": "array", "items": TEXT},
            },
        ),
        _tool("send_reminder", "Writes to the customer.", "writes", needs={"number": TEXT}),
        _tool(
            "refund",
            "Pays an invoice back; asks first.",
            "destroys",
            needs={"number": TEXT},
            demo={
                "ask": {
                    "message": "Really refund this invoice?",
                    "requestedSchema": {
                        "type": "object",
                        "properties": {
                            "reason": {
                                "type": "string",
                                "title": "Reason",
                                "enum": ["wrong amount", "returned", "goodwill"],
                            },
                            "notify": {"type": "boolean", "title": "Tell the customer"},
                        },
                        "required": ["reason"],
                    },
                }
            },
        ),
    ],
    "resources": [
        _page("billing://terms", "Terms", "When money is due", "# Terms\n\nThirty days."),
    ],
    "prompts": [
        _prompt("dunning_letter", "A friendly reminder", "Remind about {number}.", "number"),
    ],
}

BROWSER_LAB: Json = {
    "name": "browser-lab",
    "version": "1.2.0",
    "tools": [
        _tool("open_page", "Opens a page.", needs={"url": {**TEXT, "format": "uri"}}),
        _tool("take_picture", "A picture of what is shown."),
        _tool("read_text", "The text of what is shown."),
        _tool("click", "Clicks on something.", "writes", needs={"what": TEXT}),
        _tool("type_text", "Types into a field.", "writes", needs={"where": TEXT, "text": TEXT}),
    ],
}

ISSUES: Json = {
    "name": "issues",
    "title": "Issues",
    "version": "3.1.0",
    "tools": [
        _tool("list_issues", "Open issues.", may=LIMIT),
        _tool("search_issues", "Finds issues by words.", needs=QUERY, may=LIMIT),
        _tool("read_issue", "One issue with its comments.", needs={"number": {"type": "integer"}}),
        _tool("list_labels", "All labels."),
        _tool("list_milestones", "All milestones."),
        _tool(
            "create_issue",
            "Opens an issue.",
            "writes",
            needs={
                "repo": {**TEXT, "description": "owner/name"},
                "title": {**TEXT, "maxLength": 256},
            },
            may={
                "body": TEXT,
                "labels": {"type": "array", "items": TEXT},
                "priority": {"type": "string", "enum": ["low", "normal", "high"]},
                "due": {"type": "string", "format": "date"},
            },
        ),
        _tool("comment", "Adds a comment.", "writes", needs={"number": {"type": "integer"}}),
        _tool("close_issue", "Closes an issue.", "writes", needs={"number": {"type": "integer"}}),
        _tool(
            "lock_issue", "Ends a discussion.", "destroys", needs={"number": {"type": "integer"}}
        ),
    ],
    "resources": [
        _page("issues://triage", "Triage", "Who looks at what", "# Triage\n\nMondays: everybody."),
    ],
}

SEARCH: Json = {
    "name": "search",
    "version": "5.0.2",
    "tools": [
        _tool("web_search", "Finds pages on the web.", needs=QUERY, may=LIMIT),
        _tool("news_search", "Finds what was new today.", needs=QUERY),
        _tool("fetch_page", "Reads a page.", needs={"url": {**TEXT, "format": "uri"}}),
    ],
}

TRACES: Json = {
    "name": "traces",
    "version": "1.8.3",
    "tools": [
        _tool("search_traces", "Finds traces by service and time.", needs=QUERY),
        _tool("read_trace", "One trace, span by span.", needs={"id": TEXT}),
        _tool("slowest_spans", "Where the time went.", may=LIMIT),
        _tool("compare_releases", "Before and after.", needs={"release": TEXT}),
    ],
}

REVIEW_INDEX: Json = {
    "name": "review-index",
    "version": "1.4.2",
    "tools": [
        _tool("past_reviews", "Reviews of the same files.", needs={"path": TEXT}),
        _tool("reviewers", "Who knows these files.", needs={"path": TEXT}),
    ],
}

SMALL: Json = {
    "name": "small",
    "version": "0.1.0",
    "tools": [_tool("remember", "Keeps a line.", "writes", needs={"line": TEXT})],
}
