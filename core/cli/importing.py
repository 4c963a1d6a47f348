"""`jackfield import`: servers and plugins of other agents; writes nothing before `--yes`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from core.cli.options import add_overrides, add_place, deps_of, overrides_of
from core.cli.session import in_core
from core.cli.text import safe
from core.errors import InvalidRequest
from core.importer.places import APPS
from core.protocol.jackfield_import import (
    ApplyParams,
    ApplyResult,
    ImportChoice,
    ImportRow,
    ScanParams,
    ScanResult,
)

if TYPE_CHECKING:
    from core.compose import Core

DONE, FAILED = 0, 1
_SIGNS = {"new": "+", "same": "=", "clash": "!", "blocked": "x"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `import` takes."""
    parser.epilog = "Without --yes nothing is written. jackfield restore brings the file back."
    parser.add_argument(
        "source", nargs="?", default="", choices=["", *APPS], metavar="SOURCE",
        help=f"one of {', '.join(APPS)}; all without it",
    )  # fmt: skip
    parser.add_argument(
        "--dry-run", action="store_true", help="only show what would be written; the default"
    )
    parser.add_argument(
        "--yes", nargs="*", metavar="NAME",
        help="write these; without a name all that are new, theirs alone and hold no secret",
    )  # fmt: skip
    parser.add_argument(
        "--rename", action="append", default=[], metavar="NAME=NEW", help="write it as NEW"
    )
    parser.add_argument(
        "--replace", action="append", default=[], metavar="NAME", help="write over what is there"
    )
    parser.add_argument(
        "--copy-secrets", action="append", default=[], metavar="NAME",
        help="copy its literal secrets too, instead of naming variables",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    add_place(parser)
    add_overrides(parser)


def run(given: argparse.Namespace) -> int:
    """Show what there is; write what was said yes to."""

    async def work(core: Core) -> int:
        return await _import(core, given)

    return in_core(deps_of(given), overrides_of(given), work)


async def _import(core: Core, given: argparse.Namespace) -> int:
    from core import method_table as methods

    client = core.client()
    found = await client.call(methods.JACKFIELD_IMPORT_SCAN, ScanParams(app=given.source))
    if given.yes is None or given.dry_run:
        chosen = _choices(found.rows, given) if given.yes is not None else ()
        _show(found, {choice.id for choice in chosen}, given)
        return DONE
    choices = _choices(found.rows, given)
    result = await client.call(methods.JACKFIELD_IMPORT_APPLY, ApplyParams(choices=choices))
    return _told(result, as_json=given.json)


def _choices(rows: Sequence[ImportRow], given: argparse.Namespace) -> tuple[ImportChoice, ...]:
    """One choice per name that was said yes to.

    Raises:
        InvalidRequest: There is no row of that name.
    """
    renames = dict(_pairs(given.rename))
    named: Iterable[str] = given.yes
    wanted = [row for row in rows if row.proposed] if not given.yes else []
    for name in named:
        wanted.append(_row(rows, name))
    known = {row.name for row in wanted} | {row.id for row in wanted}
    for name in (*renames, *given.replace, *given.copy_secrets):
        if name not in known:
            raise InvalidRequest(f"{name} is not among those that --yes names")
    return tuple(
        ImportChoice(
            id=row.id,
            digest=row.digest,
            name=renames.get(row.id, renames.get(row.name)),
            replace=bool({row.id, row.name} & set(given.replace)),
            copy_secrets=bool({row.id, row.name} & set(given.copy_secrets)),
        )
        for row in dict.fromkeys(wanted)
    )


def _row(rows: Sequence[ImportRow], name: str) -> ImportRow:
    fitting = [row for row in rows if name in (row.id, row.name)]
    usable = [row for row in fitting if row.state in ("new", "clash")] or fitting
    if not usable:
        raise InvalidRequest(f"nothing called {name} was found", hint="jackfield import lists all")
    if len(usable) > 1:
        ids = ", ".join(row.id for row in usable)
        raise InvalidRequest(f"{name} was found more than once", hint=f"name one of {ids}")
    return usable[0]


def _pairs(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, equals, new = text.rpartition("=")
        if not equals or not name or not new:
            raise InvalidRequest(f"--rename takes NAME=NEW, not {text}")
        yield name, new


def _show(found: ScanResult, chosen: set[str], given: argparse.Namespace) -> None:
    if given.json:
        print(msgspec.json.format(msgspec.json.encode(found)).decode())
        return
    if not found.sources:
        print("No servers or plugins of other agents were found.")
        return
    for source in found.sources:
        place = f"{source.path}:{source.line}" if source.line else source.path
        said = f": {source.message}" if source.message else ""
        print(f"{source.label}, {source.scope}: {safe(place)}{safe(said)}")
        for row in found.rows:
            if row.source == source.id:
                _tell(row, ticked=row.id in chosen)
        print()
    new = sum(row.state == "new" for row in found.rows)
    print(f"{new} new of {len(found.rows)}. They would be written to {safe(found.file)};")
    print("jackfield import --yes writes what is ticked (*), --yes NAME… those.")


def _tell(row: ImportRow, *, ticked: bool) -> None:
    tick = "*" if ticked or row.proposed else " "
    reason = f"  {row.state}: {row.reason}" if row.reason else f"  {row.state}"
    print(f" {tick}{_SIGNS[row.state]} {safe(row.name)}  {safe(row.target)}{safe(reason)}")
    if row.state in ("new", "clash"):
        for line in row.diff:
            print(f"      {safe(line)}")
    for place in row.secrets:
        print(f"      holds a literal secret in {safe(place)}; it is not copied")
    if row.wants:
        print(f"      needs {safe(', '.join(row.wants))} in the environment")
    for note in row.notes:
        print(f"      {safe(note)}")
    if row.free_name:
        print(f"      --rename {safe(row.name)}={safe(row.free_name)}, or --replace it")


def _told(result: ApplyResult, *, as_json: bool) -> int:
    failed = [one for one in result.outcomes if one.state == "failed"]
    if as_json:
        print(msgspec.json.format(msgspec.json.encode(result)).decode())
    else:
        for one in result.outcomes:
            said = f": {one.message}" if one.message else ""
            stream = sys.stderr if one.state == "failed" else sys.stdout
            print(f"{one.state}: {safe(one.name)}{safe(said)}", file=stream)
        print(f"{result.message}.")
    return FAILED if failed else DONE
