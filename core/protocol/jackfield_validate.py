"""jackfield/validate: what is wrong with a marketplace or plugin folder, before anybody adds it."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.protocol.jackfield import Message

Level = Literal["error", "warning", "info"]
LEVELS: tuple[Level, ...] = ("error", "warning", "info")
"""Worst first."""


class Finding(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One thing that is wrong, odd or worth knowing. Foreign text; never a secret.

    Attributes:
        path: Absolute path of the file or folder.
        rule: Id of the broken rule, stable over versions: `source-kind`.
        severity: `error`: Codex refuses it or leaves it out. `warning`: it does less than it
            says, or something else. `info`: worth knowing.
        message: What is wrong, short and without a final stop.
        place: Where in the file: `plugins[3].source`, or "".
        line, column: 1-based, column in characters; 0 where there is none.
        codex, claude: What Codex and Claude Code do with it, or "" where they do not read it.
        hint: What to do next, or "".
    """

    path: str
    rule: str
    severity: Level
    message: str
    place: str = ""
    line: int = 0
    column: int = 0
    codex: str = ""
    claude: str = ""
    hint: str = ""


class ValidateParams(Message, frozen=True, kw_only=True):
    """`path`: a marketplace or plugin folder, or its file; `~` and relative paths are taken."""

    path: str


class ValidateResult(Message, frozen=True, kw_only=True):
    """What was looked at and what was found.

    Attributes:
        path: What was looked at, absolute.
        kind: `marketplace`, `plugin`, or `nothing` where neither was found.
        format: `codex`, `codex-api`, `claude`, `cursor`, `agent-plugins`, or "".
        name: Of the marketplace or plugin, or "".
        total: Entries of the marketplace; 1 for a plugin.
        listed: Those that Codex lists.
        useless: Plugins in reach of which Codex can use nothing.
        findings: By file and line.
        whole: False when the look ended early; a finding says why.
    """

    path: str
    kind: str
    format: str = ""
    name: str = ""
    total: int = 0
    listed: int = 0
    useless: int = 0
    findings: tuple[Finding, ...] = ()
    whole: bool = True

    def count(self, severity: Level) -> int:
        """How many findings there are of a severity."""
        return sum(finding.severity == severity for finding in self.findings)
