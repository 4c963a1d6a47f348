"""A form on the screen: one line per field, faults below their field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, TypeAlias

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from tui.forms.form import Field as FormField
from tui.forms.form import Form, Path
from tui.forms.lines import Heading, HeadingLine, SelectField, SelectLine
from tui.forms.schema import UNSET, label_of
from tui.text import Part, clean, cut
from tui.widgets.field import Field, Tick
from tui.widgets.page import Page

LABEL = 18
HINT = 15
INDENT = 2
TICKED_MOST = 60
_TYPED = frozenset({"text", "integer", "number", "raw"})

Row: TypeAlias = "Field | SelectField | Heading | Static"


class FormView(Vertical):
    """Shows a form and writes into it what is typed and chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "app.focus_previous", "the field before", show=False),
        Binding("down,enter", "app.focus_next", "the next field", show=False),
    ]
    DEFAULT_CSS = f"""
    FormView {{
        height: auto;
        & Field > Horizontal > .label, & SelectField > Horizontal > .label {{
            width: {LABEL + 1};
        }}
        & Field > Horizontal > .hint {{ width: {HINT + 1}; }}
        & Field > .fault, & .fault {{ margin-left: {LABEL + 2}; }}
        & .fixed {{ height: 1; color: $text-muted; }}
        & Tick {{ margin-left: {LABEL + 1}; width: 1fr; }}
    }}
    """

    class Changed(Message):
        """Something was filled in."""

    class Focused(Message):
        """The cursor is in another field."""

        def __init__(self, field: FormField) -> None:
            super().__init__()
            self.field = field

    def __init__(self, form: Form, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.form = form
        self._rows: dict[FormField, Row] = {}
        self._of: dict[Widget, FormField] = {}
        self._places: dict[Widget, int] = {}
        self._widgets: dict[FormField, list[Widget]] = {}

    def compose(self) -> ComposeResult:
        """A row for each field."""
        yield from self._made()

    def _made(self) -> Iterator[Widget]:
        self._rows.clear()
        self._of.clear()
        self._places.clear()
        self._widgets.clear()
        for field in self.form.walk():
            yield from self._row(field)

    def _row(self, field: FormField) -> list[Widget]:
        made = self._widgets[field] = list(self._make(field))
        return made

    def _make(self, field: FormField) -> Iterator[Widget]:
        label = _label(field)
        kind = field.shape.kind
        if kind in _TYPED:
            row: Row = Field(
                label,
                field.text,
                hint=cut(_hint(field), HINT),
                placeholder="null" if field.shape.nullable else "",
                password=field.shape.secret,
                cells=LABEL,
            )
            self._of[row.input] = field
        elif kind == "choice" or (kind == "const" and not field.required):
            labels = [option.label for option in field.options]
            line = SelectLine(labels, field.chosen, may_be_unset=not field.required)
            row = SelectField(cut(label, LABEL), line)
            self._of[line] = field
        elif kind == "const":
            row = Static(
                Content(f"{cut(label, LABEL).ljust(LABEL + 2)}{clean(field.options[0].label)}"),
                classes="fixed",
            )
        else:
            heading = HeadingLine(label, self._note(field), focusable=kind == "list")
            row = Heading(heading)
            self._of[heading] = field
        self._rows[field] = row
        yield row
        if kind == "choices":
            for at, option in enumerate(field.options[:TICKED_MOST]):
                said: list[Part] = [(option.label, "")]
                tick = Tick(said, at in field.ticked)
                self._of[tick], self._places[tick] = field, at
                yield tick

    def _note(self, field: FormField) -> str:
        if field.shape.kind == "list":
            count = len(field.fields)
            items = "empty" if not count else "1 item" if count == 1 else f"{count} items"
            hint = f", {field.shape.hint}" if field.shape.hint else ""
            return f"{items}{hint}   ^n adds"
        about = field.shape.hint or field.shape.title
        if field.shape.kind == "choices" and len(field.options) > TICKED_MOST:
            return f"{about}; the first {TICKED_MOST} of {len(field.options)}, ^e takes all".lstrip(
                "; "
            )
        return about

    # -- what is wrong

    def show_faults(self, faults: Mapping[Path, str]) -> list[str]:
        """Put faults below their fields and go to the first.

        Returns:
            Those that belong to no field.
        """
        said: dict[FormField, str] = {}
        homeless: list[str] = []
        for path, text in faults.items():
            field = self.form.find(path)
            if field is None:
                place = ".".join(str(part) for part in path)
                homeless.append(f"{place}: {text}" if place else text)
            else:
                below = ".".join(str(part) for part in path[len(field.path) :])
                said.setdefault(field, f"{below}: {text}" if below else text)
        first: Widget | None = None
        for field, row in self._rows.items():
            fault = said.get(field, "")
            if isinstance(row, Static):
                if fault:
                    homeless.append(f"{field.label}: {fault}")
                continue
            row.fault = fault
            if fault and first is None:
                first = _editor(row)
        if first is not None:
            first.focus()
        return homeless

    # -- lists

    @property
    def focused_field(self) -> FormField | None:
        """The field that the cursor is in."""
        focused = self.screen.focused
        return self._of.get(focused) if focused is not None else None

    @property
    def list_here(self) -> FormField | None:
        """The list that the cursor is in, or stands on."""
        field = self.focused_field
        while field is not None and field.shape.kind != "list":
            field = field.parent
        return field

    @property
    def focused_item(self) -> FormField | None:
        """The item of a list that the cursor is in."""
        field = self.focused_field
        while field is not None and not field.removable:
            field = field.parent
        return field

    async def add_item(self, many: FormField) -> None:
        """Another item, which gets the cursor; other rows stay as they are."""
        before = list(self.form.walk())
        item = self.form.add(many)
        fresh = [field for field in self.form.walk() if field not in before]
        above = before[before.index(many) + sum(1 for _ in self._below(many)) - len(fresh)]
        last = self._widgets[above][-1]
        await self.mount_all([row for field in fresh for row in self._row(field)], after=last)
        if isinstance(heading := self._rows.get(many), Heading):
            heading.line.note = self._note(many)
        self.focus_field(self._first_of(item))

    def _below(self, field: FormField) -> Iterator[FormField]:
        for inner in field.fields:
            yield inner
            yield from self._below(inner)

    async def remove_item(self, item: FormField) -> None:
        """Take an item out."""
        many = item.parent
        self.form.remove(item)
        await self.rebuild(many)

    def _first_of(self, field: FormField) -> FormField:
        inner = [one for one in field.fields if one.shape.kind != "const"]
        return self._first_of(inner[0]) if inner else field

    async def rebuild(self, focus: FormField | None = None) -> None:
        """Make the rows anew: the form was filled, or has other fields."""
        async with self.batch():
            await self.remove_children()
            await self.mount_all(list(self._made()))
        if focus is not None:
            self.focus_field(focus)

    def focus_field(self, field: FormField) -> None:
        """Put the cursor in a field, at once: the next key is already meant for it."""
        row = self._rows.get(field)
        widget = _editor(row) if row is not None else None
        if widget is not None and widget.can_focus:
            self.screen.set_focus(widget)

    def focus_first(self) -> bool:
        """Put the cursor in the first field; False when there is none."""
        for row in self._rows.values():
            widget = _editor(row)
            if widget is not None and widget.can_focus:
                widget.focus()
                return True
        return False

    # -- what is filled in

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if (field := self._of.get(event.input)) is not None:
            field.text = event.value
            self._changed(field)

    @on(SelectLine.Changed)
    def _chosen(self, event: SelectLine.Changed) -> None:
        event.stop()
        if (field := self._of.get(event.line)) is not None:
            field.chosen = event.chosen
            self._changed(field)

    @on(Tick.Changed)
    def _ticked(self, event: Tick.Changed) -> None:
        event.stop()
        field = self._of.get(event.tick)
        if field is not None:
            at = self._places[event.tick]
            (field.ticked.add if event.ticked else field.ticked.discard)(at)
            self._changed(field)

    def _changed(self, field: FormField) -> None:
        row = self._rows.get(field)
        if row is not None and not isinstance(row, Static):
            row.fault = ""
        self.post_message(self.Changed())

    def on_descendant_focus(self) -> None:
        """Tell which field has the cursor."""
        if (field := self.focused_field) is not None:
            self.post_message(self.Focused(field))


def _editor(row: Row) -> Widget | None:
    match row:
        case Field():
            return row.input
        case SelectField() | Heading():
            return row.line
        case _:
            return None


def _label(field: FormField) -> str:
    """Indented by depth; the mark of what is required is never cut."""
    space = " " * (INDENT * min(field.depth, 4))
    mark = " *" if field.required and not field.removable else ""
    return f"{space}{cut(field.label, LABEL - len(space) - len(mark))}{mark}"


def _hint(field: FormField) -> str:
    if field.as_json:
        return "as JSON"
    return field.shape.hint or field.shape.about


def write_about(page: Page, field: FormField | None) -> None:
    """What the schema says of a field, for the place below the form."""
    if field is None:
        return
    shape = field.shape
    title = shape.title if shape.title and shape.title != field.label else ""
    page.add((field.label, "strong"), (f"  {title}" if title else "", "muted"))
    if shape.about:
        page.text(shape.about, "muted", limit=3)
    elif shape.default is not UNSET:
        page.text(f"default {label_of(shape.default)}", "muted", limit=1)
