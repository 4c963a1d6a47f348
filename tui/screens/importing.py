"""Servers and plugins of other agents: what would be written, row by row, before it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from core.protocol.jackfield_import import ImportChoice, ImportRow, ImportSource, ScanResult
from tui.signs import SignName, glyphs_of
from tui.text import Hint, Part, Tone
from tui.views.base import Place, plural
from tui.widgets.columns import Column
from tui.widgets.field import Field
from tui.widgets.page import Page
from tui.widgets.page_view import PageView
from tui.widgets.row_list import RowList
from tui.widgets.row_view import RowView
from tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from tui.import_controller import ImportController

_SIGNS: dict[str, SignName] = {
    "new": "none", "same": "works", "clash": "problem", "blocked": "failed",
}  # fmt: skip
_WORDS = {"same": "there", "clash": "name taken", "blocked": "not for Codex"}


@dataclass(frozen=True)
class Chosen:
    """What was said about one row. `name`: "" = its own."""

    ticked: bool = False
    name: str = ""
    replace: bool = False
    copies: bool = False


class ImportSheet(Sheet[None]):
    """`space` ticks, `ctrl+s` writes all that is ticked at once; closing it writes nothing.

    A name that is taken is written under another one, or over what is there; literal secrets
    are copied only where that was said.
    """

    SIZE = "large"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "tick", "choose", id="row.switch"),
        Binding("E", "rename", "rename", id="row.edit"),
        Binding("m", "over", "replace what is there", id="row.mend"),
        Binding("y", "copies", "copy its secret", id="row.secrets"),
        Binding("ctrl+s", "submit", "write", id="form.submit", priority=True),
        Binding("tab", "app.focus_next", "next", show=False, id="form.next"),
        Binding("escape", "close", "close", id="form.close"),
    ]
    DEFAULT_CSS = """
    ImportSheet {
        & #box #body RowList { height: auto; max-height: 14; }
        &.-short #box #body RowList { max-height: 9; }
        & #box #body Field { margin: 0 1 0 0; display: none; }
        & #box #body Field.-open { display: block; }
        & #said { height: auto; min-height: 6; background: $surface; padding: 0 2 0 3; }
        & #box #body #said { margin: 1 1 0 0; }
        &.-short #box #body #said { margin: 0 1 0 0; }
    }
    """
    COLUMNS = (
        Column("name", "Name", 22, grow=1, most=34),
        Column("state", "State", 14),
        Column("target", "Starts or connects", 20, grow=3, keep=2),
    )

    def __init__(self, calls: ImportController, place: Place) -> None:
        super().__init__("Import servers and plugins", "nothing is written before ctrl+s")
        self._calls, self._place = calls, place
        self._rows = RowList(self.COLUMNS)
        self._name = Field("write as", id="name")
        self._said = PageView(self._tell, id="said")
        self._found: ScanResult | None = None
        self._by_id: dict[str, ImportRow] = {}
        self._chosen: dict[str, Chosen] = {}
        self._fault = ""
        self._busy = "looking at the files of other agents"

    def body(self) -> ComposeResult:
        """The rows by file, a field for another name, what would be written."""
        yield self._rows
        yield self._name
        yield self._said

    def on_mount(self) -> None:
        """Look at once."""
        self._show()
        self._scan()

    @work(group="scan", exclusive=True)
    async def _scan(self) -> None:
        answer = await self._calls.scan()
        self._busy = ""
        if isinstance(answer, str):
            self._fault = answer
        else:
            self._found = answer
            self._by_id = {row.id: row for row in answer.rows}
            self._chosen = {row.id: Chosen(ticked=row.proposed) for row in answer.rows}
        self._show()
        self._rows.focus()

    # -- the rows

    def _show(self) -> None:
        sources: Sequence[ImportSource] = self._found.sources if self._found else ()
        ids: list[str] = []
        heads: set[str] = set()
        for source in sources:
            heads.add(source.id)
            ids.append(source.id)
            ids += [row.id for row in self._by_id.values() if row.source == source.id]
        self._rows.set_rows(ids, self._row, heads=heads)
        if self._rows.cursor_id in heads and (first := next(iter(self._by_id), "")):
            self._rows.move_to(first)
        self._rows.display = bool(ids)
        self._rows.styles.height = max(1, len(ids))
        self._refresh()

    def _refresh(self) -> None:
        self._rows.invalidate()
        count = sum(chosen.ticked for chosen in self._chosen.values())
        self.set_status(
            f"{plural(count, 'row')} to write" if count else "nothing is written before ctrl+s"
        )
        self.redraw()
        self.refresh_bindings()

    def _row(self, key: str) -> RowView:
        row = self._by_id.get(key)
        if row is None:
            return self._head(key)
        chosen = self._chosen[key]
        mark = glyphs_of(self).line("tick") if chosen.ticked else " "
        name = f"{row.name} → {chosen.name}" if chosen.name else row.name
        parts: list[Part] = [("[", "muted"), (mark, "accent"), ("] ", "muted"), (name, "")]
        return RowView(
            _SIGNS[row.state],
            {"name": parts, "state": _state(row, chosen), "target": [(row.target, "muted")]},
        )

    def _head(self, key: str) -> RowView:
        sources = self._found.sources if self._found is not None else ()
        source = next((source for source in sources if source.id == key), None)
        if source is None:
            return RowView("none", {"name": key})
        note = {"empty": "nothing for Codex", "broken": "✗ cannot be read"}.get(
            source.state, str(source.rows)
        )
        path = self._place.path(source.path)
        name: list[Part] = [(source.label, "strong"), (f"  {path}", "muted")]
        return RowView("none", {"name": name}, note=[(note, "muted")])

    def _selected(self) -> ImportRow | None:
        return self._by_id.get(self._rows.cursor_id or "")

    def _source(self) -> ImportSource | None:
        sources = self._found.sources if self._found is not None else ()
        return next((one for one in sources if one.id == self._rows.cursor_id), None)

    # -- the selected one

    def _tell(self, page: Page) -> None:
        if self._busy:
            page.item("busy", self._busy)
            return
        if self._fault:
            page.state("failed", "nothing was written", self._fault)
            page.gap()
        row = self._selected()
        if row is not None:
            self._about(page, row)
        elif (source := self._source()) is not None:
            self._about_file(page, source)
        elif self._found is not None and not self._found.sources:
            page.title("Nothing of other agents here")
            page.text(
                "Claude Code, Claude Desktop, Cursor, VS Code and Gemini CLI were looked for, "
                "for you and for this project."
            )

    def _about_file(self, page: Page, source: ImportSource) -> None:
        line = f":{source.line}" if source.line else ""
        page.fact("file", f"{self._place.path(source.path)}{line}", path=True)
        page.fact("holds for", "you" if source.scope == "user" else "this project")
        if source.message:
            page.state("failed", "cannot be read", source.message)

    def _about(self, page: Page, row: ImportRow) -> None:
        chosen = self._chosen[row.id]
        where = self._place.of(row.origin)
        page.both([(row.name, "strong"), (f"  {row.reason}", "")], [(where, "muted")])
        if row.state != "blocked":
            for line in _written(row, chosen):
                page.exact(f"{line[:1]} {line[1:]}", _tone(line))
        for place in row.secrets:
            if chosen.copies:
                page.item("needs", f"the literal secret in {place} is copied")
            else:
                page.item("problem", f"holds a literal secret in {place}: not copied")
        if row.wants and not chosen.copies:
            page.item("needs", f"set {', '.join(row.wants)} in your environment")
        for note in row.notes:
            page.text(note, "muted", indent=2)

    # -- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that do something on this row."""
        row = self._selected()
        if action == "submit":
            return not self._busy and any(one.ticked for one in self._chosen.values())
        if action == "tick":
            return row is not None and row.state in ("new", "clash")
        if action == "rename":
            return row is not None and row.state in ("new", "clash") and row.kind != "plugin"
        if action == "over":
            return row is not None and row.state == "clash"
        if action == "copies":
            return row is not None and bool(row.secrets) and row.state != "blocked"
        return True

    def hints(self) -> tuple[Sequence[Hint], Sequence[Hint]]:
        """In the field letters are text."""
        shown, tail = super().hints()
        if self._name.input.has_focus:
            return [Hint("enter", "take this name")], tail
        return shown, tail

    def _set(self, row: ImportRow, chosen: Chosen) -> None:
        self._chosen[row.id] = chosen
        self._fault = ""
        self._refresh()

    def action_tick(self) -> None:
        """Choose it, or leave it out; a name that is taken gives way to a free one."""
        row = self._selected()
        if row is None:
            return
        chosen = self._chosen[row.id]
        if chosen.ticked:
            self._set(row, Chosen())
            return
        name = row.free_name if row.state == "clash" and not chosen.replace else chosen.name
        self._set(row, replace(chosen, ticked=True, name=name))

    def action_over(self) -> None:
        """Write over what is there, or beside it again."""
        row = self._selected()
        if row is None:
            return
        over = not self._chosen[row.id].replace
        name = "" if over else row.free_name
        self._set(row, replace(self._chosen[row.id], ticked=True, replace=over, name=name))

    def action_copies(self) -> None:
        """Copy its literal secrets, or name variables again."""
        row = self._selected()
        if row is not None:
            chosen = self._chosen[row.id]
            self._set(row, replace(chosen, copies=not chosen.copies, ticked=True))

    def action_rename(self) -> None:
        """Ask for another name."""
        row = self._selected()
        if row is not None:
            self._name.value = self._chosen[row.id].name or row.free_name or row.name
            self._name.add_class("-open")
            self._name.input.focus()
            self.refresh_bindings()

    @on(Input.Submitted)
    def _named(self, event: Input.Submitted) -> None:
        event.stop()
        row, name = self._selected(), self._name.value.strip()
        self._leave_field()
        if row is not None and name:
            chosen = replace(self._chosen[row.id], ticked=True, replace=False)
            self._set(row, replace(chosen, name="" if name == row.name else name))

    def _leave_field(self) -> None:
        self._name.remove_class("-open")
        self._rows.focus()

    def action_close(self) -> None:
        """Out of the field first, then out of the sheet."""
        if self._name.input.has_focus:
            self._leave_field()
            self.refresh_bindings()
        else:
            super().action_close()

    @on(RowList.Highlighted)
    def _highlighted(self) -> None:
        self._said.redraw()
        self.refresh_bindings()

    @on(RowList.Activated)
    def _entered(self) -> None:
        if self.check_action("tick", ()):
            self.action_tick()

    # -- writing

    def action_submit(self) -> None:
        """Write everything that is ticked, in one go."""
        choices = _choices(self._by_id, self._chosen)
        if choices and not self._busy:
            self._busy = f"writing {plural(len(choices), 'row')}; marketplaces are cloned"
            self._refresh()
            self._write(choices)

    @work(group="write")
    async def _write(self, choices: Sequence[ImportChoice]) -> None:
        answer = await self._calls.apply(choices)
        self._busy = ""
        if isinstance(answer, str):
            self._fault = answer
            if self.is_attached:
                self._refresh()
        elif self.is_current:
            self.dismiss(None)


def _choices(
    rows: Mapping[str, ImportRow], chosen: Mapping[str, Chosen]
) -> tuple[ImportChoice, ...]:
    return tuple(
        ImportChoice(
            id=key,
            digest=rows[key].digest,
            name=one.name or None,
            replace=one.replace,
            copy_secrets=one.copies,
        )
        for key, one in chosen.items()
        if one.ticked
    )


def _state(row: ImportRow, chosen: Chosen) -> list[Part]:
    if row.state == "clash" and chosen.ticked:
        return [("replaces" if chosen.replace else "beside", "")]
    if row.state == "new":
        return [("secret", "care")] if row.secrets and not chosen.copies else [("new", "")]
    return [(_WORDS[row.state], "muted")]


def _written(row: ImportRow, chosen: Chosen) -> list[str]:
    """The difference that writing makes; a row that goes beside another changes nothing there."""
    if chosen.name:
        return [f"+{line}" for line in _under(row, chosen.name).splitlines()]
    return list(row.diff)


def _under(row: ImportRow, name: str) -> str:
    """The table under another name."""
    head, _, last = row.table.rpartition(".")
    shown = name if name.replace("-", "").replace("_", "").isalnum() else f'"{name}"'
    return row.toml.replace(f"[{head}.{last}", f"[{head}.{shown}")


def _tone(line: str) -> Tone:
    tones: dict[str, Tone] = {"+": "good", "-": "bad"}
    return tones.get(line[:1], "muted")
