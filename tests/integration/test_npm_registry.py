"""Plugins from a real npm against a registry on loopback."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import tarfile
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from core.errors import CoreError
from core.ports import Deps
from tests.core.plugins.world import put, put_market
from tests.core.service.lifecycle import SKILL, Life, life_of

pytestmark = [pytest.mark.anyio, pytest.mark.needs("npm"), pytest.mark.slow]


@dataclass
class NpmRegistry:
    """Packages by name and version; `url` ends without a slash."""

    url: str = ""
    packages: dict[str, dict[str, bytes]] = field(default_factory=dict[str, dict[str, bytes]])
    scripts: dict[str, str] = field(default_factory=dict[str, str])

    def publish(self, name: str, version: str, content: str, **scripts: str) -> None:
        files = {
            "package.json": json.dumps({"name": name, "version": version, "scripts": scripts}),
            ".codex-plugin/plugin.json": json.dumps({"name": "p", "version": version}),
            SKILL: f"---\nname: s\ndescription: d\n---\n{content}",
        }
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for path, text in files.items():
                info = tarfile.TarInfo(f"package/{path}")
                info.size, info.mode = len(text.encode()), 0o644
                archive.addfile(info, io.BytesIO(text.encode()))
        self.packages.setdefault(name, {})[version] = packed.getvalue()

    def document(self, name: str) -> dict[str, Any]:
        """What npm reads of a package."""
        versions = self.packages[name]
        told = {version: self._version(name, version) for version in versions}
        return {"name": name, "dist-tags": {"latest": list(versions)[-1]}, "versions": told}

    def _version(self, name: str, version: str) -> dict[str, Any]:
        data = self.packages[name][version]
        digest = base64.b64encode(hashlib.sha512(data).digest()).decode()
        tarball = f"{self.url}/-/{name}/{version}.tgz"
        return {
            "name": name,
            "version": version,
            "dist": {"tarball": tarball, "integrity": f"sha512-{digest}"},
        }


def _handler(registry: NpmRegistry) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

        def do_GET(self) -> None:
            path = unquote(self.path.partition("?")[0]).lstrip("/")
            if path.startswith("-/"):
                name, _, file = path.removeprefix("-/").rpartition("/")
                body = registry.packages[name][file.removesuffix(".tgz")]
                self._answer(200, body, "application/octet-stream")
            elif path in registry.packages:
                document = json.dumps(registry.document(path)).encode()
                self._answer(200, document, "application/json")
            else:
                self._answer(404, b'{"error": "not found"}', "application/json")

        def _answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler


@contextmanager
def npm_registry() -> Generator[NpmRegistry]:
    registry = NpmRegistry()
    listening = ThreadingHTTPServer(("127.0.0.1", 0), _handler(registry))
    listening.daemon_threads = True
    registry.url = f"http://127.0.0.1:{listening.server_address[1]}"
    thread = threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


@dataclass
class Shop:
    life: Life
    registry: NpmRegistry

    def offer(self, package: str = "p", **source: Any) -> None:
        entry = {"name": "p", "source": {"source": "npm", "package": package, **source}}
        put_market(self.life.home, entry)


@pytest.fixture
async def shop(deps: Deps, home: Path, tmp_path: Path) -> AsyncGenerator[Shop]:
    with npm_registry() as registry:
        put(home / ".npmrc", f"registry={registry.url}/\ncache={tmp_path / 'npm-cache'}\n")
        environ = {**deps.environ, "PATH": os.environ["PATH"], "HOME": str(home)}
        async with life_of(replace(deps, environ=environ), home) as life:
            yield Shop(life, registry)


async def test_a_package_is_installed_and_brought_to_the_version_that_is_asked_for(shop: Shop):
    shop.registry.publish("@acme/p", "1.0.0", "1")
    shop.offer("@acme/p", version="1.0.0")
    await shop.life.install("p")
    assert (shop.life.versions(), shop.life.content()) == (["1.0.0"], "1")
    assert await shop.life.updates() == {}
    shop.registry.publish("@acme/p", "1.1.0", "2")
    shop.offer("@acme/p", version="1.1.0")
    update = (await shop.life.updates())["p@m"]
    assert (update.version, update.offered) == ("1.0.0", "1.1.0")
    assert (await shop.life.update())["p@m"].message == "1.0.0 → 1.1.0"
    assert shop.life.content() == "2"
    await shop.life.roll_back()
    assert shop.life.content() == "1"


async def test_a_range_is_resolved_anew_past_the_cache_of_npm(shop: Shop):
    shop.registry.publish("p", "1.0.0", "1")
    shop.offer(version="^1.0.0")
    await shop.life.install("p")
    shop.registry.publish("p", "1.2.0", "2")
    assert (await shop.life.update("p@m"))["p@m"].outcome == "updated"
    assert shop.life.versions() == ["1.2.0"]


async def test_the_same_version_published_anew_is_not_taken_from_the_cache(shop: Shop):
    shop.registry.publish("p", "1.0.0", "1")
    shop.offer(version="1.0.0")
    await shop.life.install("p")
    shop.registry.publish("p", "1.0.0", "2")
    assert (await shop.life.update("p@m"))["p@m"].outcome == "updated"
    assert shop.life.content() == "2"


async def test_no_script_of_a_package_is_run(shop: Shop, tmp_path: Path):
    owned = tmp_path / "owned"
    names = ("prepack", "prepare", "preinstall", "install", "postinstall", "postpack")
    shop.registry.publish("p", "1.0.0", "1", **dict.fromkeys(names, f"touch {owned}"))
    shop.offer()
    await shop.life.install("p")
    assert not owned.exists()


async def test_what_the_registry_does_not_have_is_told_in_npms_words(shop: Shop):
    shop.offer("nope")
    with pytest.raises(CoreError, match="npm pack failed with status") as caught:
        await shop.life.install("p")
    assert "404" in caught.value.message
    assert shop.life.versions() == []
