"""Configuration files of the demo world, written as a person would."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.demo.shelves import DemoPlugin


@dataclass(frozen=True, kw_only=True)
class Places:
    """What the files refer to.

    Attributes:
        python: Runs the programs in `programs`.
        urls: By name: `backend`, `issues`, `search`, `traces`, `wiki`.
    """

    python: str
    programs: Path
    home: Path
    urls: Mapping[str, str]

    def program(self, name: str) -> str:
        """Path of a program."""
        return str(self.programs / f"{name}.py")


def _s(value: object) -> str:
    """A TOML string; JSON's escapes are among TOML's."""
    return json.dumps(str(value), ensure_ascii=False)


def config_toml(places: Places, plugins: Mapping[str, DemoPlugin]) -> str:
    """The user's `config.toml`."""
    return "\n".join(
        (_head(places), _marketplaces(places), _plugins(plugins), _apps(), _servers(places))
    )


def _head(places: Places) -> str:
    return f"""\
# The demo world of Jackfield: nothing in it is real, and all of it goes when you leave.
# Edit what you like; the panel follows.
model = "demo"                      # nobody is asked

chatgpt_base_url = {_s(places.urls["backend"])}
cli_auth_credentials_store = "file"
mcp_oauth_credentials_store = "file"   # no keyring is touched

[features]
plugins = true
apps = true
remote_plugin = false
"""


def _marketplaces(places: Places) -> str:
    source = places.home / "src"
    return f"""\
# --- where plugins come from ---

[marketplaces.acme-tools]
source_type = "local"
source = {_s(source / "acme-tools")}

[marketplaces.northwind]            # Claude's format, read as it is
source_type = "git"
source = "https://git.example/northwind/agents.git"
ref = "main"

[marketplaces.field-kit]
source_type = "local"
source = {_s(source / "field-kit")}

[marketplaces.legacy-plugins]       # somebody edited its file by hand
source_type = "local"
source = {_s(source / "legacy-plugins")}

[marketplaces.old-shelf]            # moved away in spring
source_type = "local"
source = {_s(source / "old-shelf")}
"""


def _plugins(plugins: Mapping[str, DemoPlugin]) -> str:
    states = {
        "code-review": "enabled = true",
        "changelog-writer": "enabled = true",
        "db-migrations": "enabled = false   # until the freeze is over",
        "deploy-guard": "enabled = true",
        "release-notes": "enabled = true",
        "notebook-tidy": "enabled = true    # never installed on this machine",
    }
    tables = [
        f'[plugins."{name}@acme-tools"]\n{state}\n'
        for name, state in states.items()
        if name in plugins
    ]
    tables.append('[plugins."old-linter@retired-shelf"]   # its marketplace is gone\n')
    return "# --- plugins ---\n\n" + "\n".join(tables)


def _apps() -> str:
    return """\
# --- apps ---

[apps.boardroom.tools.boardroom_delete_board]
enabled = false
[apps.boardroom.tools.boardroom_archive_card]
enabled = false

[apps.design-desk]
enabled = false                     # too many frames

[apps.mailroom]
default_tools_enabled = false

[apps.survey-garden]
destructive_enabled = false
"""


def _servers(places: Places) -> str:
    python, url = _s(places.python), places.urls

    def program(name: str) -> str:
        return f"command = {python}\nargs = [{_s(places.program(name))}]"

    return f"""\
# --- MCP servers ---

[mcp_servers.atlas-docs]
{program("atlas-docs")}

[mcp_servers.billing]
{program("billing")}
tool_timeout_sec = 30
env = {{ BILLING_REGION = "eu" }}
env_vars = ["BILLING_TOKEN"]        # not set here

[mcp_servers.browser-lab]           # takes its time
{program("browser-lab")}
startup_timeout_sec = 60

[mcp_servers.metrics]
{program("metrics")}

[mcp_servers.speech]
command = "speech-bridge"
args = ["--language", "en"]

[mcp_servers.memory]
{program("memory")}
enabled = false                     # remembers too much

[mcp_servers.cache]
command = "cache-server"
url = "http://127.0.0.1:9/mcp"      # one of the two has to go

[mcp_servers.shell-exec]
command = "/usr/local/bin/shell-exec"

[mcp_servers.issues]
url = {_s(url["issues"] + "/mcp")}
disabled_tools = ["lock_issue"]

[mcp_servers.search]
url = {_s(url["search"] + "/mcp")}

[mcp_servers.traces]                # wants a sign-in
url = {_s(url["traces"] + "/mcp")}

[mcp_servers.wiki]
url = {_s(url["wiki"] + "/mcp")}
"""


def project_toml(places: Places) -> str:
    """`.codex/config.toml` of the project, which nobody has trusted yet."""
    return f"""\
[mcp_servers.repo-db]
command = {_s(places.python)}
args = [{_s(places.program("repo-db"))}]
"""


def requirements_toml(places: Places) -> str:
    """What the administrator allows."""
    tables: list[str] = []
    for name in ("atlas-docs", "billing", "browser-lab", "metrics", "memory", "repo-db"):
        tables.append(f"[mcp_servers.{name}.identity]\ncommand = {_s(places.python)}\n")
    tables.append('[mcp_servers.speech.identity]\ncommand = "speech-bridge"\n')
    tables.append('[mcp_servers.shell-exec.identity]\ncommand = "/usr/bin/safe-shell"\n')
    for name in ("issues", "search", "traces", "wiki"):
        tables.append(f"[mcp_servers.{name}.identity]\nurl = {_s(places.urls[name] + '/mcp')}\n")
    tables.append("[apps.people-finder]\nenabled = false\n")
    return "# Northwind IT: what may run on these machines.\n\n" + "\n".join(tables)
