"""Evidence and problems: why something is as it is, with its place."""

from __future__ import annotations

from typing import Literal

import msgspec


class Evidence(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False
):
    """Where a fact comes from. All members optional; set what is known.

    Attributes:
        file: Absolute path of the file that says so.
        line: 1-based line in `file`.
        column: 1-based column, in characters.
        layer: Configuration layer: `system`, `requirements`, `user`, `project`, `thread`,
            `cloud`, `plugin`, `default`.
        key: Key path as one would write it, e.g. `mcp_servers.metrics.command`.
        wire: What was said by whom: an HTTP status with its host, a JSON-RPC error, a last
            line of stderr. Foreign text; never a secret.
        at: When it was seen, seconds since the epoch.
    """

    file: str | None = None
    line: int | None = None
    column: int | None = None
    layer: str | None = None
    key: str | None = None
    wire: str | None = None
    at: float | None = None


Severity = Literal["error", "warning", "note"]


class Problem(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False
):
    """One fault, told on the row that it belongs to; it never hides anything else.

    Attributes:
        id: Stable over reloads while the fault stays the same.
        domain: Layer that it blocks: `config`, `marketplaces`, `plugins`, `apps`, `installed`,
            `servers`, `inventory`, `account`, `threads`.
        subject: Id of the row that it belongs to, or None for the whole domain.
        rule: Short machine word for the rule that is broken, e.g. `source-kind`.
        message: Exact and short, without a final stop: what is wrong.
        codex: What the real Codex does with it (`leaves the entry out, says nothing`), or "".
        hint: What to do next, or "".
    """

    id: str
    domain: str
    message: str
    rule: str = ""
    subject: str | None = None
    severity: Severity = "error"
    evidence: Evidence = Evidence()
    codex: str = ""
    hint: str = ""
