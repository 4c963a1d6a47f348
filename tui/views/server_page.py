"""Details of an MCP server, by state."""

from __future__ import annotations

from collections.abc import Sequence

from core.protocol.rows import ServerRow, ToolRow
from tui.signs import SignName
from tui.text import pad
from tui.views import sign_in
from tui.views.base import Details, Place, State, decided, plural, write_problems
from tui.views.details import JsonObject, items_of, numbers_of, object_of, text_of, texts_of
from tui.views.times import age, moment, running
from tui.widgets.page import LABEL, Page

TOOLS_SHOWN = 60
CHART = 16  # cells
CHARTED = 4  # values that make a chart
BODY_LINES = 12
HISTORY = 50
NAMES_SHOWN = 8
STDERR = 40  # lines


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
        page.keys(("ctrl+x", "cancel"), ("L", "raise the limit"))
    _to_do(page, row, detail, place, now)
    page.gap()
    _target(page, row, detail, place)
    _life(page, row, detail, place, now)
    write_problems(page, row.problems, place)
    if tail := texts_of(detail.get("stderr"))[-STDERR:] or list(row.stderr_tail):
        words = "What it says" if row.status in ("starting", "connected") else "Its last words"
        page.section(words, f"stderr, {plural(len(tail), 'line')}")
        page.quote(tail, last="strong")
    _tools(page, tools)
    _offered(page, row, tools)
    _history(page, detail, now)


def _to_do(page: Page, row: ServerRow, detail: Details, place: Place, now: float) -> None:
    """What its state asks of somebody, and of whom."""
    if row.status == "connected" and not row.configured:
        page.gap()
        page.text("Its table is gone; what runs of it is as it was started.", "muted")
        page.keys(("m", "end it"))
    elif row.status == "blocked":
        page.gap()
        if where := place.of(row.enabled_at):
            page.fact("policy", where, path=True)
        page.fact("decides", "your administrator")
    elif row.status == "review":
        _change(page, object_of(detail.get("consent")), now)


def _change(page: Page, consent: JsonObject, now: float) -> None:
    """What was agreed to, and what it is now; nothing of it is cut."""
    lines, was = texts_of(consent.get("now")), texts_of(consent.get("was"))
    if not lines:
        return
    at = numbers_of([consent.get("at")])
    note = f"agreed to {moment(at[0], now)}" if at and was else "never agreed to"
    page.section("What would run", note)
    former = {line.partition(" ")[0]: line for line in was}
    for line in lines:
        before = former.pop(line.partition(" ")[0], "")
        if before:
            page.change(before, line)
        else:
            page.exact(line, indent=2)
    for line in former.values():
        page.change(line, "")


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
    sign_in.facts(page, row, object_of(detail.get("signIn")), now)
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


def _offered(page: Page, row: ServerRow, rows: Sequence[ToolRow]) -> None:
    """Resources, templates and prompts, by name."""
    counts = {"resource": row.resources, "template": row.templates, "prompt": None}
    for kind, count in counts.items():
        listed = [each for each in rows if each.kind == kind]
        total = count if count is not None else len(listed)
        if not total:
            continue
        page.section(f"{kind.capitalize()}s", str(total))
        for each in listed[:NAMES_SHOWN]:
            page.item("none", each.title or each.name, each.description if each.title else "")
        if total > NAMES_SHOWN:
            page.text(f"  and {total - NAMES_SHOWN} more", "muted")


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
