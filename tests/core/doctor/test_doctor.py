"""Each broken thing, made for real on a home of its own, and what `jackfield doctor` says of it."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from core.cli.main import main


class Checkup:
    """A home, and `jackfield doctor` on it."""

    def __init__(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.root, self._patch, self._capsys = root, monkeypatch, capsys
        self.home = root / "home"
        self.codex = self.home / ".codex"
        self.codex.mkdir(parents=True, exist_ok=True)
        self.set(HOME=self.home, CODEX_HOME=self.codex, LANG="C.UTF-8", LC_ALL=None)
        for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
            self.set(**{name: None, name.upper(): None})
        self.programs = root / "programs"
        self.programs.mkdir()
        for name in ("git", "npm"):
            self.program(name, "echo 1.2.3")
        self.set(PATH=f"{self.programs}:/usr/bin:/bin")
        monkeypatch.chdir(root)

    def program(self, name: str, body: str) -> None:
        file = self.programs / name
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)

    def set(self, **variables: object) -> None:
        for name, value in variables.items():
            if value is None:
                self._patch.delenv(name, raising=False)
            else:
                self._patch.setenv(name, str(value))

    def config(self, text: str) -> None:
        (self.codex / "config.toml").write_text(text)

    def run(self, *options: str) -> tuple[int, dict[str, dict[str, Any]]]:
        self._capsys.readouterr()
        code = main(["doctor", "--json", *options])
        told = json.loads(self._capsys.readouterr().out)
        return code, {check["id"]: check for check in told["checks"]}


@pytest.fixture
def checkup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Checkup:
    return Checkup(tmp_path, monkeypatch, capsys)


def test_a_sound_home_has_no_fault_and_ends_with_0(checkup: Checkup):
    code, checks = checkup.run()
    assert code == 0
    assert checks["home.exists"]["verdict"] == "ok"
    assert checks["configuration.sound"]["verdict"] == "ok"


def test_secrets_that_others_can_read_are_a_fault_with_the_command_that_mends_it(checkup: Checkup):
    file = checkup.codex / ".credentials.json"
    file.write_text("{}")
    file.chmod(0o644)
    code, checks = checkup.run()
    found = checks["home.mode.credentials"]
    assert code == 1
    assert found["verdict"] == "fault" and found["fix"] == f"chmod 600 {file}"
    os.chmod(file, 0o600)
    code, checks = checkup.run()
    assert (code, checks["home.mode.credentials"]["verdict"]) == (0, "ok")


@pytest.mark.parametrize(("mode", "verdict"), [(0o666, "fault"), (0o664, "warning")])
def test_a_configuration_that_others_may_write_is_told(checkup: Checkup, mode: int, verdict: str):
    checkup.config("")
    (checkup.codex / "config.toml").chmod(mode)
    _, checks = checkup.run()
    assert checks["home.mode.config"]["verdict"] == verdict


def test_a_home_that_everybody_may_write_is_a_fault(checkup: Checkup):
    checkup.codex.chmod(stat.S_IMODE(checkup.codex.stat().st_mode) | 0o002)
    code, checks = checkup.run()
    assert code == 1 and checks["home.mode"]["fix"] == f"chmod o-w {checkup.codex}"


def test_a_file_in_place_of_the_home_is_a_fault(checkup: Checkup):
    file = checkup.root / "file"
    file.touch()
    checkup.set(CODEX_HOME=file)
    code, checks = checkup.run()
    assert code == 1 and checks["home.exists"]["finding"] == "it is no folder"


def test_a_bad_table_is_told_with_its_line(checkup: Checkup):
    checkup.config('a = 1\n[mcp_servers.x]\ncommand = "a"\nurl = "http://b"\n')
    code, checks = checkup.run()
    found = next(check for check in checks.values() if check["verdict"] == "fault")
    assert code == 1 and found["finding"].startswith("x: ")
    assert found["evidence"]["file"] == str(checkup.codex / "config.toml")
    assert found["evidence"]["line"] in (2, 4)


def test_a_command_that_is_not_there_is_told_with_the_entry_s_place(checkup: Checkup):
    checkup.config('[mcp_servers.speech]\ncommand = "no-such-program-here"\n')
    code, checks = checkup.run()
    found = checks["servers.command:speech"]
    assert code == 1
    assert found["finding"] == "speech: no-such-program-here is not on PATH"
    assert found["evidence"]["line"] in (1, 2)
    checkup.config(f"[mcp_servers.speech]\ncommand = {json.dumps(sys.executable)}\n")
    code, checks = checkup.run()
    assert code == 0 and "servers.command:speech" not in checks


def test_a_variable_that_a_server_is_to_get_and_nobody_set_is_told(checkup: Checkup):
    checkup.config(
        f"[mcp_servers.vault]\ncommand = {json.dumps(sys.executable)}\nenv_vars = ['VAULT_T']\n"
    )
    _, checks = checkup.run()
    assert checks["servers.variable:vault:VAULT_T"]["verdict"] == "warning"
    checkup.set(VAULT_T="secret-value")
    _, checks = checkup.run()
    assert "servers.variable:vault:VAULT_T" not in checks
    assert "secret-value" not in json.dumps(checks)


def test_a_marketplace_that_cannot_be_read_is_told(checkup: Checkup):
    gone = checkup.root / "gone"
    checkup.config(f'[marketplaces.m]\nsource_type = "local"\nsource = "{gone}"\n')
    code, checks = checkup.run()
    assert any(
        check["area"] == "plugins" and check["verdict"] == "fault" for check in checks.values()
    )
    assert code == 1


def test_git_is_needed_where_a_marketplace_comes_from_it(checkup: Checkup):
    empty = checkup.root / "bin"
    empty.mkdir()
    checkup.set(PATH=empty)
    _, checks = checkup.run()
    assert checks["programs.git"]["verdict"] == "note"
    checkup.config('[marketplaces.m]\nsource_type = "git"\nsource = "https://git.example/m.git"\n')
    code, checks = checkup.run()
    assert code == 1 and checks["programs.git"]["verdict"] == "fault"


def test_a_program_that_ends_badly_is_told_and_one_that_hangs_is_given_up(
    checkup: Checkup, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("core.doctor.programs.DEADLINE", 0.3)
    checkup.program("git", "exit 3")
    checkup.program("npm", "exec sleep 600")
    _, checks = checkup.run()
    assert checks["programs.git"]["finding"] == "git --version ended with 3"
    assert "npm does not start" in checks["programs.npm"]["finding"]


@pytest.mark.parametrize(
    ("proxy", "verdict", "said"),
    [
        ("http://me:s3cret@proxy.example:3128", "note", "goes through proxy.example:3128"),
        ("socks5://proxy.example:1080", "fault", "SOCKS proxy, which is not supported"),
        ("http://", "fault", "has no host"),
    ],
)
def test_proxies_are_told_without_their_passwords(
    checkup: Checkup, proxy: str, verdict: str, said: str
):
    checkup.set(https_proxy=proxy)
    _, checks = checkup.run()
    found = checks["network.proxy:https://"]
    assert found["verdict"] == verdict and said in found["finding"]
    assert "s3cret" not in json.dumps(checks)


def test_certificates_that_are_not_there_are_a_fault(checkup: Checkup):
    checkup.set(SSL_CERT_FILE=checkup.root / "no-ca.pem")
    code, checks = checkup.run()
    assert code == 1 and checks["network.ca:SSL_CERT_FILE"]["verdict"] == "fault"


@pytest.mark.parametrize("spelled", ["C", "de_DE.ISO-8859-1", "x.no-such-encoding"])
def test_a_locale_without_utf_8_is_worth_a_note(checkup: Checkup, spelled: str):
    checkup.set(LC_ALL=spelled)
    _, checks = checkup.run()
    assert checks["machine.locale"]["verdict"] == "note"


def test_online_asks_the_servers_of_git_marketplaces(checkup: Checkup):
    gone = checkup.root / "gone.git"
    checkup.config(f'[marketplaces.m]\nsource_type = "git"\nsource = "file://{gone}"\n')
    (checkup.programs / "git").unlink()
    _, checks = checkup.run()
    assert "programs.git:m" not in checks
    code, checks = checkup.run("--online")
    assert code == 1 and checks["programs.git:m"]["verdict"] == "fault"


def test_names_of_strangers_cannot_write_to_the_terminal(
    checkup: Checkup, capsys: pytest.CaptureFixture[str]
):
    checkup.config('[mcp_servers.x]\ncommand = "a\\u001b[2Jb"\n')
    assert main(["doctor", "--all"]) == 1
    assert "\x1b" not in capsys.readouterr().out


def test_nothing_in_the_home_is_touched(checkup: Checkup):
    checkup.config("[mcp_servers.x]\ncommand = 'true'\n")
    before = {path: path.stat().st_mtime_ns for path in checkup.codex.rglob("*")}
    checkup.run()
    assert {path: path.stat().st_mtime_ns for path in checkup.codex.rglob("*")} == before
