"""Looking around leaves a Codex home as it was, to the byte and the second."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.fakes.chatgpt_backend import ChatGptBackend, auth_json, write_auth
from tests.fakes.mcp_stdio import argv
from tests.terminal.homes import (
    been_here,
    marketplace_table,
    server_table,
    toml,
    write_config,
    write_marketplace,
)
from tests.terminal.panel import ESCAPE, PanelTerminal, panel_environ


def trace(root: Path) -> dict[str, tuple[object, ...]]:
    """Names, kinds, modes, times and contents of everything below a folder."""
    found: dict[str, tuple[object, ...]] = {}
    for path in (root, *sorted(root.rglob("*"))):
        status = path.lstat()
        content = os.readlink(path) if path.is_symlink() else ""
        if path.is_file() and not path.is_symlink():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        facts = (status.st_mode, status.st_mtime_ns, status.st_ino, status.st_uid, content)
        found[str(path.relative_to(root))] = facts
    return found


def furnish(home: Path, tmp_path: Path, backend: str) -> None:
    """Something of everything: what is good, what is broken, what Codex would install or fetch."""
    been_here(home)
    codex_home = home / ".codex"
    shelf = tmp_path / "shelf"
    write_marketplace(shelf, "shelf", {"tidy": {"description": "Sorts cells."}, "spare": {}})
    skill = shelf / "plugins" / "tidy" / "skills" / "tidy" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: tidy\ndescription: Sorts cells.\n---\n")
    copy = codex_home / "plugins" / "cache" / "shelf" / "tidy" / "1.0.0"
    shutil.copytree(shelf / "plugins" / "tidy", copy)
    (codex_home / "plugins" / "cache" / "shelf" / "gone" / "0.1.0").mkdir(parents=True)
    checkout = codex_home / ".tmp" / "marketplaces" / "far"
    write_marketplace(checkout, "far", {"fetched": {}})
    (checkout / ".git").mkdir()
    (checkout / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (codex_home / "skills" / "own").mkdir(parents=True)
    (codex_home / "skills" / "own" / "SKILL.md").write_text("---\nname: own\n---\n")
    write_auth(codex_home, auth_json())
    (codex_home / "auth.json").chmod(0o600)
    write_config(
        codex_home,
        f'# mine\nchatgpt_base_url = {toml(backend)}\ncli_auth_credentials_store = "file"\n',
        "[features]\napps = true\nplugins = true\n",
        marketplace_table("shelf", shelf),
        '[marketplaces.far]\nsource_type = "git"\nsource = "https://127.0.0.1:9/far.git"\n',
        f'[marketplaces.missing]\nsource_type = "local"\nsource = {json.dumps(str(tmp_path / "no"))}\n',
        '[plugins."tidy@shelf"]\nenabled = true\n[plugins."spare@shelf"]\nenabled = true\n',
        server_table("good", argv()),
        server_table("dies", argv("exit")),
        '[mcp_servers.bad]\ncommand = "a"\nurl = "http://127.0.0.1:9/"\n',
    )
    (codex_home / "link.toml").symlink_to("config.toml")


@pytest.mark.parametrize("words", [("--yes",), ("--yes", "--read-only")])
def test_every_tab_is_looked_at_and_refetched_and_the_home_is_as_it_was(
    home: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    backend = ChatGptBackend()
    backend.pages = [[{"id": "app-1", "name": "Boards"}]]
    with backend.running():
        furnish(home, tmp_path, backend.url)
        before = trace(home / ".codex")
        with PanelTerminal(*words, environ=panel_environ(home), cwd=tmp_path) as panel:
            panel.shows("tidy", "enabled")
            panel.press(b"4")
            panel.shows("good", "connected")
            for tab, sign in zip("12345", ("tidy", "Boards", "good", "dies", ""), strict=True):
                panel.type(tab)
                panel.shows(sign)
                for key in "jkrR":
                    panel.type(key, quiet=0.15)
                panel.press(b"\r")
                panel.settle()
                panel.press(ESCAPE)
                panel.settle()
            for key in "?!":
                panel.type(key)
                panel.press(ESCAPE)
                panel.settle()
            panel.type("1R", quiet=0.5)
            panel.shows("tidy", "enabled")
            panel.press(b"q")
            assert panel.ended() == 0
        assert trace(home / ".codex") == before


def test_our_own_log_holds_nothing_of_others(home: Path, tmp_path: Path) -> None:
    been_here(home)
    config = write_config(home / ".codex", server_table("good", argv()))
    with PanelTerminal("--yes", environ=panel_environ(home), cwd=tmp_path) as panel:
        panel.press(b"4")
        panel.shows("good", "connected")
        config.write_text(
            config.read_text() + '\n[mcp_servers.off]\ncommand = "x"\nenabled = false\n'
        )
        panel.shows("off", "disabled")
        panel.press(b"q")
        assert panel.ended() == 0
    log = home / ".local" / "state" / "jackfield" / "jackfield.log"
    for line in log.read_text().splitlines():
        assert line.split(" ")[3].startswith(("core", "tui")), line
