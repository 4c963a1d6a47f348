"""The trust page of plugins: everything that they bring, exactly; nothing on it is ever cut."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widget import Widget

from core.protocol.jackfield_install import Compatibility, IgnoredPart, UsedPart
from tui.plugin_controller import Trusted
from tui.signs import SignName
from tui.text import Part
from tui.views.base import Place, plural
from tui.widgets.field import Tick
from tui.widgets.page import Page
from tui.widgets.page_view import PageView
from tui.widgets.sheet import ButtonRow, Sheet

INDENT = 4
_RUNS = (
    "programs that run on this machine with your rights, or reach servers that receive what the "
    "model sends. Nothing has been started."
)


class TrustSheet(Sheet[Trusted | None]):
    """Asks once for all plugins at a time. None = not now.

    What is new or changed stands first; what was agreed to before stands last and ticked; what was
    declined, or is switched off, is not ticked.

    Args:
        plugins: What they bring; those that cannot be installed are told and left out.
        verb: `Install` or `Turn on`.
    """

    SIZE = "medium"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "tick", "tick one", id="row.switch"),
        Binding("up,k", "app.focus_previous", "the one before", show=False),
        Binding("down,j", "app.focus_next", "the next", show=False),
        Binding("pageup", "page(-1)", "one page up", show=False),
        Binding("pagedown", "page(1)", "one page down", show=False),
        Binding("escape", "close", "cancel, nothing starts", id="form.close"),
    ]
    DEFAULT_CSS = """
    TrustSheet {
        & #box #body .program { height: auto; margin: 0 1 0 0; }
    }
    """

    def __init__(
        self, plugins: Sequence[Compatibility], place: Place, *, verb: str = "Install"
    ) -> None:
        self.plugins, self._place, self._verb = tuple(plugins), place, verb
        wanted = [one for one in plugins if not one.refusal]
        if len(plugins) == 1:
            version = plugins[0].version
            title = f"{plugins[0].name} {version}".strip()
        else:
            title = plural(len(wanted), "plugin")
        super().__init__(f"{verb} {title}?")
        self._ticks: list[tuple[UsedPart, Tick]] = []

    @property
    def _wanted(self) -> list[Compatibility]:
        return [one for one in self.plugins if not one.refusal]

    @property
    def _programs(self) -> int:
        return sum(len(one.programs) for one in self._wanted)

    def body(self) -> ComposeResult:
        """The introduction, then each plugin with its parts."""
        yield PageView(self._intro, id="intro")
        for plugin in self.plugins:
            yield from self._plugin(plugin)

    def below(self) -> ComposeResult:
        """Cancel has the focus."""
        buttons = [("", "Cancel")]
        if self._wanted:
            ticked = " what is ticked" if self._programs and self._verb == "Turn on" else ""
            buttons.append(("agree", f"{self._verb}{ticked}"))
        yield ButtonRow(buttons)

    def _intro(self, page: Page) -> None:
        count = len(self._wanted)
        who = "It brings" if count == 1 else "They bring"
        unknown = [one.name for one in self._wanted if not one.known]
        if self._programs:
            page.text(f"{who} {_RUNS}")
            if self._verb != "Turn on":
                page.text("What is not ticked is installed and switched off.", "muted")
        elif unknown:
            page.text("Nothing is started by installing: each program waits for your yes.")
        elif count:
            page.text(f"{who} no program and no server: nothing of it runs by itself.")

    # -- one plugin

    def _plugin(self, plugin: Compatibility) -> Iterator[Widget]:
        if len(self.plugins) > 1 or plugin.refusal or not plugin.known or plugin.nothing:
            yield PageView(lambda page: self._head(page, plugin))
        hooks = [part for part in plugin.programs if part.kind == "hook"]
        servers = [part for part in plugin.programs if part.kind == "server"]
        for title, word, parts in (
            ("Runs on events", "hook", hooks),
            ("Starts or connects", "server", servers),
        ):
            if parts and not plugin.refusal:
                note = plural(len(parts), word)
                yield PageView(lambda page, t=title, n=note: page.section(t, n))
                for part in sorted(parts, key=lambda one: one.standing == "agreed"):
                    yield self._part(part)
        yield PageView(lambda page: self._rest(page, plugin))

    def _head(self, page: Page, plugin: Compatibility) -> None:
        if len(self.plugins) > 1:
            page.section(f"{plugin.name} {plugin.version}".strip(), plugin.source)
        if plugin.refusal:
            page.item("failed", f"not installed: {plugin.refusal}")
        elif not plugin.known:
            page.item("unknown", f"what it brings is {plugin.why}")
            page.exact(f"from {plugin.source}", "muted", indent=2)
            page.text(
                "Its hooks and servers are shown to you then, and none starts before.", indent=2
            )
        elif plugin.nothing:
            page.item("problem", "empty: nothing Codex can use")

    def _part(self, part: UsedPart) -> Widget:
        tick = Tick(_label(part), ticked=part.standing != "declined", id=f"tick-{part.id[:16]}")
        self._ticks.append((part, tick))
        return Vertical(tick, PageView(lambda page: self._program(page, part)), classes="program")

    def _program(self, page: Page, part: UsedPart) -> None:
        page.exact(exact_command(part), indent=INDENT)
        sign, said = _standing(part)
        page.add(" " * INDENT, page.glyphs.part(sign), (said, "muted"))
        for line in part.was:
            page.exact(f"was: {line}", "muted", indent=INDENT)
        for file, digest in part.files:
            page.text(f"runs {file}, sha256 {digest[:8]}…{digest[-4:]}", "muted", indent=INDENT)
        for fact in _facts(part, self._place):
            page.exact(fact, "muted", indent=INDENT)

    def _rest(self, page: Page, plugin: Compatibility) -> None:
        if plugin.refusal:
            return
        for title, kind in (("Skills", "skill"), ("Apps", "app")):
            names = [part.name for part in plugin.uses if part.kind == kind]
            if names:
                page.section(title, str(len(names)))
                page.text(", ".join(names), "muted")
        write_ignored(page, plugin.ignores)
        for path, reason in plugin.faults:
            page.item("problem", f"{self._place.path(path)}: {reason}")

    # -- keys

    def action_page(self, by: int) -> None:
        """Scroll through long commands."""
        body = self.query_one("#body")
        body.scroll_relative(y=by * max(1, body.size.height - 1), animate=False)

    def action_tick(self) -> None:
        """Tick the program that the cursor is on."""
        if isinstance(self.focused, Tick):
            self.focused.action_tick()

    @on(ButtonRow.Chosen)
    def _chosen(self, event: ButtonRow.Chosen) -> None:
        event.stop()
        self.dismiss(self.answers() if event.id else None)

    def answers(self) -> Trusted:
        """What is ticked and what is not."""
        ticked = {part.id for part, tick in self._ticks if tick.ticked}
        seen = {part.id for part, _ in self._ticks}
        return Trusted(frozenset(ticked), frozenset(seen - ticked))


def exact_command(part: UsedPart) -> str:
    """What is run or reached, as one would write it."""
    if part.url:
        return part.url
    return part.command[0] if part.kind == "hook" else shlex.join(part.command)


def write_ignored(page: Page, ignores: Sequence[IgnoredPart]) -> None:
    """What Codex leaves out of a plugin, with the reason."""
    if not ignores:
        return
    page.section("Codex ignores")
    for part in ignores:
        page.text(f"{plural(len(part.names), part.what)}: {', '.join(part.names)}")
        if part.reason:
            page.text(part.reason, "muted", indent=2)


def _label(part: UsedPart) -> list[Part]:
    if part.kind == "hook":
        matcher = f"  on {part.matcher}" if part.matcher else ""
        return [(part.event, "strong"), (matcher, "muted")]
    kind = "connects to a server" if part.url else "starts a program"
    return [(part.name, "strong"), (f"  {kind}", "muted")]


def _standing(part: UsedPart) -> tuple[SignName, str]:
    when = time.strftime("%d %b", time.localtime(part.since)).lstrip("0") if part.since else ""
    match part.standing:
        case "changed":
            return "needs", f"changed since you agreed on {when}"
        case "agreed":
            return "works", f"as you agreed on {when}"
        case "declined":
            return "off", "switched off" if not when else f"declined on {when}"
        case _:
            return "needs", "new"


def _facts(part: UsedPart, place: Place) -> Iterator[str]:
    if part.cwd:
        yield f"runs in {place.path(part.cwd)}"
    if part.env_names:
        yield f"gets {', '.join(part.env_names)}"
    if part.sign_in == "oauth":
        yield "may ask you to sign in"
    elif part.sign_in:
        yield f"signs in with {part.sign_in}"
    if not part.enabled:
        yield "the plugin itself turns it off"
    yield from part.notes
    if where := place.of(part.evidence):
        yield f"from {where}"
