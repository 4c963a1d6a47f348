"""Marketplaces as the command line of Codex considers them: the empty and the unusable ones too."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import anyio

from core.plugins.discovery import Candidate, candidates, path_key
from core.plugins.listing import DEADLINE, PluginLists, Read
from core.plugins.state import PluginStates
from core.plugins.workers import Turns, in_thread
from core.protocol.jackfield_lists import (
    ConsideredMarketplace,
    ConsideredPlugin,
    ConsideredResult,
    UnusableMarketplace,
)

NO_MANIFEST = "marketplace root does not contain a supported manifest"

Outcome = Read | str | None
"""What is there, why it cannot be read, or nothing."""


async def considered(lists: PluginLists) -> ConsideredResult:
    """Everything that the user's own configuration makes Codex look at; reads only."""
    views, account = await in_thread(
        lambda: (lists.views(None), lists.account()), deadline=DEADLINE
    )
    view = views[0]
    if not view.on:
        return ConsideredResult()
    states = PluginStates(lists.home, [view.loaded])
    found = candidates(lists.home, view.loaded, None, account=account)
    outcomes = await _read_all(lists, states, found)
    return _told(states, found, outcomes)


async def _read_all(
    lists: PluginLists, states: PluginStates, found: Sequence[Candidate]
) -> list[Outcome]:
    """Side by side: one that does not answer holds up none."""
    turns = Turns(resting=False)
    outcomes: list[Outcome] = [None] * len(found)

    async def one(index: int, candidate: Candidate) -> None:
        run = partial(lists.read_candidate, candidate, states, turns)
        try:
            outcomes[index] = await in_thread(run, deadline=DEADLINE)
        except TimeoutError:
            outcomes[index] = f"no answer within {DEADLINE:.0f} s"

    async with anyio.create_task_group() as tasks:
        for index, candidate in enumerate(found):
            tasks.start_soon(one, index, candidate)
    return outcomes


def _told(
    states: PluginStates,
    found: Sequence[Candidate],
    outcomes: Sequence[Outcome],
) -> ConsideredResult:
    reads: list[tuple[Candidate, Read]] = []
    missing: list[UnusableMarketplace] = []
    wrong: list[UnusableMarketplace] = []
    for candidate, outcome in zip(found, outcomes, strict=True):
        match outcome:
            case Read():
                reads.append((candidate, outcome))
            case str():
                missing.append(_unusable(candidate, candidate.root, outcome))
            case None if candidate.key and not candidate.ignored:
                missing.append(_unusable(candidate, candidate.root, NO_MANIFEST))
            case None:
                pass
    reads.sort(key=lambda pair: (pair[0].kind != "home", path_key(pair[1].market.path)))
    marketplaces: list[ConsideredMarketplace] = []
    taken: set[str] = set()
    plugins: set[str] = set()
    for candidate, read in reads:
        market = read.market
        if market.path in taken:
            continue
        taken.add(market.path)
        if market.refusal is not None:
            wrong.append(_unusable(candidate, market.path, market.refusal.message))
        elif not market.name_fault:
            marketplaces.append(_marketplace(candidate, read, states, plugins))
    return ConsideredResult(marketplaces=tuple(marketplaces), unusable=(*missing, *wrong))


def _unusable(candidate: Candidate, place: str, message: str) -> UnusableMarketplace:
    return UnusableMarketplace(
        key=candidate.key, place=place, message=message, evidence=candidate.evidence
    )


def _marketplace(
    candidate: Candidate, read: Read, states: PluginStates, taken: set[str]
) -> ConsideredMarketplace:
    configured = candidate.key != ""
    return ConsideredMarketplace(
        name=read.market.name,
        path=read.market.path,
        root=read.place.root,
        key=candidate.key,
        source_type=candidate.kind if configured else "",
        source=candidate.origin if configured else "",
        ref=candidate.ref,
        plugins=tuple(_plugins(read, states, taken)),
    )


def _plugins(read: Read, states: PluginStates, taken: set[str]) -> list[ConsideredPlugin]:
    plugins: list[ConsideredPlugin] = []
    for offer in read.offers:
        summary = offer.summary(read.market.name, states)
        if summary.id in taken:
            continue
        taken.add(summary.id)
        root = states.root(summary.id) if summary.installed else None
        plugins.append(
            ConsideredPlugin(
                id=summary.id,
                name=summary.name,
                source=summary.source,
                installed=summary.installed,
                enabled=summary.enabled,
                version=root.rpartition("/")[2] if root is not None else summary.local_version,
                root=root,
                install_policy=summary.install_policy,
                auth_policy=summary.auth_policy,
            )
        )
    return plugins
