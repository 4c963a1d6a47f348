"""What is wrong with a marketplace or plugin folder: findings in a list, one of them whole."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input
from textual.worker import Worker

from core.protocol.jackfield_validate import LEVELS, Finding, Level, ValidateResult
from tui.signs import SignName
from tui.text import Hint
from tui.theme import app_of
from tui.views.base import Place, plural
from tui.widgets.columns import Column
from tui.widgets.field import Field
from tui.widgets.page import Page
from tui.widgets.page_view import PageView
from tui.widgets.row_list import RowList
from tui.widgets.row_view import RowView
from tui.widgets.sheet import Sheet
from tui.widgets.toast import toast

Look = Callable[[str], Awaitable[ValidateResult | str]]
_SIGNS: dict[Level, SignName] = {"error": "failed", "warning": "problem", "info": "none"}


class ValidateSheet(Sheet[None]):
    """Takes a path, looks, shows. `ctrl+x` ends a look that takes long.

    Args:
        look: Answers with the findings, or with why there are none.
        folder: To begin with; looked at once.
    """

    SIZE = "large"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "look", "look again", id="form.submit", priority=True),
        Binding("f", "level", "errors only", id="list.next-view"),
        Binding("c", "copy", "copy", id="row.copy"),
        Binding("tab", "app.focus_next", "next", show=False, id="form.next"),
        Binding("ctrl+x", "cancel", "cancel", id="form.cancel", priority=True),
        Binding("escape", "close", "close", id="form.close", priority=True),
    ]
    DEFAULT_CSS = """
    ValidateSheet {
        & #box #body Field { margin: 0 1 0 0; }
        & #box #body #summary { margin: 1 1 0 0; }
        & #box #body RowList { height: auto; max-height: 16; margin: 1 0 0 0; }
        &.-short #box #body RowList { max-height: 11; margin: 0; }
        & #said { height: 8; background: $surface; padding: 0 2 0 3; }
        & #box #body #said { margin: 1 1 0 0; }
        &.-short #box #body #said { margin: 0 1 0 0; }
    }
    """
    COLUMNS = (
        Column("line", "Line", 5, right=True),
        Column("what", "What", 24, grow=4, spill=True),
        Column("rule", "Rule", 18, keep=2),
    )

    def __init__(self, look: Look, place: Place, folder: str = "") -> None:
        super().__init__("Validate a folder", "nothing is changed")
        self._look_at, self._place = look, place
        self._path = Field("folder", place.path(folder), placeholder="~/src/plugins", id="path")
        self._summary = PageView(self._summarise, id="summary")
        self._rows = RowList(self.COLUMNS)
        self._said = PageView(self._tell, id="said")
        self._result: ValidateResult | None = None
        self._fault = ""
        self._shown: dict[str, Finding] = {}
        self._errors_only = False
        self._worker: Worker[None] | None = None

    def body(self) -> ComposeResult:
        """The path, what came of it, the findings, one of them whole."""
        yield self._path
        yield self._summary
        yield self._rows
        yield self._said

    def on_mount(self) -> None:
        """Begin in the field, or with the look when a folder was given."""
        self._show()
        self._path.input.focus()
        if self._path.value:
            self.action_look()

    # -- looking

    @property
    def looking(self) -> bool:
        """A look is under way."""
        return self._worker is not None

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_look()

    def action_look(self) -> None:
        """Look, again if need be; the one before it ends."""
        text = self._path.value.strip()
        if not text:
            self._path.fault = "name a folder, a marketplace file or a plugin.json"
            return
        self._path.fault = ""
        self._worker = self._look(text)
        self._show()

    @work(group="look", exclusive=True)
    async def _look(self, text: str) -> None:
        answer = await self._look_at(text)
        self._worker = None
        self._result = answer if isinstance(answer, ValidateResult) else None
        self._fault = answer if isinstance(answer, str) else ""
        self._show()
        if self._shown:
            self._rows.focus()

    def action_cancel(self) -> None:
        """End a look that takes long."""
        if self._worker is not None:
            self._worker.cancel()
            self._worker = None
            self._fault = "cancelled; nothing was changed"
            self._show()

    def action_level(self) -> None:
        """Show errors only, or everything again."""
        self._errors_only = not self._errors_only
        self._show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that do something now."""
        match action:
            case "cancel":
                return self.looking
            case "copy":
                return self._selected() is not None
            case "level":
                return self._result is not None and bool(self._result.findings)
            case _:
                return True

    # -- showing

    def _show(self) -> None:
        findings = self._result.findings if self._result is not None else ()
        wanted = [one for one in findings if one.severity == "error" or not self._errors_only]
        wanted = _worst_first(wanted)
        ids: list[str] = []
        heads: set[str] = set()
        self._shown = {}
        for number, finding in enumerate(wanted):
            if finding.path not in heads:
                heads.add(finding.path)
                ids.append(finding.path)
            key = f"{number}:{finding.path}"
            self._shown[key] = finding
            ids.append(key)
        self._rows.set_rows(ids, self._row, heads=heads, reset=True)
        if len(ids) > 1:
            self._rows.move_to(ids[1])
        self._rows.display = bool(ids)
        self._said.display = bool(ids)
        self._rows.styles.height = max(1, len(ids))
        self.redraw()
        self.refresh_bindings()

    def _row(self, key: str) -> RowView:
        finding = self._shown.get(key)
        if finding is None:
            return RowView("none", {"name": self._below(key)})
        return RowView(
            _SIGNS[finding.severity],
            {
                "line": [(str(finding.line) if finding.line else "", "muted")],
                "what": finding.message,
                "rule": [(finding.rule, "muted")],
            },
        )

    def _below(self, path: str) -> str:
        root = self._result.path if self._result is not None else ""
        if path == root:
            return os.path.basename(path)
        inside = path.startswith(f"{root}/")
        return path[len(root) + 1 :] if inside else self._place.path(path)

    def _selected(self) -> Finding | None:
        return self._shown.get(self._rows.cursor_id or "")

    def _summarise(self, page: Page) -> None:
        if self.looking:
            page.item("busy", f"looking at {self._path.value}")
            return
        if self._fault:
            page.item("failed", self._fault)
            return
        result = self._result
        if result is None:
            page.text(
                "A marketplace or a plugin: names, sources, manifests, skills, hooks, servers and "
                "apps, as Codex and as Claude Code take them.",
                "muted",
            )
            return
        found: list[Level] = [level for level in LEVELS if result.count(level)]
        counts = [_counted(result.count(level), level) for level in found]
        sign: SignName = _SIGNS[found[0]] if found else "works"
        page.item(sign, _what(result), ", ".join(counts))
        if result.useless:
            page.text(f"Codex can use nothing of {plural(result.useless, 'plugin')}", indent=2)
        if not result.findings:
            page.text("nothing to find fault with", "muted", indent=2)

    def _tell(self, page: Page) -> None:
        finding = self._selected()
        if finding is None:
            return
        page.text(finding.message, limit=2)
        line = f":{finding.line}" if finding.line else ""
        page.fact("place", f"{self._below(finding.path)}{line}  {finding.place}".rstrip())
        for label, words in (
            ("Codex", finding.codex),
            ("Claude", finding.claude),
            ("mend", finding.hint),
        ):
            if words:
                page.fact(label, words)

    def hints(self) -> tuple[Sequence[Hint], Sequence[Hint]]:
        """In the field letters are text."""
        shown, tail = super().hints()
        typing = self._path.input.has_focus
        enter = [Hint("enter", "look")] if typing and not self.looking else []
        kept = [hint for hint in shown if not typing or len(hint.key) > 1]
        return [*enter, *kept], tail

    @on(RowList.Highlighted)
    def _highlighted(self) -> None:
        self._said.redraw()
        self.refresh_bindings()

    def action_copy(self) -> None:
        """Copy the finding."""
        if finding := self._selected():
            where = f"{finding.path}:{finding.line}" if finding.line else finding.path
            text = f"{where}: {finding.severity}: {finding.message} [{finding.rule}]"
            app_of(self).copy_to_clipboard(text)
            toast(app_of(self), "Copied: the finding")


def _worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """Files with errors before others; in a file as it stands there."""
    worst: dict[str, int] = {}
    for finding in findings:
        rank = LEVELS.index(finding.severity)
        worst[finding.path] = min(rank, worst.get(finding.path, rank))
    return sorted(findings, key=lambda finding: (worst[finding.path], finding.path))


def _what(result: ValidateResult) -> str:
    name = f" {result.name}" if result.name else ""
    match result.kind:
        case "marketplace":
            return f"marketplace{name}: Codex lists {result.listed} of {result.total}"
        case "plugin":
            return f"plugin{name}"
        case _:
            return "neither a marketplace nor a plugin"


def _counted(number: int, level: Level) -> str:
    return f"{number} info" if level == "info" else plural(number, level)
