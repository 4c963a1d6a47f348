"""Marketplaces as the panel's rows, the ones that cannot be read included."""

from __future__ import annotations

import os

from msgspec.structs import replace

from core.plugins.discovery import Candidate, Place
from core.plugins.layout import MARKETPLACE_FILES, is_directory, read_file
from core.plugins.market_commit import checkout_commit
from core.plugins.marketplace_file import Marketplace, Refusal
from core.plugins.mending import hint, link_stub
from core.plugins.names import RESERVED
from core.plugins.rows import REFUSES_FILE
from core.plugins.updates.standing import Memory
from core.protocol.facts import Evidence, Problem
from core.protocol.rows import MarketplaceRow

_IGNORES = "ignores it, says nothing"


def read_row(place: Place, market: Marketplace, at: float, *, off: bool) -> MarketplaceRow:
    """The row of a marketplace file that was found."""
    candidate = place.candidate
    problems = _problems(place, market)
    return MarketplaceRow(
        id=place.path,
        name=market.name or candidate.key or os.path.basename(place.root),
        display_name=market.display_name or "",
        path=place.path,
        root=place.root,
        format=place.format,
        source=candidate.kind,
        origin=candidate.origin,
        ref=_ref(candidate),
        listed=_listed(market, off=off),
        total=market.total,
        checked_at=at,
        evidence=candidate.evidence if candidate.key else Evidence(file=place.path),
        problems=problems,
    )


def _listed(market: Marketplace, *, off: bool) -> str:
    if market.refusal is not None:
        return "unreadable"
    if market.name_fault:
        return "reserved" if market.name in RESERVED else "unreadable"
    if off:
        return "off"
    return "listed" if market.entries else "empty"


def _problems(place: Place, market: Marketplace) -> tuple[Problem, ...]:
    found: list[Problem] = []
    if market.refusal is not None:
        found.append(_refused(place.path, market.refusal))
    if market.name_fault:
        found.append(
            Problem(
                id=f"marketplace:{place.path}:name",
                domain="marketplaces",
                subject=place.path,
                rule="marketplace-name",
                message=market.name_fault,
                evidence=Evidence(file=place.path, key="name"),
                codex="lists nothing of it, says nothing",
                hint="" if market.name in RESERVED else hint("marketplace-name"),
            )
        )
    return tuple(found)


def _refused(path: str, refused: Refusal) -> Problem:
    message = refused.reason
    advice = hint(refused.rule)
    if refused.rule == "encoding" and refused.line:
        message = "it begins with a byte order mark"
    elif refused.rule == "json" and (target := _stub(path)):
        message = f"it is a link written out as text; the file is {target}"
        advice = "check the repository out with symlinks, or copy the file here"
    elif refused.rule == "json" and refused.line:
        message = f"{message} at line {refused.line} column {refused.column}"
    return Problem(
        id=f"marketplace:{path}:{refused.rule}",
        domain="marketplaces",
        subject=path,
        rule=refused.rule,
        message=message,
        evidence=Evidence(file=path, line=refused.line or None, column=refused.column or None),
        codex=REFUSES_FILE,
        hint=advice,
    )


def _stub(path: str) -> str:
    try:
        return link_stub(path, read_file(path))
    except OSError:
        return ""


def _ref(candidate: Candidate) -> str | None:
    """Branch and commit of a checkout."""
    if candidate.kind != "git":
        return candidate.ref
    commit = checkout_commit(candidate.root)
    ref = candidate.ref or ""
    return f"{ref}@{commit[:7]}" if commit else candidate.ref


def with_commits(row: MarketplaceRow, candidate: Candidate, memory: Memory) -> MarketplaceRow:
    """The row of a git checkout with its commit, and with what its server has named."""
    if candidate.kind != "git":
        return row
    former = memory.book.refs.get(candidate.key)
    return replace(
        row,
        commit=checkout_commit(candidate.root),
        offered_commit=memory.heard.get((candidate.origin, candidate.ref or ""), ""),
        pinned=former is not None and former.pinned == candidate.ref,
    )


def missing_row(candidate: Candidate, at: float) -> MarketplaceRow | None:
    """The row of a configured marketplace without a file; None for places nobody named."""
    if not candidate.key:
        return None
    key = f"config:{candidate.key}"
    rule, message = _missing(candidate)
    return MarketplaceRow(
        id=key,
        name=candidate.key,
        root=candidate.root,
        source=candidate.kind,
        origin=candidate.origin,
        ref=candidate.ref,
        listed="missing",
        checked_at=at,
        evidence=candidate.evidence,
        problems=(
            Problem(
                id=f"marketplace:{candidate.key}:{rule}",
                domain="marketplaces",
                subject=key,
                rule=rule,
                message=message,
                evidence=candidate.evidence,
                codex=_IGNORES,
                hint=_advice(candidate, rule),
            ),
        ),
    )


def _missing(candidate: Candidate) -> tuple[str, str]:
    if candidate.ignored:
        return "marketplace-entry", candidate.ignored
    if candidate.kind == "git" and not is_directory(candidate.root):
        return "checkout-missing", "it has not been cloned yet"
    if not is_directory(candidate.root):
        return "source-missing", f"no such directory: {candidate.root}"
    looked = ", ".join(place for place, _ in MARKETPLACE_FILES)
    return "file-missing", f"no marketplace file in {candidate.root}; looked for {looked}"


def _advice(candidate: Candidate, rule: str) -> str:
    if rule == "checkout-missing":
        return "upgrade it"
    prefix = "\\\\?\\"
    if candidate.origin.startswith(prefix):
        return f"write `source` without `{prefix}`"
    return "correct `source`, or remove the marketplace"


def silent_row(
    candidate: Candidate, seconds: float, at: float, before: MarketplaceRow | None
) -> MarketplaceRow:
    """The row of a source that has not answered; what it said before is kept."""
    key = before.id if before is not None else f"{candidate.kind}:{candidate.root}"
    problem = Problem(
        id=f"marketplace:{key}:silent",
        domain="marketplaces",
        subject=key,
        rule="silent",
        message=f"no answer within {seconds:.0f} s",
        severity="warning" if before is not None else "error",
        evidence=candidate.evidence if candidate.key else Evidence(file=candidate.root),
        hint="check the disk or network mount that it is on",
    )
    if before is not None:
        kept = tuple(one for one in before.problems if one.rule != "silent")
        return _with_problems(before, (problem, *kept))
    return MarketplaceRow(
        id=key,
        name=candidate.label,
        root=candidate.root,
        source=candidate.kind,
        origin=candidate.origin,
        ref=candidate.ref,
        listed="unreadable",
        checked_at=at,
        evidence=problem.evidence,
        problems=(problem,),
    )


def not_allowed(row: MarketplaceRow, fault: str, rule: Evidence) -> MarketplaceRow:
    """The row of a marketplace that managed requirements do not allow."""
    from msgspec.structs import replace

    problem = Problem(
        id=f"marketplace:{row.id}:source-not-allowed",
        domain="marketplaces",
        subject=row.id,
        rule="source-not-allowed",
        message=fault,
        severity="warning",
        evidence=rule,
        codex="lists nothing of it, and uses nothing that is installed from it",
        hint="your administrator decides",
    )
    return replace(row, listed="blocked", problems=(*row.problems, problem))


def _with_problems(row: MarketplaceRow, problems: tuple[Problem, ...]) -> MarketplaceRow:
    return replace(row, problems=problems)
