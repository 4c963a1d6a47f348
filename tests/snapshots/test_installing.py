"""Pictures of the sheets of installing. Look at a changed one before accepting it."""

from __future__ import annotations

from collections.abc import Callable

from core.protocol.events import OperationProgress
from core.protocol.facts import Evidence
from core.protocol.jackfield_install import Compatibility, IgnoredPart, SourceRead, UsedPart
from tests.fakes.client import FakeClient
from tests.snapshots.test_panel import SIZES, Scene, picture
from tests.tui import world
from tests.tui.panel import Panel, whole
from tui.screens.add_marketplace import AddMarketplace
from tui.screens.trust import TrustSheet

__all__ = ["picture"]
Picture = Callable[..., None]
Size = tuple[int, int]
ROOT = f"{world.HOME}/src/acme/plugins/plugins/deploy-guard"
GUARD = Compatibility(
    plugin_id="internationalisation-helper@acme-tools",
    name="deploy-guard",
    version="2.1.0",
    marketplace_path=world.ACME,
    source="./plugins/deploy-guard",
    uses=(
        UsedPart(kind="skill", name="deploy-guard:look"),
        UsedPart(
            kind="hook",
            name="preToolUse x",
            id="a" * 64,
            event="preToolUse",
            matcher="Bash",
            command=('bash "${CLAUDE_PLUGIN_ROOT}/hooks/guard.sh" ' + world.HOSTILE,),
            files=(("hooks/guard.sh", "7d1f" + "0" * 56 + "a02c"),),
            standing="changed",
            was=("file hooks/guard.sh sha256 0b9e" + "0" * 56 + "44d1",),
            since=world.NOW - 172_800,
            evidence=Evidence(file=f"{ROOT}/hooks/hooks.json"),
        ),
        UsedPart(
            kind="server",
            name="deploys",
            id="b" * 64,
            command=("npx", "-y", "@acme/deploys-mcp@2", "--region", "eu west"),
            cwd=f"{world.HOME}/.codex/plugins/cache/acme-tools/deploy-guard/2.1.0",
            env_names=("DEPLOY_TOKEN",),
            standing="new",
        ),
        UsedPart(
            kind="server",
            name="rollouts",
            id="c" * 64,
            url="https://mcp.rollouts.example/mcp",
            sign_in="oauth",
            standing="declined",
        ),
    ),
    ignores=(IgnoredPart(what="agent", names=("helper",), reason="only Claude Code uses it"),),
)


def client_of(*answers: tuple[str, object]) -> FakeClient:
    client = whole()
    client.answers |= dict(answers)
    return client


async def trusting(p: Panel) -> None:
    await p.until(lambda: p.pane.list.move_to("plugin:internationalisation-helper@acme-tools"))
    await p.pilot.pause()
    await p.press("i")
    await p.until(lambda: isinstance(p.app.screen, TrustSheet))


def adding(text: str) -> Scene:
    async def scene(p: Panel) -> None:
        await p.press("a")
        await p.until(lambda: isinstance(p.app.screen, AddMarketplace))
        await p.press(*text)
        await p.until(lambda: p.client.asked("jackfield/marketplace/source"))

    return scene


@SIZES
def test_the_trust_page_shows_everything_that_would_run(picture: Picture, size: Size):
    picture(trusting, client_of(("jackfield/plugin/compatibility", GUARD)), size=size)


@SIZES
def test_a_source_is_read_while_it_is_typed(picture: Picture, size: Size):
    read = SourceRead(kind="git", place="https://github.com/acme/tools.git")
    picture(adding("acme/tools"), client_of(("jackfield/marketplace/source", read)), size=size)


def test_an_install_shows_its_share_in_the_row(picture: Picture):
    async def scene(p: Panel) -> None:
        p.client.push(
            OperationProgress(
                at=world.NOW,
                id="o1",
                subject="playwright-runner@acme-tools",
                verb="install",
                share=0.43,
                note="receiving objects 54 %",
            )
        )
        await p.until(lambda: "43%" in p.line("playwright"))

    picture(scene)
