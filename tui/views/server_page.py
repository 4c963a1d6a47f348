"""Details of an MCP server, by state."""

from __future__ import annotations

from collections.abc import Sequence

from core.protocol.rows import ServerRow, ToolRow
from tui.signs import SignName
from tui.text import pad
from tui.views.base import Details, Place, State, decided, plural, write_problems
from tui.views.details import items_of, numbers_of, object_of, text_of, texts_of
from tui.views.times import age, moment, running
from tui.widgets.page import LABEL, Page

TOOLS_SHOWN = 60
CHART = 16  # cells
CHARTED = 4  # values that make a chart
BODY_LINES = 12
HISTORY = 6
STDERR = 40  # lines
_AUTH = {
    "unsupported": "not needed",
    "bearerToken": "bearer token of the configuration",
    "notLoggedIn": "not signed in",
    "oAuth": "signed in",
    "unknown": "not known",
}


def server_page(
    page: Page,
    row: ServerRow,
    state: State,
    tools: Sequence[ToolRow],
    detail: Details,
    place: Place,
    now: float,
) -> None:
    """What it runs or connects to, how it is, its last words, its tools."""
    page.title(row.name, row.server_version)
    busy = row.status in ("starting", "waiting")
    page.state(state.sign, state.word, running(row.since, now, row.limit) if busy else state.reason)
    if busy and row.limit:
        page.gap()
        page.bar(min(1.0, max(0.0, now - row.since) / row.limit))
    page.gap()
    _target(page, row, detail, place)
    _life(page, row, detail, place, now)
    write_problems(page, row.problems, place)
    if tail := texts_of(detail.get("stderr"))[-STDERR:] or list(row.stderr_tail):
        page.section("Its last words", f"stderr, {plural(len(tail), 'line')}")
        page.quote(tail, last="strong")
    _tools(page, tools)
    _also(page, row)
    _history(page, detail, now)


def _target(page: Page, row: ServerRow, detail: Details, place: Place) -> None:
    page.fact("url" if row.transport == "http" else "command", row.target or "none")
    if row.target_problem:
        page.fact("", row.target_problem, "muted")
    if found := text_of(detail, "resolved", "foundAt", "executable"):
        page.fact("found at", place.path(found), path=True)
    if cwd := text_of(detail, "cwd"):
        page.fact("runs in", place.path(cwd), path=True)
    if names := _environment(detail):
        page.fact("gets", names)
    page.fact("from", place.of(row.origin) or "not known", path=True)
    if row.plugin_id:
        page.fact("plugin", row.plugin_id)
    page.fact("enabled", f"{'on' if row.enabled else 'off'}, {decided(row.enabled_at, place)}")
    if row.required:
        page.fact("required", "yes; a thread does not start without it")


def _environment(detail: Details) -> str:
    return ", ".join(
        text_of(entry, "name") + ("" if entry.get("set", True) else " (not set)")
        for entry in items_of(detail.get("environment"))
    )


def _life(page: Page, row: ServerRow, detail: Details, place: Place, now: float) -> None:
    if row.protocol:
        page.fact("protocol", row.protocol)
    if row.auth != "unsupported" or row.auth_reason:
        said = f", {row.auth_reason}" if row.auth_reason else ""
        page.fact("signed in", f"{_AUTH.get(row.auth, row.auth)}{said}")
    if row.since and row.status not in ("starting", "waiting"):
        page.fact("since", moment(row.since, now))
    if row.latency_ms is not None:
        values = numbers_of(detail.get("latencies"))[-CHART:]
        chart = page.glyphs.spark(values) if len(values) >= CHARTED else ""
        page.fact("latency", f"{chart}  {row.latency_ms:.0f} ms".strip())
    if row.heard_at:
        page.fact("last heard", age(row.heard_at, now))
    if row.pid:
        page.fact("process", str(row.pid))
    if abilities := ", ".join(object_of(detail.get("capabilities"))):
        page.fact("abilities", abilities)
    if approval := text_of(detail, "approval"):
        page.fact("approval", approval)
    if limits := _limits(detail):
        page.fact("limits", limits)
    _ended(page, detail)
    if instructions := text_of(detail, "instructions"):
        page.section("Instructions", "as the server gives them")
        page.text(instructions, limit=6)


def _limits(detail: Details) -> str:
    named = (("start", text_of(detail, "startTimeout")), ("call", text_of(detail, "toolTimeout")))
    return ", ".join(f"{word} {seconds} s" for word, seconds in named if seconds)


def _ended(page: Page, detail: Details) -> None:
    """How it ended: what the process or the other side said, in numbers and in its own words."""
    if "exitCode" not in detail:
        return
    if code := text_of(detail, "exitCode"):
        page.fact("ended", f"exit code {code}")
    elif status := text_of(detail, "httpStatus"):
        page.fact("ended", f"HTTP {status}")
    if body := text_of(detail, "body"):
        page.section("The answer", "as it came")
        page.quote(body.splitlines()[:BODY_LINES])


def _tools(page: Page, tools: Sequence[ToolRow]) -> None:
    listed = [tool for tool in tools if tool.kind == "tool"]
    if not listed:
        return
    on = [tool for tool in listed if not tool.filtered]
    tokens = sum(tool.tokens for tool in on)
    page.section("Tools", f"{len(on)} of {len(listed)} on, ~{_thousands(tokens)} tokens")
    for tool in listed[:TOOLS_SHOWN]:
        sign: SignName = "off" if tool.filtered else "works" if tool.callable else "problem"
        page.item(sign, tool.name, f"{tool.tokens:>4} tk")
    if len(listed) > TOOLS_SHOWN:
        page.text(f"  and {len(listed) - TOOLS_SHOWN} more, on the tab Installed tools", "muted")


def _thousands(count: int) -> str:
    return f"{count / 1000:.1f}k" if count >= 1000 else str(count)


def _also(page: Page, row: ServerRow) -> None:
    counts = ((row.resources, "resource"), (row.templates, "template"))
    also = ", ".join(plural(count, word) for count, word in counts if count)
    if also:
        page.section("Also", also)


def _history(page: Page, detail: Details, now: float) -> None:
    past = items_of(detail.get("history"))[-HISTORY:]
    if len(past) < 2:
        return
    page.section("Before", "newest first")
    for entry in reversed(past):
        at = numbers_of([entry.get("at")])
        when = moment(at[0], now) if at else ""
        said = f"  {text_of(entry, 'reason')}" if text_of(entry, "reason") else ""
        page.add((pad(when, LABEL), "muted"), text_of(entry, "status"), (said, "muted"))
