"""The demo world: a throw-away home with everything in it, and servers on loopback.

Nothing of the person's is read or written, nothing leaves the machine, and at the end all of it
is gone.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import AsyncGenerator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from core.demo import offers, shelves
from core.demo.backend import ACCOUNT, TOKEN, DemoBackend
from core.demo.gates import Gates
from core.demo.http import Answer, Asked, Respond, Site
from core.demo.mcp_http import McpEndpoint
from core.demo.oauth import AuthorizationServer, ProtectedResource
from core.demo.programs import program_files
from core.demo.settings import Places, config_toml, project_toml, requirements_toml

if TYPE_CHECKING:
    from core.ports import Deps

SCOPES = ("traces:read", "offline_access")
FLAPPING = 8
_KEPT_VARIABLES = ("PATH", "TERM", "COLORTERM", "COLORFGBG", "LANG", "LC_ALL", "LC_CTYPE", "TZ")


class DemoSecrets:
    """A keyring that lives in memory and ends with the world."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], str] = {}

    async def get(self, service: str, account: str) -> str | None:
        return self._kept.get((service, account))

    async def set(self, service: str, account: str, secret: str) -> None:
        self._kept[service, account] = secret

    async def delete(self, service: str, account: str) -> bool:
        return self._kept.pop((service, account), None) is not None

    async def lasts(self) -> bool:
        return True


@dataclass(frozen=True, kw_only=True)
class DemoWorld:
    """Where everything is.

    Attributes:
        root: The throw-away folder; everything below is in it.
        home, codex_home, cwd: `HOME`, `CODEX_HOME`, and the project folder to start in.
        environ: The environment of a core in this world.
        urls: Of the sites, by name: `backend`, `issues`, `search`, `traces`, `sign-in`, `wiki`.
        gates: Doors of the sources; all open unless the world was made with `gates`.
    """

    root: Path
    home: Path
    codex_home: Path
    cwd: Path
    environ: Mapping[str, str]
    urls: Mapping[str, str]
    gates: Gates

    def deps(self) -> Deps:
        """What a core needs to live in this world: the real clock, browser and network code."""
        from core.deps import real_deps

        deps = real_deps(self.environ, self.cwd)
        return replace(deps, secrets=DemoSecrets(), system_dir=self.root / "etc")

    def sign_in(self, *, email: str = "dev@example.com", user: str = "demo-user") -> None:
        """Write `auth.json` as a sign-in with ChatGPT does; another `user` is another account."""
        content = _auth(email, user)
        path = self.codex_home / "auth.json"
        path.write_text(json.dumps(content, indent=2), encoding="utf-8")
        path.chmod(0o600)


@asynccontextmanager
async def demo_world(
    *,
    delays: bool = True,
    gates: bool = False,
    environ: Mapping[str, str] | None = None,
) -> AsyncGenerator[DemoWorld]:
    """A world for as long as the block lasts.

    Args:
        delays: Answers take as long as on a slow day; otherwise everything is at once.
        gates: Sources wait at closed doors, see `core.demo.gates`.
        environ: Of the terminal: what says how to draw is taken over, nothing else.
    """
    builder = _Builder(delays=delays, gates=gates, environ=environ or os.environ)
    try:
        world = await anyio.to_thread.run_sync(builder.build)
        yield world
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(builder.close)


class _Builder:
    def __init__(self, *, delays: bool, gates: bool, environ: Mapping[str, str]) -> None:
        self._delays, self._gated, self._environ = delays, gates, environ
        self._stack = ExitStack()
        self._ended = threading.Event()

    def close(self) -> None:
        """End the servers, then remove the folder."""
        self._ended.set()
        self._stack.close()

    def build(self) -> DemoWorld:
        root = Path(tempfile.mkdtemp(prefix="jackfield-demo-")).resolve()
        self._stack.callback(shutil.rmtree, root, ignore_errors=True)
        folders = {name: root / name for name in ("gates", "programs", "etc", "home")}
        for folder in folders.values():
            folder.mkdir(parents=True)
        gates = Gates(folders["gates"], closed=self._gated)
        urls = self._sites(gates)
        self._stack.callback(gates.release_all)
        home = folders["home"]
        places = Places(python=sys.executable, programs=folders["programs"], home=home, urls=urls)
        _write(folders["programs"], program_files(gates.file, delays=self._delays))
        world = DemoWorld(
            root=root,
            home=home,
            codex_home=home / ".codex",
            cwd=home / "src" / "atlas",
            environ=self._environment(home, root),
            urls=urls,
            gates=gates,
        )
        _furnish(world, places)
        return world

    def _wait(self, seconds: float) -> None:
        if self._delays and seconds > 0:
            self._ended.wait(seconds)

    def _site(self, respond: Respond) -> str:
        site = Site(respond)
        self._stack.callback(site.close)
        return site.url

    def _sites(self, gates: Gates) -> dict[str, str]:
        sign_in = AuthorizationServer(scopes=SCOPES)
        sign_in.url = self._site(sign_in.respond)
        resource = ProtectedResource(sign_in, scopes=SCOPES)
        traces = self._endpoint("traces", offers.TRACES, gates, latency=0.09)
        traces.authorize = resource.authorize
        resource.url = self._site(lambda asked: resource.metadata(asked) or _mcp(traces, asked))
        issues = self._endpoint("issues", offers.ISSUES, gates, latency=0.08)
        search = self._endpoint("search", offers.SEARCH, gates, latency=0.13)
        search.failing = FLAPPING if self._delays else 0
        # Bound and never listening: whoever connects is refused, and nobody else gets the port.
        closed = self._stack.enter_context(socket.socket())
        closed.bind(("127.0.0.1", 0))
        return {
            "backend": self._site(DemoBackend(gates, self._wait).respond),
            "issues": self._site(lambda asked: _mcp(issues, asked)),
            "search": self._site(lambda asked: _mcp(search, asked)),
            "traces": resource.url,
            "sign-in": sign_in.url,
            "wiki": f"http://127.0.0.1:{closed.getsockname()[1]}",
        }

    def _endpoint(
        self, name: str, offer: dict[str, Any], gates: Gates, *, latency: float
    ) -> McpEndpoint:
        return McpEndpoint(
            offer=offer, gates=gates, wait=self._wait, gate=f"server/{name}", latency=latency
        )

    def _environment(self, home: Path, root: Path) -> dict[str, str]:
        kept = {name: self._environ[name] for name in _KEPT_VARIABLES if name in self._environ}
        kept |= {
            name: value
            for name, value in self._environ.items()
            if name.startswith(("JACKFIELD_", "TEXTUAL", "NO_COLOR", "DISPLAY", "WAYLAND_"))
        }
        return {
            **kept,
            "HOME": str(home),
            "CODEX_HOME": str(home / ".codex"),
            "XDG_STATE_HOME": str(root / "state"),
            "XDG_CONFIG_HOME": str(root / "config"),
            "XDG_CACHE_HOME": str(root / "cache"),
            "NO_PROXY": "127.0.0.1,localhost",
        }


def _mcp(endpoint: McpEndpoint, asked: Asked) -> Answer:
    return endpoint.respond(asked) if asked.path == "/mcp" else Answer(status=404)


def _furnish(world: DemoWorld, places: Places) -> None:
    """Fill the home: settings, a sign-in, marketplaces, installed copies, the project."""
    source = world.home / "src"
    index = {"command": places.python, "args": [places.program("review-index")]}
    plugins = shelves.acme(index)
    _write(source / "acme-tools", shelves.acme_files(plugins))
    _write(source / "field-kit", shelves.field_kit_files())
    _write(source / "legacy-plugins", shelves.legacy_files())
    _write(world.home, shelves.home_files())
    checkout = world.codex_home / ".tmp" / "marketplaces" / "northwind"
    _write(checkout, shelves.northwind_files())
    _git_folder(checkout)
    for place, files in shelves.acme_installed(plugins).items():
        _write(world.codex_home / "plugins" / "cache" / place, files)
    _write(world.cwd, shelves.project_files())
    _git_folder(world.cwd)
    (world.cwd / ".codex").mkdir()
    (world.cwd / ".codex" / "config.toml").write_text(project_toml(places), encoding="utf-8")
    config = config_toml(places, plugins)
    (world.codex_home / "config.toml").write_text(config, encoding="utf-8")
    requirements = world.root / "etc" / "requirements.toml"
    requirements.write_text(requirements_toml(places), encoding="utf-8")
    world.sign_in()


def _write(folder: Path, files: Mapping[str, str]) -> None:
    made: set[Path] = set()
    for name, text in files.items():
        path = folder / name
        if path.parent not in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.add(path.parent)
        path.write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)


def _git_folder(folder: Path) -> None:
    """What makes a folder look like a repository; no program is asked to make one."""
    _write(
        folder / ".git",
        {
            "HEAD": "ref: refs/heads/main\n",
            "refs/heads/main": "a81d07e5c0f3b2d94e6178a2f5c3d7e9b0a1f2c4\n",
            "config": "[core]\n\trepositoryformatversion = 0\n",
        },
    )


def _auth(email: str, user: str) -> dict[str, Any]:
    claims = {
        "email": email,
        "https://api.openai.com/auth": {
            "chatgpt_plan_type": "team",
            "chatgpt_user_id": user,
            "chatgpt_account_id": ACCOUNT,
        },
    }

    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    return {
        "auth_mode": "chatgpt",
        "OPENAI_API_KEY": None,
        "tokens": {
            "id_token": f"{part({'alg': 'none'})}.{part(claims)}.{part('demo')}",
            "access_token": TOKEN,
            "refresh_token": "demo",
            "account_id": ACCOUNT,
        },
        "last_refresh": "2026-11-30T00:00:00Z",
    }
