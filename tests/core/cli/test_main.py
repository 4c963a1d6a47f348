from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from core.cli.main import main, verb_at
from core.cli.options import add_overrides, add_place, overrides_of
from core.cli.verbs import VERBS, Verb
from core.errors import CoreError
from core.version import VERSION
from tests.conftest import REPO


@pytest.fixture
def verb(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[argparse.Namespace], int]], None]:
    """Makes `test` a verb that does what it is given."""

    def add(run: Callable[[argparse.Namespace], int]) -> None:
        def arguments(parser: argparse.ArgumentParser) -> None:
            parser.add_argument("name", nargs="?")
            add_place(parser)
            add_overrides(parser)

        module = ModuleType("test_verb")
        vars(module).update(arguments=arguments, run=run)
        monkeypatch.setitem(sys.modules, "test_verb", module)
        monkeypatch.setitem(VERBS, "test", Verb("test_verb", "tests the command line"))

    return add


def raising(error: BaseException) -> Callable[[argparse.Namespace], int]:
    def run(given: argparse.Namespace) -> int:
        raise error

    return run


def test_help_lists_every_verb_and_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]):
    assert main(["help"]) == 0
    listed = capsys.readouterr().out
    assert all(f"  {name} " in listed for name in VERBS)
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"jackfield {VERSION}\n"
    packaged = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]["version"]
    assert packaged == VERSION


def test_an_error_cannot_drive_the_terminal(verb: Any, capsys: pytest.CaptureFixture[str]):
    verb(raising(CoreError("no \x1b[2J", hint="\x9b31m")))
    assert main(["test"]) == 1
    assert capsys.readouterr().err == "Error: no \\x1b[2J\n\\x9b31m\n"


def test_exit_codes_are_told(capsys: pytest.CaptureFixture[str]):
    assert main(["help"]) == 0
    assert "Exit codes: 0 done; 1 it failed; 2 wrong usage; " in capsys.readouterr().out
    assert main(["restore", "--help"]) == 0
    assert "Exit codes: 0 done;" in " ".join(capsys.readouterr().out.split())


def test_each_verb_has_help_of_its_own(capsys: pytest.CaptureFixture[str]):
    for name, verb in VERBS.items():
        assert main([name, "--help"]) == 0
        usage = f"Usage: codex {name}" if verb.words else f"usage: jackfield {name}"
        assert usage in capsys.readouterr().out


def test_wrong_usage_is_two_and_is_told_on_stderr(verb: Any, capsys: pytest.CaptureFixture[str]):
    verb(raising(AssertionError()))
    assert main(["nope"]) == 2
    assert "there is no verb 'nope'" in capsys.readouterr().err
    assert main(["test", "--nope"]) == 2
    assert main(["test", "--home", "/no/such/folder"]) == 2
    said = capsys.readouterr()
    assert "/no/such/folder is no folder" in said.err
    assert said.out == ""
    assert main(["app-server", "--listen", "ws://127.0.0.1:1"]) == 2
    assert "unsupported --listen URL `ws://127.0.0.1:1`" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [
        CoreError("it is broken", hint="mend it"),
        ExceptionGroup(
            "tasks", [ValueError(), ExceptionGroup("", [CoreError("it is broken", hint="mend it")])]
        ),
    ],
)
def test_a_failure_is_one_and_says_what_to_do(
    verb: Any, error: Exception, capsys: pytest.CaptureFixture[str]
):
    verb(raising(error))
    assert main(["test"]) == 1
    assert capsys.readouterr().err == "Error: it is broken\nmend it\n"


def test_a_fault_of_ours_is_not_hidden(verb: Any):
    verb(raising(ExceptionGroup("tasks", [ZeroDivisionError()])))
    with pytest.raises(ExceptionGroup):
        main(["test"])


def test_an_interrupt_is_130(verb: Any):
    verb(raising(KeyboardInterrupt()))
    assert main(["test"]) == 130


def test_a_reader_that_has_gone_is_141_without_a_word():
    program = "import sys\nfrom core.cli import main, verbs\nsys.exit(main.main(['help']))"
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=REPO,
            stdout=write,
            stderr=subprocess.PIPE,
            timeout=30,
            check=False,
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize(
    ("argv", "at"),
    [
        (["app-server"], 0),
        (["-c", "restore=1", "app-server"], 2),
        (["--home", "restore", "--verbose", "app-server", "restore"], 3),
        (["-c", "a=b"], None),
        ([], None),
    ],
)
def test_the_verb_is_the_first_word_that_is_no_option(argv: list[str], at: int | None):
    assert verb_at(argv) == at


def test_options_may_stand_before_the_verb(verb: Any):
    seen: list[argparse.Namespace] = []

    def run(given: argparse.Namespace) -> int:
        seen.append(given)
        return 0

    verb(run)
    assert main(["-c", "a=1", "test", "word", "--enable", "x", "-c", "b=2"]) == 0
    assert seen[0].name == "word"
    assert overrides_of(seen[0]) == {"a": 1, "b": 2, "features": {"x": True}}


@pytest.mark.parametrize(
    ("options", "tree"),
    [
        (["-c", "model=o3"], {"model": "o3"}),
        (["-c", 'model="o3"'], {"model": "o3"}),
        (["-c", "model='it is'"], {"model": "it is"}),
        (["-c", "a.b.c=[1, 2]", "-c", "a.b.d=true"], {"a": {"b": {"c": [1, 2], "d": True}}}),
        (["-c", "a=1", "-c", "a.b=2"], {"a": {"b": 2}}),
        (["-c", "a=1=2"], {"a": "1=2"}),
        (["-c", "a="], {"a": ""}),
        (["-c", " a.b = 1 "], {"a": {"b": 1}}),
        (["-c", "t={x=1}"], {"t": {"x": 1}}),
        (["-c", "a='unfinished"], {"a": "unfinished"}),
        (
            ["--disable", "plugins", "--enable", "apps"],
            {"features": {"apps": True, "plugins": False}},
        ),
    ],
)
def test_overrides_are_toml_or_plain_strings(options: list[str], tree: dict[str, Any]):
    parser = argparse.ArgumentParser()
    add_overrides(parser)
    assert overrides_of(parser.parse_args(options)) == tree


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("foo", "error parsing -c overrides: Invalid override (missing '='): foo"),
        ("=1", "error parsing -c overrides: Empty key in override: =1"),
    ],
)
def test_an_override_that_is_none_is_refused(option: str, message: str):
    parser = argparse.ArgumentParser()
    add_overrides(parser)
    with pytest.raises(CoreError, match="error parsing -c overrides") as caught:
        overrides_of(parser.parse_args(["-c", option]))
    assert caught.value.message == message


def test_no_verb_loads_another_nor_a_screen():
    program = (
        "import sys; from core.cli.main import main; main(['--version'])\n"
        "print(sorted(m for m in sys.modules if m.startswith(('core.cli.', 'textual', 'anyio'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=REPO,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stdout.splitlines()[1] == "['core.cli.main', 'core.cli.verbs']"
