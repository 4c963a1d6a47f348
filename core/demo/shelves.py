"""The marketplaces of the demo world, good and bad, and copies of plugins installed from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Json = dict[str, Any]
Files = dict[str, str]
CODEX, CLAUDE = ".agents/plugins/marketplace.json", ".claude-plugin/marketplace.json"


@dataclass(frozen=True, kw_only=True)
class DemoPlugin:
    """A plugin's folder as data.

    Attributes:
        manifest: Where its manifest lies: `.codex-plugin`, `.claude-plugin`, or "" for none.
        hooks: Commands by event.
        others: More files, such as the commands and agents of another program.
    """

    name: str
    about: str
    version: str = "1.0.0"
    display: str = ""
    category: str = "Coding"
    keywords: tuple[str, ...] = ()
    manifest: str = ".codex-plugin"
    skills: tuple[str, ...] = ()
    hooks: Mapping[str, str] = field(default_factory=dict[str, str])
    servers: Mapping[str, Json] = field(default_factory=dict[str, Json])
    apps: tuple[str, ...] = ()
    others: Mapping[str, str] = field(default_factory=dict[str, str])

    def files(self) -> Files:
        """Text by path below the plugin's folder."""
        files: Files = {"README.md": f"# {self.display or self.name}\n\n{self.about}\n"}
        if self.manifest:
            files[f"{self.manifest}/plugin.json"] = _json(self._manifest())
        for skill in self.skills:
            files[f"skills/{skill}/SKILL.md"] = (
                f"---\nname: {skill}\ndescription: {skill.replace('-', ' ').capitalize()}, "
                f"as {self.name} does it.\n---\n\n# {skill}\n\nDo one thing at a time.\n"
            )
        if self.hooks:
            groups = {
                event: [{"hooks": [{"type": "command", "command": command, "timeout": 10}]}]
                for event, command in self.hooks.items()
            }
            files["hooks/hooks.json"] = _json({"hooks": groups})
        if self.servers:
            files[".mcp.json"] = _json({"mcpServers": dict(self.servers)})
        if self.apps:
            files[".app.json"] = _json({"apps": {app: {"id": app} for app in self.apps}})
        return {**files, **self.others}

    def _manifest(self) -> Json:
        return {
            "name": self.name,
            "version": self.version,
            "description": self.about,
            "keywords": list(self.keywords),
            "interface": {
                "displayName": self.display or self.name.replace("-", " ").capitalize(),
                "shortDescription": self.about,
                "developerName": "Acme Tools",
                "category": self.category,
            },
        }


def acme(review_server: Json) -> dict[str, DemoPlugin]:
    """Plugins of `acme-tools`, the Codex-format marketplace, by name."""
    plugins = (
        DemoPlugin(
            name="code-review",
            version="1.4.2",
            about="Reviews a change the way this team does.",
            keywords=("review", "diff"),
            skills=("review-diff", "review-plan", "explain-change"),
            hooks={"SessionStart": "echo reviewing"},
            servers={"review-index": review_server},
            apps=("boardroom", "doc-shelf"),
        ),
        DemoPlugin(
            name="changelog-writer",
            about="Turns merged changes into a page people read.",
            category="Writing",
            skills=("write-changelog",),
        ),
        DemoPlugin(
            name="db-migrations",
            version="3.2.1",
            about="Plans and checks schema changes.",
            category="Data",
            skills=("plan-migration", "check-locks"),
            servers={"schema": {"command": "schema-server", "args": ["--read-only"]}},
        ),
        DemoPlugin(
            name="deploy-guard",
            version="2.1.0",
            about="Stops a deploy on a Friday evening.",
            category="Operations",
            skills=("deploy-checklist",),
            hooks={
                "PreToolUse": "${CLAUDE_PLUGIN_ROOT}/bin/guard --before",
                "Stop": "${CLAUDE_PLUGIN_ROOT}/bin/guard --after",
            },
            others={"bin/guard": "#!/bin/sh\nexit 0\n"},
        ),
        DemoPlugin(
            name="release-notes",
            version="1.1.0",
            about="Drafts release notes for three audiences.",
            category="Writing",
            skills=("draft-notes", "translate-notes", "announce"),
            apps=("mailroom",),
        ),
        DemoPlugin(
            name="internationalisation-linter",
            version="0.3.0",
            about="Finds words that were never given to a translator.",
            skills=("find-strings",),
        ),
        DemoPlugin(
            name="prompt-library",
            about="Forty prompts for another program.",
            manifest=".claude-plugin",
            category="Writing",
            others={"agents/poet.md": "---\nname: poet\n---\n\nWrite in verse.\n"},
        ),
        DemoPlugin(
            name="secrets-scanner",
            version="4.0.0",
            about="Looks for keys before they leave the house.",
            category="Security",
            skills=("scan",),
        ),
        DemoPlugin(
            name="csv-cleaner",
            version="0.8.0",
            display="数据清洗助手",
            about="清洗 CSV：去重、补空、统一日期。",
            category="Data",
            keywords=("csv", "数据"),
            skills=("clean-csv", "profile-csv"),
            apps=("data-cleaner",),
        ),
        DemoPlugin(
            name="notebook-tidy",
            version="2.0.0",
            about="Sorts cells, drops output, keeps the pictures.",
            category="Data",
            skills=("tidy",),
        ),
    )
    return {plugin.name: plugin for plugin in plugins}


def acme_files(plugins: Mapping[str, DemoPlugin]) -> Files:
    """The whole marketplace folder."""
    entries: list[Json] = [
        {"name": name, "source": f"./plugins/{name}", "category": plugin.category}
        for name, plugin in plugins.items()
    ]
    for entry in entries:
        if entry["name"] == "secrets-scanner":
            entry["policy"] = {"installation": "NOT_AVAILABLE"}
    entries += [
        {
            "name": "playwright-runner",
            "description": "Runs browser tests and reads what they say.",
            "source": {
                "source": "git-subdir",
                "url": "https://git.example/acme/runners.git",
                "path": "plugins/playwright-runner",
                "ref": "v2",
            },
        },
        {
            "name": "diagram-kit",
            "description": "Draws what the code does.",
            "source": {"source": "npm", "package": "@acme/diagram-kit", "version": "^3.0.0"},
        },
        {"name": "infra-audit", "source": {"source": "github", "repo": "acme/infra-audit"}},
    ]
    return _marketplace(CODEX, "acme-tools", entries, plugins, display="Acme Tools")


def acme_installed(plugins: Mapping[str, DemoPlugin]) -> dict[str, Files]:
    """Copies below `plugins/cache`, by `MARKETPLACE/PLUGIN/VERSION`."""
    older = replace(plugins["release-notes"], version="0.9.0", skills=("draft-notes",))
    changed = replace(plugins["changelog-writer"], about="Turns merged changes into a page.")
    copies = [plugins["code-review"], changed, plugins["db-migrations"], plugins["deploy-guard"]]
    installed = {f"acme-tools/{it.name}/{it.version}": it.files() for it in (*copies, older)}
    old = DemoPlugin(name="old-linter", version="0.4.0", about="Lints.", skills=("lint",))
    installed["retired-shelf/old-linter/0.4.0"] = old.files()
    return installed


def northwind_files() -> Files:
    """A Claude-format marketplace: some of its plugins bring nothing that Codex can use."""
    plugins = (
        DemoPlugin(
            name="brand-voice",
            about="Writes the way Northwind sounds.",
            manifest=".claude-plugin",
            category="Writing",
            skills=("write-in-voice",),
        ),
        DemoPlugin(
            name="commit-commands",
            about="Slash commands around commits.",
            manifest=".claude-plugin",
            others={"commands/commit.md": "---\ndescription: Commit\n---\n\nCommit $ARGUMENTS.\n"},
        ),
        DemoPlugin(
            name="explainers",
            about="Agents that explain, each in another tone.",
            manifest=".claude-plugin",
            others={
                "agents/patient.md": "---\nname: patient\n---\n\nBe patient.\n",
                "agents/terse.md": "---\nname: terse\n---\n\nBe terse.\n",
            },
        ),
        DemoPlugin(
            name="go-language-server",
            about="Language server for Go.",
            manifest=".claude-plugin",
            others={".lsp.json": '{"go": {"command": "gopls"}}\n'},
        ),
        DemoPlugin(
            name="security-watch",
            about="Warns before a risky edit.",
            manifest=".claude-plugin",
            category="Security",
            hooks={"PreToolUse": "${CLAUDE_PLUGIN_ROOT}/watch.sh"},
            others={"watch.sh": "#!/bin/sh\nexit 0\n"},
        ),
        DemoPlugin(
            name="warehouse",
            about="Queries the warehouse.",
            manifest=".claude-plugin",
            category="Data",
            skills=("ask-warehouse",),
            servers={"warehouse": {"type": "http", "url": "https://warehouse.example/mcp"}},
        ),
        DemoPlugin(name="bare-folder", about="No manifest of its own.", manifest="", skills=("x",)),
    )
    entries: list[Json] = [
        {
            "name": plugin.name,
            "description": plugin.about,
            "source": f"./plugins/{plugin.name}",
            "category": plugin.category,
            "author": {"name": "Northwind"},
        }
        for plugin in plugins
    ]
    entries.append(
        {
            "name": "hosted-elsewhere",
            "description": "Lives in a repository of its own.",
            "source": {"source": "url", "url": "https://git.example/northwind/elsewhere.git"},
        }
    )
    return _marketplace(CLAUDE, "northwind", entries, {it.name: it for it in plugins})


def field_kit_files() -> Files:
    """A marketplace where almost every entry breaks a rule of its own."""
    good = DemoPlugin(name="compass", about="Finds the way through a repository.", skills=("find",))
    broken = DemoPlugin(name="torn-map", about="", others={".codex-plugin/plugin.json": "{,}\n"})
    entries: list[Json] = [
        {"name": "compass", "source": "./plugins/compass"},
        {"name": "compass", "source": "./plugins/other-compass"},
        {"name": "torn-map", "source": "./plugins/torn-map"},
        {"name": "lantern", "source": {"source": "github", "repo": "field-kit/lantern"}},
        {"name": "whistle", "source": {"source": "pip", "package": "whistle"}},
        {"name": "rope", "source": "../outside/rope"},
        {"name": "two words", "source": "./plugins/two-words"},
        {"name": "..", "source": "./plugins/dots"},
        {"name": "tent", "source": "./plugins/tent", "policy": {"products": ["CHATGPT"]}},
        {"name": "missing-folder", "source": "./plugins/missing-folder"},
    ]
    return _marketplace(CODEX, "field-kit", entries, {"compass": good, "torn-map": broken})


def legacy_files() -> Files:
    """A marketplace file that somebody edited by hand."""
    lines = ["{", '  "name": "legacy-plugins",', '  "plugins": [']
    for number in range(6):
        lines += [
            "    {",
            f'      "name": "relic-{number + 1}",',
            f'      "source": "./plugins/relic-{number + 1}",',
            '      "category": "Coding"',
            "    }," if number < 5 else "    }",
        ]
    third = lines.index('      "name": "relic-3",')
    lines[third] = lines[third].rstrip(",")
    return {CODEX: "\n".join([*lines, "  ]", "}"]) + "\n"}


def home_files() -> Files:
    """The person's own shelf, found in the home directory."""
    own = DemoPlugin(name="scratchpad", about="Half-done ideas.", skills=("jot",))
    entries: list[Json] = [{"name": "scratchpad", "source": "./shelf/scratchpad"}]
    files = {f"shelf/scratchpad/{path}": text for path, text in own.files().items()}
    return {**files, CODEX: _json({"name": "my-shelf", "plugins": entries})}


def project_files() -> Files:
    """A marketplace of the project itself."""
    own = DemoPlugin(name="atlas-release", about="Releases Atlas.", skills=("release-atlas",))
    entries: list[Json] = [{"name": "atlas-release", "source": "./tools/atlas-release"}]
    files = {f"tools/atlas-release/{path}": text for path, text in own.files().items()}
    return {**files, CODEX: _json({"name": "atlas-repo", "plugins": entries})}


def _marketplace(
    layout: str,
    name: str,
    entries: list[Json],
    plugins: Mapping[str, DemoPlugin],
    *,
    display: str = "",
) -> Files:
    files: Files = {}
    for plugin in plugins.values():
        for path, text in plugin.files().items():
            files[f"plugins/{plugin.name}/{path}"] = text
    content: Json = {"name": name, "plugins": entries}
    if layout == CLAUDE:
        content["owner"] = {"name": name.capitalize()}
    if display:
        content["interface"] = {"displayName": display}
    files[layout] = _json(content)
    return files


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
