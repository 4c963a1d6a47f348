from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

import core.cli.main
import tui.launch
from core.errors import CoreError
from tests.fakes.client import FakeClient
from tui.__main__ import options_of, run, verb_of
from tui.launch import CoreLink
from tui.logs import OURS, start_logging
from tui.options import Options, state_dir


@pytest.fixture
def _own_logging() -> Generator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    for name in OURS:
        logging.getLogger(name).setLevel(logging.NOTSET)
    logging.captureWarnings(False)


@pytest.mark.parametrize(
    ("words", "verb"),
    [
        ([], ""),
        (["--read-only"], ""),
        (["--cwd", "/tmp"], ""),
        (["--theme", "paper", "demo"], "demo"),
        (["-c", "a=b", "list", "--json"], "list"),
        (["list", "--home", "/x"], "list"),
    ],
)
def test_the_verb_is_the_first_word_that_is_no_options_value(words: list[str], verb: str):
    assert verb_of(words) == verb


def test_the_arguments_become_options(tmp_path: Path):
    options = options_of(
        ["demo", "--read-only", "--yes", "--ascii", "--theme", "stark",
         "--cwd", str(tmp_path), "--home", str(tmp_path)]
    )  # fmt: skip
    assert options.demo and options.read_only and options.consent_all and options.ascii
    assert options.theme == "stark" and options.cwd == tmp_path
    assert options.environ["CODEX_HOME"] == str(tmp_path)


def test_without_arguments_it_is_the_panel_here():
    options = options_of([])
    assert options.cwd == Path.cwd() and options.theme is None
    assert not (options.demo or options.read_only or options.consent_all)


@pytest.mark.parametrize("flag", ["--cwd", "--home"])
def test_a_folder_that_is_not_there_is_refused_by_name(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as end:
        options_of([flag, str(tmp_path / "no")])
    assert end.value.code == 2 and f"{flag}: {tmp_path}/no is no folder" in capsys.readouterr().err


def test_verbs_go_to_the_command_line_with_all_their_words(monkeypatch: pytest.MonkeyPatch):
    seen: list[list[str]] = []

    def verbs(words: list[str]) -> int:
        seen.append(words)
        return 7

    monkeypatch.setattr(core.cli.main, "main", verbs)
    assert run(["list", "--json"]) == run(["--version"]) == 7
    assert seen == [["list", "--json"], ["--version"]]


def test_without_a_terminal_it_says_so_in_a_sentence_and_ends_with_2(
    capsys: pytest.CaptureFixture[str],
):
    assert run([]) == 2
    said = capsys.readouterr().err
    assert "needs a terminal" in said and "jackfield list" in said and said.count("\n") == 1


def test_the_entry_point_loads_neither_textual_nor_the_core():
    code = (
        "import tui.__main__, sys;"
        "print([m for m in sys.modules"
        " if m.split('.')[0] in ('textual', 'rich', 'core', 'anyio', 'asyncio', 'pydantic')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ── the log ──


@pytest.mark.usefixtures("_own_logging")
def test_the_log_is_for_its_owner_only_also_after_it_was_rotated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tui.logs.SIZE", 200)
    file = tmp_path / "state" / "jackfield.log"
    old = os.umask(0)
    try:
        assert start_logging(file)
        for _ in range(10):
            logging.getLogger("x").warning("a line that is long enough to fill the file: %s", "y")
    finally:
        os.umask(old)
    files = sorted(file.parent.iterdir())
    assert len(files) == 3
    assert {oct(path.stat().st_mode & 0o777) for path in files} == {"0o600"}
    assert oct(file.parent.stat().st_mode & 0o777) == "0o700"


@pytest.mark.usefixtures("_own_logging")
def test_nothing_is_logged_to_the_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    logging.basicConfig()
    start_logging(tmp_path / "jackfield.log")
    logging.getLogger("x").error("secret words")
    assert capfd.readouterr() == ("", "")
    assert "secret words" in (tmp_path / "jackfield.log").read_text()


@pytest.mark.usefixtures("_own_logging")
def test_of_others_only_warnings_are_logged(tmp_path: Path):
    start_logging(tmp_path / "jackfield.log")
    for name in ("watchfiles.main", "httpx", "asyncio"):
        logging.getLogger(name).info("GET https://x.example/?token=1")
        logging.getLogger(name).warning("%s is unwell", name)
    logging.getLogger("core.service").info("ours")
    text = (tmp_path / "jackfield.log").read_text()
    assert "token" not in text and "watchfiles.main is unwell" in text and "ours" in text


@pytest.mark.usefixtures("_own_logging")
def test_a_state_folder_that_cannot_be_written_stops_nothing(tmp_path: Path):
    (tmp_path / "file").write_text("")
    assert not start_logging(tmp_path / "file" / "jackfield.log")
    logging.getLogger("x").error("nowhere")


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/jackfield"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/jackfield"),
        ({"HOME": "/h"}, "/h/.local/state/jackfield"),
    ],
)
def test_the_state_folder_is_where_xdg_says(environ: dict[str, str], folder: str):
    assert state_dir(environ) == Path(folder)


# ── the core beside the app ──


def options_in(tmp_path: Path) -> Options:
    return Options(cwd=tmp_path, environ={"HOME": str(tmp_path)})


@pytest.mark.anyio
async def test_the_core_is_closed_by_the_task_that_opened_it_and_after_the_app(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    told: list[str] = []

    @asynccontextmanager
    async def opener():
        told.append("opened")
        yield FakeClient()
        told.append("closed")

    monkeypatch.setattr(tui.launch, "_core_opener", lambda options: opener())
    link = CoreLink()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            await tasks.start(link.serve, options_in(tmp_path))
            assert isinstance(await link.client(), FakeClient)
            told.append("app ended")
            link.close()
    assert told == ["opened", "app ended", "closed"]


@pytest.mark.anyio
async def test_a_core_that_does_not_open_is_told_to_the_app_and_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def opener(options: Options):
        raise CoreError("requirements.toml cannot be read")

    monkeypatch.setattr(tui.launch, "_core_opener", opener)
    link = CoreLink()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            await tasks.start(link.serve, options_in(tmp_path))
            with pytest.raises(CoreError, match=r"requirements\.toml cannot be read"):
                await link.client()


def test_the_first_start_is_the_first_only(tmp_path: Path):
    options = options_in(tmp_path)
    state_dir(options.environ).mkdir(parents=True)
    first = tui.launch.is_first_start
    assert [first(options), first(options)] == [True, False]


def test_the_demo_is_no_first_start_and_leaves_no_mark(tmp_path: Path):
    options = Options(cwd=tmp_path, environ={"HOME": str(tmp_path)}, demo=True)
    assert not tui.launch.is_first_start(options)
    assert not state_dir(options.environ).exists()
