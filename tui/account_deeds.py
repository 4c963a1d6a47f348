"""`A`: Codex's own account."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from core import method_table as methods
from tui.family import Family

if TYPE_CHECKING:
    from core.protocol.events import LoginCompleted
    from tui.app import JackfieldApp


class AccountDeeds(Family):
    """`app.account`."""

    DEEDS: ClassVar = {"app.account": "account"}

    def why_not(self, id: str) -> str:
        controller = self.app.controller
        if controller is None:
            return "the core is still being opened"
        return controller.client.capabilities.lacks(methods.JACKFIELD_ACCOUNT_FACTS)

    def account(self) -> None:
        """Open the sheet; it asks the core by itself."""
        self.app.open_dialog(_account)


async def _account(app: JackfieldApp) -> None:
    from tui.account_controller import AccountController
    from tui.screens.account import AccountSheet

    if app.controller is not None:
        accounts = AccountController(app.controller.client)
        sheet = AccountSheet(accounts, app.place, app.changes, app.store.now)
        await app.push_screen_wait(sheet)


async def tell_account(app: JackfieldApp, event: LoginCompleted) -> None:
    """How a sign-in ended whose sheet has been closed."""
    from tui.screens.account import AccountSheet
    from tui.store import CANCELLED

    if any(isinstance(screen, AccountSheet) for screen in app.screen_stack):
        return
    if event.success:
        app.tell("Account: signed in")
    elif event.error != CANCELLED:
        app.tell(f"Account: not signed in: {event.error}   A tries again", fault=True)
