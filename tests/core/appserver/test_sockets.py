from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from core.appserver.sockets import connect_socket, listening, peer_uid, socket_path
from core.errors import CoreError


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "run" / "jackfield.sock"


def test_only_this_user_can_reach_the_socket_and_its_folder(place: Path):
    with listening(place):
        assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        with connect_socket(place) as caller:
            assert peer_uid(caller) == os.geteuid()
    assert not place.exists()


def test_a_folder_that_others_can_enter_is_refused(place: Path):
    place.parent.mkdir(mode=0o755)
    with (
        pytest.raises(CoreError, match="is open to others .mode 0755.") as caught,
        listening(place),
    ):
        pass
    assert caught.value.hint.startswith("chmod 700 ")
    assert not place.exists()


def test_the_socket_of_one_that_was_killed_is_taken_over(place: Path):
    place.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(place))
    assert place.is_socket()
    with listening(place), connect_socket(place):
        pass


def test_one_that_listens_is_left_alone(place: Path):
    with listening(place):
        with pytest.raises(CoreError, match="another app-server listens"), listening(place):
            pass
        with connect_socket(place):
            pass


def test_a_listener_without_our_lock_is_left_alone_too(place: Path):
    place.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(place))
        other.listen()
        with pytest.raises(CoreError, match="another program listens"), listening(place):
            pass
        assert place.is_socket()


def test_a_file_that_is_no_socket_is_never_removed(place: Path):
    place.parent.mkdir(mode=0o700)
    place.write_text("precious")
    with pytest.raises(CoreError, match="in the way"), listening(place):
        pass
    assert place.read_text() == "precious"


def test_a_socket_that_took_our_place_meanwhile_is_not_removed(place: Path):
    with listening(place):
        place.rename(place.with_suffix(".moved"))
        place.write_text("somebody else's")
    assert place.read_text() == "somebody else's"


def test_where_nobody_listens_that_is_said(place: Path):
    with pytest.raises(CoreError, match="nobody answers on .*: No such file"):
        connect_socket(place)


@pytest.mark.parametrize(
    ("url", "path"),
    [("unix:/run/a", "/run/a"), ("unix:///run/a", "/run/a"), ("unix:/run/b/../a", "/run/a")],
)
def test_a_url_names_a_path(url: str, path: str):
    assert socket_path(url) == Path(path)


@pytest.mark.parametrize("url", ["unix:", "unix://", "/run/a", "tcp:1", f"unix:/{'x' * 120}"])
def test_what_names_none_is_refused(url: str):
    with pytest.raises(ValueError, match=r"not unix:PATH|at most 103 bytes"):
        socket_path(url)


def test_a_relative_path_lies_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/dev")
    assert socket_path("unix:a").parent == Path.cwd()
    assert socket_path("unix:~/a") == Path("/home/dev/a")
