"""Managed requirements that allow only some sources; texts as observed in Codex 0.171.0."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from core.errors import CoreError
from core.plugins.allowed import SourcePolicy, host_of
from core.plugins.marketplaces.source_text import GitPlace, LocalPlace
from core.ports import Deps
from core.protocol.marketplaces import MarketplaceAddParams, MarketplaceUpgradeParams
from core.protocol.plugin_params import PluginInstallParams, PluginReadParams
from core.seams import DeclaredServers
from tests.core.plugins.install.world import workshop
from tests.core.plugins.test_catalog import Panel
from tests.core.plugins.world import SCOPE, World, put, put_market, put_plugin
from tests.core.service.test_plugin_changes import Bench

pytestmark = pytest.mark.anyio
RESTRICT = "[marketplaces]\nrestrict_to_allowed_sources = true\n"


def allow(deps: Deps, **rule: str) -> str:
    """Write requirements with one rule; their path."""
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in rule.items())
    table = f"[marketplaces.allowed_sources.a]\n{lines}" if rule else ""
    return str(put(deps.system_dir / "requirements.toml", RESTRICT + table))


def policy(deps: Deps, **rule: str) -> SourcePolicy:
    allow(deps, **rule)
    world = World(deps)
    return SourcePolicy(world.home, world.configs.load(None))


@pytest.fixture
async def bench(deps: Deps, tmp_path: Path) -> AsyncGenerator[Bench]:
    async with workshop(deps, tmp_path) as shop:
        yield Bench(shop)


async def refusal(call: object) -> str:
    with pytest.raises(CoreError) as caught:
        await call  # type: ignore[misc]
    assert caught.value.code == -32600
    return caught.value.message


@pytest.mark.parametrize(
    ("rule", "url", "ref", "fits"),
    [
        ({"source": "git", "url": "https://h.test/x.git"}, "https://h.test/x.git", None, True),
        ({"source": "git", "url": "https://h.test/x.git"}, "https://h.test/x.git", "main", True),
        ({"source": "git", "url": "https://h.test/x.git"}, "https://h.test/x", None, False),
        ({"source": "git", "url": "https://h.test/x.git"}, "https://u@h.test/x.git", None, False),
        (
            {"source": "git", "url": "https://h.test/x.git", "ref": "main"},
            "https://h.test/x.git",
            None,
            False,
        ),
        ({"source": "git", "url": "o/r"}, "https://github.com/o/r.git", None, True),
        (
            {"source": "git", "url": "https://github.com/o/r"},
            "https://github.com/o/r.git",
            "v1",
            True,
        ),
        ({"source": "host_pattern", "host_pattern": "corp"}, "git@git.corp.test:a/b", None, True),
        (
            {"source": "host_pattern", "host_pattern": "^git[.]corp[.]test$"},
            "https://sub.git.corp.test/x",
            None,
            False,
        ),
        (
            {"source": "host_pattern", "host_pattern": "corp"},
            "https://evil.test/git.corp.test",
            None,
            False,
        ),
        ({"source": "local", "path": "/srv/mk"}, "https://h.test/x.git", None, False),
    ],
)
def test_a_git_source_fits_by_its_url_or_its_host(
    deps: Deps, rule: dict[str, str], url: str, ref: str | None, fits: bool
):
    place = GitPlace(url, ref)
    fault = policy(deps, **rule).place_fault(place)
    shown = f"{url}#{ref}" if ref else url
    where = deps.system_dir / "requirements.toml"
    told = f"marketplace source `{shown}` is not allowed by requirements from {where}"
    assert fault == ("" if fits else told)


def test_a_folder_fits_as_a_whole_and_not_by_its_parent(deps: Deps, tmp_path: Path):
    root = str(put_market(tmp_path / "mk").parents[2])
    assert policy(deps, source="local", path=f"{root}/").place_fault(LocalPlace(root)) == ""
    assert policy(deps, source="local", path=str(tmp_path)).place_fault(LocalPlace(root)) != ""


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ({"source": "git"}, "missing url"),
        ({"source": "git", "url": "o/r", "ref": ""}, "ref must not be empty"),
        ({"source": "host_pattern"}, "missing host_pattern"),
        ({"source": "local"}, "missing path"),
        ({"source": "local", "path": "x"}, "local path must be absolute"),
        ({"url": "o/r"}, "missing source"),
    ],
)
def test_one_rule_that_cannot_be_read_closes_all(deps: Deps, rule: dict[str, str], reason: str):
    where = deps.system_dir / "requirements.toml"
    fault = policy(deps, **rule).place_fault(GitPlace("https://github.com/o/r.git"))
    assert fault == f"invalid marketplace allowed source `a` in {where}: {reason}"


def test_a_pattern_that_cannot_be_read_closes_all(deps: Deps):
    held = policy(deps, source="host_pattern", host_pattern="(")
    assert "allowed source `a`" in held.place_fault(GitPlace("https://h.test/x"))


def test_without_the_restriction_rules_mean_nothing(deps: Deps):
    table = '[marketplaces.allowed_sources.a]\nsource = "local"\npath = "/srv"\n'
    put(deps.system_dir / "requirements.toml", table)
    world = World(deps)
    held = SourcePolicy(world.home, world.configs.load(None))
    assert held.place_fault(GitPlace("https://h.test/x")) == ""
    assert held.market_fault("m", "/anywhere") == ""


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://u:p@H.test:8443/x", "h.test"),
        ("ssh://git@h.test:22/a", "h.test"),
        ("git@h.test:a/b", "h.test"),
        ("https://[bad/x", ""),
    ],
)
def test_the_host_is_found_in_every_form(url: str, host: str):
    assert host_of(url) == host


async def test_adding_is_refused_before_anything_is_fetched(bench: Bench):
    where = allow(bench.shop.deps, source="local", path=str(bench.home / "ok"))
    put_market(bench.home / "ok", name="ok")
    put_market(bench.home / "no", name="no")
    said = await refusal(bench.service.add(MarketplaceAddParams(source="~/no"), SCOPE))
    root = bench.home / "no"
    assert said == f"marketplace source `{root}` is not allowed by requirements from {where}"
    assert "marketplaces" not in bench.shop.tables()
    added = await bench.service.add(MarketplaceAddParams(source="~/ok"), SCOPE)
    assert added.marketplace_name == "ok"


async def test_installing_needs_a_configured_and_allowed_marketplace(bench: Bench):
    where = allow(bench.shop.deps, source="local", path=str(bench.home / "ok"))
    said = await refusal(bench.install())
    assert said == (
        f"invalid marketplace file `{bench.market}`: marketplace `m` must be added to config "
        "before plugins can be installed while marketplace source restrictions are enabled"
    )
    world = World(bench.shop.deps)
    world.add_market(bench.home, "m")
    assert f"`{bench.home}` is not allowed by requirements from {where}" in await refusal(
        bench.install()
    )
    assert await refusal(bench.install("nope")) == "plugin `nope` was not found in marketplace `m`"
    allow(bench.shop.deps, source="local", path=str(bench.home))
    assert (await bench.install()).auth_policy == "ON_INSTALL"


async def test_a_copy_elsewhere_under_an_allowed_name_is_refused(bench: Bench, tmp_path: Path):
    world = World(bench.shop.deps)
    world.add_market(bench.home, "m")
    allow(bench.shop.deps, source="local", path=str(bench.home))
    market = put_market(tmp_path / "copy", "p")
    put_plugin(tmp_path / "copy/plugins/p")
    params = PluginInstallParams(marketplace_path=str(market), plugin_name="p")
    said = await refusal(bench.service.install(params, SCOPE))
    assert said.endswith(
        f"marketplace path `{tmp_path}/copy` does not match configured marketplace `m`"
    )


async def test_upgrading_tells_it_as_an_error_of_the_marketplace(bench: Bench):
    World(bench.shop.deps).configure(
        '[marketplaces.g]\nsource_type = "git"\nsource = "https://h.test/g.git"'
    )
    allow(bench.shop.deps)
    upgraded = await bench.service.upgrade(MarketplaceUpgradeParams(), SCOPE)
    assert upgraded.upgraded_roots == []
    (failure,) = upgraded.errors
    assert "`https://h.test/g.git` is not allowed by requirements" in failure.message


async def test_lists_leave_it_out_and_details_refuse_it(deps: Deps, tmp_path: Path):
    world = World(deps)
    roots = {name: put_market(tmp_path / name, "p", name=name) for name in ("yes", "no")}
    for name, path in roots.items():
        put_plugin(tmp_path / name / "plugins/p")
        world.add_market(path.parents[2], name)
    allow(deps, source="local", path=str(tmp_path / "yes"))
    assert [market.name for market in (await world.listed()).marketplaces] == ["yes"]
    params = PluginReadParams(marketplace_path=str(roots["no"]), plugin_name="p")
    said = await refusal(world.service.read(params, SCOPE))
    assert said.startswith(f"invalid marketplace file `{roots['no']}`: marketplace source")


async def test_what_is_installed_from_it_contributes_nothing(deps: Deps, tmp_path: Path):
    from core.plugins.effective import EffectivePlugins

    world = World(deps)
    world.add_market(put_market(tmp_path / "no", "p", name="no").parents[2], "no")
    server = {"mcpServers": {"srv": {"command": "serve"}}}
    world.install("p@no", {".mcp.json": server})
    world.switch("p@no")
    declared: DeclaredServers = EffectivePlugins(world.home, world.configs).declared_servers(None)
    assert [one.name for one in declared.servers] == ["srv"]
    allow(deps)
    declared = EffectivePlugins(world.home, world.configs).declared_servers(None)
    assert declared.servers == ()
    (problem,) = declared.problems
    assert problem.rule == "source-not-allowed"
    assert problem.evidence.line == 2


async def test_the_panel_shows_it_as_blocked_with_the_line_of_the_rule(deps: Deps, tmp_path: Path):
    world = World(deps)
    panel = Panel(world)
    world.add_market(put_market(tmp_path / "no", "p", name="no").parents[2], "no")
    put_plugin(tmp_path / "no/plugins/p")
    file = allow(deps)
    await panel.refresh()
    (market,), (row,) = panel.markets.values(), panel.rows.values()
    assert market.listed == "blocked"
    (problem,) = market.problems
    assert (problem.evidence.file, problem.evidence.line) == (file, 2)
    assert (row.state, row.reason) == ("blocked", "by policy, requirements.toml:2")
