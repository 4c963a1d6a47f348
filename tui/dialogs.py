"""Sheets and what follows from their answers. Each runs in a worker of the app.

Sheets are loaded when they are opened: the first frame does not wait for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.controller import Decided
from tui.widgets.toast import toast

if TYPE_CHECKING:
    from tui.app import JackfieldApp

# Where a row of a domain is shown, and what its key is there.
_TABS = {
    "marketplaces": ("marketplaces", "group:"),
    "plugins": ("marketplaces", "plugin:"),
    "apps": ("apps", ""),
    "installed": ("apps", ""),
    "servers": ("servers", ""),
    "inventory": ("tools", ""),
}


async def details(app: JackfieldApp) -> None:
    """The details of the selected row as a page; does what was asked for there."""
    from tui.screens.details import DetailSheet

    command = await app.push_screen_wait(DetailSheet(app.pane, app.changes))
    if command:
        await app.deeds.run(command)


async def errors(app: JackfieldApp) -> None:
    """All faults; goes to the row of one of them."""
    from tui.screens.errors import ErrorsSheet

    target = await app.push_screen_wait(ErrorsSheet(app.store, app.place, app.changes))
    if target is None:
        return
    tab, prefix = _TABS.get(target.domain, ("", ""))
    if not tab:
        toast(app, f"{target.subject} has no row of its own")
        return
    await app.open_tab(tab)
    app.pane.go_to(prefix + target.subject)


async def consent(app: JackfieldApp) -> None:
    """Ask once for everything that is new or changed."""
    from tui.screens.consent import ConsentSheet

    controller = app.controller
    if controller is None:
        return
    items = await controller.consent()
    if not items:
        toast(app, "No program waits for your yes")
        return
    answers = await app.push_screen_wait(ConsentSheet(items, app.place))
    if answers is not None:
        await controller.answer(answers)
        app.tell_changes(app.store.consent_given())


async def first_start(app: JackfieldApp) -> None:
    """What is read, written and started; then the programs, if wanted."""
    from tui.screens.first_start import FirstStartSheet

    sheet = FirstStartSheet(app.store, app.place, app.changes)
    if await app.push_screen_wait(sheet) == "review":
        await consent(app)


async def user_layer(app: JackfieldApp, decided: Decided) -> bool:
    """Another layer decides: offer to write the user's file all the same."""
    from tui.widgets.confirm import Choice, Confirm

    target, where = decided.target, app.place.of(decided.by)
    word = "off" if target.enabled else "on"
    choice = Choice("user", "Write it all the same")
    answer = await app.push_screen_wait(
        Confirm(
            f"{target.name} is decided elsewhere",
            f"{where or 'Another layer'} decides whether {target.name} is on, so that turning it "
            f"{word} in the user's configuration changes nothing here. {decided.message}",
            [choice],
            writes=app.place.path(app.place.config_file),
            undo="z takes it back",
        )
    )
    return answer == "user"


async def leave(app: JackfieldApp) -> None:
    """Quit; asks first while something is being installed or changed."""
    from tui.widgets.confirm import Choice, Confirm

    running = list(app.store.operations.values())
    if running:
        named = ", ".join(f"{operation.verb} {operation.subject}" for operation in running[:3])
        choice = Choice("quit", "Quit and end it", "what runs is ended", named)
        if await app.push_screen_wait(Confirm("Quit now?", "", [choice])) != "quit":
            return
    app.exit()


async def show_help(app: JackfieldApp) -> None:
    """The keys of the open tab and the signs."""
    from tui.screens.help import HelpSheet

    await app.push_screen_wait(HelpSheet(app.registry, app.tab))
