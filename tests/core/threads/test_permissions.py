"""The permission profiles that threads' sandbox settings stand for."""

from __future__ import annotations

from typing import Any

import pytest

from core.mcp.sandbox import LAUNCHER, STATE, STATE_META
from core.ports import Deps
from tests.core.mcp.fakes import FakeMaker, Script
from tests.core.threads.world import World, world

pytestmark = pytest.mark.anyio
ROOT = {"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"}
ONE = '[mcp_servers.one]\ncommand = "one"\n'
HIDDEN = (".git", ".agents", ".codex", ".aws")
ABLE = {"tools": {}, "experimental": {STATE: {}}}


def writable(path: str) -> dict[str, Any]:
    return {"path": {"type": "path", "path": path}, "access": "write"}


def special(kind: str) -> dict[str, Any]:
    return {"path": {"type": "special", "value": {"kind": kind}}, "access": "write"}


def kept(*roots: str) -> list[dict[str, Any]]:
    return [
        {
            "path": {"type": "path", "path": f"{root}/{name}"},
            "access": "read",
            "missing_path_behavior": "skip",
        }
        for name in HIDDEN
        for root in roots
    ]


def managed(*entries: dict[str, Any], network: str = "restricted") -> dict[str, Any]:
    files = {"type": "restricted", "entries": [ROOT, *entries]}
    return {"type": "managed", "file_system": files, "network": network}


async def sent(here: World, **params: Any) -> dict[str, Any]:
    """`_meta` of a call in a new thread."""
    client = here.client()
    thread = await client.start(**params)
    here.maker.scripts["one"].replies["tools/call"] = [{"content": []}]
    forged = {STATE: "forged", LAUNCHER: "forged", "mine": 1}
    await client.call("mcpServer/tool/call", threadId=thread, server="one", tool="t", _meta=forged)
    meta = here.maker.latest("one").asked[-1][2]
    assert meta is not None
    assert meta["mine"] == 1
    assert meta.get(LAUNCHER) is None
    return meta


def maker() -> FakeMaker:
    return FakeMaker(one=Script(capabilities=ABLE))


async def state_of(deps: Deps, config: str, **params: Any) -> dict[str, Any]:
    async with world(deps, config + "\n" + ONE, maker=maker()) as here:
        meta = await sent(here, **params)
        assert meta[STATE] == meta[STATE_META]
        return meta[STATE]


async def test_without_a_word_on_trust_everything_is_read_only(deps: Deps) -> None:
    state = await state_of(deps, "")
    assert state == {
        "permissionProfile": managed(),
        "codexLinuxSandboxExe": None,
        "sandboxCwd": deps.cwd.as_uri(),
        "useLegacyLandlock": False,
        "useMxc": False,
    }


async def test_the_workspace_may_be_written_but_for_its_hidden_folders(deps: Deps) -> None:
    cwd = str(deps.cwd)
    state = await state_of(deps, "", sandbox="workspace-write")
    assert state["permissionProfile"] == managed(
        writable(cwd), special("slash_tmp"), special("tmpdir"), *kept(cwd)
    )


async def test_further_roots_stand_in_the_order_of_the_real_one(deps: Deps) -> None:
    cwd = str(deps.cwd)
    table = """
        sandbox_mode = "workspace-write"
        [sandbox_workspace_write]
        network_access = true
        exclude_tmpdir_env_var = true
        writable_roots = ["/opt/x"]
        [features]
        use_legacy_landlock = true
    """
    state = await state_of(deps, table)
    assert state["permissionProfile"] == managed(
        writable(cwd),
        writable("/opt/x"),
        special("slash_tmp"),
        writable("/opt/x"),
        *kept(cwd, "/opt/x"),
        network="enabled",
    )
    assert state["useLegacyLandlock"] is True


async def test_full_access_is_a_profile_that_is_off(deps: Deps) -> None:
    state = await state_of(deps, 'sandbox_mode = "danger-full-access"')
    assert state["permissionProfile"] == {"type": "disabled"}


@pytest.mark.parametrize(
    "config",
    [
        'default_permissions = "mine"\n[permissions.mine.filesystem]\n":root" = "read"',
        'default_permissions = ":workspace"\nsandbox_mode = "read-only"',
    ],
)
async def test_a_profile_that_is_not_worked_out_here_is_left_out(deps: Deps, config: str) -> None:
    async with world(deps, f"{config}\n{ONE}", maker=maker()) as here:
        assert not {STATE, STATE_META} & (await sent(here)).keys()


@pytest.mark.parametrize(
    ("required", "told"),
    [
        ('allowed_sandbox_modes = ["read-only"]', True),
        ('allowed_sandbox_modes = ["workspace-write"]', False),
        ('allowed_permission_profiles = [":read-only"]', False),
    ],
)
async def test_managed_requirements_have_the_last_word(
    deps: Deps, required: str, told: bool
) -> None:
    deps.system_dir.mkdir(parents=True, exist_ok=True)
    (deps.system_dir / "requirements.toml").write_text(required + "\n")
    async with world(deps, ONE, maker=maker()) as here:
        assert (STATE in await sent(here)) is told


async def test_a_server_that_asks_for_nothing_is_told_nothing(deps: Deps) -> None:
    async with world(deps, ONE, maker=FakeMaker(one=Script())) as here:
        assert (await sent(here)).keys() == {"mine", "threadId"}


async def test_the_panel_follows_the_files_and_says_what_is_lacking(deps: Deps) -> None:
    async with world(deps, ONE, maker=maker()) as here:
        thread = await here.panel.open(consent_all=True)
        await here.until_status(one="connected")
        told = [p for p in here.rows["one"].problems if p.rule == "sandbox"]
        assert [p.message for p in told] == [
            "one: it has no launcher for its sandbox: JACKFIELD_CODEX is not set; "
            "calls of its tools may be refused"
        ]
        sandboxing = thread.runtime.sandboxing
        assert sandboxing is not None
        before = sandboxing.permissions()
        here.write('sandbox_mode = "danger-full-access"\n' + ONE)
        await here.panel.follow()
        after = sandboxing.permissions()
        assert before is not None
        assert after is not None
        assert before.state["permissionProfile"]["type"] == "managed"
        assert after.state["permissionProfile"]["type"] == "disabled"
