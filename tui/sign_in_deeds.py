"""What keys do about signing in to MCP servers, wherever a row belongs to one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from core.protocol.rows import ServerRow, ToolRow
from tui.commands import Offer
from tui.family import Family

if TYPE_CHECKING:
    from core.protocol.events import LoginCompleted
    from core.protocol.login import LoginState
    from tui.app import JackfieldApp
    from tui.sign_in_controller import NotBegun, SignInController

_NEVER = ("blocked", "invalid", "untrusted")


class SignInDeeds(Family):
    """`s` goes to the server of the row where that one waits for a sign-in, else back to the
    attempt that waits for the person, else to the server of the row again.
    """

    DEEDS: ClassVar = {
        "servers.sign-in": "sign_in",
        "servers.sign-out": "sign_out",
        "servers.forget": "forget",
    }

    def offers(self) -> list[Offer]:
        offers: list[Offer] = []
        row, waiting = self._server(), self.app.store.sign_ins
        name = self._to()
        if name in waiting:
            offers.append(Offer("servers.sign-in", "back to sign-in", about=name))
        elif row is not None and name == row.name:
            label = "sign in again" if row.auth == "oAuth" else "sign in"
            offers.append(self._writing(Offer("servers.sign-in", label, about=name)))
        if row is not None and row.auth in ("oAuth", "notLoggedIn", "unknown") and _signs_in(row):
            if row.auth == "oAuth" or row.auth_reason:
                offers.append(self._writing(Offer("servers.sign-out", about=row.name)))
            offers.append(self._writing(Offer("servers.forget", about=row.name)))
        return offers

    def _writing(self, offer: Offer) -> Offer:
        why = self.app.place.read_only
        return Offer(offer.id, offer.label, about=offer.about, why=why, greyed=bool(why))

    def why_not(self, id: str) -> str:
        row, tab = self._server(), self.pane.view.TAB
        if row is None:
            return "an app is linked on its page" if tab == "apps" else "not for this row"
        if row.transport != "http":
            return "only servers with a URL can be signed in to"
        if row.status in _NEVER:
            return row.reason or f"it is {row.status}"
        if id == "servers.sign-out":
            return "nobody is signed in"
        if row.auth == "bearerToken":
            return "a token of the configuration is used"
        return "it asks for no sign-in"

    def _server(self) -> ServerRow | None:
        """The server that the row belongs to."""
        key = self.pane.selected
        row = self.pane.view.subject(key) if key is not None else None
        if isinstance(row, ServerRow):
            return row
        if isinstance(row, ToolRow) and row.source == "server":
            return self.app.store.servers.rows.get(row.owner)
        return None

    def _to(self) -> str:
        """Whose sign-in `s` means here, or ""."""
        row, waiting = self._server(), self.app.store.sign_ins
        if row is not None and _signs_in(row) and (row.name in waiting or _stops(row)):
            return row.name
        if waiting:
            return next(reversed(waiting))
        if row is not None and _signs_in(row) and row.auth != "bearerToken":
            known = row.auth != "unsupported" or row.status == "failed"
            return row.name if known else ""
        return ""

    # -- deeds

    def sign_in(self) -> None:
        """Begin, or go back to the attempt that waits."""
        if name := self._to():
            _ = self.controller  # there must be a core
            self.app.open_dialog(partial(_sign_in, name=name))

    def sign_out(self) -> None:
        """Revoke and remove, after asking."""
        if (row := self._server()) is not None:
            _ = self.controller
            self.app.open_dialog(partial(_sign_out, row=row))

    def forget(self) -> None:
        """Let the next sign-in register anew."""
        if (row := self._server()) is not None:
            self.work(partial(controller_of(self.app).forget, row.name))


def _signs_in(row: ServerRow) -> bool:
    """It could be signed in to."""
    return row.transport == "http" and row.status not in _NEVER


def _stops(row: ServerRow) -> bool:
    """It does not go on without."""
    return row.status == "authenticationRequired" or row.auth == "notLoggedIn"


def controller_of(app: JackfieldApp) -> SignInController:
    """The way to the core; `NotReady` when there is none yet."""
    from tui.family import NotReady
    from tui.sign_in_controller import SignInController

    if app.controller is None:
        raise NotReady
    return SignInController(app.controller, app.tell)


async def _sign_in(app: JackfieldApp, name: str) -> None:
    from tui.screens.sign_in import SignInSheet

    def stands(state: LoginState) -> None:
        changed = app.store.sign_in_stands(state)
        if app.standing:
            app.tell_changes(changed)

    sign_ins = controller_of(app)
    while True:
        sheet = SignInSheet(name, sign_ins, app.store, app.place, app.changes, stands)
        lacking = await app.push_screen_wait(sheet)
        if lacking is None or not await _bring(app, name, sign_ins, lacking):
            return


async def _bring(
    app: JackfieldApp, name: str, sign_ins: SignInController, lacking: NotBegun
) -> bool:
    """Ask for what an attempt lacks; True when it can be tried again."""
    from tui.screens.sign_in_forms import BearerSheet, ClientSheet

    if lacking.needs == "clientId":
        sheet = ClientSheet(name, lacking, sign_ins, app.place)
        return bool(await app.push_screen_wait(sheet))
    await app.push_screen_wait(BearerSheet(name, lacking, sign_ins, app.place))
    return False


async def _sign_out(app: JackfieldApp, row: ServerRow) -> None:
    from tui.views.sign_in import STORES
    from tui.widgets.confirm import Choice, Confirm

    sign_ins = controller_of(app)
    stored = await sign_ins.stored(row.name)
    store = STORES.get(stored.store, "") if stored is not None else ""
    gone = f"removed from the {store}" if store == "keyring" else f"removed from {store}"
    sheet = Confirm(
        f"Sign out of {row.name}?",
        "Codex shares this sign-in, and is signed out too. The registration of this panel stays; "
        "the palette forgets it.",
        [
            Choice(
                "out",
                "Sign out",
                "its tokens are revoked where that is offered, and "
                + (gone if store else "removed from every store"),
                sign="needs",
            )
        ],
        undo="none; s signs in again",
    )
    if await app.push_screen_wait(sheet) == "out":
        await sign_ins.sign_out(row.name)


async def tell_ended(app: JackfieldApp, event: LoginCompleted) -> None:
    """How a sign-in ended whose sheet has been closed."""
    from tui.screens.sign_in import SignInSheet
    from tui.store import CANCELLED
    from tui.views.sign_in import ended

    sheets = [screen for screen in app.screen_stack if isinstance(screen, SignInSheet)]
    if any(sheet.server == event.name for sheet in sheets) or event.error == CANCELLED:
        return
    sign_ins = controller_of(app)
    state = await sign_ins.state(event.login_id)
    if state is None or not app.standing:
        return
    if not event.success:
        from tui.views.sign_in import why

        app.tell(f"{event.name}: not signed in: {why(state)}   s tries again", fault=True)
        return
    said = ended(state, await sign_ins.stored(event.name), app.store.now())
    if not app.standing:
        return
    note = f"; {state.store_note}" if state.store_note else ""
    app.tell(f"{event.name}: {said}{note}")
