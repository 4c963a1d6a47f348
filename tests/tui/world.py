"""Rows for tests of the screen: every state once, long and hostile texts among them."""

from __future__ import annotations

from core.protocol.facts import Evidence, Problem
from core.protocol.jackfield import ConsentItem
from core.protocol.rows import (
    AccountRow,
    AppRow,
    Brings,
    InstalledRow,
    MarketplaceRow,
    PluginRow,
    ProblemRow,
    ServerRow,
    ToolRow,
)

NOW = 1_796_042_490.0  # 30 Nov 2026, 12:41:30 UTC
HOME = "/home/dev"
CONFIG = f"{HOME}/.codex/config.toml"
ACME = f"{HOME}/src/acme/plugins/.agents/plugins/marketplace.json"


def now() -> float:
    return NOW


def at(line: int, layer: str = "user", file: str = CONFIG) -> Evidence:
    return Evidence(file=file, line=line, layer=layer)


def plugin(name: str, market: str = ACME, **more: object) -> PluginRow:
    label = {ACME: "acme-tools"}.get(market, market)
    more.setdefault("plugin_id", f"{name}@{label}")
    return PluginRow(id=f"{name}@{label}", name=name, marketplace=market, **more)  # type: ignore[arg-type]


SKIPPED = Problem(
    id="p1",
    domain="plugins",
    subject="infra-audit@acme-tools",
    message="plugins[6].source: kind `github` is not known",
    rule="source-kind",
    evidence=Evidence(file=ACME, line=118),
    codex="leaves the entry out, says nothing",
    hint="write the git form of the source",
)
BROKEN = Problem(
    id="p2",
    domain="marketplaces",
    subject="config:legacy-plugins",
    message="expected `,` or `}` at line 41 column 3",
    evidence=Evidence(file=f"{HOME}/src/legacy/marketplace.json", line=41, column=3),
    codex="lists nothing of it",
)
BAD_SERVER = Problem(
    id="p3",
    domain="servers",
    subject="cache",
    message="both command and url are set",
    evidence=at(88),
    codex="refuses the whole file",
)

MARKETPLACES = [
    MarketplaceRow(
        id=ACME,
        name="acme-tools",
        path=ACME,
        root=f"{HOME}/src/acme/plugins",
        origin=f"{HOME}/src/acme/plugins",
        format="codex",
        total=11,
        checked_at=NOW - 130,
        evidence=at(33),
    ),
    MarketplaceRow(
        id="data",
        name="data-workshop",
        display_name="数据工坊",
        root=f"{HOME}/.codex/.tmp/marketplaces/data-workshop",
        origin="https://git.example/data/workshop",
        ref="main@3f9c2ab",
        source="git",
        format="claude",
        total=6,
        checked_at=NOW - 130,
        evidence=at(36),
    ),
    MarketplaceRow(
        id="config:legacy-plugins",
        name="legacy-plugins",
        root=f"{HOME}/src/legacy",
        listed="unreadable",
        problems=(BROKEN,),
        evidence=at(39),
    ),
]

PLUGINS = [
    plugin("changelog-writer", state="update", version="1.0.0", installed=True, enabled=True,
           brings=Brings(skills=1)),
    plugin(
        "code-review",
        display_name="Code Review",
        description="Reviews a diff the way the team does: correctness first, then names, then "
        "tests. Reads the house rules from docs/review.md.",
        category="Developer tools",
        state="enabled",
        version="1.4.2",
        offered="1.4.2",
        configured=True,
        installed=True,
        enabled=True,
        enabled_at=at(21),
        source="./plugins/code-review",
        root=f"{HOME}/.codex/plugins/cache/acme-tools/code-review/1.4.2",
        brings=Brings(skills=3, hooks=1, servers=1, ignored=("2 commands", "1 agent")),
    ),
    plugin("db-migrations", state="disabled", version="3.2.1", installed=True, configured=True,
           enabled_at=at(25), brings=Brings(skills=2, servers=1)),
    plugin("infra-audit", state="skipped", reason='by Codex: source kind "github"',
           category="Developer tools", problems=(SKIPPED,), source_kind="unsupported"),
    plugin("internationalisation-helper", state="available", offered="0.3.0",
           brings=Brings(skills=1)),
    plugin("playwright-runner", state="available", offered="2.0.0"),
    plugin("prompt-library", state="empty", brings=Brings(ignored=("14 commands",))),
    plugin("release-notes", state="update", version="0.9.0", offered="1.1.0", installed=True,
           enabled=True, brings=Brings(skills=3)),
    plugin("secrets-scanner", state="blocked", reason="by policy", brings=Brings(hooks=1)),
    plugin("wanted", state="notInstalled", configured=True, enabled=True, enabled_at=at(28)),
    plugin("chart-maker", "data", display_name="図表メーカー", state="available", offered="1.2.0",
           description="Charts from tables.", brings=Brings(skills=2)),
    plugin("csv-cleaner", "data", display_name="数据清洗助手", state="enabled", version="2.8.0",
           installed=True, enabled=True, brings=Brings(skills=4)),
    plugin("notebook-tidy", "data", state="available", offered="0.7.4",
           description="Cleans notebooks before a review.", brings=Brings(skills=1)),
    plugin("old-linter", "gone", state="leftOver", configured=True, enabled=True,
           reason="configured, its marketplace is gone", enabled_at=at(104)),
]  # fmt: skip

APPS = [
    AppRow(id="boardroom", name="Boardroom", description="Boards, cards and sprints.",
           category="Planning", accessible=True, brought_by=("code-review",),
           install_url="https://apps.example/boardroom"),
    AppRow(id="calendar", name="Calendar Desk", description="Find a free hour, move meetings.",
           category="Planning", accessible=True, install_url="https://apps.example/calendar"),
    AppRow(id="design", name="Design Desk", accessible=True, enabled=False, enabled_at=at(97)),
    AppRow(id="mailroom", name="Mailroom", accessible=True),
    AppRow(id="people", name="People Finder", accessible=True, enabled=False,
           enabled_at=Evidence(file="/etc/codex/requirements.toml", line=9, layer="requirements")),
    AppRow(id="expense", name="Expense Box 🧾", accessible=True),
    AppRow(id="lake", name="Data Lake View", install_url="https://apps.example/lake"),
]  # fmt: skip

INSTALLED = [
    InstalledRow(id="boardroom", name="Boardroom", callable=True, tools=14, callable_tools=12,
                 committed_at=NOW - 4),
    InstalledRow(id="calendar", name="Calendar Desk", callable=True, tools=9, callable_tools=9,
                 committed_at=NOW - 4),
    InstalledRow(id="design", name="Design Desk", enabled=False, tools=4),
    InstalledRow(id="mailroom", name="Mailroom", tools=3, reason="all its tools need open world"),
    InstalledRow(id="people", name="People Finder", enabled=False, tools=2),
    InstalledRow(id="expense", name="Expense Box 🧾", callable=True, tools=3, callable_tools=3),
]  # fmt: skip

SERVERS = [
    ServerRow(id="atlas-docs", name="atlas-docs", status="connected", tools=12, tools_total=12,
              transport="http", target="https://docs.atlas.example/mcp", auth="oAuth",
              auth_until=NOW + 5010, auth_renews=True, latency_ms=84.0, origin=at(44), protocol="2025-06-18",
              server_version="atlas-docs 2.1", since=NOW - 31, heard_at=NOW - 2),
    ServerRow(id="cache", name="cache", status="invalid", transport="", origin=at(88),
              problems=(BAD_SERVER,)),
    ServerRow(id="github", name="github", status="connected", tools=2, tools_total=3,
              transport="http", target="https://mcp.github.example/mcp", latency_ms=112.0,
              auth="oAuth", auth_until=NOW + 5010, plugin_id="code-review@acme-tools",
              since=NOW - 31),
    ServerRow(id="issues", name="issues", status="authenticationRequired", transport="http",
              target="https://issues.example/mcp", auth="notLoggedIn", origin=at(52)),
    ServerRow(id="memory", name="memory", status="disabled", enabled=False,
              target="npx -y memory-mcp", enabled_at=at(30), origin=at(29)),
    ServerRow(id="metrics", name="metrics", status="failed",
              reason="exited 3 — boom: missing API key", target="python -m metrics_mcp",
              origin=at(58), since=NOW - 28,
              stderr_tail=("loading config from metrics.toml", "boom: missing API key")),
    ServerRow(id="playwright", name="playwright", status="starting", since=NOW - 12, limit=60.0,
              target="npx -y @acme/playwright-mcp", origin=at(62),
              stderr_tail=("npx is installing 214 packages",)),
    ServerRow(id="repo-db", name="repo-db", status="untrusted",
              reason="project folder ~/src/atlas", origin=at(4, "project")),
    ServerRow(id="search", name="search", status="waiting", since=NOW - 4, transport="http",
              reason="HTTP 503 from search.example; try 3 of 5 in 4 s", origin=at(66)),
    ServerRow(id="shell-exec", name="shell-exec", status="blocked", enabled=False,
              reason="requirements.toml:14 allows only /usr/bin/safe-shell", origin=at(70)),
    ServerRow(id="vault", name="vault", status="review", reason="command changed since 28 Nov",
              target="npx -y vault-mcp@3", origin=at(74)),
    ServerRow(id="数据库", name="数据库", status="invalid",
              reason="name may hold only letters, digits, _ and -", origin=at(80)),
]  # fmt: skip

TOOLS = [
    ToolRow(id="github/create_issue", name="create_issue", owner="github", effect="writes",
            title="Open an issue", callable=True, tokens=412, seen_at=NOW - 31,
            description="Open an issue in a repository. The caller needs write access; labels that "
            "do not exist are refused."),
    ToolRow(id="github/delete_repo", name="delete_repo", owner="github", effect="destroys",
            filtered=True, tokens=120, seen_at=NOW - 31, reason="in disabled_tools, config.toml:47"),
    ToolRow(id="github/read_media", name="read_media", owner="github", effect="reads",
            reason="no schema", tokens=389, seen_at=NOW - 31),
    ToolRow(id="metrics/query", name="query", owner="metrics", effect="reads", tokens=200),
    ToolRow(id="boardroom/list_boards", name="list_boards", owner="boardroom", source="app",
            effect="reads", callable=True, tokens=90, description="All boards of the workspace."),
    ToolRow(id="boardroom/archive_card", name="archive_card", owner="boardroom", source="app",
            effect="destroys", reason="by policy", tokens=174),
]  # fmt: skip

ACCOUNT = [
    AccountRow(id="account", kind="chatgpt", email="dev@example.com", plan="team", workspace="Team")
]
PROBLEMS = [ProblemRow(id=problem.id, problem=problem) for problem in (SKIPPED, BROKEN, BAD_SERVER)]

CONSENT = (
    ConsentItem(
        id="c1",
        kind="stdio",
        name="vault",
        command=("npx", "-y", "vault-mcp@3", "--token-file", "/home/dev/.config/vault/token"),
        cwd=f"{HOME}/src/atlas",
        env_names=("VAULT_TOKEN",),
        origin=at(74),
        status="changed",
        was=("npx -y vault-mcp@2",),
    ),
    ConsentItem(
        id="c2",
        kind="http",
        name="rollouts",
        url="https://mcp.rollouts.example/mcp",
        origin=at(78),
    ),
    ConsentItem(id="c3", kind="stdio", name="time", command=("mcp-server-time",), status="agreed"),
)

HOSTILE = "\x1b[2J\x1b]0;owned\x07 [bold red]not bold[/] \u202egnp.exe"

ALL = {
    "marketplaces": MARKETPLACES,
    "plugins": PLUGINS,
    "apps": APPS,
    "installed": INSTALLED,
    "servers": SERVERS,
    "inventory": TOOLS,
    "account": ACCOUNT,
    "problems": PROBLEMS,
}
