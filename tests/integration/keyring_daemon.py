"""Run inside `dbus-run-session`: a real secret service for a while, and what our store makes of it.

keyring_daemon.py DATA_DIR PASSWORD|"" STEP...     steps: get, set=SECRET, delete, stop
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import anyio
import secretstorage

from core.auth.secrets import KeyringSecrets, KeyringUnavailable


def start(password: str) -> subprocess.Popen[bytes]:
    options = ["--unlock"] if password else []
    daemon = subprocess.Popen(
        ["gnome-keyring-daemon", "--foreground", "--components=secrets", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert daemon.stdin is not None
    daemon.stdin.write(password.encode())
    daemon.stdin.close()
    return daemon


async def owned() -> None:
    bus = secretstorage.dbus_init()
    try:
        from jeepney.bus_messages import message_bus
        from jeepney.io.blocking import Proxy

        while not Proxy(message_bus, bus).NameHasOwner("org.freedesktop.secrets")[0]:  # noqa: ASYNC110
            await anyio.sleep(0.01)
    finally:
        bus.close()


async def run(password: str, steps: list[str]) -> list[object]:
    daemon = start(password)
    said: list[object] = []
    try:
        with anyio.fail_after(10):
            await owned()
        secrets = KeyringSecrets({}, deadline=1.0)
        for step in steps:
            name, _, value = step.partition("=")
            try:
                match name:
                    case "get":
                        said.append(await secrets.get("Jackfield tests", "somebody"))
                    case "set":
                        said.append(await secrets.set("Jackfield tests", "somebody", value))
                    case "delete":
                        said.append(await secrets.delete("Jackfield tests", "somebody"))
                    case _:
                        daemon.send_signal(signal.SIGSTOP)
            except KeyringUnavailable as error:
                said.append(error.state)
    finally:
        daemon.send_signal(signal.SIGCONT)
        daemon.terminate()
        daemon.wait(5)
    return said


if __name__ == "__main__":
    folder, password, *steps = sys.argv[1:]
    os.environ["XDG_DATA_HOME"] = folder
    os.environ["XDG_RUNTIME_DIR"] = folder
    print(json.dumps(anyio.run(run, password, steps)))
