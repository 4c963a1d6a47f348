"""A session bus and a secret service of a test's own, which can be ended, stopped and locked."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from jeepney import DBusAddress, new_method_call
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, Proxy, open_dbus_connection

SECRETS = "org.freedesktop.secrets"
SERVICE = DBusAddress("/org/freedesktop/secrets", SECRETS, "org.freedesktop.Secret.Service")
SESSION = "/org/freedesktop/secrets/collection/session"


@dataclass
class Keyring:
    """`environ`: variables with which a program finds the bus, and its files."""

    folder: Path
    address: str
    bus: subprocess.Popen[str]
    daemon: subprocess.Popen[bytes]
    environ: dict[str, str] = field(default_factory=dict[str, str])

    def connected(self) -> DBusConnection:
        return open_dbus_connection(self.address)

    def items(self) -> list[str]:
        """Paths of all items that a sign-in of a server has left."""
        with self.connected() as bus:
            asked = {"service": "Codex MCP Credentials"}
            message = new_method_call(SERVICE, "SearchItems", "a{ss}", (asked,))
            open_items, locked_items = bus.send_and_get_reply(message, timeout=5).body
            return [*open_items, *locked_items]

    def make_volatile(self) -> None:
        """New items live in memory only, as where no login keyring could be made."""
        with self.connected() as bus:
            message = new_method_call(SERVICE, "SetAlias", "so", ("default", SESSION))
            bus.send_and_get_reply(message, timeout=5)

    def lock(self) -> None:
        with self.connected() as bus:
            ask = new_method_call(SERVICE, "ReadAlias", "s", ("default",))
            (path,) = bus.send_and_get_reply(ask, timeout=5).body
            bus.send_and_get_reply(new_method_call(SERVICE, "Lock", "ao", ([path],)), timeout=5)

    def stop(self) -> None:
        """The daemon is there and answers nothing."""
        self.daemon.send_signal(signal.SIGSTOP)

    def kill(self) -> None:
        """The daemon is gone; the bus starts another one, which is locked."""
        self.daemon.kill()
        self.daemon.wait()

    def kill_bus(self) -> None:
        self.bus.kill()
        self.bus.wait()


@contextmanager
def keyring(folder: Path, password: str = "open sesame") -> Generator[Keyring]:
    """Unlocked, with a login keyring of its own."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    environ = {"XDG_RUNTIME_DIR": str(folder), "XDG_DATA_HOME": str(folder)}
    outside = {"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"}
    around = {name: value for name, value in os.environ.items() if name not in outside} | environ
    bus = subprocess.Popen(
        ["dbus-daemon", "--session", "--nofork", "--print-address=1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=around,
        start_new_session=True,
    )
    assert bus.stdout is not None
    address = bus.stdout.readline().strip()
    environ["DBUS_SESSION_BUS_ADDRESS"] = address
    daemon = subprocess.Popen(
        ["gnome-keyring-daemon", "--foreground", "--components=secrets", "--unlock"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=around | environ,
    )
    assert daemon.stdin is not None
    daemon.stdin.write(password.encode())
    daemon.stdin.close()
    made = Keyring(folder, address, bus, daemon, environ)
    try:
        _wait_for(made)
        yield made
    finally:
        with suppress(ProcessLookupError):
            daemon.send_signal(signal.SIGCONT)
        daemon.terminate()
        daemon.wait(5)
        # What the bus has started by itself belongs to its process group.
        with suppress(ProcessLookupError):
            os.killpg(bus.pid, signal.SIGTERM)
        bus.wait(5)
        bus.stdout.close()


def _wait_for(made: Keyring) -> None:
    deadline = time.monotonic() + 10
    with made.connected() as bus:
        while not Proxy(message_bus, bus).NameHasOwner(SECRETS)[0]:
            assert time.monotonic() < deadline, "no secret service"
            time.sleep(0.01)
