"""What the server says of itself in the handshake."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass

from core.errors import InvalidRequest
from core.protocol.initialize import ClientInfo, InitializeResponse

_SYSTEMS = {"darwin": "macos", "win32": "windows"}


@dataclass(frozen=True, kw_only=True)
class Greeting:
    """`version` is ours; `codex_home` is the folder that everything is read from."""

    version: str
    codex_home: str

    def answer(self, client: ClientInfo) -> InitializeResponse:
        """The result of `initialize`.

        Raises:
            InvalidRequest: The client's name could not be part of an HTTP header.
        """
        if any(ord(char) < 0x20 and char != "\t" or char == "\x7f" for char in client.name):
            raise InvalidRequest(
                f"Invalid clientInfo.name: '{client.name}'. Must be a valid HTTP header value."
            )
        who = f"{client.name}; {client.version}".strip()
        return InitializeResponse(
            user_agent=f"{client.name}/{self.version} ({_machine()}) jackfield ({who})",
            codex_home=self.codex_home,
            platform_family="windows" if sys.platform == "win32" else "unix",
            platform_os=_SYSTEMS.get(sys.platform, sys.platform),
        )


def _machine() -> str:
    """`Debian 12; x86_64`: the system, its version and the processor."""
    system, version = platform.system(), platform.release()
    if sys.platform == "linux":
        try:
            release = platform.freedesktop_os_release()
        except OSError:
            release = {}
        system = release.get("NAME", system).removesuffix(" GNU/Linux")
        version = release.get("VERSION_ID", version)
    elif sys.platform == "darwin":
        system, version = "Mac OS", platform.mac_ver()[0]
    return f"{system} {version}; {platform.machine()}"
