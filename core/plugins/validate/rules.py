"""The rules: how bad each is, what Codex and Claude Code do, what to do about it.

What Codex does was observed in Codex 0.171.0; what Claude Code does is as its plugin reference and
`claude plugin validate` say.
"""

from __future__ import annotations

from typing import NamedTuple

from core.protocol.jackfield_validate import Level


class Rule(NamedTuple):
    """One rule.

    Attributes:
        severity: Unless a finding says otherwise.
        codex, claude: What each does with it.
        hint: What to do, unless a finding knows better.
    """

    severity: Level
    codex: str
    claude: str
    hint: str = ""


_OUT = "leaves the entry out, says nothing"
_FILE = "refuses the whole file"
_REFUSES = "lists it without its data, refuses to install it"
_IGNORES = "ignores it"
_SAME = "the same"
_BOTH = "leaves it out"
_RUNS = "uses it"
_DEFAULT = "ignores the value and looks in the usual place"
_UTF8 = "save it as UTF-8 without a byte order mark"

_MARKETPLACE: dict[str, Rule] = {
    "no-manifest": Rule("error", "finds nothing here", "finds nothing here"),
    "marketplace-read": Rule("error", "cannot read it", "cannot read it"),
    "marketplace-json": Rule("error", _FILE, _FILE),
    "marketplace-type": Rule("error", _FILE, "refuses it where the member is its own"),
    "marketplace-encoding": Rule("error", _FILE, "has failed on it in some versions", _UTF8),
    "link-stub": Rule("error", _FILE, _FILE, "check it out with symlinks, or copy the file here"),
    "marketplace-name": Rule("error", "lists nothing of it, says nothing", "wants kebab-case"),
    "marketplace-name-reserved": Rule(
        "error", "lists nothing of it, says nothing", "takes it", "rename it"
    ),
    "marketplace-name-claude": Rule("warning", "takes it", "keeps it for its own", "rename it"),
    "owner-missing": Rule("warning", _IGNORES, _FILE, 'add `"owner": {"name": "…"}`'),
    "no-plugins": Rule("warning", "leaves the marketplace out of its list", "lists it empty"),
    "marketplace-hidden": Rule("info", "reads the first one only", "reads .claude-plugin only"),
    "member-typo": Rule("warning", "ignores the member", "ignores the member", "correct it"),
    "member-twice": Rule("warning", "takes the last one", "takes the last one", "remove one"),
}
_ENTRIES: dict[str, Rule] = {
    "entry-type": Rule("error", _FILE, "refuses it where the member is its own"),
    "source-kind": Rule("error", _OUT, "does not know it either"),
    "source-shape": Rule("error", _OUT, _FILE),
    "source-path": Rule("error", _OUT, "wants `./` too, and no `..`"),
    "source-url": Rule("error", _OUT, "fails when it is installed"),
    "source-package": Rule("error", _OUT, "fails when it is installed"),
    "source-missing": Rule("error", _REFUSES, "fails when it is installed"),
    "source-outside": Rule(
        "warning", "follows the link", "refuses it", "put the plugin itself there"
    ),
    "source-option": Rule(
        "error", "hands it to git as an option", "refuses it", "name a branch, tag or commit"
    ),
    "plugin-name": Rule("error", "leaves it out or refuses to install it", "wants kebab-case"),
    "plugin-name-claude": Rule("info", "takes it", "warns: it is no kebab-case"),
    "name-case": Rule("warning", "takes them as two", "takes them as two", "rename one"),
    "duplicate": Rule("error", "takes the first one, says nothing", _FILE),
    "product": Rule("info", _OUT, _IGNORES),
    "name-mismatch": Rule(
        "error", "refuses to install it", "takes the entry's", "make both names the same"
    ),
    "version-mismatch": Rule(
        "info", "ignores the entry's version", "takes the manifest's", "remove the entry's"
    ),
    "entry-manifest": Rule("info", "reads the entry instead", "reads the entry instead"),
}
_MANIFEST: dict[str, Rule] = {
    "manifest-missing": Rule("error", _REFUSES, "finds the parts without one"),
    "manifest-read": Rule("error", _REFUSES, "cannot read it"),
    "manifest-json": Rule("error", _REFUSES, "refuses the plugin"),
    "manifest-type": Rule("error", _REFUSES, "refuses it where the member is its own"),
    "manifest-encoding": Rule("error", _REFUSES, "has failed on it in some versions", _UTF8),
    "manifest-symlink": Rule(
        "error", "takes it for missing", "follows it", "put the file itself there"
    ),
    "manifest-schema": Rule("error", _REFUSES, "does not read this format"),
    "manifest-hidden": Rule("info", "reads the first one only", "reads .claude-plugin only"),
    "manifest-place": Rule("info", "does not look there", "does not look there"),
    "name-missing": Rule("warning", "takes the folder's name", "refuses the plugin", "add `name`"),
    "version-form": Rule("error", "refuses to install it", "takes it", "write it like 1.2.3"),
    "version-order": Rule("info", "compares it as text", "compares it as text"),
    "member-path": Rule("warning", _DEFAULT, "refuses the plugin", "begin with `./`, no `..`"),
    "path-missing": Rule("warning", "finds nothing there, says nothing", "tells an error"),
    "asset-missing": Rule("info", "shows no picture", _IGNORES),
    "prompt-dropped": Rule("info", "keeps three of at most 512 characters", _IGNORES),
    "claude-type": Rule("warning", _IGNORES, "refuses the plugin"),
}
_PARTS: dict[str, Rule] = {
    "skill-read": Rule("error", _BOTH, _BOTH),
    "skill-front-matter": Rule("error", _BOTH, "reads it as plain text", "begin with `---`"),
    "skill-yaml": Rule("error", _BOTH, "loads it without its data"),
    "skill-description": Rule("error", _BOTH, "takes its first paragraph"),
    "skill-name": Rule("error", _BOTH, _BOTH, "at most 64 characters"),
    "skill-lenient": Rule(
        "info", "puts the quotes in itself", "reads it leniently too", "put it in quotes"
    ),
    "skill-name-form": Rule(
        "info", "takes it", "wants a-z, 0-9 and `-`", "as the Agent Skills format has it"
    ),
    "skill-description-long": Rule("warning", "takes it", "refuses more than 1,024 characters"),
    "skill-duplicate": Rule("warning", "lists both", "takes one of them", "rename one"),
    "skill-root": Rule("warning", "takes it for no skill", _RUNS, "move it to `skills/NAME/`"),
    "skill-extras": Rule("warning", "ignores the file", "does not read it"),
    "hooks-file": Rule("error", "uses none of the file's hooks", "refuses the file"),
    "hooks-unwrapped": Rule(
        "error", "uses none of the file's hooks", "wants it too", 'put them below `"hooks"`'
    ),
    "hooks-unread": Rule("warning", "reads no hooks in this format", "does not read this format"),
    "hook-event": Rule("warning", "ignores them, says nothing", "ignores them"),
    "hook-matcher": Rule("warning", "never runs it", "may match otherwise"),
    "hook-command": Rule("warning", "runs nothing", "runs nothing"),
    "hook-file-missing": Rule("warning", "fails when it runs", "fails when it runs"),
    "hook-not-executable": Rule("warning", "fails when it runs", _SAME, "chmod +x"),
    "mcp-file": Rule("error", "uses none of its servers, says nothing", "tells an error"),
    "mcp-server": Rule("error", "drops this server, says nothing", "tells an error"),
    "mcp-variable": Rule("warning", "passes it on as it stands", "fills it in"),
    "mcp-type": Rule("warning", "ignores `type`", "goes by `type`"),
    "mcp-headers": Rule("warning", "does not send them", "sends them", "write `http_headers`"),
    "mcp-disabled": Rule("info", "ignores it", _IGNORES, "write `enabled: false`"),
    "mcp-relative": Rule(
        "warning",
        "starts it in the session's folder",
        "starts it in the session's folder",
        'write `"cwd": "."`',
    ),
    "mcp-secret": Rule("warning", "passes it on", "passes it on", "name a variable instead"),
    "app-file": Rule("error", "uses none of its apps, says nothing", "does not read it"),
    "app-id": Rule("info", "counts it once, or not at all", "does not read it"),
    "command-skipped": Rule("info", "makes no skill of it", "offers it as a command"),
    "ignored-parts": Rule("info", "does not use them", "uses them"),
    "empty-plugin": Rule("warning", "installs it, and nothing of it does anything", ""),
}
_FOLDER: dict[str, Rule] = {
    "symlink": Rule("warning", "leaves it out of the installed copy", "copies what it leads to"),
    "symlink-outside": Rule("warning", "leaves it out of the installed copy", "leaves it out"),
    "symlink-broken": Rule("warning", "leaves it out of the installed copy", "leaves it out"),
    "special-file": Rule("warning", "leaves it out of the installed copy", "may wait for it"),
    "case-collision": Rule(
        "warning", "keeps one of them on macOS and Windows", _SAME, "rename one"
    ),
    "file-name": Rule("warning", "cannot name it", "cannot name it"),
    "file-too-large": Rule("warning", "reads and copies all of it", "reads and copies all of it"),
    "too-deep": Rule("warning", "copies all of it", "copies all of it"),
    "unreadable": Rule("warning", "fails to install it", "fails to install it"),
    "toml": Rule("warning", "", "", ""),
    "not-checked": Rule("warning", "", ""),
    "stopped": Rule("warning", "", ""),
}
RULES: dict[str, Rule] = {**_MARKETPLACE, **_ENTRIES, **_MANIFEST, **_PARTS, **_FOLDER}
"""By id."""
