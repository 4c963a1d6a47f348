"""Every rule with a folder that breaks it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.plugins.validate.look import validate
from core.plugins.validate.rules import RULES
from core.protocol.jackfield_validate import Finding, ValidateResult
from tests.core.plugins.world import CLAUDE_PLACE, CODEX_PLACE, put, put_market, put_plugin

SKILL = "---\nname: {}\ndescription: does a thing\n---\nbody\n"
GOOD = {"skills/one/SKILL.md": SKILL.format("one")}


def look(root: Path, **more: Any) -> ValidateResult:
    return validate(str(root), "/home/nobody", **more)


def market(*entries: Any, place: str = CODEX_PLACE, **others: Any) -> Callable[[Path], None]:
    def build(root: Path) -> None:
        put_market(root, *entries, place=place, **others)
        put_plugin(root / "plugins/p", GOOD)

    return build


def entry(**members: Any) -> Callable[[Path], None]:
    return market({"name": "p", "source": "./plugins/p", **members}, "p2")


def plugin(files: dict[str, Any] | None = None, **manifest: Any) -> Callable[[Path], None]:
    return lambda root: void(put_plugin(root, {**GOOD, **(files or {})}, **manifest))


def claude(files: dict[str, Any] | None = None, **manifest: Any) -> Callable[[Path], None]:
    place = ".claude-plugin/plugin.json"
    return lambda root: void(put_plugin(root, {**GOOD, **(files or {})}, place, **manifest))


def skill(text: str | bytes, folder: str = "two") -> Callable[[Path], None]:
    return plugin({f"skills/{folder}/SKILL.md": text})


def server(**members: Any) -> Callable[[Path], None]:
    return plugin({".mcp.json": {"mcpServers": {"s": members}}})


def hook(event: str, command: str, matcher: str = "") -> Callable[[Path], None]:
    group = {"matcher": matcher, "hooks": [{"type": "command", "command": command}]}
    return plugin({"hooks/hooks.json": {"hooks": {event: [group]}}})


def file(name: str, content: Any) -> Callable[[Path], None]:
    return lambda root: void(put(root / name, content))


def also(*steps: Callable[[Path], object]) -> Callable[[Path], None]:
    def build(root: Path) -> None:
        for step in steps:
            step(root)

    return build


def link(name: str, target: str) -> Callable[[Path], None]:
    def build(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(target)

    return build


def deep(root: Path) -> None:
    (root / "/".join(["d"] * 70)).mkdir(parents=True)


def bytes_name(root: Path) -> None:
    os.mkdir(os.fsencode(root) + b"/\xff")


def large(name: str) -> Callable[[Path], None]:
    def build(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        with open(root / name, "wb") as made:
            made.truncate(100_000_000)

    return build


def void(_: object) -> None:
    pass


ONE_SKILL = plugin()
MARKET = CODEX_PLACE
BOM = b"\xef\xbb\xbf"

CASES: dict[str, tuple[Callable[[Path], None], str, str, int]] = {
    # rule: what is built, file, words of the message, line
    "no-manifest": (file("README.md", "x"), "", "neither a marketplace nor a plugin", 0),
    "marketplace-read": (link(MARKET, "/proc/self/mem"), MARKET, "", 0),
    "marketplace-json": (file(MARKET, '{"name":"m",\n}'), MARKET, "trailing comma", 2),
    "marketplace-type": (file(MARKET, '{"name":"m",\n"plugins":1}'), MARKET, "invalid type", 2),
    "marketplace-encoding": (file(MARKET, BOM + b"{}"), MARKET, "byte order mark", 1),
    "link-stub": (
        also(file(".agents/real.json", "{}"), file(MARKET, "../real.json")), MARKET, "link", 0,
    ),
    "marketplace-name": (market("p", name="my market"), MARKET, "only ASCII", 1),
    "marketplace-name-reserved": (market("p", name="openai-curated"), MARKET, "reserved", 1),
    "marketplace-name-claude": (
        market("p", name="agent-skills", place=CLAUDE_PLACE), CLAUDE_PLACE, "reserved", 1,
    ),
    "owner-missing": (market("p", place=CLAUDE_PLACE), CLAUDE_PLACE, "owner", 0),
    "no-plugins": (market(), MARKET, "no entry is left", 0),
    "marketplace-hidden": (
        also(market("p"), market("p", place=CLAUDE_PLACE)), CLAUDE_PLACE, "instead of it", 0,
    ),
    "member-typo": (entry(catagory="x"), MARKET, "did you mean `category`", 1),
    "member-twice": (
        file(MARKET, '{"name":"m","plugins":[],\n"x":1,"x":2}'), MARKET, "`x` stands twice", 2,
    ),
    "entry-type": (market({"name": "p"}), MARKET, "has no `source`", 1),
    "source-kind": (entry(source={"source": "svn", "url": "x"}), MARKET, "kind `svn`", 1),
    "source-shape": (entry(source=7), MARKET, "neither a path", 1),
    "source-path": (entry(source="./../p"), MARKET, "leaves the marketplace", 1),
    "source-url": (entry(source={"source": "url", "url": "git://x"}), MARKET, "no git URL", 1),
    "source-package": (entry(source={"source": "npm", "package": "_x"}), MARKET, "no npm", 1),
    "source-missing": (entry(source="./gone"), MARKET, "its folder is missing", 1),
    "source-outside": (
        also(
            lambda root: void(put_plugin(root.parent / "elsewhere/q", GOOD)),
            market({"name": "q", "source": "./q"}), link("q", "../elsewhere/q"),
        ), MARKET, "is a link to", 1,
    ),
    "source-option": (
        entry(source={"source": "url", "url": "https://x/y.git", "ref": "--help"}),
        MARKET, "begins with `-`", 1,
    ),
    "plugin-name": (market({"name": "a b", "source": "./plugins/p"}), MARKET, "invalid plugin", 1),
    "plugin-name-claude": (
        market({"name": "P", "source": "./plugins/p"}, place=CLAUDE_PLACE), CLAUDE_PLACE, "kebab", 1,
    ),
    "name-case": (
        market({"name": "p", "source": "./plugins/p"}, {"name": "P", "source": "./plugins/p"}),
        MARKET, "differ in case", 1,
    ),
    "duplicate": (market("p", "p"), MARKET, "an earlier entry", 1),
    "product": (entry(policy={"products": ["ATLAS"]}), MARKET, "CODEX", 1),
    "name-mismatch": (
        market({"name": "other", "source": "./plugins/p"}),
        "plugins/p/.codex-plugin/plugin.json", "it is called `p`, its entry `other`", 1,
    ),
    "version-mismatch": (entry(version="9.0.0"), MARKET, "the entry says version 9.0.0", 1),
    "entry-manifest": (
        also(
            market({"name": "bare", "source": "./plugins/bare", "description": "d"}),
            file("plugins/bare/skills/s/SKILL.md", SKILL.format("s")),
        ), MARKET, "its entry stands in for it", 1,
    ),
    "manifest-missing": (file("skills/s/SKILL.md", SKILL.format("s")), "", "no plugin.json", 0),
    "manifest-read": (
        file(".codex-plugin/plugin.json/x", "x"), ".codex-plugin/plugin.json", "no regular", 0,
    ),
    "manifest-json": (
        file(".codex-plugin/plugin.json", '{"name":\n'), ".codex-plugin/plugin.json", "EOF", 2,
    ),
    "manifest-type": (plugin(keywords=None), ".codex-plugin/plugin.json", "invalid type", 1),
    "manifest-encoding": (
        file(".codex-plugin/plugin.json", BOM + b"{}"), ".codex-plugin/plugin.json", "byte order", 1,
    ),
    "manifest-symlink": (
        also(file("real.json", "{}"), link(".codex-plugin/plugin.json", "../real.json")),
        ".codex-plugin/plugin.json", "symlink", 0,
    ),
    "manifest-schema": (
        file("plugin.json", {"$schema": "https://agent-plugins.org/schemas/9/x.json"}),
        "plugin.json", "$schema", 0,
    ),
    "manifest-hidden": (
        also(ONE_SKILL, claude()), ".claude-plugin/plugin.json", "instead of it", 0,
    ),
    "manifest-place": (
        also(file("plugin.json", "{}"), file("skills/s/SKILL.md", SKILL.format("s"))),
        "plugin.json", "$schema", 0,
    ),
    "name-missing": (plugin(name=" "), ".codex-plugin/plugin.json", "no `name`", 0),
    "version-form": (plugin(version="1/2"), ".codex-plugin/plugin.json", "cannot name a folder", 1),
    "version-order": (plugin(version="1.0"), ".codex-plugin/plugin.json", "no semantic", 1),
    "member-path": (
        plugin(hooks="../h.json"), ".codex-plugin/plugin.json", "does not lie in the plugin", 1,
    ),
    "path-missing": (plugin(mcpServers="./no.json"), ".codex-plugin/plugin.json", "not there", 1),
    "asset-missing": (
        plugin(interface={"logo": "./no.png"}), ".codex-plugin/plugin.json", "`./no.png`", 1,
    ),
    "prompt-dropped": (
        plugin(interface={"defaultPrompt": ["x" * 513]}), ".codex-plugin/plugin.json", "1 of", 1,
    ),
    "claude-type": (claude(author="me"), ".claude-plugin/plugin.json", "`author`", 1),
    "skill-read": (skill(b"---\nname: \xff\n---\n"), "skills/two/SKILL.md", "invalid utf-8", 1),
    "skill-front-matter": (skill("# no"), "skills/two/SKILL.md", "frontmatter", 1),
    "skill-yaml": (
        skill('---\ndescription: "x" y\nname: a: "\n---\n'), "skills/two/SKILL.md", "invalid YAML", 2,
    ),
    "skill-description": (skill("---\nname: two\n---\n"), "skills/two/SKILL.md", "description", 1),
    "skill-name": (skill(SKILL.format("x" * 65)), "skills/two/SKILL.md", "64", 2),
    "skill-lenient": (
        skill("---\nname: two\ndescription: Use when: asked\n---\n"),
        "skills/two/SKILL.md", "strict YAML fails", 3,
    ),
    "skill-name-form": (skill(SKILL.format("Two Words")), "skills/two/SKILL.md", "Two Words", 2),
    "skill-description-long": (
        skill(f"---\ndescription: {'x' * 1025}\n---\n"), "skills/two/SKILL.md", "1,025", 2,
    ),
    "skill-duplicate": (skill(SKILL.format("one")), "skills/two/SKILL.md", "skills/one", 0),
    "skill-root": (plugin({"SKILL.md": SKILL.format("x")}), "SKILL.md", "own folder", 0),
    "skill-extras": (
        plugin({"skills/one/agents/openai.yaml": "display_name: One\n"}),
        "skills/one/agents/openai.yaml", "outside `interface`", 1,
    ),
    "hooks-file": (
        plugin({"hooks/hooks.json": '{"hooks":\n7}'}), "hooks/hooks.json", "invalid type", 2,
    ),
    "hooks-unwrapped": (
        plugin({"hooks/hooks.json": {"Stop": []}}), "hooks/hooks.json", "at the top", 1,
    ),
    "hooks-unread": (
        also(
            file("plugin.json", {
                "$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", "name": "p",
            }),
            file("hooks/hooks.json", "{}"), file("skills/s/SKILL.md", SKILL.format("s")),
        ), "hooks/hooks.json", "Agent Plugins", 0,
    ),
    "hook-event": (hook("Sometimes", "true"), "hooks/hooks.json", "`Sometimes`", 1),
    "hook-matcher": (hook("Stop", "true", "(a"), "hooks/hooks.json", "unclosed group", 1),
    "hook-command": (hook("Stop", " "), "hooks/hooks.json", "empty", 1),
    "hook-file-missing": (
        hook("Stop", "bash ${CLAUDE_PLUGIN_ROOT}/no.sh"), "hooks/hooks.json", "`no.sh`", 1,
    ),
    "hook-not-executable": (
        also(hook("Stop", "${CLAUDE_PLUGIN_ROOT}/x.sh"), file("x.sh", "")),
        "hooks/hooks.json", "not executable", 1,
    ),
    "mcp-file": (plugin({".mcp.json": "{,"}), ".mcp.json", "key must be a string", 1),
    "mcp-server": (server(command="x", url="https://y"), ".mcp.json", "`s`: url is not", 1),
    "mcp-variable": (server(command="${HOME}/x"), ".mcp.json", "`${HOME}` in `command`", 1),
    "mcp-type": (server(type="sse", url="https://x/y"), ".mcp.json", "sse", 1),
    "mcp-headers": (server(url="https://x/y", headers={"A": "b"}), ".mcp.json", "`headers`", 1),
    "mcp-disabled": (server(command="x", disabled=True), ".mcp.json", "`disabled`", 1),
    "mcp-relative": (server(command="node", args=["./s.js"]), ".mcp.json", "`./s.js`", 1),
    "mcp-secret": (
        server(command="x", env={"API_KEY": "hunter2hunter2"}), ".mcp.json", "env.API_KEY", 1,
    ),
    "app-file": (plugin({".app.json": {"apps": {"a": {"id": 1}}}}), ".app.json", "`a`", 1),
    "app-id": (plugin({".app.json": {"apps": {"a": {"id": " "}}}}), ".app.json", "blank", 1),
    "command-skipped": (plugin({"commands/c.md": "text"}), "commands/c.md", "frontmatter", 0),
    "ignored-parts": (plugin({"agents/a.md": "x"}), "", "1 agent", 0),
    "empty-plugin": (
        lambda root: void(put_plugin(root, {"agents/a.md": "x"})), "", "only 1 agent", 0,
    ),
    "symlink": (also(ONE_SKILL, link("skills/loop", ".")), "skills/loop", "a link to .", 0),
    "symlink-outside": (also(ONE_SKILL, link("out", "/etc")), "out", "leads out", 0),
    "symlink-broken": (also(ONE_SKILL, link("gone", "nowhere")), "gone", "nowhere", 0),
    "special-file": (
        also(ONE_SKILL, lambda root: os.mkfifo(root / ".mcp.json")), ".mcp.json", "named pipe", 0,
    ),
    "case-collision": (also(ONE_SKILL, file("A", ""), file("a", "")), "", "A, a", 0),
    "file-name": (also(ONE_SKILL, bytes_name), "", "no UTF-8", 0),
    "file-too-large": (also(ONE_SKILL, large(".mcp.json")), ".mcp.json", "100 MB", 0),
    "too-deep": (also(ONE_SKILL, deep), "/".join(["d"] * 65), "64 folders", 0),
    "unreadable": (also(ONE_SKILL, link(".mcp.json", ".mcp.json")), ".mcp.json", "Symbolic", 0),
    "toml": (also(ONE_SKILL, file("x.toml", "a = 1\nb =")), "x.toml", "no TOML", 2),
    "not-checked": (also(ONE_SKILL, link(".app.json", "/proc/self/mem")), "", "I/O error", 0),
}  # fmt: skip


@pytest.mark.parametrize("rule", CASES)
def test_a_folder_that_breaks_a_rule_has_its_finding(rule: str, tmp_path: Path):
    build, name, words, line = CASES[rule]
    root = tmp_path / "p"
    root.mkdir()
    build(root)
    result = look(root)
    place = str(root / name) if name else str(root)
    found = [one for one in result.findings if one.rule == rule]
    assert [one for one in found if one.path == place and words in one.message], result.findings
    chosen = next(one for one in found if one.path == place and words in one.message)
    assert chosen.line == line, chosen
    assert chosen.severity in ("error", "warning", "info")


def test_every_rule_has_its_case():
    assert RULES.keys() - CASES.keys() == {"stopped"}


def test_a_sound_plugin_and_a_sound_marketplace_have_no_finding(tmp_path: Path):
    put_market(tmp_path, "p", interface={"displayName": "M"})
    files = {
        **GOOD,
        ".mcp.json": {"mcpServers": {"s": {"command": "x", "args": ["./y"], "cwd": "."}}},
        "hooks/hooks.json": {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}},
        ".app.json": {"apps": {"a": {"id": "1"}}},
    }
    put_plugin(tmp_path / "plugins/p", files, version="1.0.0", description="d")
    result = look(tmp_path)
    assert result.findings == ()
    assert (result.kind, result.name, result.listed, result.total) == ("marketplace", "m", 1, 1)
    assert look(tmp_path / "plugins/p").findings == ()


def test_a_source_that_only_claude_code_knows_is_a_warning_in_its_own_file_only(tmp_path: Path):
    github = {"name": "p", "source": {"source": "github", "repo": "o/r"}}

    def of(place: str) -> Finding:
        put_market(tmp_path / place[:4], github, place=place, owner={"name": "o"})
        found = look(tmp_path / place[:4]).findings
        return next(one for one in found if one.rule == "source-kind")

    claudes = of(CLAUDE_PLACE)
    assert (claudes.severity, claudes.claude) == ("warning", "installs it")
    assert 'https://github.com/o/r.git"' in claudes.hint
    assert of(CODEX_PLACE).severity == "error"


def test_no_secret_is_told(tmp_path: Path):
    server(
        url="https://x/y", headers={"Authorization": "Bearer hunter2hunter2"},
        env={"TOKEN": "hunter2hunter2"},
    )(tmp_path)  # fmt: skip
    assert "hunter2" not in repr(look(tmp_path))


def test_one_broken_part_hides_no_other(tmp_path: Path):
    put_market(tmp_path, "a", "b", {"name": "c", "source": "nope"})
    put_plugin(tmp_path / "plugins/a", {**GOOD, ".mcp.json": "{", "hooks/hooks.json": "["})
    put(tmp_path / "plugins/b/.codex-plugin/plugin.json", "{")
    rules = {one.rule for one in look(tmp_path).findings}
    assert rules == {"mcp-file", "hooks-file", "manifest-json", "source-path"}


def test_the_file_itself_may_be_named(tmp_path: Path):
    path = put_market(tmp_path, {"name": "p", "source": 7})
    assert [one.rule for one in look(path).findings] == ["no-plugins", "source-shape"]
    put_plugin(tmp_path / "q", GOOD, version="x/y")
    named = look(tmp_path / "q/.codex-plugin/plugin.json")
    assert [one.rule for one in named.findings] == ["version-form"]


def test_lines_of_many_entries_are_found_in_one_pass(tmp_path: Path):
    entries = ",\n".join(f'{{"name": "p{number}", "source": 7}}' for number in range(3000))
    put(tmp_path / CODEX_PLACE, '{"name": "m", "plugins": [\n' + entries + "]}")
    found = [one for one in look(tmp_path).findings if one.rule == "source-shape"]
    assert len(found) == 3000
    assert [one.line for one in found[-2:]] == [3000, 3001]
