"""Opens pages for the person, and keeps browsers away from our own terminal."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import anyio.to_thread

PATIENCE = 5.0
"""Seconds that opening may take; a browser that runs in the foreground has taken the URL."""

TEXT_BROWSERS = ("elinks", "links", "links2", "lynx", "w3m", "www-browser")

# Run in a process of its own: what `webbrowser` starts inherits the terminal otherwise, and some of
# its controllers wait for the browser's end.
_SCRIPT = """
import os, sys, webbrowser
url, *passed_over = sys.argv[1:]
try:
    webbrowser.get()
except webbrowser.Error:
    pass
for name in webbrowser._tryorder or ():
    if os.path.basename(name.split()[0]) not in passed_over:
        try:
            if webbrowser.get(name).open(url):
                sys.exit(0)
        except (OSError, webbrowser.Error):
            pass
sys.exit(1)
"""


_ELSEWHERE = ("SSH_CONNECTION", "SSH_TTY", "CODESPACES", "REMOTE_CONTAINERS")


def elsewhere(environ: Mapping[str, str]) -> bool:
    """The person's browser is likely to run on another machine, where our ports are not ours."""
    return any(environ.get(name) for name in _ELSEWHERE)


class SystemBrowser:
    """The `Browser` of a real core."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    async def open(self, url: str) -> bool:
        """True when a browser took the URL; nothing but http and https is ever handed over."""
        from urllib.parse import urlsplit

        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return False
        return await anyio.to_thread.run_sync(self._open, url)

    def _open(self, url: str) -> bool:
        # Not by `core.process`: this one is meant to outlive us.
        try:
            child = subprocess.Popen(
                [sys.executable, "-c", _SCRIPT, url, *TEXT_BROWSERS],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=dict(self._environ),
                start_new_session=True,
            )
            return child.wait(PATIENCE) == 0
        except subprocess.TimeoutExpired:
            return True
        except OSError:
            return False
