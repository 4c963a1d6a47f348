"""What came of a call: texts, JSON, pictures, links, and whether it is what was promised."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from tui.text import Part
from tui.views.details import object_of, text_of
from tui.widgets.page import Page

if TYPE_CHECKING:
    from core.protocol.jackfield_tools import ToolCallResult
    from tui.forms.checking import Checked

TEXT_LINES = 1_500
JSON_LINES = 1_500
JSON_CHARS = 200_000
FAULTS = 12


class Data(NamedTuple):
    """Something that can be written to a file: base64, its type, a name to begin with."""

    base64: str
    mime: str
    name: str


def size(count: int) -> str:
    """`812 bytes`, `1.2 kB`, `3.4 MB`."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1000:.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


def span(ms: float) -> str:
    """`84 ms`, `3.2 s`."""
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def write_result(page: Page, result: ToolCallResult, output: Checked, promised: bool) -> None:
    """Everything of a result.

    Args:
        output: What the check of the structured content said.
        promised: There is an output schema.
    """
    took = f"{span(result.duration_ms)}, {size(result.bytes)}"
    if result.outcome == "cancelled":
        page.state("off", "cancelled", f"by you, after {span(result.duration_ms)}")
        return
    if result.outcome == "failed":
        page.state("failed", "no answer", result.reason)
        if result.hint:
            page.text(result.hint, "muted", indent=2)
        return
    if result.is_error:
        page.state("failed", "the tool says", took)
    else:
        page.state("works", "answered", took)
    write_blocks(page, result.content)
    if result.structured:
        _structured(page, result.structured_content, output, promised)
    elif promised and not result.is_error:
        page.gap()
        page.state("problem", "nothing structured", "though it has an output schema")
    if result.meta is not None:
        page.section("_meta")
        write_json(page, result.meta, 60)
    write_cut(page, result.cut)


def write_cut(page: Page, cut: str) -> None:
    """What was left out."""
    if cut:
        page.gap()
        page.state("problem", "cut", cut)


def _structured(page: Page, value: Any, output: Checked, promised: bool) -> None:
    if not promised:
        note = "no output schema"
    elif output.faults:
        note = "breaks the output schema"
    else:
        note = "not checked" if output.unchecked else "matches the output schema"
    page.section("Structured", note)
    write_json(page, value)
    for fault in output.faults[:FAULTS]:
        place = ".".join(str(part) for part in fault.path) or "the whole"
        page.state("problem", place, fault.text)
    if output.unchecked:
        page.text(output.unchecked, "muted")


def write_json(page: Page, value: Any, limit: int = JSON_LINES) -> None:
    """A JSON value, indented, behind a bar."""
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        page.text("nested too deeply to be shown", "muted")
        return
    _lines(page, text[: JSON_CHARS * 5], limit)


def _lines(page: Page, text: str, limit: int) -> None:
    lines = text.split("\n")
    page.quote(lines[:limit], "")
    if len(lines) > limit:
        page.text(f"{len(lines) - limit:,} more lines", "muted")


def write_blocks(page: Page, blocks: Sequence[dict[str, Any]]) -> None:
    """Content blocks of a result, or of a prompt's message."""
    if not blocks:
        page.gap()
        page.text("There is nothing in it.", "muted")
    for block in blocks:
        write_block(page, block)


def write_block(page: Page, block: dict[str, Any]) -> None:
    """One content block."""
    kind = text_of(block, "type")
    match kind:
        case "text":
            page.section("Text")
            write_text(page, text_of(block, "text"))
        case "image" | "audio":
            _data(page, kind, text_of(block, "data"), text_of(block, "mimeType"))
        case "resource":
            inner = object_of(block.get("resource"))
            page.section("Resource", text_of(inner, "mimeType"))
            write_contents(page, cast("dict[str, Any]", inner))
        case "resource_link":
            page.section("Link", text_of(block, "mimeType"))
            name = text_of(block, "title", "name")
            page.item("none", name, "o opens" if is_page(text_of(block, "uri")) else "")
            page.link(text_of(block, "uri"), indent=2)
            if about := text_of(block, "description"):
                page.text(about, "muted", indent=2, limit=3)
        case _:
            page.section(kind or "Something else")
            write_json(page, block, 40)


def write_contents(page: Page, entry: dict[str, Any]) -> None:
    """One entry of a resource: text, or a note on its bytes."""
    page.link(text_of(entry, "uri"))
    if "blob" in entry:
        _data(page, "bytes", text_of(entry, "blob"), text_of(entry, "mimeType"), section=False)
    else:
        write_text(page, text_of(entry, "text"))


def write_text(page: Page, text: str) -> None:
    """A text; JSON is indented."""
    if pretty := _pretty(text):
        _lines(page, pretty, JSON_LINES)
        return
    page.text(text, limit=TEXT_LINES)


def _pretty(text: str) -> str:
    stripped = text.strip()
    if not stripped.startswith(("{", "[")) or len(stripped) > JSON_CHARS:
        return ""
    try:
        return json.dumps(json.loads(stripped), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


def _data(page: Page, kind: str, data: str, mime: str, section: bool = True) -> None:
    if section:
        page.section(kind.capitalize())
    note = "w writes it to a file" if data else "left out, too large"
    parts: list[Part] = [
        (mime or "of no named type", ""),
        (f"  {size(len(data) * 3 // 4)}", "muted"),
    ]
    page.item("none", parts if data else [(mime, "")], note)


# -- what can be done with it


def links_in(blocks: Sequence[dict[str, Any]]) -> list[str]:
    """Pages that can be opened, in order, each once."""
    found = [text_of(block, "uri") for block in blocks if block.get("type") == "resource_link"]
    inner = [text_of(object_of(block.get("resource")), "uri") for block in blocks]
    return list(dict.fromkeys(uri for uri in [*found, *inner] if is_page(uri)))


def is_page(uri: str) -> bool:
    """A page for a browser."""
    return uri.lower().startswith(("https://", "http://"))


def data_in(blocks: Sequence[dict[str, Any]]) -> list[Data]:
    """What can be written to a file."""
    found: list[Data] = []
    for block in blocks:
        inner = object_of(block.get("resource")) or block
        base64 = text_of(block, "data") or text_of(inner, "blob")
        if base64:
            mime = text_of(block, "mimeType") or text_of(inner, "mimeType")
            found.append(Data(base64, mime, file_name(text_of(inner, "uri"), mime)))
    return found


def file_name(uri: str, mime: str) -> str:
    """A name for a file, made of nothing that means something to a shell or a folder."""
    import mimetypes
    import re

    last = uri.rstrip("/").rpartition("/")[2]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", last).strip(".-")[:60]
    ending = mimetypes.guess_extension(mime.partition(";")[0].strip()) or ".bin"
    if not name:
        return f"result{ending}"
    return name if "." in name else f"{name}{ending}"
