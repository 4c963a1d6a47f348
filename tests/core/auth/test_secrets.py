from __future__ import annotations

import threading
from collections.abc import Mapping

import anyio
import anyio.lowlevel
import pytest

from core.auth.secrets import KeyringSecrets, KeyringUnavailable, absent, locked, system_store

pytestmark = pytest.mark.anyio


class DictStore:
    """A keyring that does what the test says; `holds` makes calls wait."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], str] = {}
        self.holds: threading.Event | None = None
        self.fails: Exception | None = None
        self.threads: set[threading.Thread] = set()
        self.opened = 0

    def open(self, environ: Mapping[str, str]) -> DictStore:
        self.opened += 1
        return self

    def get(self, service: str, account: str) -> str | None:
        self._call()
        return self.entries.get((service, account))

    def set(self, service: str, account: str, secret: str) -> None:
        self._call()
        self.entries[service, account] = secret

    def delete(self, service: str, account: str) -> bool:
        self._call()
        return self.entries.pop((service, account), None) is not None

    def lasts(self) -> bool:
        self._call()
        return True

    def _call(self) -> None:
        self.threads.add(threading.current_thread())
        if self.holds is not None:
            self.holds.wait(10)
        if self.fails is not None:
            raise self.fails


@pytest.fixture
def store() -> DictStore:
    return DictStore()


async def state_of(secrets: KeyringSecrets) -> tuple[str, str]:
    with pytest.raises(KeyringUnavailable) as caught:
        await secrets.get("service", "account")
    return caught.value.state, caught.value.message


async def test_secrets_go_in_and_come_out_in_one_daemon_thread(store: DictStore):
    secrets = KeyringSecrets({}, opens=store.open)
    assert await secrets.get("service", "account") is None
    await secrets.set("service", "account", "a\né")
    assert await secrets.get("service", "account") == "a\né"
    assert await secrets.delete("service", "account") is True
    assert await secrets.delete("service", "account") is False
    (thread,) = store.threads
    assert thread.daemon
    assert store.opened == 1


async def once_it_answers(secrets: KeyringSecrets) -> str | None:
    while True:
        try:
            return await secrets.get("service", "account")
        except KeyringUnavailable as error:
            assert error.state == "silent"
            await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize(
    ("error", "state", "message"),
    [
        (absent(), "absent", "there is no keyring on this machine"),
        (locked(), "locked", "the keyring is locked"),
        (RuntimeError("first line\nsecond"), "unreadable", "the keyring failed: first line"),
        (ValueError(), "unreadable", "the keyring failed: ValueError"),
    ],
)
async def test_what_keeps_a_keyring_from_answering_is_told_apart(
    store: DictStore, error: Exception, state: str, message: str
):
    secrets = KeyringSecrets({}, opens=store.open)
    store.fails = error
    assert await state_of(secrets) == (state, message)
    store.fails = None
    assert await secrets.get("service", "account") is None


async def test_a_keyring_that_does_not_answer_costs_its_deadline_once(store: DictStore):
    secrets = KeyringSecrets({}, deadline=0.02, opens=store.open)
    store.holds = threading.Event()
    silent = ("silent", "the keyring does not answer (0.02 s)")
    with anyio.fail_after(5):
        assert await state_of(secrets) == silent
        with anyio.CancelScope() as no_waiting:
            no_waiting.cancel()
            assert await state_of(secrets) == silent
        assert not no_waiting.cancelled_caught
        store.holds.set()
        assert await once_it_answers(secrets) is None


async def test_a_call_that_was_given_up_before_it_began_is_never_made(store: DictStore):
    secrets = KeyringSecrets({}, deadline=60, opens=store.open)
    store.holds = threading.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(secrets.get, "service", "account")
        await anyio.wait_all_tasks_blocked()
        with anyio.move_on_after(0.01):
            await secrets.set("service", "account", "too late")
        store.holds.set()
    assert await secrets.get("service", "account") is None


async def test_a_keyring_that_is_started_later_is_found():
    opened = 0
    store = DictStore()

    def open_later(environ: Mapping[str, str]) -> DictStore:
        nonlocal opened
        opened += 1
        if opened == 1:
            raise absent()
        return store

    secrets = KeyringSecrets({}, opens=open_later)
    assert (await state_of(secrets))[0] == "absent"
    assert await secrets.get("service", "account") is None


async def test_a_chosen_backend_is_obeyed():
    refusing = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    assert (await state_of(KeyringSecrets(refusing)))[0] == "absent"
    missing = {"PYTHON_KEYRING_BACKEND": "no.such.Backend"}
    assert (await state_of(KeyringSecrets(missing)))[0] == "unreadable"
    nothing = system_store({"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"})
    assert nothing.get("service", "account") is None
    assert nothing.delete("service", "account") is False
