"""What stands where the rows would be: loading, empty, failed, nothing found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from textual.timer import Timer

from tui.signs import SignName
from tui.text import Hint
from tui.widgets.page import Build, Page
from tui.widgets.page_view import PageView

_UNNOTICED: Final = 0.2

Keys = Sequence[Hint | tuple[str, str]]


class Awaited(NamedTuple):
    """One of those that an answer is awaited from."""

    sign: SignName
    name: str
    said: str = ""


class Notice(PageView):
    """A page in the list's place."""

    DEFAULT_CSS = "Notice { width: 62; max-width: 100%; height: auto; margin: 2 0 0 3; }"

    def __init__(self, build: Build | None = None, *, id: str | None = None) -> None:
        super().__init__(build, id=id)
        self._timer: Timer | None = None
        self._shown = False
        self._later: Build = _blank

    def show(self, build: Build, *, top: bool = True) -> None:
        """Show it now."""
        self._stop()
        self._shown = True
        super().show(build, top=top)

    def show_later(self, build: Build) -> None:
        """Show it when it is still wanted after 0.2 s; what is quicker needs no notice.

        Asked again meanwhile, it shows the newest, at the time that was set first.
        """
        if self._shown:
            self.show(build)
            return
        self._later = build
        if self._timer is None:
            self._timer = self.set_timer(_UNNOTICED, lambda: self.show(self._later))

    def hide(self) -> None:
        """Say nothing."""
        self._stop()
        self._shown = False
        super().show(_blank)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None


def _blank(page: Page) -> None:
    pass


def loading(what: str, waited: str = "", awaited: Iterable[Awaited] = (), keys: Keys = ()) -> Build:
    """Nothing is there yet.

    Args:
        what: Verb and object: `Reading 7 marketplaces`.
        waited: For how long.
        awaited: Who is awaited.
        keys: What can be done meanwhile.
    """
    rows = tuple(awaited)

    def write(page: Page) -> None:
        page.state("busy", what, waited)
        page.gap()
        if rows:
            page.text("Rows appear as each answers; nothing waits for the slowest.", "muted")
            page.gap()
        for sign, name, said in rows:
            page.item(sign, name, said)
        _keys(page, keys)

    return write


def empty(title: str, text: str, keys: Keys = ()) -> Build:
    """There is nothing: what it is, why, and the key that adds one."""

    def write(page: Page) -> None:
        page.title(title)
        page.gap()
        page.text(text)
        _keys(page, keys)

    return write


def failed(
    title: str, said: str, when: str = "", words: Sequence[str] = (), keys: Keys = ()
) -> Build:
    """A fault, and no row of an earlier time.

    Args:
        title: A sentence: `The app directory did not answer`.
        said: What was said, by whom.
        when: When, and the next try.
        words: The other side's own words.
        keys: Trying again first.
    """

    def write(page: Page) -> None:
        page.state("failed", title)
        page.gap()
        page.fact("said", said)
        if when:
            page.fact("when", when)
        if words:
            page.gap()
            page.quote(words)
        page.gap()
        page.text("There was no earlier list to show.", "muted")
        _keys(page, keys)

    return write


def nothing_found(query: str, looked: str, nearest: str = "", keys: Keys = ()) -> Build:
    """No match.

    Args:
        query: What was looked for.
        looked: Where: `names and texts of 313 plugins`.
        nearest: A name that is close.
        keys: Clearing the filter first.
    """

    def write(page: Page) -> None:
        page.title(f"Nothing matches “{query}”")
        page.gap()
        page.text(f"Looked at {looked}.{f' Nearest name: {nearest}.' if nearest else ''}")
        _keys(page, keys)

    return write


def _keys(page: Page, keys: Keys) -> None:
    if keys:
        page.gap()
        page.keys(*keys)
