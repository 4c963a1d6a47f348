from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

from core.plugins.sources.archive import BadArchive, unpack


def pack(root: Path, *members: tuple[str, bytes, dict[str, Any]]) -> str:
    """A tarball of members: name, content, members of the header."""
    path = root / "a.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name, content, header in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for key, value in header.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(content))
    return str(path)


def test_files_are_unpacked_with_the_right_to_run_and_no_other(tmp_path: Path):
    archive = pack(
        tmp_path,
        ("package/a/b.txt", b"x", {"mode": 0o600}),
        ("package/run", b"y", {"mode": 0o6777}),
        ("package/empty", b"", {"type": tarfile.DIRTYPE}),
    )
    assert unpack(archive, str(tmp_path / "out")) == 2
    out = tmp_path / "out/package"
    assert (out / "a/b.txt").read_bytes() == b"x"
    assert (out / "empty").is_dir()
    assert (out / "run").stat().st_mode & 0o7777 & ~0o022 == 0o755 & ~0o022
    assert not (out / "a/b.txt").stat().st_mode & 0o111


@pytest.mark.parametrize(
    ("name", "header", "reason"),
    [
        ("package/../../evil", {}, "escapes extraction root"),
        ("package/a/../../../evil", {}, "escapes extraction root"),
        ("/tmp/evil", {}, "escapes extraction root"),
        ("package/l", {"type": tarfile.SYMTYPE, "linkname": "/etc"}, "is a link"),
        ("package/l", {"type": tarfile.LNKTYPE, "linkname": "x"}, "is a link"),
        ("package/f", {"type": tarfile.FIFOTYPE}, "is neither file nor directory"),
        ("package/d", {"type": tarfile.CHRTYPE}, "is neither file nor directory"),
    ],
)
def test_entries_that_are_more_than_files_of_the_package_refuse_the_archive(
    tmp_path: Path, name: str, header: dict[str, Any], reason: str
):
    archive = pack(tmp_path, (name, b"", header))
    with pytest.raises(BadArchive) as caught:
        unpack(archive, str(tmp_path / "out"))
    assert str(caught.value) == f"plugin bundle tar entry `{name}` {reason}"
    assert not (tmp_path / "evil").exists()


def test_the_same_file_twice_refuses_the_archive(tmp_path: Path):
    archive = pack(tmp_path, ("package/a", b"x", {}), ("package/a", b"y", {}))
    with pytest.raises(BadArchive, match="is there twice"):
        unpack(archive, str(tmp_path / "out"))


def test_archives_that_are_too_large_are_refused_before_they_fill_the_disk(tmp_path: Path):
    archive = pack(tmp_path, ("package/a", bytes(5000), {}), ("package/b", b"", {}))
    with pytest.raises(BadArchive, match="too large"):
        unpack(archive, str(tmp_path / "bytes"), size=4999)
    assert not (tmp_path / "bytes/package").exists()
    with pytest.raises(BadArchive, match="too large"):
        unpack(archive, str(tmp_path / "files"), files=1)


@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", b"\x1f\x8b\x08"])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes):
    (tmp_path / "a.tgz").write_bytes(content)
    with pytest.raises(BadArchive):
        unpack(str(tmp_path / "a.tgz"), str(tmp_path / "out"))


def test_a_truncated_archive_is_refused(tmp_path: Path):
    archive = Path(pack(tmp_path, ("package/a", b"x" * 1000, {})))
    archive.write_bytes(archive.read_bytes()[:60])
    with pytest.raises(BadArchive):
        unpack(str(archive), str(tmp_path / "out"))
