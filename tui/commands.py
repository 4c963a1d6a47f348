"""One table of commands: bindings, key line, help, palette and user keymaps all come from it.

A command says what a key means; an `Offer` says what it means on the selected row right now.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

Group: TypeAlias = Literal["Everywhere", "Lists", "Here", "Forms and pages", "Palette"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """One thing that can be done.

    Attributes:
        id: `scope.verb`, the name in a user's keymap.
        keys: Textual key names, the first is the one that is shown; "" = palette only.
        label: Verb and object, at most three words.
        tooltip: One sentence more.
        group: Heading in the help. `Here` = only in `tabs`.
        tabs: Tabs that have it; empty = all of them.
        row: Commands with the same `row` share one line of the help, which reads so.
        action: Textual action; "" = the app's `command('ID')`.
        palette: Listed in the palette.
    """

    id: str
    keys: str = ""
    label: str
    tooltip: str
    group: Group = "Everywhere"
    tabs: tuple[str, ...] = ()
    row: str = ""
    action: str = ""
    palette: bool = True


@dataclass(frozen=True, slots=True)
class Offer:
    """What a command means here and now.

    Attributes:
        label: This row's own words, `sign in again` for `row.mend`; "" = the command's label.
        why: Why it does not apply; "" = it does. The palette mutes it and says so.
        about: The thing it would act on, or a fact about it, for the palette.
        greyed: Although it does not apply, the key line shows it, muted with its label.
        does: The command that this row's `row.mend` stands for; "" = its own deed.
    """

    id: str
    label: str = ""
    why: str = ""
    about: str = ""
    greyed: bool = False
    does: str = ""


def _command(id: str, keys: str, label: str, tooltip: str, **more: Any) -> Command:
    return Command(id=id, keys=keys, label=label, tooltip=tooltip, **more)


def _tab(number: int, id: str, title: str) -> Command:
    return Command(
        id=f"tab.{id}",
        keys=str(number),
        label=f"go to {title}",
        tooltip=f"Open the tab {title}",
        row="go to a tab",
    )


def _everywhere() -> list[Command]:
    c = _command
    return [
        _tab(1, "marketplaces", "Marketplaces"),
        _tab(2, "apps", "Apps"),
        _tab(3, "tools", "Tools"),
        _tab(4, "servers", "Servers"),
        _tab(5, "activity", "Activity"),
        c("list.filter", "slash", "filter", "Search this list", row="filter; esc clears it"),
        c("list.next-view", "f", "view", "The next view of this list", row="next, previous view"),
        c(
            "list.previous-view",
            "F",
            "previous view",
            "The view before this one",
            row="next, previous view",
        ),
        c(
            "row.details",
            "enter",
            "details",
            "Go into the details of this row",
            action="list_enter",
        ),
        c(
            "row.explain",
            "e",
            "explain",
            "What stops it, and what mends it",
            row="explain: what stops it?",
        ),
        c("row.mend", "m", "mend", "Do what the row needs", row="mend what the row says"),
        c("app.undo", "z", "undo", "Take the last change back", row="undo the last change"),
        c(
            "row.refresh",
            "r",
            "refresh",
            "Read this one again; a server reconnects",
            row="refresh; past caches",
        ),
        c(
            "list.refresh",
            "R",
            "refresh all",
            "Fetch the whole list past all caches",
            row="refresh; past caches",
        ),
        c(
            "row.cancel",
            "ctrl+x",
            "cancel",
            "End what runs on this row",
            row="cancel what runs here",
        ),
        c("row.copy", "c", "copy id", "Copy the id", row="copy the id; as JSON"),
        c(
            "row.copy-json",
            "C",
            "copy JSON",
            "Copy the row as JSON, secrets masked",
            row="copy the id; as JSON",
        ),
        c(
            "list.write",
            "w",
            "write file",
            "Write this list to a file, secrets masked",
            row="write to a file",
        ),
        c(
            "app.palette",
            "ctrl+p",
            "commands",
            "Every command, by name",
            row="every command",
            palette=False,
        ),
        c(
            "app.jump",
            "ctrl+o",
            "jump",
            "Go to a part of the screen by one key",
            row="jump to a part",
        ),
        c(
            "app.account",
            "A",
            "account",
            "Who is signed in, and what that decides",
            row="account; workspace",
        ),
        c("app.workspace", "W", "workspace", "Open another folder", row="account; workspace"),
        c("app.answer", "Q", "answer", "Answer the question of a server", row="answer a question"),
        c("app.errors", "exclamation_mark", "errors", "Every fault since the start", row="errors"),
        c("app.help", "question_mark", "help", "The keys of this tab and the signs", row="help"),
        c(
            "app.back",
            "escape",
            "back",
            "One step back; never quits",
            row="one step back",
            palette=False,
        ),
        c("app.quit", "q", "quit", "End Jackfield and what it has started"),
    ]


def _lists() -> list[Command]:
    def c(id: str, keys: str, label: str, tooltip: str, **more: Any) -> Command:
        return _command(id, keys, label, tooltip, group="Lists", **more)

    def move(id: str, keys: str, label: str, action: str, row: str) -> Command:
        return c(f"list.{id}", keys, label, label, action=action, row=row, palette=False)

    return [
        move("up", "up,k", "one up", "list_move(-1)", "move"),
        move("down", "down,j", "one down", "list_move(1)", "move"),
        move("page-up", "pageup", "one page up", "list_page(-1)", "one page"),
        move("page-down", "pagedown", "one page down", "list_page(1)", "one page"),
        move("first", "g,home", "first row", "list_first", "first, last row"),
        move("last", "G,end", "last row", "list_last", "first, last row"),
        move("fold", "left,h", "fold", "list_fold(True)", "fold, unfold"),
        move("unfold", "right,l", "unfold", "list_fold(False)", "fold, unfold"),
        c("row.switch", "space", "on or off", "Turn it on or off; z undoes"),
        c("list.add", "a", "add", "Add one"),
        c("row.edit", "E", "edit", "Edit its entry", row="edit the entry"),
        c("row.remove", "x", "remove", "Remove it; asks first", row="remove, asks first"),
        c("row.open", "o", "open link", "Open its page in the browser", row="open the link"),
    ]


def _here() -> list[Command]:
    def c(id: str, keys: str, label: str, tooltip: str, *tabs: str, **more: Any) -> Command:
        return _command(id, keys, label, tooltip, group="Here", tabs=tabs, **more)

    update = "update; update all"
    signing = "sign in; sign out"
    return [
        c(
            "plugins.install",
            "i",
            "install",
            "Show what it brings, then install it",
            "marketplaces",
        ),
        c(
            "plugins.mark",
            "b",
            "mark",
            "Mark it: i, x and space then act on all that are marked",
            "marketplaces",
            row="mark for a batch",
        ),
        c("plugins.unmark", "", "clear marks", "No row is marked any more", "marketplaces"),
        c("plugins.server", "", "to its server", "The server that waits", "marketplaces"),
        c(
            "markets.kinds",
            "K",
            "kinds",
            "Which kinds of marketplaces are shown, and why not the others",
            "marketplaces",
            row="kinds of marketplaces",
        ),
        c(
            "plugins.update",
            "u",
            "update",
            "Install the offered version",
            "marketplaces",
            row=update,
        ),
        c(
            "plugins.update-all",
            "U",
            "update all",
            "Every plugin with an update",
            "marketplaces",
            row=update,
        ),
        c(
            "plugins.pin",
            "p",
            "pin version",
            "Keep this version",
            "marketplaces",
            row="pin the version",
        ),
        c(
            "servers.sign-in",
            "s",
            "sign in",
            "Sign in to this server",
            "servers",
            "apps",
            "tools",
            row=signing,
        ),
        c(
            "servers.sign-out",
            "S",
            "sign out",
            "Forget this sign-in",
            "servers",
            "apps",
            "tools",
            row=signing,
        ),
        c(
            "tools.try",
            "t",
            "try it",
            "Call a tool by hand",
            "tools",
            "servers",
            "apps",
            row="try a tool",
        ),
        c(
            "servers.traffic",
            "v",
            "traffic",
            "Messages and stderr",
            "servers",
            "tools",
            "activity",
            row="traffic and stderr",
        ),
        c("servers.tools", "T", "its tools", "Single tools on or off", "servers"),
        c(
            "tools.approval",
            "P",
            "approval",
            "What calls by the model need",
            "servers",
            "tools",
            row="approval of calls",
        ),
        c(
            "servers.longer",
            "L",
            "raise the limit",
            "More time to start, and once more",
            "servers",
            row="raise the limit",
        ),
        c(
            "servers.reconnect-failed",
            "ctrl+r",
            "reconnect failed",
            "Start all that have failed",
            "servers",
            row="reconnect failed",
        ),
        c("servers.end", "", "end it", "End a server that no file names any more", "servers"),
        c(
            "servers.offers",
            "d",
            "resources",
            "Read resources, get prompts",
            "servers",
            row="resources and prompts",
        ),
        c(
            "threads.new",
            "n",
            "new thread",
            "Servers get the new authorization",
            "servers",
            row="new thread",
        ),
        c("activity.pause", "", "pause", "Hold new events back", "activity"),
    ]


def _forms() -> list[Command]:
    def c(id: str, keys: str, label: str, tooltip: str, **more: Any) -> Command:
        return _command(
            f"form.{id}",
            keys,
            label,
            tooltip,
            group="Forms and pages",
            action=f"form_{id}",
            palette=False,
            **more,
        )

    return [
        c("next", "tab", "next field", "To the next field"),
        c("submit", "ctrl+s", "do it", "Save, call, add", row="do it: save, call, add"),
        c("text", "ctrl+e", "edit text", "Edit as text", row="edit as text"),
        c(
            "test",
            "ctrl+t",
            "test",
            "Test it, or show what was called before",
            row="test, or history",
        ),
        c("cancel", "ctrl+x", "cancel", "End what runs", row="cancel what runs"),
        c("close", "escape", "close", "Close; work goes on", row="close; work goes on"),
    ]


def _palette_only() -> list[Command]:
    def c(id: str, label: str, tooltip: str) -> Command:
        return _command(id, "", label, tooltip, group="Palette")

    return [
        c("plugins.roll-back", "roll back plugin", "Put its former version back, and pin it"),
        c("plugins.clean-up", "clean up", "Remove what is left over, after asking"),
        c("servers.forget", "forget registration", "The next sign-in registers anew"),
        c("programs.review", "review programs", "New and changed commands, before they run"),
        c("folders.validate", "validate a folder", "What is wrong with a marketplace or plugin"),
        c("agents.import", "import from agents", "Servers and plugins of Claude, Cursor, VS Code…"),
        c("app.doctor", "check-up", "Files, programs, keyring and network of this machine"),
        c("app.picture", "picture of screen", "An SVG of this screen, secrets masked"),
        *(
            c(f"theme.{name}", f"theme {name}", about)
            for name, about in (
                ("dusk", "dark"),
                ("paper", "light"),
                ("stark", "high contrast"),
                ("terminal", "the terminal's own colours"),
            )
        ),
    ]


COMMANDS: Final = (*_everywhere(), *_lists(), *_here(), *_forms(), *_palette_only())
