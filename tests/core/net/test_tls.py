from __future__ import annotations

import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from core.net.tls import trust_context
from tests.conftest import is_there, note_missing


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of our own making."""
    if not is_there("openssl"):
        note_missing("openssl")
        pytest.skip("openssl is missing")
    folder = tmp_path_factory.mktemp("ca")
    command = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=jackfield-test"
    out = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "ca.pem")]
    subprocess.run(["openssl", *command.split(), *out], check=True, capture_output=True)
    return folder / "ca.pem"


def subjects(context: ssl.SSLContext) -> list[str]:
    return [str(dict(pair[0] for pair in ca["subject"])) for ca in context.get_ca_certs()]


def test_certificate_file_of_the_environment_replaces_the_systems_store(authority: Path) -> None:
    context = trust_context({"SSL_CERT_FILE": str(authority)})
    assert len(subjects(context)) == 1
    assert "jackfield-test" in subjects(context)[0]
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname


def test_certificate_folder_of_the_environment_counts(authority: Path, tmp_path: Path) -> None:
    number = subprocess.run(
        ["openssl", "x509", "-hash", "-noout", "-in", str(authority)],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    (tmp_path / f"{number}.0").write_text(authority.read_text())
    context = trust_context({"SSL_CERT_DIR": str(tmp_path)})
    assert subjects(context) == []  # a folder is looked into when a server shows its certificate
    assert context.verify_mode == ssl.CERT_REQUIRED


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="the system verifies there")
@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_unusable_setting_falls_back_to_the_systems_store_and_says_so(
    content: str | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    context = trust_context({"SSL_CERT_FILE": str(file)})
    assert subjects(context)
    assert "SSL_CERT_FILE" in caplog.text
