"""jackfield/doctor: whether this machine and this home are fit to be worked with."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.protocol.facts import Evidence
from core.protocol.jackfield import Message

Verdict = Literal["fault", "warning", "unknown", "note", "ok"]
VERDICTS: tuple[Verdict, ...] = ("fault", "warning", "unknown", "note", "ok")
"""Worst first."""

Area = Literal["home", "configuration", "plugins", "servers", "programs", "keyring", "network",
               "machine"]  # fmt: skip


class Check(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One thing that was looked at. Foreign text; never a secret.

    Attributes:
        id: Stable over versions, `home.mode.auth`; a subject stands behind a colon.
        verdict: `fault`: something does not work. `warning`: it may not, or it is unsafe.
            `unknown`: it could not be found out. `note`: worth knowing. `ok`: as it should be.
        finding: What was found, short and without a final stop.
        fix: What to do about it, a command where there is one, or "".
    """

    id: str
    area: Area
    verdict: Verdict
    finding: str
    evidence: Evidence = Evidence()
    fix: str = ""


class DoctorParams(Message, frozen=True, kw_only=True):
    """`online`: also ask the servers of git marketplaces; without it nothing leaves the machine."""

    online: bool = False


class DoctorResult(Message, frozen=True, kw_only=True):
    """All checks, in the order of their areas."""

    checks: tuple[Check, ...]

    def count(self, verdict: Verdict) -> int:
        """How many checks have a verdict."""
        return sum(check.verdict == verdict for check in self.checks)
