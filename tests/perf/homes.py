"""Homes of a given size, written to disk: marketplaces full of plugins, configured servers."""

from __future__ import annotations

import json
from pathlib import Path


def write_marketplaces(
    codex_home: Path, *, marketplaces: int, plugins: int, manifests: bool = True
) -> None:
    """`marketplaces` local ones with `plugins` entries each, named in config.toml."""
    codex_home.mkdir(parents=True, exist_ok=True)
    config: list[str] = []
    for number in range(marketplaces):
        root = codex_home.parent / "markets" / f"market-{number:02}"
        (root / ".agents" / "plugins").mkdir(parents=True)
        entries: list[object] = []
        for place in range(plugins):
            name = f"plugin-{number:02}-{place:05}"
            entries.append({"name": name, "source": f"./plugins/{name}"})
            if manifests:
                folder = root / "plugins" / name / ".codex-plugin"
                folder.mkdir(parents=True)
                manifest = {
                    "name": name,
                    "version": f"1.{place % 10}.0",
                    "description": f"Does one small thing, number {place}, and does it well.",
                    "keywords": ["bench", f"k{place % 20}"],
                }
                (folder / "plugin.json").write_text(json.dumps(manifest))
        document = {"name": f"market-{number:02}", "plugins": entries}
        (root / ".agents" / "plugins" / "marketplace.json").write_text(json.dumps(document))
        config += [
            f"[marketplaces.market-{number:02}]",
            'source_type = "local"',
            f"source = {json.dumps(str(root))}",
            "",
        ]
    (codex_home / "config.toml").write_text("\n".join(config))


def add_servers(codex_home: Path, servers: dict[str, list[str]]) -> None:
    """Append `[mcp_servers.NAME]` tables of stdio servers: name → command and arguments."""
    lines: list[str] = []
    for name, (command, *args) in servers.items():
        lines += [
            f"[mcp_servers.{json.dumps(name)}]",
            f"command = {json.dumps(command)}",
            f"args = {json.dumps(args)}",
            "",
        ]
    with (codex_home / "config.toml").open("a") as file:
        file.write("\n".join(lines))
