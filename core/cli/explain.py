"""`jackfield explain`: what stops a plugin, app, server or tool, and what mends it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from core.cli.text import json_text, padded, safe
from core.cli.verb_run import add_common, add_starting, in_client
from core.method_table import JACKFIELD_EXPLAIN
from core.protocol.facts import Evidence
from core.protocol.jackfield_explain import KINDS, Action, Check, ExplainParams, ExplainResult

if TYPE_CHECKING:
    from core.client.contract import CoreClient

EXIT_CODES = {
    "works": 0,
    "notFound": 1,
    "stopped": 3,
    "normal": 4,
    "unknown": 5,
    "ambiguous": 6,
}
_SIGNS = {"pass": "●", "fail": "✗", "normal": "·", "unknown": "?", "notReached": "◌"}
_ASCII = {"pass": "*", "fail": "x", "normal": "-", "unknown": "?", "notReached": "o"}
_TITLE = 14


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `explain` takes."""
    parser.add_argument("name", metavar="NAME|ID", help="a plugin, app, server or tool")
    parser.add_argument("--kind", choices=KINDS, help="what it is, where that is not clear")
    parser.add_argument(
        "--again",
        action="store_true",
        help="look anew: lists past their caches, and its server is started or asked",
    )
    add_common(parser, json="print one JSON object")
    add_starting(parser)
    parser.epilog = (
        "Without --again nothing is started and nobody is asked. Exit codes: 0 nothing is in the "
        "way; 1 nothing is called so, or it failed; 2 wrong usage; 3 something stops it; 4 it "
        "ends as it is meant to (not installed, for apps only, ...); 5 not known before somebody "
        "is asked; 6 the name may be several things."
    )


def run(given: argparse.Namespace) -> int:
    """Print the path."""
    return in_client(given, lambda client: _explain(client, given))


async def _explain(client: CoreClient, given: argparse.Namespace) -> int:
    params = ExplainParams(
        target=given.name,
        kind=given.kind,
        again=given.again,
        consent=given.yes,
        deadline=given.deadline,
    )
    result = await client.call(JACKFIELD_EXPLAIN, params)
    if given.json:
        print(json_text(msgspec.to_builtins(result)))
    else:
        signs = _SIGNS if (sys.stdout.encoding or "").lower().startswith("utf") else _ASCII
        for line in lines(result, signs):
            print(line)
    return EXIT_CODES[result.outcome]


def lines(result: ExplainResult, signs: dict[str, str]) -> Iterator[str]:
    """The path for people; evidence and ways out below where it ends."""
    yield safe(result.verdict)
    for candidate in result.candidates:
        about = f"  {candidate.about}" if candidate.about else ""
        yield safe(f"  {candidate.kind:7} {candidate.id}{about}")
    if result.chain:
        yield ""
    for at, check in enumerate(result.chain):
        yield safe(f"{at + 1:2} {signs[check.status]} {padded(check.title, _TITLE)}{check.finding}")
        if at == result.stop:
            yield from (f"     {safe(line)}" for line in _below(check))


def _below(check: Check) -> Iterator[str]:
    for evidence in check.evidence:
        if told := told_evidence(evidence):
            yield f"seen      {told}"
    for action in check.actions:
        yield f"mends it  {told_action(action)}"


def told_evidence(evidence: Evidence) -> str:
    """A place, or what was said."""
    parts = [evidence.wire] if evidence.wire else []
    if evidence.file is not None:
        parts.append(evidence.file + (f":{evidence.line}" if evidence.line else ""))
    elif evidence.layer and evidence.layer != "default":
        parts.append(evidence.layer)
    return "  ".join(parts)


def told_action(action: Action) -> str:
    """What to do, by whom."""
    who = f"{action.whom or action.who}: " if action.who != "you" else ""
    cli = f"  ({action.cli})" if action.cli else ""
    return f"{who}{action.label}{cli}"
