"""The Secret Service of a Linux desktop, with the attributes that Codex gives its items.

The keyring library would put a second item beside one of Codex (observed in keyring 25.7), and
would open a password prompt; here the same item is replaced, and nobody is asked.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import secretstorage
from secretstorage.defines import SS_PATH, SS_PREFIX
from secretstorage.exceptions import (
    ItemNotFoundException,
    LockedException,
    SecretServiceNotAvailableException,
)
from secretstorage.util import DBusAddressWrapper

from core.auth.secrets import KeyringUnavailable, absent, locked

_SESSION = "/org/freedesktop/secrets/collection/session"
_EXTRA = {"target": "default", "application": "rust-keyring"}


class SecretService:
    """One bus connection per call, as a daemon may be restarted at any time."""

    def get(self, service: str, account: str) -> str | None:
        """The secret of the unlocked item that Codex would take, else of any."""
        with _bus() as bus:
            items = _items(bus, service, account)
            ours = [item for item in items if _EXTRA.items() <= item.get_attributes().items()]
            for item in (*ours, *items):
                if item.is_locked():
                    raise locked()
                return item.get_secret().decode()
            _default(bus)
            return None

    def set(self, service: str, account: str, secret: str) -> None:
        """Replace the item with our attributes, or make it in the default collection."""
        with _bus() as bus:
            attributes = {"service": service, "username": account, **_EXTRA}
            label = f"{account}@{service}:{_EXTRA['target']}"
            _default(bus).create_item(label, attributes, secret.encode(), replace=True)

    def delete(self, service: str, account: str) -> bool:
        """Delete every item of that service and account, whoever wrote it."""
        with _bus() as bus:
            items = _items(bus, service, account)
            for item in items:
                item.delete()
            if not items:
                _default(bus)
            return bool(items)

    def lasts(self) -> bool:
        """False where the default collection is the one that lives in memory only."""
        with _bus() as bus:
            service = DBusAddressWrapper(SS_PATH, f"{SS_PREFIX}Service", bus)
            (path,) = service.call("ReadAlias", "s", "default")
            return path != _SESSION


@contextmanager
def _bus() -> Generator[Any]:
    try:
        bus = secretstorage.dbus_init()
    except (SecretServiceNotAvailableException, FileNotFoundError) as error:
        raise absent() from error
    try:
        if not secretstorage.check_service_availability(bus):
            raise absent("no secret service runs")
        yield bus
    except LockedException as error:
        raise locked() from error
    except SecretServiceNotAvailableException as error:
        raise absent() from error
    finally:
        bus.close()


def _items(bus: Any, service: str, account: str) -> list[Any]:
    return list(secretstorage.search_items(bus, {"service": service, "username": account}))


def _default(bus: Any) -> Any:
    """The default collection, which must be open for an answer to be worth anything."""
    try:
        collection = secretstorage.Collection(bus)
    except ItemNotFoundException as error:
        message = "the keyring has no default collection"
        raise KeyringUnavailable("absent", message, "log in to the desktop once") from error
    if collection.is_locked():
        raise locked()
    return collection
