from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from core.cli.completion import paths
from core.cli.main import main
from core.cli.verbs import VERBS


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


def test_every_verb_is_in_the_table_with_its_options():
    table = {path: [word for word, _ in words] for path, words in paths()}
    assert set(VERBS) <= set(table[""])
    assert {"servers", "tools", "--json", "--deadline"} <= set(table["list"])
    assert {"add", "list", "call", "edit"} <= set(table["mcp"])
    assert "--oauth-client-id" in table["mcp add"]
    assert "--sparse" in table["marketplace add"]
    assert "--sparse" in table["plugin marketplace add"]
    assert "--set" in table["mcp edit"]


@pytest.mark.needs("bash")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("jackfield li", "list"),
        ("jackfield --home X mcp rec", "reconnect"),
        ("jackfield plugin marketplace up", "upgrade"),
        ("jackfield mcp add --oauth-r", "--oauth-resource"),
        ("jackfield list ser", "servers"),
    ],
)
def test_bash_completes(
    line: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "completion.bash"
    file.write_text(script("bash", capsys))
    words = line.split()
    run = (
        f"source {file}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _jackfield; "
        'echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", run], capture_output=True, text=True, timeout=20, check=True
    )
    assert done.stdout.strip() == expected
    assert done.stderr == ""


def test_fish_and_zsh_get_the_same_table(capsys: pytest.CaptureFixture[str]):
    fish = script("fish", capsys)
    assert "complete -c jackfield -n '__jackfield_at \\'mcp add\\'' -l url " in fish
    zsh = script("zsh", capsys)
    assert zsh.endswith("compdef _jackfield jackfield\n")
    assert '"plugin marketplace add") candidates="' in zsh
