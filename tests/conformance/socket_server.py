"""`python socket_server.py VERB …` as `server.py`, but the app-server is one on a unix socket.

It listens in a folder of its own; a relay passes stdin and stdout on to it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SERVER = (sys.executable, str(Path(__file__).with_name("server.py")))
STARTS = 30.0  # seconds


def run(verb: str, arguments: list[str]) -> int:
    if verb != "app-server":
        return subprocess.run([*SERVER, verb, *arguments], check=False).returncode
    with tempfile.TemporaryDirectory(prefix="jackfield-") as folder:
        path = Path(folder, "s")
        listener = [*SERVER, verb, "--listen", f"unix:{path}", *arguments]
        with subprocess.Popen(listener, stdin=subprocess.DEVNULL) as server:
            signal.signal(signal.SIGTERM, lambda number, frame: server.terminate())
            deadline = time.monotonic() + STARTS
            while not path.exists() and server.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            if server.poll() is not None:
                return server.returncode
            relay = [*SERVER, verb, "--connect", f"unix:{path}"]
            done = subprocess.run(relay, check=False).returncode
            server.terminate()
        return done or server.returncode


if __name__ == "__main__":
    os.umask(0o077)
    sys.exit(run(sys.argv[1], sys.argv[2:]))
