from __future__ import annotations

import json
import stat
import threading
from pathlib import Path

import pytest

from core.errors import InternalError
from core.plugins.updates.ledger import (
    Book,
    CopyNote,
    FormerRef,
    Ledger,
    Pin,
    with_note,
    with_pin,
    with_ref,
)

HOME = Path("/home/x/.codex")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "state", HOME)


def pinned(ledger: Ledger, name: str) -> None:
    ledger.change(lambda book: with_pin(book, name, Pin(version="1")))


def test_nothing_is_remembered_at_first_and_nothing_is_written_by_reading(ledger: Ledger):
    assert ledger.read() == Book(codex_home=str(HOME))
    assert not ledger.file.parent.exists()


def test_what_is_remembered_is_there_for_the_next_process_and_private(
    ledger: Ledger, tmp_path: Path
):
    pinned(ledger, "p@m")
    note = CopyNote(version="1", commit="a" * 40, claims="[]")
    ledger.change(lambda book: with_note(book, "q@m", note))
    ledger.change(lambda book: with_ref(book, "gm", FormerRef(ref="main", pinned="b")))
    book = Ledger(tmp_path / "state", HOME).read()
    assert book.pins == {"p@m": Pin(version="1")}
    assert book.copies == {"q@m": note}
    assert book.refs == {"gm": FormerRef(ref="main", pinned="b")}
    assert stat.S_IMODE(ledger.file.stat().st_mode) == 0o600
    ledger.change(lambda book: with_ref(with_note(book, "q@m", None), "gm", None))
    book = ledger.read()
    assert (book.copies, book.refs, list(book.pins)) == ({}, {}, ["p@m"])


def test_every_codex_home_has_a_file_of_its_own(ledger: Ledger, tmp_path: Path):
    pinned(ledger, "p@m")
    assert Ledger(tmp_path / "state", Path("/other")).read().pins == {}


def test_two_that_write_at_once_keep_both_changes(ledger: Ledger, tmp_path: Path):
    def write(name: str) -> None:
        other = Ledger(tmp_path / "state", HOME)
        for number in range(10):
            pinned(other, f"{name}{number}@m")

    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ledger.read().pins) == 30


@pytest.mark.parametrize("text", [b"{", b"[]", b'{"schemaVersion": 0}', b"\xff"])
def test_a_damaged_file_counts_as_empty_and_is_kept_aside(ledger: Ledger, text: bytes):
    ledger.file.parent.mkdir()
    ledger.file.write_bytes(text)
    assert ledger.read().pins == {}
    pinned(ledger, "p@m")
    assert list(ledger.read().pins) == ["p@m"]
    assert Path(f"{ledger.file}.broken").read_bytes() == text


def test_the_file_of_a_newer_jackfield_is_left_alone(ledger: Ledger):
    ledger.file.parent.mkdir()
    text = json.dumps({"schemaVersion": 99, "pins": {"p@m": "?"}})
    ledger.file.write_text(text)
    assert ledger.read().pins == {}
    with pytest.raises(InternalError, match="is of a newer Jackfield"):
        pinned(ledger, "q@m")
    assert ledger.file.read_text() == text


def test_a_folder_that_cannot_be_written_is_told(ledger: Ledger):
    ledger.file.parent.write_text("")
    with pytest.raises(InternalError, match="cannot (write|lock) "):
        pinned(ledger, "p@m")
