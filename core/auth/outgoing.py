"""Requests of a sign-in: guarded, within bounds, each one kept for the trail."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import anyio

from core.auth.guard import Guard, Refused
from core.errors import CoreError
from core.net.body import read_capped
from core.net.failures import net_failure
from core.seams import Redirects

if TYPE_CHECKING:
    import httpx

LIMIT = 30.0
"""Seconds for one request, redirects included."""
_MOST_BYTES = 1 << 20
_MOST_REDIRECTS = 3


@dataclass(frozen=True, kw_only=True)
class Step:
    """One request of the trail. `url` without its query; `status` 0 where none came."""

    verb: str
    url: str
    status: int = 0
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back.

    Attributes:
        value: Its JSON object, or None.
        text: Its beginning.
        endless: It is a stream of events, which is not read.
        note: Why a redirect is the answer, or "".
    """

    url: str
    status: int
    phrase: str = ""
    challenges: tuple[str, ...] = ()
    value: dict[str, Any] | None = field(default=None, repr=False)
    text: str = field(default="", repr=False)
    endless: bool = False
    note: str = ""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


class Unanswered(CoreError):
    """No answer came, or none was asked for. Attributes: url: Without its query."""

    def __init__(self, message: str, url: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.url = url


class Outgoing:
    """Sends requests for one sign-in.

    Args:
        url: Of the MCP server; `headers` go along to its origin only.
        redirects: What is followed, see `SignInTarget.redirects`; never to another origin.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        guard: Guard,
        url: httpx.URL,
        *,
        headers: Mapping[str, str],
        trail: list[Step],
        redirects: Redirects = "same-origin",
    ) -> None:
        self._client, self._guard, self._url = client, guard, url
        self._headers, self._trail, self._redirects = dict(headers), trail, redirects
        self.blocked = ""
        """Host that the guard refused last."""

    async def get(self, url: httpx.URL) -> Answer:
        """Follow redirects within the origin. Raises Unanswered."""
        return await self._send("GET", url, {"mcp-protocol-version": "2024-11-05"}, None)

    async def post(self, url: httpx.URL, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Redirects are the answer. Raises Unanswered."""
        return await self._send("POST", url, {"accept": "application/json", **headers}, body)

    async def peek(self, url: httpx.URL) -> Answer:
        """As a browser would begin: no redirect is followed. Raises Unanswered."""
        return await self._send("GET", url, {"accept": "text/html"}, None, alone=True)

    async def _send(
        self,
        verb: str,
        url: httpx.URL,
        headers: Mapping[str, str],
        body: bytes | None,
        *,
        alone: bool = False,
    ) -> Answer:
        import httpx

        shown = plain(url)
        try:
            with anyio.fail_after(LIMIT):
                if alone:
                    return await self._alone(verb, url, headers)
                return await self._follow(verb, url, headers, body)
        except Refused as error:
            self.blocked = error.host or self.blocked
            reason, hint = error.message, error.hint
        except TimeoutError:
            reason, hint = f"no answer in {LIMIT:g} s", ""
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, UnicodeError) as error:
            reason, hint = net_failure(error).text, ""
        except CoreError as error:  # an unreadable body, a proxy that cannot be used
            reason, hint = error.message, error.hint
        self._trail.append(Step(verb=verb, url=shown, note=reason))
        raise Unanswered(reason, shown, hint=hint)

    async def _alone(self, verb: str, url: httpx.URL, headers: Mapping[str, str]) -> Answer:
        response, note = await self._once(verb, url, dict(headers), None)
        try:
            answer = await self._answer(response, url, "")
        finally:
            await response.aclose()
        self._note(verb, url, answer.status, note)
        return answer

    async def _follow(
        self, verb: str, url: httpx.URL, headers: Mapping[str, str], body: bytes | None
    ) -> Answer:
        for _ in range(_MOST_REDIRECTS + 1):
            own = origin(url) == origin(self._url)
            sent = {**headers, **self._headers} if own and verb == "GET" else dict(headers)
            response, note = await self._once(verb, url, sent, body)
            try:
                there, why = self._redirect(
                    response, url, verb, anonymous=not (own and self._headers)
                )
                if there is None:
                    answer = await self._answer(response, url, why)
                    self._note(verb, url, answer.status, why or note)
                    return answer
            finally:
                await response.aclose()
            self._note(verb, url, response.status_code, "redirect within the origin")
            url = there
        raise Refused("too many redirects")

    async def _once(
        self, verb: str, url: httpx.URL, headers: dict[str, str], body: bytes | None
    ) -> tuple[httpx.Response, str]:
        admitted = await self._guard.admit(url)
        target, extensions = url, None
        if admitted.address:
            # Connect to what was checked: a second look-up may say something else.
            headers = {**headers, "host": url.netloc.decode("ascii")}
            target = url.copy_with(host=admitted.address)
            extensions = {"sni_hostname": url.raw_host.decode("ascii")}
        request = self._client.build_request(
            verb, target, headers=headers, content=body, extensions=extensions
        )
        return await self._client.send(request, stream=True), admitted.note

    def _redirect(
        self, response: httpx.Response, url: httpx.URL, verb: str, *, anonymous: bool
    ) -> tuple[httpx.URL | None, str]:
        """Where to go on; None when the answer itself counts, with the reason."""
        if not response.has_redirect_location:
            return None, ""
        there, why = url.join(response.headers["location"]), ""
        if verb != "GET":
            why = f"{verb} is not sent on"
        elif origin(there) != origin(url):
            why = f"it leads to another origin, {there.scheme}://{_netloc(there)}"
        elif self._redirects == "none":
            why = "redirects are not followed here"
        elif self._redirects == "same-origin-anonymous" and not anonymous:
            why = "configured headers would go along"
        return (None, f"redirect not followed: {why}") if why else (there, "")

    async def _answer(self, response: httpx.Response, url: httpx.URL, note: str) -> Answer:
        endless = response.headers.get("content-type", "").startswith("text/event-stream")
        body = b"" if endless else await read_capped(response, _MOST_BYTES)
        return Answer(
            url=plain(url),
            status=response.status_code,
            phrase=response.reason_phrase,
            challenges=tuple(response.headers.get_list("www-authenticate")),
            value=_object(body),
            text=body[:8000].decode("utf-8", "replace")[:2000],
            endless=endless,
            note=note,
        )

    def _note(self, verb: str, url: httpx.URL, status: int, note: str) -> None:
        self._trail.append(Step(verb=verb, url=plain(url), status=status, note=note))


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """Scheme, host and port."""
    port = url.port or {"http": 80, "https": 443}.get(url.scheme)
    return url.scheme, url.host.lower(), port


def _netloc(url: httpx.URL) -> str:
    return url.netloc.decode("ascii", "replace")


def plain(url: httpx.URL) -> str:
    """For people: without user info, query and fragment, which may hold secrets."""
    return str(url.copy_with(username=None, password=None, query=None, fragment=None))
