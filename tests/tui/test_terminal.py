import io
import os
import pty
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tui.terminal import (
    BackgroundQuery,
    background_in,
    prepare_output,
    refusal,
    wants_ascii,
    without_answers,
)

COLOUR = b"\x1b]11;rgb:1212/1515/1b1b\x1b\\"
ATTRIBUTES = b"\x1b[?62;22c"
XTERM = {"TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("environ", "tty", "says"),
    [
        ({"TERM": "xterm"}, True, ""),
        ({"TERM": "xterm"}, False, "needs a terminal"),
        ({"TERM": "dumb"}, True, "TERM=dumb"),
        ({"TERM": "unknown"}, True, "TERM=unknown"),
        ({}, True, "no TERM"),
    ],
)
def test_where_no_panel_can_be_shown_a_sentence_says_why(
    environ: dict[str, str], tty: bool, says: str
) -> None:
    sentence = refusal(environ, tty=tty)
    assert says in sentence
    assert bool(sentence) == bool(says)
    assert "\n" not in sentence
    if sentence:
        assert "jackfield list" in sentence


@pytest.mark.parametrize(
    ("setting", "environ", "ascii_"),
    [
        (True, {"LANG": "en_US.UTF-8"}, True),
        (False, {"LC_ALL": "C"}, False),
        (None, {"LANG": "en_US.UTF-8"}, False),
        (None, {"LANG": "de_DE.utf8"}, False),
        (None, {"LC_CTYPE": "UTF-8"}, False),
        (None, {}, False),
        (None, {"LC_ALL": "C"}, True),
        (None, {"LC_ALL": "POSIX", "LANG": "en_US.UTF-8"}, True),
        (None, {"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True),
        (None, {"LC_CTYPE": "C.UTF-8"}, False),
        (None, {"LANG": "de_DE@euro"}, True),
        (None, {"LANG": "ja_JP.eucJP"}, True),
        (None, {"LC_ALL": "en_US.UTF-8@calendar=x", "LANG": "C"}, False),
    ],
)
def test_ascii_is_for_other_character_sets_and_for_who_wants_it(
    setting: bool | None, environ: dict[str, str], ascii_: bool
) -> None:
    assert wants_ascii(setting, environ) == ascii_


@pytest.mark.parametrize(
    ("answer", "colour"),
    [
        (COLOUR, (18, 21, 27)),
        (b"\x1b]11;rgb:ff/ff/f0\x07", (255, 255, 240)),
        (b"\x1b]11;rgba:ffff/0000/8080/ffff\x1b\\", (255, 0, 128)),
        (b"\x1b]11;rgb:f/0/8\x07", (255, 0, 136)),
        (b"\x1b]10;rgb:ff/ff/ff\x07", None),
        (b"\x1b]11;red\x07", None),
        (b"", None),
    ],
)
def test_a_background_is_read_in_every_spelling(
    answer: bytes, colour: tuple[int, int, int] | None
) -> None:
    assert background_in(answer) == colour


def test_keys_and_answers_are_told_apart_wherever_they_are_broken() -> None:
    whole = b"4" + COLOUR + b"j" + ATTRIBUTES + b"k"
    assert without_answers(whole) == (b"4jk", b"", True)
    for at in range(len(whole)):
        typed, begun, over = without_answers(whole[:at])
        assert not typed.endswith(b"\x1b")
        rest, held, over_then = without_answers(begun + whole[at:])
        assert typed + rest == b"4jk"
        assert held == b""
        assert over or over_then


class Terminal:
    """The other end of a pty, which answers as it was told to."""

    def __init__(self, answer: bytes) -> None:
        self.master, self.slave = pty.openpty()
        self.asked = b""
        self._answer = answer
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def _listen(self) -> None:
        while not self.asked.endswith(b"\x1b[c"):
            self.asked += os.read(self.master, 1024)
        if self._answer:
            os.write(self.master, self._answer)


@contextmanager
def terminal(answer: bytes) -> Iterator[Terminal]:
    end = Terminal(answer)
    end._thread.start()
    try:
        yield end
    finally:
        end._thread.join(5)
        os.close(end.master)
        os.close(end.slave)


def test_the_terminal_is_asked_and_its_mode_is_restored() -> None:
    with terminal(COLOUR + ATTRIBUTES) as end:
        before = termios.tcgetattr(end.slave)
        with BackgroundQuery(end.slave, end.slave, XTERM) as query:
            assert not termios.tcgetattr(end.slave)[3] & termios.ECHO
            assert query.answer() == (18, 21, 27)
        assert termios.tcgetattr(end.slave) == before
        assert not query.late
        assert query.driver_class() is None
        assert b"\x1b]11;?" in end.asked


def test_a_terminal_that_only_knows_attributes_costs_no_wait() -> None:
    with terminal(ATTRIBUTES) as end, BackgroundQuery(end.slave, end.slave, XTERM) as query:
        assert query.answer() is None
        assert not query.late


def test_a_late_answer_is_left_to_a_driver_that_eats_it() -> None:
    with terminal(b"") as end, BackgroundQuery(end.slave, end.slave, XTERM) as query:
        assert query.answer() is None
        assert query.late
        assert query.driver_class() is not None


def test_keys_typed_ahead_are_handed_on() -> None:
    with terminal(b"4" + COLOUR + ATTRIBUTES) as end:
        with BackgroundQuery(end.slave, end.slave, XTERM) as query:
            assert query.answer() == (18, 21, 27)
        assert query.driver_class() is not None


@pytest.mark.parametrize("term", ["linux", "dumb", ""])
def test_terminals_that_would_print_the_question_are_not_asked(term: str) -> None:
    read, write = os.pipe()
    try:
        with BackgroundQuery(read, write, {"TERM": term}) as query:
            assert query.answer() is None
        os.close(write)
        assert os.read(read, 10) == b""
    finally:
        os.close(read)


def test_a_pipe_is_not_asked() -> None:
    read, write = os.pipe()
    try:
        with BackgroundQuery(read, write, XTERM) as query:
            assert query.answer() is None
            assert query.driver_class() is None
        os.close(write)
        assert os.read(read, 10) == b""
    finally:
        os.close(read)


def test_characters_that_the_output_lacks_keep_their_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = io.BytesIO()
    output = io.TextIOWrapper(raw, encoding="latin-1")
    monkeypatch.setattr(sys, "__stdout__", output)
    monkeypatch.setattr(sys, "__stderr__", None)
    prepare_output()
    output.write("é 数据 ok")
    output.flush()
    assert raw.getvalue() == b"\xe9 ???? ok"
