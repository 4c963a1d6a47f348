from __future__ import annotations

import io
import os
import shutil
import sys
import tarfile
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from core.plugins.sources import npm as module
from core.plugins.sources.npm import Npm, NpmFailed
from core.process import Processes
from core.protocol.plugins import NpmSource
from tests.core.plugins.world import put

pytestmark = pytest.mark.anyio

PROGRAM = """#!{python}
import json, os, shutil, sys, time
root = {root!r}
with open(os.path.join(root, "asked"), "w") as stream:
    json.dump([sys.argv[1:], os.environ.get("npm_config_ignore_scripts")], stream)
if os.path.exists(os.path.join(root, "hang")):
    time.sleep(60)
if os.path.exists(os.path.join(root, "fail")):
    sys.exit("npm error code E404")
target = sys.argv[sys.argv.index("--pack-destination") + 1]
for number, name in enumerate(sorted(os.listdir(os.path.join(root, "packages")))):
    shutil.copy(os.path.join(root, "packages", name), target)
"""


@dataclass
class Registry:
    """An npm of the test's own, that packs what lies in a folder."""

    npm: Npm
    root: Path

    def publish(self, name: str = "p", files: dict[str, str] | None = None) -> None:
        """What the next `npm pack` brings."""
        content = {"package.json": f'{{"name": "{name}"}}', **(files or {})}
        folder = self.root / "packages"
        folder.mkdir(exist_ok=True)
        with tarfile.open(folder / f"{len(list(folder.iterdir()))}.tgz", "w:gz") as archive:
            for path, text in content.items():
                info = tarfile.TarInfo(f"package/{path}")
                info.size = len(text.encode())
                archive.addfile(info, io.BytesIO(text.encode()))

    async def fetch(self, source: NpmSource) -> Path:
        place = self.root / "place"
        place.mkdir()
        return Path(await self.npm.fetch(source, str(place), lambda share, note: None))

    async def refusal(self, source: NpmSource) -> str:
        with pytest.raises(NpmFailed) as caught:
            await self.fetch(source)
        return str(caught.value)


def make(root: Path, processes: Processes) -> Registry:
    program = put(root / "bin/npm", PROGRAM.format(python=sys.executable, root=str(root)))
    program.chmod(0o755)
    (root / "packages").mkdir()
    return Registry(Npm(processes, {"PATH": f"{root}/bin"}), root)


@pytest.fixture
async def registry(tmp_path: Path) -> AsyncGenerator[Registry]:
    processes = Processes()
    yield make(tmp_path, processes)
    await processes.aclose()


def asked(registry: Registry) -> list[object]:
    import json

    return json.loads((registry.root / "asked").read_text())


async def test_a_package_is_packed_without_scripts_and_unpacked(registry: Registry):
    registry.publish("@s/p", {".codex-plugin/plugin.json": "{}"})
    source = NpmSource("@s/p", "^1.0", "https://registry.test/")
    root = await registry.fetch(source)
    assert sorted(os.listdir(root)) == [".codex-plugin", "package.json"]
    arguments, scripts = asked(registry)
    place = str(registry.root / "place/packed")
    assert arguments == [
        "pack",
        "--ignore-scripts",
        "--pack-destination",
        place,
        "--registry",
        "https://registry.test/",
        "--",
        "@s/p@^1.0",
    ]
    assert scripts == "true"


async def test_a_package_of_another_name_is_refused(registry: Registry):
    registry.publish("other")
    assert await registry.refusal(NpmSource("p")) == (
        "npm plugin package name 'other' does not match requested package 'p'"
    )


async def test_exactly_one_archive_is_expected(registry: Registry):
    registry.publish("p")
    registry.publish("p")
    assert "2 plugin package archives" in await registry.refusal(NpmSource("p"))


async def test_what_npm_says_last_is_told(registry: Registry):
    put(registry.root / "fail", "")
    assert await registry.refusal(NpmSource("p")) == (
        "npm pack failed with status exit status: 1\nstdout:\n\nstderr:\nnpm error code E404"
    )


async def test_an_archive_with_links_is_refused(registry: Registry):
    with tarfile.open(registry.root / "packages/p.tgz", "w:gz") as archive:
        info = tarfile.TarInfo("package/link")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(info)
    assert await registry.refusal(NpmSource("p")) == (
        "failed to extract npm plugin package: plugin bundle tar entry `package/link` is a link"
    )


async def test_nothing_that_looks_like_an_option_reaches_npm(registry: Registry):
    assert "begins with `-`" in await registry.refusal(NpmSource("--help"))
    assert not (registry.root / "asked").exists()


async def test_an_npm_that_hangs_is_ended(registry: Registry, monkeypatch: pytest.MonkeyPatch):
    put(registry.root / "hang", "")
    monkeypatch.setattr(module, "SECONDS", 0.3)
    with anyio.fail_after(10):
        assert "did not end within 0.3s" in await registry.refusal(NpmSource("p"))


async def test_a_machine_without_npm_says_so(registry: Registry):
    shutil.rmtree(registry.root / "bin")
    said = "failed to run npm pack: No such file or directory (os error 2)"
    assert await registry.refusal(NpmSource("p")) == said
