from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from core.browser import TEXT_BROWSERS, SystemBrowser

pytestmark = pytest.mark.anyio

URL = "https://example.com/authorize?a=1&b=%20;$(touch pwned)"


def program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def environ(bin_dir: Path, **more: str) -> dict[str, str]:
    return {"PATH": f"{bin_dir}:/usr/bin:/bin", "HOME": os.environ["HOME"], **more}


async def test_a_chosen_browser_gets_the_url_as_one_word_and_no_terminal(tmp_path: Path):
    seen = tmp_path / "seen"
    program(
        tmp_path / "bin",
        "my-browser",
        f'{{ printf "%s|" "$#" "$1"; test -t 0 || printf no-terminal; }} > {seen}',
    )
    browser = SystemBrowser(environ(tmp_path / "bin", BROWSER="my-browser"))
    assert await browser.open(URL) is True
    assert seen.read_text() == f"1|{URL}|no-terminal"


@pytest.mark.skipif(sys.platform != "linux", reason="only there a text browser may be all there is")
@pytest.mark.parametrize("name", TEXT_BROWSERS)
async def test_text_browsers_are_passed_over(tmp_path: Path, name: str):
    program(tmp_path / "bin", name, f"echo started > {tmp_path / 'started'}")
    browser = SystemBrowser({**environ(tmp_path / "bin"), "PATH": str(tmp_path / "bin")})
    assert await browser.open(URL) is False
    chosen = SystemBrowser(
        {**environ(tmp_path / "bin", BROWSER=name), "PATH": str(tmp_path / "bin")}
    )
    assert await chosen.open(URL) is False
    assert not (tmp_path / "started").exists()


async def test_a_browser_that_fails_has_not_taken_the_url(tmp_path: Path):
    program(tmp_path / "bin", "broken", "exit 3")
    path = {"PATH": str(tmp_path / "bin")}
    browser = SystemBrowser({**environ(tmp_path / "bin", BROWSER="broken"), **path})
    assert await browser.open(URL) is False


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "mailto:a@b",
        "https:///x",
        "-flag",
        "",
        "ftp://x",
    ],
)
async def test_only_web_pages_are_ever_handed_over(tmp_path: Path, url: str):
    program(tmp_path / "bin", "my-browser", f"echo started > {tmp_path / 'started'}")
    browser = SystemBrowser(environ(tmp_path / "bin", BROWSER="my-browser"))
    assert await browser.open(url) is False
    assert not (tmp_path / "started").exists()
