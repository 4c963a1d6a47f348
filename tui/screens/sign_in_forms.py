"""What a sign-in lacks and the person brings: a client id, or the name of a token's variable."""

from __future__ import annotations

import re
from typing import Any, ClassVar
from urllib.parse import urlsplit

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from core.protocol.jackfield_servers import ServerPreview
from tui.sign_in_controller import NotBegun, SignInController
from tui.theme import app_of
from tui.views import sign_in
from tui.views.base import Place
from tui.widgets.field import Field
from tui.widgets.page import Page
from tui.widgets.page_view import PageView
from tui.widgets.sheet import Sheet
from tui.widgets.toast import toast

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class BringSheet(Sheet[bool]):
    """Fields, and below them exactly what will be written. Answers True once it is.

    Args:
        name: Of the server.
        lacking: What the attempt came to.
    """

    AUTO_FOCUS = ""
    FIELDS: tuple[Field, ...]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "submit", "write", id="form.submit", priority=True),
        Binding("c", "copy", "copy", id="row.copy"),
        Binding("tab", "app.focus_next", "next field", id="form.next"),
        Binding("escape", "close", "close", id="form.close"),
    ]
    DEFAULT_CSS = """
    BringSheet {
        & #box #body Field { margin: 0 1 0 0; }
    }
    """

    def __init__(
        self, title: str, name: str, lacking: NotBegun, sign_ins: SignInController, place: Place
    ) -> None:
        super().__init__(title)
        self._name, self._lacking = name, lacking
        self._sign_ins, self._place = sign_ins, place
        self._preview = ServerPreview()
        self._fault = ""

    def body(self) -> ComposeResult:
        """Why, the fields, what will be written, and what was asked."""
        yield PageView(self.why)
        yield from self.FIELDS
        yield PageView(self._below)

    def on_mount(self) -> None:
        """Show what would be written."""
        self._look()

    def why(self, page: Page) -> None:
        """What is lacking, and where to get it."""
        raise NotImplementedError

    def members(self) -> dict[str, Any]:
        """What goes into the server's table; {} while it cannot be said yet."""
        raise NotImplementedError

    def copied(self) -> str:
        """What `c` copies."""
        raise NotImplementedError

    def _below(self, page: Page) -> None:
        page.gap()
        if self._fault:
            page.item("problem", self._fault)
        preview = self._preview
        if preview.fault:
            page.item("problem", preview.fault)
        elif preview.lines:
            page.section("Will be written", self._place.path(preview.file))
            for line in preview.lines:
                if line.sign != " ":
                    page.add((f"{line.sign} ", "good" if line.sign == "+" else "bad"), line.text)
            for warning in preview.warnings:
                page.item("problem", warning)
        sign_in.trail(page, self._lacking.trail)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._fault = ""
        self._look()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_submit()

    @work(group="preview", exclusive=True)
    async def _look(self) -> None:
        members = self.members()
        self._preview = ServerPreview()
        if members:
            self._preview = await self._sign_ins.preview(self._name, members)
        self.redraw()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Writing needs something to write."""
        return bool(self.members()) if action == "submit" else True

    def on_paste(self, event: events.Paste) -> None:
        """A paste beside the fields is one into the first."""
        event.stop()
        field = self.FIELDS[0]
        field.value = event.text.strip()
        field.input.focus()

    def action_copy(self) -> None:
        """Copy what has to be entered elsewhere."""
        app_of(self).copy_to_clipboard(self.copied())
        toast(app_of(self), f"Copied: {self.copied()}")

    def action_close(self) -> None:
        """Out of a field first."""
        if self.focused is not None:
            self.set_focus(None)
        else:
            self.dismiss(False)

    @work(group="write", exclusive=True)
    async def action_submit(self) -> None:
        """Write it."""
        if not (members := self.members()):
            return
        self._fault = await self._sign_ins.write(self._name, members)
        if self._fault:
            self.redraw()
        else:
            self.dismiss(True)


class ClientSheet(BringSheet):
    """A client id that the person has got at the authorization server."""

    def __init__(
        self, name: str, lacking: NotBegun, sign_ins: SignInController, place: Place
    ) -> None:
        super().__init__(f"Sign in to {name}: a client id", name, lacking, sign_ins, place)
        self._client = Field("client id", required=True, id="client")
        self._secret = Field("secret", password=True, hint="if you got one", id="secret")
        self._scopes = Field("scopes", placeholder="as the server asks", id="scopes")
        self.FIELDS = (self._client, self._secret, self._scopes)

    def why(self, page: Page) -> None:
        page.text("This server needs a client id: it registers nobody by itself.")
        page.gap()
        page.step("1", "Register a client there with this callback URL; c copies it")
        page.link(self._lacking.redirect, indent=5)
        page.step("2", "Bring its client id; tab goes to the field")
        page.gap()

    def copied(self) -> str:
        return self._lacking.redirect

    def members(self) -> dict[str, Any]:
        if not (client := self._client.value.strip()):
            return {}
        oauth: dict[str, Any] = {"client_id": client}
        if secret := self._secret.value.strip():
            oauth["client_secret"] = secret
        parts = urlsplit(self._lacking.redirect)
        if parts.hostname in _LOOPBACK and parts.port:
            oauth["callback_port"] = parts.port  # as registered: it must not be another next time
        members: dict[str, Any] = {"oauth": oauth}
        if scopes := self._scopes.value.replace(",", " ").split():
            members["scopes"] = scopes
        return members

    def _below(self, page: Page) -> None:
        if self._secret.value.strip():
            page.gap()
            page.item("problem", "the secret is written in clear: Codex reads it nowhere else")
        super()._below(page)


class BearerSheet(BringSheet):
    """The variable of a bearer token, where a server does not tell how to get one."""

    def __init__(
        self, name: str, lacking: NotBegun, sign_ins: SignInController, place: Place
    ) -> None:
        super().__init__(f"Sign in to {name}: a token", name, lacking, sign_ins, place)
        self._variable = Field(
            "variable", _variable_of(name), required=True, hint="its name only", id="variable"
        )
        self.FIELDS = (self._variable,)

    def why(self, page: Page) -> None:
        page.text("the server asks for a token but tells no way", "strong")
        page.text(
            "Codex takes such a token from an environment variable. Only the variable's name is "
            "written, as bearer_token_env_var; the token itself is written nowhere. Set it where "
            "you start Jackfield and Codex, then start them anew; c copies the line for that."
        )
        page.gap()

    def copied(self) -> str:
        return f"export {self._variable.value.strip()}="

    def members(self) -> dict[str, Any]:
        variable = self._variable.value.strip()
        if not _VARIABLE.fullmatch(variable):
            return {}
        return {"bearer_token_env_var": variable}

    def _below(self, page: Page) -> None:
        variable = self._variable.value.strip()
        if variable and not _VARIABLE.fullmatch(variable):
            page.item("problem", "a name has letters, digits and _ only: this may be the token")
        super()._below(page)


def _variable_of(name: str) -> str:
    """`TRACES_TOKEN` for `traces`."""
    words = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").upper()
    return f"{words}_TOKEN" if words and not words[0].isdigit() else "MCP_TOKEN"
