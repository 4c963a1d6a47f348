"""What a server offers beside its tools: resources, templates and prompts, read on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container

from core.protocol.events import ResourceUpdated
from core.protocol.jackfield_tools import PromptListResult, ResourceListResult
from tui.forms.templates import expand, schema_of, variables
from tui.screens.prompts import ArgumentsSheet, prompt_schema, write_prompt
from tui.store import Changed
from tui.text import Hint
from tui.theme import app_of
from tui.tool_controller import Refused, ToolController
from tui.views.call_page import data_in, is_page, size, span, write_contents, write_cut
from tui.views.details import items_of, text_of
from tui.views.times import clock
from tui.widgets.columns import Column
from tui.widgets.page import Build, Page
from tui.widgets.page_view import Detail
from tui.widgets.row_list import RowList
from tui.widgets.row_view import RowView
from tui.widgets.sheet import Sheet
from tui.widgets.toast import toast

if TYPE_CHECKING:
    from tui.app import JackfieldApp

FEED = 12  # lines of the live feed
LOOKED_AT = 500  # of the last events
REREAD = 1.0  # seconds between two readings of a resource that keeps changing
_HEADS = {"resource": "Resources", "template": "Templates", "prompt": "Prompts"}
_ON_ROW = frozenset({"follow", "read_again", "write", "open_link"})


class OffersSheet(Sheet[None]):
    """A list, and what the selected one is or was read as."""

    SIZE = "large"
    MAY_BE_ASKED: ClassVar = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "follow", "follow changes"),
        Binding("r", "read_again", "read again", id="row.refresh"),
        Binding("w", "write", "write file", id="list.write"),
        Binding("o", "open_link", "open link", id="row.open"),
        Binding("c", "copy", "copy", id="row.copy"),
        Binding("escape", "close", "close", id="form.close"),
    ]
    DEFAULT_CSS = """
    OffersSheet {
        & > #box { height: 90%; }
        & > #box > #body { height: 1fr; overflow: hidden; }
        & #parts { height: 1fr; layout: horizontal; }
        & #parts > RowList { width: 5fr; height: 1fr; }
        & #parts > Detail { width: 6fr; height: 1fr; padding: 0 0 0 1; }
        &.-narrow #parts { layout: vertical; }
        &.-narrow #parts > RowList { width: 100%; height: 2fr; }
        &.-narrow #parts > Detail { width: 100%; height: 3fr; }
    }
    """
    COLUMNS = (
        Column("name", "Name", 16, grow=1, most=40, match=True),
        Column("kind", "Kind", 14, most=20, keep=2),
        Column("follow", "", 9, keep=3),
    )

    def __init__(
        self,
        server: str,
        resources: ResourceListResult,
        prompts: PromptListResult,
        tools: ToolController,
    ) -> None:
        super().__init__(f"What {server} offers")
        self._server, self._tools = server, tools
        self._able, self._prompts_able = resources, prompts.complete
        self._items: dict[str, Mapping[str, Any]] = {}
        for kind, key, items in (
            ("resource", "uri", resources.resources),
            ("template", "uriTemplate", resources.templates),
            ("prompt", "name", prompts.prompts),
        ):
            self._items |= {f"{kind} {item[key]}": item for item in items}
        self._followed = set(resources.subscribed)
        self._read: dict[str, Build] = {}
        self._uris: dict[str, str] = {}
        self._contents: dict[str, Sequence[dict[str, Any]]] = {}
        self._said: dict[str, str] = {}
        self._resting = self._changed_again = False
        self._rows = RowList(self.COLUMNS)
        self._detail = Detail(self._write)

    def body(self) -> ComposeResult:
        """The list and the page."""
        with Container(id="parts"):
            yield self._rows
            yield self._detail

    def on_mount(self) -> None:
        """Fill the list and follow what is followed."""
        super().on_mount()
        ids: list[str] = []
        heads: list[str] = []
        for kind in _HEADS:
            keys = [key for key in self._items if _kind(key) == kind]
            if keys:
                heads.append(f"head {kind}")
                ids += [heads[-1], *keys]
        self._rows.set_rows(ids, self._row, heads=heads, keep=ids[1] if len(ids) > 1 else None)
        self._rows.focus()
        self._app.changes.subscribe(self, self._news)
        counts = [f"{sum(_kind(k) == kind for k in self._items)} {kind}s" for kind in _HEADS]
        self.set_status(", ".join(count for count in counts if not count.startswith("0 ")))

    @property
    def _app(self) -> JackfieldApp:
        return cast("JackfieldApp", app_of(self))

    # -- the list

    def _row(self, key: str) -> RowView:
        kind = _kind(key)
        if kind == "head":
            return RowView("none", {"name": [(_HEADS[key.partition(" ")[2]], "strong")]})
        item = self._items[key]
        followed = self._uri(key) in self._followed
        note = text_of(item, "mimeType")
        if kind == "prompt":
            count = len(items_of(item.get("arguments")))
            note = f"{count} argument{'' if count == 1 else 's'}" if count else ""
        return RowView(
            "works" if followed else "none",
            {
                "name": text_of(item, "title", "name") or key.partition(" ")[2],
                "kind": [(note, "muted")],
                "follow": [("followed", "accent")] if followed else [],
            },
        )

    @property
    def _key(self) -> str:
        key = self._rows.cursor_id or ""
        return key if key in self._items else ""

    def _uri(self, key: str) -> str:
        """Of a resource, or of what a template was last read as."""
        if _kind(key) == "resource":
            return key.partition(" ")[2]
        return self._uris.get(key, "")

    @on(RowList.Highlighted)
    def _highlighted(self) -> None:
        self._detail.show(self._write)
        self.refresh_bindings()

    @on(RowList.Activated)
    def _activated(self) -> None:
        if self._key:
            self._open(self._key, ask=True)

    # -- reading

    @work(group="read", exclusive=True)
    async def _open(self, key: str, *, ask: bool) -> None:
        kind, item = _kind(key), self._items[key]
        try:
            if kind == "prompt":
                await self._get_prompt(key, item)
            elif kind == "template" and (ask or key not in self._uris):
                if uri := await self._ask_uri(item):
                    self._uris[key] = uri
                    await self._read_uri(key, uri)
            else:
                await self._read_uri(key, self._uri(key))
        except Refused as why:
            self._said[key] = str(why)
            self._read.pop(key, None)
        self._rows.update_row(key)
        self._detail.redraw()
        self.refresh_bindings()

    async def _read_uri(self, key: str, uri: str) -> None:
        result = await self._tools.read(self._server, uri)
        self._said.pop(key, None)
        self._contents[key] = result.contents

        def write(page: Page) -> None:
            took = f"{span(result.duration_ms)}, {size(result.bytes)}"
            page.state("works", "read", took)
            for entry in result.contents:
                page.section("Text" if "text" in entry else "Bytes", text_of(entry, "mimeType"))
                write_contents(page, entry)
            if not result.contents:
                page.text("There is nothing in it.", "muted")
            write_cut(page, result.cut)

        self._read[key] = write

    async def _ask_uri(self, item: Mapping[str, Any]) -> str:
        template = text_of(item, "uriTemplate")
        if not variables(template):
            return template
        ref = {"type": "ref/resource", "uri": template} if self._able.complete else None
        sheet = ArgumentsSheet(
            f"Read {text_of(item, 'title', 'name')}",
            f"{text_of(item, 'description')}\n{template}".strip(),
            schema_of(template),
            self._server,
            self._tools,
            ref,
        )
        values = await self._app.push_screen_wait(sheet)
        return expand(template, values) if values is not None else ""

    async def _get_prompt(self, key: str, item: Mapping[str, Any]) -> None:
        name, values = text_of(item, "name"), {}
        if items_of(item.get("arguments")):
            ref = {"type": "ref/prompt", "name": name} if self._prompts_able else None
            sheet = ArgumentsSheet(
                f"Get {text_of(item, 'title', 'name')}",
                text_of(item, "description"),
                prompt_schema(item),
                self._server,
                self._tools,
                ref,
            )
            asked = await self._app.push_screen_wait(sheet)
            if asked is None:
                return
            values = asked
        result = await self._tools.prompt(self._server, name, values)
        self._said.pop(key, None)
        self._contents[key] = [dict(message["content"]) for message in result.messages]
        self._read[key] = lambda page: write_prompt(page, name, result)

    # -- the page

    def _write(self, page: Page) -> None:
        key = self._key
        if not key:
            page.title(f"What {self._server} offers")
            page.gap()
            page.text("Resources are read when you press enter on them, not before.", "muted")
            return
        self._write_item(page, key)
        if uri := self._uri(key):
            self._write_feed(page, uri)
        if said := self._said.get(key):
            page.gap()
            page.state("failed", "not read", said)
        elif write := self._read.get(key):
            page.gap()
            write(page)

    def _write_item(self, page: Page, key: str) -> None:
        item = self._items[key]
        page.title(text_of(item, "title", "name"), _kind(key))
        if _kind(key) != "prompt":
            page.fact("uri", text_of(item, "uri", "uriTemplate"), path=True)
        if mime := text_of(item, "mimeType"):
            page.fact("type", mime)
        if isinstance(item.get("size"), int):
            page.fact("size", size(item["size"]))
        if about := text_of(item, "description"):
            page.text(about, "muted", limit=4)
        if key not in self._read and key not in self._said:
            page.gap()
            page.keys(("enter", "gets it" if _kind(key) == "prompt" else "reads it"))

    def _write_feed(self, page: Page, uri: str) -> None:
        lines = self._feed(uri)
        if uri not in self._followed and not lines:
            return
        page.section("Changes", "followed" if uri in self._followed else "no longer followed")
        if not lines:
            page.text("None yet.", "muted")
        for event in lines[:FEED]:
            said = f"{event.what}  {event.text}" if event.text else event.what
            page.add((f"{clock(event.at)}  ", "muted"), (said, ""))

    def _feed(self, uri: str) -> list[ResourceUpdated]:
        """Newest first."""
        activity = self._app.store.activity
        found: list[ResourceUpdated] = []
        for at in range(1, min(len(activity), LOOKED_AT) + 1):
            event = activity[-at].event
            if isinstance(event, ResourceUpdated):
                if (event.name, event.uri) == (self._server, uri):
                    found.append(event)
        return found

    # -- following

    def _news(self, changed: set[Changed]) -> None:
        if "resources" not in changed or not self._key:
            return
        self._detail.redraw()
        uri = self._uri(self._key)
        if uri not in self._followed or self._key not in self._read:
            return
        if self._resting:
            self._changed_again = True
            return
        self._resting, self._changed_again = True, False
        self.set_timer(REREAD, self._rested)
        self._open(self._key, ask=False)

    def _rested(self) -> None:
        self._resting = False
        if self._changed_again:
            self._news({"resources"})

    @work(group="follow", exclusive=True)
    async def action_follow(self) -> None:
        """Have changes told, or no longer; the resource that is shown is then read again."""
        key = self._key
        uri = self._uri(key)
        on = uri not in self._followed
        try:
            await self._tools.follow(self._server, uri, on)
        except Refused as why:
            toast(self._app, f"{uri}: not {'followed' if on else 'let go'}: {why}", fault=True)
            return
        (self._followed.add if on else self._followed.discard)(uri)
        self._rows.update_row(key)
        self._detail.redraw()
        self.refresh_bindings()

    def action_read_again(self) -> None:
        """Read it once more."""
        self._open(self._key, ask=False)

    # -- what can be done with it

    @work(group="result")
    async def action_write(self) -> None:
        """Write bytes to a file."""
        from tui.screens.try_tool import save_data

        if data := data_in(self._contents.get(self._key, ())):
            await save_data(self._app, data[0])

    @work(group="result")
    async def action_open_link(self) -> None:
        """Open a resource that is a page, after its host has been shown."""
        from tui.screens.links import open_link

        await open_link(self._app, self._tools, [self._uri(self._key)])

    def action_copy(self) -> None:
        """Copy what was read, else the URI or the name."""
        key = self._key
        texts = [text_of(entry, "text") for entry in self._contents.get(key, ())]
        whole = "\n".join(text for text in texts if text)
        self._app.copy_to_clipboard(whole or self._uri(key) or key.partition(" ")[2])
        toast(self._app, "Copied: what was read" if whole else "Copied: the name")

    def hints(self) -> tuple[Sequence[Hint], Sequence[Hint]]:
        """`enter` is bound by the list."""
        shown, tail = super().hints()
        if not self._key:
            return [], tail
        label = "get it" if _kind(self._key) == "prompt" else "read it"
        named = {"s": "stop following"} if self._uri(self._key) in self._followed else {}
        shown = [Hint(hint.key, named.get(hint.key, hint.label)) for hint in shown]
        return [Hint("enter", label), *shown], tail

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What means nothing on the selected row is not shown."""
        key = self._key
        if not key:
            return action not in _ON_ROW and action != "copy"
        match action:
            case "follow":
                return self._able.subscribe and bool(self._uri(key))
            case "read_again":
                return key in self._read and _kind(key) != "prompt"
            case "write":
                return bool(data_in(self._contents.get(key, ())))
            case "open_link":
                return is_page(self._uri(key))
            case _:
                return True


def _kind(key: str) -> str:
    return key.partition(" ")[0]
