"""A git server on loopback over smart HTTP (git's own backend behind a small CGI server) and ssh."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

USER, PASSWORD = "user", "pass"
SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


@dataclass
class GitServer:
    """Serves the bare repositories below a folder.

    Attributes:
        heard: Somebody has asked for something.
        hangs: Requests are accepted and never answered, until `open`.
    """

    root: Path
    http: str = ""
    heard: threading.Event = field(default_factory=threading.Event)
    hangs: threading.Event = field(default_factory=threading.Event)
    open: threading.Event = field(default_factory=threading.Event)

    def url(self, name: str) -> str:
        return f"{self.http}/{name}"

    def private(self, name: str) -> str:
        """The same repository behind a user and a password."""
        return f"{self.http}/private/{name}"


def _handler(server: GitServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

        def do_GET(self) -> None:
            self._serve(b"")

        def do_POST(self) -> None:
            if "chunked" in self.headers.get("Transfer-Encoding", ""):
                self._serve(self._chunks())
            else:
                self._serve(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

        def _chunks(self) -> bytes:
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            return body

        def _serve(self, body: bytes) -> None:
            path, _, query = self.path.partition("?")
            server.heard.set()
            if server.hangs.is_set():
                server.open.wait(30)
                return
            if path.startswith("/private/"):
                path = path.removeprefix("/private")
                wanted = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
                if self.headers.get("Authorization") != f"Basic {wanted}":
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", 'Basic realm="git"')
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
            self._run(path, query, body)

        def _run(self, path: str, query: str, body: bytes) -> None:
            env = {
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(server.root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "safe.directory",
                "GIT_CONFIG_VALUE_0": "*",
            }
            command = ["git", "http-backend"]
            done = subprocess.run(command, input=body, env=env, capture_output=True, check=False)
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().splitlines() if line)
            self.send_response(int(fields.pop("Status", "200").split()[0]))
            for name, value in fields.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler


@contextmanager
def http_server(root: Path) -> Generator[GitServer]:
    """Serve the repositories below a folder over smart HTTP."""
    server = GitServer(root)
    listening = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    listening.daemon_threads = True
    server.http = f"http://127.0.0.1:{listening.server_address[1]}"
    thread = threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.open.set()
        listening.shutdown()
        listening.server_close()
        thread.join()


@dataclass(frozen=True)
class SshServer:
    """`command`: for GIT_SSH_COMMAND, with the key and the known host of this server."""

    prefix: str
    command: str

    def url(self, path: Path) -> str:
        return f"{self.prefix}{path}"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def ssh_server(folder: Path) -> Generator[SshServer]:
    """An sshd of the test's own, with keys of its own."""
    assert SSHD is not None
    folder.mkdir(mode=0o700, exist_ok=True)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(parents=True, exist_ok=True)
    for name in ("host", "id"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(command, check=True)
    port = _free_port()
    settings = {
        "Port": port,
        "ListenAddress": "127.0.0.1",
        "HostKey": folder / "host",
        "AuthorizedKeysFile": folder / "id.pub",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "PermitRootLogin": "prohibit-password",
        "PidFile": "none",
    }
    text = "".join(f"{name} {value}\n" for name, value in settings.items())
    (folder / "sshd_config").write_text(text)
    host = (folder / "host.pub").read_text()
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {host}")
    log = (folder / "log").open("wb")
    command = [SSHD, "-D", "-e", "-f", str(folder / "sshd_config")]
    with log, subprocess.Popen(command, stderr=log, start_new_session=True) as running:
        try:
            _wait_for(port)
            user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True)
            yield SshServer(
                f"ssh://{user.stdout.strip()}@127.0.0.1:{port}",
                f"ssh -F none -i {folder / 'id'} -o IdentitiesOnly=yes "
                f"-o UserKnownHostsFile={folder / 'known_hosts'} -o BatchMode=yes",
            )
        finally:
            running.terminate()


def _wait_for(port: int) -> None:
    for _ in range(500):
        with socket.socket() as probe:
            probe.settimeout(0.2)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        threading.Event().wait(0.02)
    raise AssertionError("sshd does not listen")
