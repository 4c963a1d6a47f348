from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from core.auth.port_holder import port_holder


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux'")
def test_the_program_that_listens_is_named_and_one_that_only_connects_is_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            assert port_holder(port).startswith(f"PID {os.getpid()} (")
            assert port_holder(client.getsockname()[1]) == ""
    assert port_holder(port) == ""


def test_a_machine_that_does_not_tell_is_no_failure(tmp_path: Path) -> None:
    assert port_holder(80, tmp_path) == ""
    table = tmp_path / "net" / "tcp"
    table.parent.mkdir()
    table.write_text("head\n0: 0100007F:0050 0:0 0A 0:0 0:0 0 0 0 77\n1: short\n")
    assert port_holder(80, tmp_path) == ""
    folder = tmp_path / "12" / "fd"
    folder.mkdir(parents=True)
    (folder / "3").symlink_to("socket:[77]")
    assert port_holder(80, tmp_path) == "PID 12"
    (tmp_path / "12" / "comm").write_text("httpd\n")
    assert port_holder(80, tmp_path) == "PID 12 (httpd)"
