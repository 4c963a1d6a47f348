from __future__ import annotations

import gzip
import zlib
from collections.abc import AsyncGenerator, Iterable

import anyio
import httpx
import pytest

from core.net.body import BodyTooLarge, BodyUnreadable, capped_chunks, excerpt, read_capped

pytestmark = pytest.mark.anyio


class Pieces(httpx.AsyncByteStream):
    def __init__(self, pieces: Iterable[bytes], *, hang: bool = False, fail: bool = False) -> None:
        self.pieces, self.hang, self.fail = pieces, hang, fail

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        for piece in self.pieces:
            yield piece
        if self.hang:
            await anyio.sleep_forever()
        if self.fail:
            raise httpx.ReadError("cut")


def answer(*pieces: bytes, encoding: str = "", **how: bool) -> httpx.Response:
    headers = {"content-encoding": encoding} if encoding else {}
    return httpx.Response(200, headers=headers, stream=Pieces(pieces, **how))


def cut(data: bytes, size: int = 7) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def deflated(data: bytes, bits: int) -> bytes:
    pack = zlib.compressobj(wbits=bits)
    return pack.compress(data) + pack.flush()


TEXT = b"something to say " * 20


@pytest.mark.parametrize(
    ("packed", "encoding"),
    [
        (TEXT, ""),
        (TEXT, "identity"),
        (gzip.compress(TEXT), "gzip"),
        (gzip.compress(TEXT), "X-GZIP"),
        (gzip.compress(TEXT[:50]) + gzip.compress(TEXT[50:]), "gzip"),
        (gzip.compress(TEXT) + b"\0\0\0\0", "gzip"),
        (deflated(TEXT, 15), "deflate"),
        (deflated(TEXT, -15), "deflate"),
    ],
    ids=lambda value: value if isinstance(value, str) else len(value),
)
async def test_packed_bodies_arrive_unpacked_in_any_pieces(packed: bytes, encoding: str) -> None:
    assert await read_capped(answer(packed, encoding=encoding), 10_000) == TEXT
    assert await read_capped(answer(*cut(packed), encoding=encoding), 10_000) == TEXT


async def test_body_of_exactly_the_limit_is_taken_and_one_byte_more_is_not() -> None:
    assert await read_capped(answer(b"12345"), 5) == b"12345"
    with pytest.raises(BodyTooLarge, match="larger than 5 bytes"):
        await read_capped(answer(b"123", b"456"), 5)


async def test_decompression_bomb_is_stopped_at_the_limit_without_being_unpacked() -> None:
    bomb = gzip.compress(b"\0" * (16 << 20), compresslevel=1)
    largest = 0
    with pytest.raises(BodyTooLarge):
        async for piece in capped_chunks(answer(bomb, encoding="gzip"), 1 << 20):
            largest = max(largest, len(piece))
    assert 0 < largest <= 1 << 16


@pytest.mark.parametrize(
    ("data", "encoding", "why"),
    [
        (b"x", "br", "packed as br"),
        (b"not packed", "gzip", "packed wrongly"),
        (b"not packed", "deflate", "packed wrongly"),
        (gzip.compress(TEXT)[:-9], "gzip", "ends too early"),
    ],
    ids=["unknown", "gzip", "deflate", "cut"],
)
async def test_bodies_that_cannot_be_unpacked_say_why(data: bytes, encoding: str, why: str) -> None:
    with pytest.raises(BodyUnreadable, match=why):
        await read_capped(answer(data, encoding=encoding), 1000)


async def test_small_pieces_of_an_open_body_are_not_held_back() -> None:
    with anyio.fail_after(2):
        async for piece in capped_chunks(answer(b"event", hang=True)):
            assert piece == b"event"
            break


async def test_excerpt_gives_what_came_in_time() -> None:
    with anyio.fail_after(2):
        assert await excerpt(answer(b"abc", hang=True), deadline=0.05) == "abc"
    assert await excerpt(answer(b"abc", fail=True)) == "abc"
    assert await excerpt(answer(b"x", encoding="br")) == ""
    assert await excerpt(answer(b"\xff" + b"y" * 9000), chars=5) == "\ufffdyyyy"
