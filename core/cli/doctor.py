"""`jackfield doctor`: whether this home and this machine are fit, each finding with its fix."""

from __future__ import annotations

import argparse
import sys
from itertools import groupby

import anyio
import msgspec

from core.cli.options import add_overrides, add_place, deps_of, overrides_of
from core.cli.text import safe
from core.errors import InternalError
from core.protocol.jackfield_doctor import VERDICTS, Check, DoctorParams, DoctorResult

DEADLINE = 60.0
SOUND, FAULTS = 0, 1
_SIGNS = {"fault": "✗", "warning": "!", "unknown": "?", "note": "·", "ok": "●"}
_ASCII = {"fault": "x", "warning": "!", "unknown": "?", "note": "-", "ok": "*"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `doctor` takes."""
    parser.epilog = "Exit code: 0 nothing worse than warnings, 1 faults, 2 wrong usage."
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--all", action="store_true", help="show what is as it should be too")
    parser.add_argument(
        "--online", action="store_true", help="ask the servers of git marketplaces too"
    )
    add_place(parser)
    add_overrides(parser)


def run(given: argparse.Namespace) -> int:
    """Look, print, and say by the exit code whether there is a fault."""
    result = anyio.run(_look, given)
    if given.json:
        counts = {verdict: result.count(verdict) for verdict in VERDICTS}
        whole = {**msgspec.to_builtins(result), "counts": counts}
        print(msgspec.json.format(msgspec.json.encode(whole)).decode())
    else:
        _show(result, every=given.all)
    return FAULTS if result.count("fault") else SOUND


async def _look(given: argparse.Namespace) -> DoctorResult:
    from core import method_table as methods
    from core.compose import open_core

    params = DoctorParams(online=given.online)
    async with open_core(deps_of(given), overrides=overrides_of(given)) as core:
        try:
            with anyio.fail_after(DEADLINE):
                return await core.client().call(methods.JACKFIELD_DOCTOR, params)
        except TimeoutError:
            raise InternalError(f"no answer within {DEADLINE:.0f} s") from None


def _show(result: DoctorResult, *, every: bool) -> None:
    shown = [check for check in result.checks if every or check.verdict not in ("ok", "note")]
    signs = _SIGNS if (sys.stdout.encoding or "").lower().startswith("utf") else _ASCII
    for area, checks in groupby(shown, key=lambda check: check.area):
        print(area)
        for check in sorted(checks, key=lambda check: VERDICTS.index(check.verdict)):
            print(f"  {signs[check.verdict]} {safe(check.finding)}")
            for line in _below(check):
                print(f"      {safe(line)}")
    counts = {verdict: result.count(verdict) for verdict in VERDICTS}
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    print(f"{len(result.checks)} checks: {said}")


def _below(check: Check) -> list[str]:
    evidence, lines = check.evidence, list[str]()
    if evidence.file is not None:
        lines.append(evidence.file + (f":{evidence.line}" if evidence.line is not None else ""))
    if check.fix:
        lines.append(f"fix: {check.fix}")
    return lines
