"""A home in which every foreign string attacks the terminal."""

from __future__ import annotations

import base64
import json
import shlex
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.demo.http import Answer, Asked, Site, as_json
from core.demo.mcp_server import Server
from tests.fakes.mcp_stdio import argv
from tests.terminal.homes import (
    been_here,
    marketplace_table,
    server_table,
    toml,
    url_table,
    write_config,
)

SIGN = "PWN"
"""In every hostile string, to see that it has been shown at all."""
ACCENTS = "e" + "\u0301" * 500
_CONTROLS = (
    f"\x1b[2J{SIGN}\x1b[31;5m\x1b]0;{SIGN}\x07\x1b]8;;http://{SIGN}.example/\x1b\\link"
    f"\x1b]52;c;UFdO\x07\x1bP1$r{SIGN}\x1b\\\x9b2J\x9d0;{SIGN}\x9c\x85\x07\x08\x7f\x00"
    "\r\n\t\v\f\u2028\u2029\u202egnp.exe\u2066\u2069\u200b\u200d\u2060\ufeff\U000e0041"
    "[bold red]not bold[/] [/] [@click=app.quit]q[/] $error \\[ "
)


def hostile(word: str = "", *, long: bool = False) -> str:
    """A string that begins with a harmless word; `long` ones have 10 kB more."""
    return f"{word}{_CONTROLS}{ACCENTS}{'x' * 10_000 if long else ''}"


def file_name(word: str) -> str:
    """The same, short, as a name of a folder."""
    return f"{word}\x1b[2J\x1b]0;{SIGN}\x07\x9b2J\u202e[bold]{SIGN}[bold]"


def _tool(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "title": hostile("title"),
        "description": hostile("about", long=True),
        "inputSchema": {
            "type": "object",
            "properties": {hostile("key"): {"type": hostile("type"), "description": hostile("p")}},
            "required": [hostile("key")],
        },
        "annotations": {"title": hostile("t"), "destructiveHint": True},
    }


def _offer(name: str) -> dict[str, Any]:
    """What a server says of itself and lists, in the words of `tests.fakes.mcp_stdio`."""
    return {
        "server_info": {"name": hostile(name), "title": hostile(), "version": hostile("1")},
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}, hostile("able"): {}},
        "instructions": hostile("instructions", long=True),
        "tools": [_tool("plain"), _tool(hostile("tool")), {"name": hostile("bad")}],
        "resources": [{"uri": hostile("r://"), "name": hostile("res"), "description": hostile()}],
        "templates": [{"uriTemplate": hostile("t://"), "name": hostile("template")}],
        "prompts": [{"name": hostile("prompt"), "description": hostile()}],
    }


def _shelf(root: Path) -> None:
    plugins: list[Any] = []
    for name in ("good", "off", "fresh"):
        members = {
            "name": name,
            "version": hostile("1.0") if name == "fresh" else "1.0.0",
            "description": hostile("about", long=True),
            "keywords": [hostile("key")],
            "interface": {
                "displayName": hostile("shown"),
                "shortDescription": hostile("short"),
                "longDescription": hostile("long", long=True),
                "developerName": hostile("dev"),
                "category": hostile("category"),
                "websiteURL": hostile("https://x.example/"),
                "defaultPrompt": hostile("prompt"),
            },
        }
        folder = root / "plugins" / name
        (folder / ".codex-plugin").mkdir(parents=True)
        (folder / ".codex-plugin" / "plugin.json").write_text(json.dumps(members))
        skill = folder / "skills" / "say" / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text(
            f"---\nname: {toml(hostile('skill'))}\ndescription: {toml(hostile())}\n---\n"
        )
        hooks = {"Stop": [{"hooks": [{"type": "command", "command": hostile("run")}]}]}
        (folder / "hooks").mkdir()
        (folder / "hooks" / "hooks.json").write_text(json.dumps({"hooks": hooks}))
        plugins.append({"name": name, "source": f"./plugins/{name}", "category": hostile("cat")})
    plugins += [
        {"name": hostile("name"), "source": "./plugins/x", "description": hostile()},
        {"name": "github", "source": {"source": hostile("kind"), "repo": hostile()}},
        {"name": "git", "source": {"source": "url", "url": hostile("https://g.example/")}},
        {"name": "npm", "source": {"source": "npm", "package": hostile("p"), "version": hostile()}},
        {"name": "outside", "source": hostile("../")},
    ]
    content = {"name": "shelf", "interface": {"displayName": hostile("Shelf")}, "plugins": plugins}
    file = root / ".agents" / "plugins" / "marketplace.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(content))


def _sign_in(codex_home: Path) -> None:
    claims = {
        "email": hostile("me@example.com"),
        "https://api.openai.com/auth": {
            "chatgpt_plan_type": hostile("team"),
            "chatgpt_user_id": "user",
            "chatgpt_account_id": "account",
        },
    }

    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    tokens = {
        "id_token": f"{part({'alg': 'none'})}.{part(claims)}.{part('x')}",
        "access_token": "token",
        "refresh_token": "token",
        "account_id": "account",
    }
    content = {"auth_mode": "chatgpt", "tokens": tokens, "last_refresh": "2026-11-30T00:00:00Z"}
    (codex_home / "auth.json").write_text(json.dumps(content))


class Backend:
    """Directory, metadata and hosted tools; and endpoints that fail in hostile words."""

    def __init__(self) -> None:
        tools = [
            {
                **_tool(f"app_{number}"),
                "_meta": {
                    "connector_id": f"app-{number}",
                    "connector_name": hostile("App"),
                    "connector_description": hostile("about", long=True),
                },
            }
            for number in range(3)
        ]
        self._hosted = Server({"name": "codex-apps", "tools": tools})

    def respond(self, asked: Asked) -> Answer:
        match asked.path:
            case "/connectors/directory/list":
                return as_json({"apps": [self._app(n) for n in range(8)], "next_token": None})
            case "/connectors/directory/list_workspace":
                return as_json({"detail": hostile("no list")}, status=500)
            case "/ps/apps/batch":
                return as_json({"apps": [{**self._app(n), "tools": []} for n in range(8)]})
            case "/api/codex/ps/mcp":
                answer = self._hosted.answer(asked.json())
                session = {"mcp-session-id": "s"}
                return Answer(status=202) if answer is None else as_json(answer, headers=session)
            case "/plain":
                return Answer(status=500, body=hostile("body", long=True).encode())
            case "/json":
                return as_json({"error": {"message": hostile("said")}}, status=403)
            case "/rpc":
                error = {"code": -32000, "message": hostile("refused", long=True)}
                number = asked.json().get("id")
                return as_json({"jsonrpc": "2.0", "id": number, "error": error})
            case "/sign-in":
                challenge = f'Bearer error="x", error_description="[bold]{SIGN}[/]"'
                return Answer(status=401, headers={"www-authenticate": challenge})
            case _:
                return Answer(status=404, body=hostile("no").encode())

    def _app(self, number: int) -> dict[str, Any]:
        return {
            "id": f"app-{number}",
            "name": hostile(f"App {number}"),
            "description": hostile("about", long=True),
            "branding": {
                "category": hostile("cat"),
                "developer": hostile("dev"),
                "website": hostile("https://x.example/"),
                "isDiscoverableApp": True,
            },
            "labels": {hostile("label"): hostile("value")},
        }


@contextmanager
def hostile_home(home: Path, work: Path) -> Generator[Path]:
    """Fill a home; gives the hostile folder to work in."""
    been_here(home)
    cwd = work / file_name("work")
    shelf = work / file_name("shelf")
    _shelf(shelf)
    torn = work / file_name("torn")
    (torn / ".agents" / "plugins").mkdir(parents=True)
    (torn / ".agents" / "plugins" / "marketplace.json").write_text('{"name": "' + hostile("torn"))
    (cwd / ".codex").mkdir(parents=True)
    (cwd / ".git").mkdir()
    (cwd / ".codex" / "config.toml").write_text(server_table("theirs", [file_name("their")]))
    codex_home = home / ".codex"
    for name in ("good", "off"):
        copy = codex_home / "plugins" / "cache" / "shelf" / name
        shutil.copytree(shelf / "plugins" / name, copy / "1.0.0")
    _sign_in(codex_home)
    dying = work / "dying"
    dying.write_bytes(b"\xff\xfe\x9b2J" + hostile("last words", long=True).encode())
    backend = Backend()
    site = Site(backend.respond)
    try:
        write_config(
            codex_home,
            f"chatgpt_base_url = {toml(site.url)}\ncli_auth_credentials_store = 'file'\n",
            'mcp_oauth_credentials_store = "file"\n[features]\napps = true\nplugins = true\n',
            marketplace_table("shelf", shelf),
            marketplace_table("torn", torn),
            f"[marketplaces.gone]\nsource_type = 'local'\nsource = {toml('/' + hostile('no'))}\n",
            f"[marketplaces.{toml(hostile('key'))}]\nsource_type = {toml(hostile('kind'))}\n",
            '[plugins."good@shelf"]\nenabled = true\n[plugins."off@shelf"]\nenabled = false\n',
            f"[plugins.{toml(hostile('left'))}]\nenabled = true\n",
            f"[apps.app-1]\nenabled = false\n[apps.{toml(hostile('app'))}]\nenabled = false\n",
            server_table("good", argv("stderr", spec=_offer("good"))),
            server_table(file_name("named"), argv()),
            server_table(hostile("odd"), argv()),
            server_table("nul", ["sh", "-c", "exit 3", hostile("argument", long=True)]),
            server_table("args", ["sh", "-c", "exit 3", file_name("argument")], cwd=str(cwd)),
            server_table("dying", ["sh", "-c", f"cat {shlex.quote(str(dying))} >&2; exit 3"]),
            server_table("missing", [file_name("no-such")]),
            server_table("babbles", ["sh", "-c", f"cat {shlex.quote(str(dying))}; sleep 600"]),
            f"[mcp_servers.both]\ncommand = {toml(hostile('c'))}\nurl = {toml(hostile('u'))}\n",
            f"[mcp_servers.typed]\ncommand = 'x'\nargs = {toml(hostile('a'))}\n",
            f"[mcp_servers.cwd]\ncommand = 'sh'\ncwd = {toml('/' + file_name('nowhere'))}\n",
            *(url_table(name, f"{site.url}/{name}") for name in ("plain", "json", "rpc")),
            url_table("sign-in", f"{site.url}/sign-in"),
            url_table("lost", "http://127.0.0.1:9/" + file_name("x")),
        )
        yield cwd
    finally:
        site.close()
