"""A sign-in layer on fakes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from anyio.abc import TaskGroup

from core.auth.grants import Grant
from core.auth.layer import SignInLayer
from core.config.paths import Home
from core.ports import Deps
from core.seams import SignInTarget
from tests.fakes.oauth_server import FakeOAuth
from tests.fakes.ports import FakeBrowser, FakeClock, MemorySecrets


class FileOnly:
    """A configuration that keeps credentials in the file."""

    def get(self, *path: str, default: Any = None) -> Any:
        return "file"


@dataclass
class World:
    """`layer` signs in at `site`; `home` is CODEX_HOME."""

    layer: SignInLayer
    site: FakeOAuth
    clock: FakeClock
    home: Path

    @property
    def target(self) -> SignInTarget:
        return SignInTarget(server="oa", url=self.site.url)

    async def stored(self) -> Grant | None:
        return await self.layer.credentials.get("oa", self.site.url)

    async def store(self, **facts: Any) -> Grant:
        """A grant that has just expired, and can be refreshed."""
        known: dict[str, Any] = {
            "server_name": "oa",
            "server_url": self.site.url,
            "client_id": "c1",
            "access_token": "old",
            "issuer": self.site.host,
            "refresh_token": "known",
            "expires_at": int(self.clock.now() * 1000),
        }
        self.site.refresh_tokens.add("known")
        grant = Grant(**{**known, **facts})
        await self.layer.credentials.put(grant)
        return grant


def world(
    tmp_path: Path, tasks: TaskGroup | None = None, *, clock: FakeClock | None = None
) -> World:
    site, clock = FakeOAuth(), clock or FakeClock()
    home = Home(tmp_path, tmp_path / "codex")
    deps = Deps(
        clock=clock,
        secrets=MemorySecrets(),
        http=site,
        browser=FakeBrowser(),
        environ={},
        cwd=tmp_path,
        state_dir=tmp_path / "state",
        config_dir=tmp_path / "config",
        cache_dir=tmp_path / "cache",
    )
    layer = SignInLayer(deps, home, lambda: cast(Any, FileOnly()), cast("TaskGroup", tasks))
    return World(layer=layer, site=site, clock=clock, home=home.codex_home)
