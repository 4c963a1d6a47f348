"""HTTPS with a certificate authority of its own, reached through a proxy that knows every name."""

from __future__ import annotations

import datetime
import socket
import ssl
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Answer = Callable[[httpx.Request], httpx.Response]


def _named(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _signed(subject: str, key: Any, issuer: str, by: Any, *more: Any) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_named(subject))
        .issuer_name(_named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
    )
    for extension, critical in more:
        builder = builder.add_extension(extension, critical=critical)
    return builder.sign(by, hashes.SHA256())


def make_certificates(folder: Path, *names: str) -> tuple[Path, Path]:
    """The authority's certificate, and key with certificate of a site with these names."""
    authority, key = (
        ec.generate_private_key(ec.SECP256R1()),
        ec.generate_private_key(ec.SECP256R1()),
    )
    root = _signed(
        "tests",
        authority,
        "tests",
        authority,
        (x509.BasicConstraints(ca=True, path_length=0), True),
    )
    alternatives = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
    site = _signed("site", key, "tests", authority, (alternatives, False))
    ca, both = folder / "ca.pem", folder / "site.pem"
    ca.write_bytes(root.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    both.write_bytes(private + site.public_bytes(serialization.Encoding.PEM))
    return ca, both


@contextmanager
def serving(answer: Answer, certificate: Path) -> Generator[int]:
    """The site; its port on loopback."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _any(self) -> None:
            content = self.rfile.read(int(self.headers.get("content-length", 0)))
            url = f"https://{self.headers['host']}{self.path}"
            request = httpx.Request(self.command, url, headers=dict(self.headers), content=content)
            said = answer(request)
            self.send_response(said.status_code)
            body = b"".join(_body(said))
            for name, value in said.headers.multi_items():
                if name not in ("content-length", "transfer-encoding"):
                    self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = _any

        def log_message(self, format: str, *args: Any) -> None: ...

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _body(response: httpx.Response) -> Generator[bytes]:
    content = getattr(response.stream, "_content", None)
    yield content if content is not None else response.content


@contextmanager
def proxying(port: int) -> Generator[tuple[str, list[str]]]:
    """A proxy that connects every name to `port`: its URL, and whom it was asked for."""
    listener = socket.create_server(("127.0.0.1", 0))
    asked: list[str] = []

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def one(client: socket.socket) -> None:
        with client, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(65536)
            verb, target, _ = head.split(b"\r\n")[0].decode().split(" ")
            asked.append(f"{verb} {target}")
            with socket.create_connection(("127.0.0.1", port)) as site:
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                back = threading.Thread(target=pump, args=(site, client), daemon=True)
                back.start()
                pump(client, site)
                back.join()

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=one, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
