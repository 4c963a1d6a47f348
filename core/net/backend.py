"""Requests to the ChatGPT backend, bounded in time and size, and words for every way to fail."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from core.errors import InternalError
from core.net.body import BodyUnreadable, excerpt, read_capped
from core.net.failures import net_failure
from core.ports import HttpFactory
from core.protocol.facts import Evidence
from core.seams import BackendAccount

if TYPE_CHECKING:
    import httpx

ANSWER_LIMIT = 16 * 1024 * 1024
UNSENT = "Failed to send request"
SIGN_IN = "sign in again: codex login"
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)


class BackendFailed(InternalError):
    """The backend did not give what was asked.

    Attributes:
        message: As the real app-server words it behind `failed to list apps: `.
        words: For people, at most about 60 cells: `HTTP 503 from directory.example`.
    """

    def __init__(self, message: str, words: str, *, hint: str = "") -> None:
        super().__init__(message, evidence=Evidence(wire=words), hint=hint)
        self.words = words


def unreadable(words: str) -> BackendFailed:
    """An answer that came whole and is not what it should be."""
    return BackendFailed("Failed to parse JSON response", words)


def host_of(url: str) -> str:
    """Host, and port where one is given; never the credentials of a URL."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "the backend"
    return f"{host}:{port}" if port is not None else host


class Backend:
    """One account's backend over one HTTP client.

    Attributes:
        host: For messages.
    """

    def __init__(self, client: httpx.AsyncClient, account: BackendAccount, originator: str) -> None:
        self._client, self._account, self._originator = client, account, originator
        self.host = host_of(account.base_url)

    async def get(self, path: str) -> bytes:
        """The body of a good answer. Raises `BackendFailed`."""
        return await self._ask("GET", path, None)

    async def post(self, path: str, body: Mapping[str, Any]) -> bytes:
        """The body of a good answer to a JSON body. Raises `BackendFailed`."""
        return await self._ask("POST", path, body)

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None) -> bytes:
        import httpx

        headers = self._headers()
        try:
            request = self._client.build_request(
                method, self._account.base_url + path, json=body, headers=headers
            )
            response = await self._client.send(request, stream=True)
            try:
                return await self._read(response)
            finally:
                await response.aclose()
        except httpx.ReadTimeout as error:
            raise BackendFailed(UNSENT, f"no answer from {self.host}") from error
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise BackendFailed(UNSENT, f"{self.host}: {net_failure(error).text}") from error
        except BodyUnreadable as error:
            raise unreadable(f"{self.host}: {error.message}") from error

    def _headers(self) -> dict[str, str]:
        account = self._account
        for value in (account.access_token, account.account_id):
            # The HTTP library would quote what it cannot send in its error.
            if not (value.isascii() and value.isprintable()):
                raise BackendFailed(UNSENT, "the stored sign-in cannot be sent", hint=SIGN_IN)
        return {
            "authorization": f"Bearer {account.access_token}",
            "chatgpt-account-id": account.account_id,
            "oai-product-sku": "codex",
            "originator": self._originator,
            "accept": "*/*",
        }

    async def _read(self, response: httpx.Response) -> bytes:
        if not response.is_success:
            raise self._refused(response, await excerpt(response))
        body = await read_capped(response, ANSWER_LIMIT)
        kind = response.headers.get("content-type", "")
        if "html" in kind or body[:1] == b"<":
            page = body[:8192].decode("utf-8", "replace")
            raise unreadable(f"{_page(page)} from {self.host}")
        if not body.strip():
            raise unreadable(f"an empty answer from {self.host}")
        return body

    def _refused(self, response: httpx.Response, text: str) -> BackendFailed:
        status = response.status_code
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = "<unknown status code>"
        words = f"HTTP {status} from {self.host}"
        if "html" in response.headers.get("content-type", "") or text.startswith("<"):
            words += f": {_page(text)}"
        elif wait := response.headers.get("retry-after", ""):
            words += f"; try again in {wait} s" if wait.isdecimal() else f"; try again {wait}"
        hint = SIGN_IN if status == HTTPStatus.UNAUTHORIZED else ""
        return BackendFailed(
            f"Request failed with status {status} {phrase}: {text}", words, hint=hint
        )


def _page(text: str) -> str:
    found = _TITLE.search(text)
    title = " ".join(html.unescape(found[1]).split())[:60] if found else ""
    return f"HTML page “{title}”" if title else "an HTML page"


def _check_transport(base_url: str) -> None:
    try:
        parts = urlsplit(base_url)
        host = parts.hostname
    except ValueError:
        host = None
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not host:
        raise BackendFailed(UNSENT, "chatgpt_base_url is no usable URL")
    if parts.scheme == "http" and not _loopback(host):
        raise BackendFailed(
            UNSENT,
            f"{host} is asked for over plain http; the token is not sent",
            hint="use https in chatgpt_base_url",
        )


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


@asynccontextmanager
async def open_backend(
    http: HttpFactory, account: BackendAccount, *, originator: str, deadline: float
) -> AsyncGenerator[Backend]:
    """A backend for the length of the block; `deadline` in seconds for each read and write.

    Raises:
        BackendFailed: There is no account id, or the token would travel in the clear.
    """
    if not account.account_id:
        text = "ChatGPT account ID not available, please re-run `codex login`"
        raise BackendFailed(text, "the sign-in names no workspace", hint=SIGN_IN)
    _check_transport(account.base_url)
    async with await http.client(timeout=deadline) as client:
        yield Backend(client, account, originator)
