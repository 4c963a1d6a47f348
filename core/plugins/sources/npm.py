"""The person's own npm: packs a published package, runs none of its scripts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread

from core.plugins.json_fast import member
from core.plugins.sources.archive import BadArchive, unpack
from core.process import Processes, RanTooLong, SpawnFailed
from core.protocol.plugins import NpmSource

SECONDS = 180.0
_OVERRIDES = {
    "npm_config_ignore_scripts": "true",
    "npm_config_audit": "false",
    "npm_config_fund": "false",
    "npm_config_update_notifier": "false",
    "npm_config_fetch_retries": "1",
    "npm_config_fetch_timeout": "30000",
    "npm_config_loglevel": "error",
    "NO_COLOR": "1",
}
Progress = Callable[[float | None, str], None]


class NpmFailed(Exception):
    """npm failed, or what it brought cannot be used; the text is the real server's."""


class Npm:
    """Downloads packages.

    Args:
        environ: Of the process; the person's npm configuration counts.
    """

    def __init__(self, processes: Processes, environ: Mapping[str, str]) -> None:
        self._processes = processes
        self._env = {**environ, **_OVERRIDES}

    async def fetch(self, source: NpmSource, place: str, progress: Progress) -> str:
        """Download and unpack below the directory `place`; the package's own directory.

        Raises:
            NpmFailed: With the words of Codex 0.171.0.
        """
        if source.package.startswith("-"):
            raise NpmFailed(f"`{source.package}` begins with `-` and is not given to npm")
        progress(None, "npm pack")
        packed = f"{place}/packed"
        await anyio.to_thread.run_sync(os.mkdir, packed)
        await self._pack(source, packed)
        progress(None, "unpacking")
        return await anyio.to_thread.run_sync(_unpacked, source.package, packed, f"{place}/npm")

    async def _pack(self, source: NpmSource, packed: str) -> None:
        package = f"{source.package}@{source.version}" if source.version else source.package
        registry = ["--registry", source.registry] if source.registry else []
        options = ["--ignore-scripts", "--pack-destination", packed, *registry]
        argv = ["npm", "pack", *options, "--", package]
        try:
            done = await self._processes.run(argv, env=self._env, cwd=packed, deadline=SECONDS)
        except SpawnFailed as error:
            reason = f"{os.strerror(error.errno)} (os error {error.errno})"
            raise NpmFailed(f"failed to run npm pack: {reason}") from None
        except RanTooLong as error:
            raise NpmFailed(f"npm pack did not end within {error.seconds:g}s") from None
        if done.exit_code:
            status = f"exit status: {done.exit_code}"
            said = done.stdout.decode("utf-8", "replace").strip()
            error = "\n".join(done.stderr).strip()
            text = f"npm pack failed with status {status}\nstdout:\n{said}\nstderr:\n{error}"
            raise NpmFailed(text)


def _unpacked(package: str, packed: str, target: str) -> str:
    """The one tarball in `packed`, unpacked and looked at."""
    archives = sorted(name for name in os.listdir(packed) if name.endswith(".tgz"))
    if len(archives) != 1:
        count = len(archives)
        raise NpmFailed(f"npm pack produced {count} plugin package archives; expected exactly one")
    try:
        tick = partial(anyio.from_thread.check_cancelled)
        unpack(f"{packed}/{archives[0]}", target, tick=tick)
    except BadArchive as error:
        raise NpmFailed(f"failed to extract npm plugin package: {error}") from None
    root = f"{target}/package"
    if not os.path.isdir(root):
        raise NpmFailed("npm plugin package has no `package` directory")
    name = _name(f"{root}/package.json")
    if name != package:
        what = f"npm plugin package name '{name}' does not match requested package '{package}'"
        raise NpmFailed(what)
    return root


def _name(path: str) -> str:
    import msgspec

    try:
        with open(path, "rb") as stream:
            value: Any = msgspec.json.decode(stream.read())
    except (OSError, msgspec.DecodeError) as error:
        raise NpmFailed(f"failed to read npm plugin package.json: {error}") from None
    name = member(value, "name")
    return name if isinstance(name, str) else ""
