from __future__ import annotations

import fcntl
import json
import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import pytest

from core.auth.credential_file import CredentialFile
from core.auth.credentials import SERVICE, Credentials
from core.auth.grant_locks import GrantLocks
from core.auth.grants import Grant, callback_id, of_secret_text, secret_text, store_key
from core.auth.secrets import KeyringUnavailable, absent
from core.errors import CoreError, InternalError
from tests.fakes.ports import FakeClock, MemorySecrets

pytestmark = pytest.mark.anyio

URL = "https://h.example/mcp"
GRANT = Grant(
    server_name="oa",
    server_url=URL,
    client_id="c1",
    access_token="acc",
    issuer="https://h.example",
    refresh_token="ref",
    expires_at=1_700_003_600_000,
    scopes=("a", "b"),
)


class Failing(MemorySecrets):
    """A keyring in a bad state."""

    def __init__(self, failure: CoreError) -> None:
        super().__init__()
        self.failure = failure

    async def get(self, service: str, account: str) -> str | None:
        raise self.failure

    async def set(self, service: str, account: str, secret: str) -> None:
        raise self.failure

    async def delete(self, service: str, account: str) -> bool:
        raise self.failure


class Forgetful(MemorySecrets):
    """Takes everything, keeps nothing."""

    async def set(self, service: str, account: str, secret: str) -> None: ...


class Config:
    def __init__(self, mode: str | None) -> None:
        self._mode = mode

    def get(self, *path: str, default: Any = None) -> Any:
        return self._mode


def store(home: Path, secrets: Any = None, mode: str | None = "file") -> Credentials:
    return Credentials(
        secrets=MemorySecrets() if secrets is None else secrets,
        file=CredentialFile(home / ".credentials.json"),
        locks=GrantLocks(home, wait=0.2),
        clock=FakeClock(),
        load=lambda: Config(mode),  # type: ignore[arg-type, return-value]
    )


NO_KEYRING = absent()
LOCKED = KeyringUnavailable("locked", "the keyring is locked")


def test_an_entry_is_named_and_a_callback_told_apart_as_the_real_one_does() -> None:
    text = b'{"type":"http","url":"https://h.example/mcp","headers":{}}'
    assert store_key("oa", URL) == f"oa|{sha256(text).hexdigest()[:16]}"
    assert len(callback_id(URL)) == 12 and "=" not in callback_id(URL)


async def test_the_file_is_private_sorted_compact_and_leaves_with_its_last_entry(
    tmp_path: Path,
) -> None:
    file = tmp_path / ".credentials.json"
    file.write_text('{"zz|1": {"kept": true}}')
    file.chmod(0o644)
    kept = store(tmp_path)
    assert (await kept.put(GRANT)).place == "file"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text()
    assert text.startswith('{"oa|') and ", " not in text
    assert json.loads(text)["zz|1"] == {"kept": True}
    assert json.loads(text)[GRANT.key] == {
        "server_name": "oa",
        "server_url": URL,
        "issuer": "https://h.example",
        "client_id": "c1",
        "access_token": "acc",
        "expires_at": 1_700_003_600_000,
        "refresh_token": "ref",
        "scopes": ["a", "b"],
    }
    assert await store(tmp_path).get("oa", URL) == GRANT
    assert await kept.remove("oa", URL) is True
    assert await kept.remove("oa", URL) is False
    assert json.loads(file.read_text()) == {"zz|1": {"kept": True}}
    file.write_text(json.dumps({GRANT.key: json.loads(text)[GRANT.key]}))
    assert await kept.remove("oa", URL) is True
    assert not file.exists()


@pytest.mark.parametrize("content", ["{not json", "[]", '{"oa|%s": {"server_name": 1}}'])
async def test_a_damaged_file_is_told_and_never_written(tmp_path: Path, content: str) -> None:
    text = content.replace("%s", GRANT.key.partition("|")[2])
    file = tmp_path / ".credentials.json"
    file.write_text(text)
    with pytest.raises(InternalError, match="cannot be read"):
        await store(tmp_path).get("oa", URL)
    if not text.startswith('{"'):
        with pytest.raises(InternalError):
            await store(tmp_path).put(GRANT)
    assert file.read_text() == text


def test_the_form_of_the_keyring_survives_both_ways() -> None:
    text = secret_text(GRANT, 1_700_000_000.0)
    value = json.loads(text)
    assert value["url"] == URL and value["token_response"]["expires_in"] == 3600
    assert value["token_response"]["scope"] == "a b"
    assert of_secret_text(text) == GRANT
    assert of_secret_text("[]") is None and of_secret_text('{"token_response": 1}') is None


async def test_auto_prefers_the_keyring_and_clears_the_file(tmp_path: Path) -> None:
    await store(tmp_path).put(GRANT)
    secrets = MemorySecrets()
    both = store(tmp_path, secrets, None)
    assert await both.find("oa", URL) == (GRANT, "file")
    assert (await both.put(GRANT)).place == "keyring"
    assert not (tmp_path / ".credentials.json").exists()
    assert await both.find("oa", URL) == (GRANT, "keyring")
    assert list(secrets.entries) == [(SERVICE, GRANT.key)]


@pytest.mark.parametrize("failure", [NO_KEYRING, LOCKED])
async def test_auto_falls_back_to_the_file(tmp_path: Path, failure: CoreError) -> None:
    both = store(tmp_path, Failing(failure), None)
    assert (await both.put(GRANT)).place == "file"
    assert await both.find("oa", URL) == (GRANT, "file")


async def test_a_keyring_that_is_not_there_has_nothing_but_a_locked_one_may(
    tmp_path: Path,
) -> None:
    assert await store(tmp_path, Failing(NO_KEYRING), None).get("oa", URL) is None
    with pytest.raises(KeyringUnavailable, match="locked"):
        await store(tmp_path, Failing(LOCKED), None).get("oa", URL)


async def test_a_keyring_that_keeps_nothing_is_found_out_at_once(tmp_path: Path) -> None:
    with pytest.raises(InternalError, match="^failed to write OAuth tokens to keyring$"):
        await store(tmp_path, Forgetful(), "keyring").put(GRANT)
    assert (await store(tmp_path, Forgetful(), None).put(GRANT)).place == "file"


async def test_a_keyring_that_cannot_be_asked_leaves_a_sign_out_undone(tmp_path: Path) -> None:
    with pytest.raises(InternalError, match="failed to delete OAuth tokens from keyring"):
        await store(tmp_path, Failing(LOCKED), None).remove("oa", URL)


async def test_the_entry_of_another_server_is_not_used(tmp_path: Path) -> None:
    secrets = MemorySecrets({(SERVICE, store_key("other", URL)): secret_text(GRANT, 0)})
    with pytest.raises(CoreError):
        await store(tmp_path, secrets, "keyring").get("other", URL)


async def test_locks_are_those_of_the_real_one_and_waiting_has_an_end(tmp_path: Path) -> None:
    kept = store(tmp_path)
    await kept.put(GRANT)
    await kept.remove("oa", URL)
    name = f"{sha256(GRANT.key.encode()).hexdigest()}.lock"
    folder = tmp_path / "mcp-oauth-locks"
    assert sorted(os.listdir(folder)) == sorted([name, "file-store.lock"])
    descriptor = os.open(folder / name, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with anyio.fail_after(3), pytest.raises(InternalError, match="another program"):
            await kept.remove("oa", URL)
    finally:
        os.close(descriptor)
    assert await kept.remove("oa", URL) is False
