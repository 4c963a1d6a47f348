"""The ports of `core.ports`, as a test can steer them."""

from __future__ import annotations

import anyio
import anyio.lowlevel

from core.errors import CoreError

_TURNS = 20  # looks that other tasks get at a new time before the next sleeper wakes


class FakeClock:
    """Time that passes only when somebody sleeps; with `auto=False` only by `advance`."""

    def __init__(self, now: float = 1_700_000_000.0, *, auto: bool = True) -> None:
        self._now = now
        self._monotonic = 1_000.0
        self._auto = auto
        self._sleepers: list[tuple[float, anyio.Event]] = []

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    @property
    def sleepers(self) -> int:
        """How many tasks sleep."""
        return len(self._sleepers)

    async def sleep(self, seconds: float) -> None:
        if self._auto or seconds <= 0:
            self.tick(max(0.0, seconds))
            await anyio.lowlevel.checkpoint()
            return
        sleeper = (self._monotonic + seconds, anyio.Event())
        self._sleepers.append(sleeper)
        try:
            await sleeper[1].wait()
        finally:
            self._sleepers.remove(sleeper)

    def tick(self, seconds: float) -> None:
        """Let time pass and wake nobody."""
        self._now += seconds
        self._monotonic += seconds

    async def advance(self, seconds: float) -> None:
        """Let time pass; sleepers wake in order, and each time the others get their turn."""
        end = self._monotonic + seconds
        await _settle()
        while due := sorted((at for at, woken in self._sleepers if not woken.is_set())):
            if due[0] > end:
                break
            self.tick(due[0] - self._monotonic)
            for at, woken in self._sleepers:
                if at <= self._monotonic:
                    woken.set()
            await _settle()
        self.tick(end - self._monotonic)


async def _settle() -> None:
    for _ in range(_TURNS):
        await anyio.lowlevel.checkpoint()


class MemorySecrets:
    """A keyring that is a dict; `entries` may be looked at and changed."""

    def __init__(self, entries: dict[tuple[str, str], str] | None = None) -> None:
        self.entries = dict(entries or {})
        self.lasting = True

    async def get(self, service: str, account: str) -> str | None:
        return self.entries.get((service, account))

    async def set(self, service: str, account: str, secret: str) -> None:
        self.entries[service, account] = secret

    async def delete(self, service: str, account: str) -> bool:
        return self.entries.pop((service, account), None) is not None

    async def lasts(self) -> bool:
        return self.lasting


class TinySecrets(MemorySecrets):
    """Takes no secret longer than Windows does: 2,560 bytes of UTF-16."""

    LIMIT = 2560

    async def set(self, service: str, account: str, secret: str) -> None:
        if len(secret.encode("utf-16-le")) > self.LIMIT:
            raise CoreError("the keyring cannot be written: the secret is too long")
        await super().set(service, account, secret)


class BrokenSecrets:
    """A machine without a keyring, or with one that says `message` to everything."""

    def __init__(self, message: str = "there is no keyring on this machine") -> None:
        self.message = message

    async def get(self, service: str, account: str) -> str | None:
        raise CoreError(self.message)

    async def set(self, service: str, account: str, secret: str) -> None:
        raise CoreError(self.message)

    async def delete(self, service: str, account: str) -> bool:
        raise CoreError(self.message)

    async def lasts(self) -> bool:
        raise CoreError(self.message)


class FakeBrowser:
    """Keeps the URLs that it was given; `works=False` opens none."""

    def __init__(self, *, works: bool = True) -> None:
        self.works = works
        self.opened: list[str] = []

    async def open(self, url: str) -> bool:
        self.opened.append(url)
        return self.works
