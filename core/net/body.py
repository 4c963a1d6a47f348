"""Response bodies within bounds, whatever the other side sends."""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing
from typing import TYPE_CHECKING, cast

import anyio

from core.errors import CoreError

if TYPE_CHECKING:
    import httpx

EXCERPT_CHARS = 2000
_STEP = 1 << 16
_FORMATS = {"gzip": 31, "x-gzip": 31, "deflate": 15}


class BodyUnreadable(CoreError):
    """A body that is packed in a way we did not offer, or that ends too early."""


class BodyTooLarge(BodyUnreadable):
    """A body of more bytes than we take, counted after unpacking."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the answer is larger than {limit} bytes")
        self.limit = limit


async def capped_chunks(
    response: httpx.Response, limit: int | None = None
) -> AsyncGenerator[bytes]:
    """The unpacked body of a streamed response, in pieces of at most 64 KiB.

    Unpacking is done in such pieces too, so a decompression bomb costs no more memory than that.

    Raises:
        BodyTooLarge: After `limit` bytes.
        BodyUnreadable: Unknown or damaged packing.
        httpx.TransportError: As the connection has it.
    """
    unpack = _unpacker(response.headers.get("content-encoding", ""))
    total = 0
    async with aclosing(_raw(response)) as raws:
        async for raw in raws:
            for piece in unpack.feed(raw):
                total += len(piece)
                if limit is not None and total > limit:
                    raise BodyTooLarge(limit)
                yield piece
    unpack.finish()


async def read_capped(response: httpx.Response, limit: int) -> bytes:
    """The whole unpacked body of a streamed response. Raises as `capped_chunks` does."""
    body = bytearray()
    async with aclosing(capped_chunks(response, limit)) as pieces:
        async for piece in pieces:
            body += piece
    return bytes(body)


async def excerpt(
    response: httpx.Response, *, chars: int = EXCERPT_CHARS, deadline: float = 2.0
) -> str:
    """The beginning of a body, for a message to people: what came in time, "" when nothing did.

    Args:
        chars: Characters kept.
        deadline: Seconds.

    Never raises.
    """
    import httpx

    body = bytearray()
    with anyio.move_on_after(deadline):
        try:
            async with aclosing(capped_chunks(response)) as pieces:
                async for piece in pieces:
                    body += piece
                    if len(body) >= 4 * chars:
                        break
        except (BodyUnreadable, httpx.HTTPError, httpx.StreamError):
            pass
    return body.decode("utf-8", "replace")[:chars]


def _raw(response: httpx.Response) -> AsyncGenerator[bytes]:
    # With a chunk size, httpx holds small pieces back until it has that many bytes.
    return cast(AsyncGenerator[bytes], response.aiter_raw())


class _Plain:
    def feed(self, raw: bytes) -> Generator[bytes]:
        yield raw

    def finish(self) -> None:
        """Nothing to check."""


class _Unpacker:
    """gzip (also several members in a row) or deflate, with or without the zlib header."""

    def __init__(self, format_bits: int) -> None:
        self._bits = format_bits
        self._inflate = zlib.decompressobj(format_bits)
        self._begun = False

    def feed(self, raw: bytes) -> Generator[bytes]:
        while raw:
            if self._inflate.eof:
                if not raw.startswith(b"\x1f\x8b"):
                    return  # padding after the end
                self._inflate = zlib.decompressobj(self._bits)
            piece = self._some(raw)
            self._begun = True
            raw = self._inflate.unconsumed_tail or self._inflate.unused_data
            if piece:
                yield piece

    def _some(self, raw: bytes) -> bytes:
        try:
            return self._inflate.decompress(raw, _STEP)
        except zlib.error:
            if self._bits != 15 or self._begun:
                raise BodyUnreadable("the answer is packed wrongly") from None
        self._bits = -15  # "deflate" without the header that RFC 9110 asks for is common
        self._inflate = zlib.decompressobj(self._bits)
        try:
            return self._inflate.decompress(raw, _STEP)
        except zlib.error:
            raise BodyUnreadable("the answer is packed wrongly") from None

    def finish(self) -> None:
        if self._begun and not self._inflate.eof:
            raise BodyUnreadable("the answer ends too early")


def _unpacker(encoding: str) -> _Plain | _Unpacker:
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return _Plain()
    if encoding in _FORMATS:
        return _Unpacker(_FORMATS[encoding])
    raise BodyUnreadable(f"the answer is packed as {encoding[:40]}, which was not offered")
