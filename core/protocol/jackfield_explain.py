"""jackfield/explain: what stops a plugin, app, server or tool, and what mends it."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.protocol.facts import Evidence
from core.protocol.jackfield import Message

Kind = Literal["plugin", "app", "server", "tool"]
KINDS: tuple[Kind, ...] = ("plugin", "app", "server", "tool")

Layer = Literal["features", "marketplace", "plugin", "snapshot", "server", "auth", "inventory"]
LAYERS: tuple[Layer, ...] = (
    "features",
    "marketplace",
    "plugin",
    "snapshot",
    "server",
    "auth",
    "inventory",
)
"""In the order in which they are walked."""

Status = Literal["pass", "fail", "normal", "unknown", "notReached"]
Outcome = Literal["works", "stopped", "normal", "unknown", "ambiguous", "notFound"]
Who = Literal["you", "administrator", "author", "provider"]


class _Value(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    pass


class Action(_Value, frozen=True, kw_only=True):
    """One way out.

    Attributes:
        id: Of the panel's command that does it, or "" where it is done elsewhere.
        label: What it does, begins with a verb.
        cli: The command line that does it, or "".
        who: Who can; `whom` names them where it is not the person at the keyboard.
        domain, subject: The row that the command is for.
    """

    label: str
    id: str = ""
    cli: str = ""
    who: Who = "you"
    whom: str = ""
    domain: str = ""
    subject: str = ""


class Check(_Value, frozen=True, kw_only=True):
    """One thing on the path. Foreign text; never a secret.

    Attributes:
        id: Stable word for what was looked at, `plugin.enabled`.
        title: For people, ≤ 14 cells.
        status: `normal`: it is as it is meant to be, though the model gets nothing by it.
        finding: What was found, without a final stop.
        actions: What mends it, the best first; only on `fail`, `normal` and `unknown`.
    """

    id: str
    layer: Layer
    title: str
    status: Status
    finding: str
    evidence: tuple[Evidence, ...] = ()
    actions: tuple[Action, ...] = ()


class Candidate(_Value, frozen=True, kw_only=True):
    """Something that a name may mean. `about`: what tells it from the others."""

    kind: Kind
    id: str
    name: str
    about: str = ""


class ExplainParams(Message, frozen=True, kw_only=True):
    """What to explain.

    Attributes:
        target: An id, or a name as a person types it.
        kind: What it is, where that is known.
        again: Look anew: lists are read past their caches, and the server is started or asked.
        consent: With `again`, where no panel runs: its program counts as agreed to.
        deadline: Seconds that looking anew may take.
    """

    target: str
    kind: Kind | None = None
    again: bool = False
    consent: bool = False
    deadline: float = 60.0


class ExplainResult(Message, frozen=True, kw_only=True):
    """The path down the layers.

    Attributes:
        kind, id, name: What was explained; "" while the name is ambiguous or unknown.
        outcome: `works`: nothing is in the way. `stopped`: `stop` is the first fault. `normal`:
            the path ends at `stop` as it is meant to. `unknown`: somebody has to be asked first.
        verdict: One sentence.
        stop: Index of the first check that is in the way, None when none is. The path ends
            there, but for faults that only Codex stumbles over: what lies behind them is told.
        candidates: What the name may mean, for `ambiguous`; names that are like it for
            `notFound`.
    """

    target: str
    outcome: Outcome
    verdict: str
    kind: Kind | None = None
    id: str = ""
    name: str = ""
    stop: int | None = None
    chain: tuple[Check, ...] = ()
    candidates: tuple[Candidate, ...] = ()
