"""jackfield/import/scan and apply: what other agents have, into the user's configuration."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from core.config.edit_plan import Edit
from core.errors import CoreError, InvalidRequest
from core.mcp.masking import Secrets, is_secret_name, masked_arguments, masked_url
from core.ports import Deps
from core.protocol.jackfield_import import (
    ApplyParams,
    ApplyResult,
    ImportChoice,
    ImportOutcome,
    ScanParams,
    ScanResult,
)
from core.scope import RequestScope
from core.service.config import ConfigService
from core.service.dispatch import Handler

if TYPE_CHECKING:
    from core.config.paths import Home
    from core.importer.masks import Masks
    from core.importer.planning import Plan
    from core.importer.scanning import Scan

Clone = Callable[[str, RequestScope], Awaitable[str]]
"""Brings a marketplace that is configured; "" when it is there, else why it is not."""
SCAN_SECONDS = 20.0


class ImportService:
    """Scanning writes nothing; applying is one write that can be taken back.

    Args:
        clone: Called for each git marketplace that was written.
        platform: `sys.platform`, in tests another one.
    """

    def __init__(
        self,
        deps: Deps,
        home: Home,
        config: ConfigService,
        clone: Clone,
        *,
        platform: str = sys.platform,
    ) -> None:
        self._deps, self._home, self._config = deps, home, config
        self._clone, self._platform = clone, platform

    def handlers(self) -> dict[str, Handler]:
        return {"jackfield/import/scan": self.scan, "jackfield/import/apply": self.apply}

    async def scan(self, params: ScanParams, scope: RequestScope) -> ScanResult:
        """Everything that could be written, and what that would change.

        Raises:
            InvalidRequest: There is no such agent.
        """
        from core.importer.places import APPS
        from core.importer.planning import rows_of

        if params.app and params.app not in APPS:
            raise InvalidRequest(f"no agent {params.app!r} is known; one of {', '.join(APPS)}")
        found = await self._scanned(params.app)
        file = str(self._home.config_file)
        return ScanResult(file=file, sources=found.sources, rows=rows_of(found.plans))

    async def _scanned(self, app: str = "") -> Scan:
        from core.importer.places import Around
        from core.importer.scanning import scan

        loaded = await self._config.load(self._deps.cwd)
        around = Around(
            home=str(self._home.home),
            project=str(loaded.project_root or self._deps.cwd),
            platform=self._platform,
            environ=self._deps.environ,
        )
        work = partial(scan, around, loaded.merged, _masks(), app=app)
        with anyio.fail_after(SCAN_SECONDS):
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)

    async def apply(self, params: ApplyParams, scope: RequestScope) -> ApplyResult:
        """Write what was chosen: all of it, or nothing.

        Raises:
            InvalidRequest: A row has changed since it was shown, a name is taken, or a secret
                would have to be copied that nobody said yes to.
            CoreError: The file cannot be edited; nothing was written.
        """
        plans = {plan.row.id: plan for plan in (await self._scanned()).plans}
        chosen = [(choice, _checked(choice, plans)) for choice in params.choices]
        loaded = await self._config.load(self._deps.cwd)
        edits = _edits(chosen, loaded.merged)
        file = str(self._home.config_file)
        if not edits:
            return ApplyResult(file=file, outcomes=(), message="Nothing was chosen")
        result = await self._config.write(edits, tolerant=True)
        undo = self._config.undoable(result)
        outcomes = [await self._outcome(choice, plan, scope) for choice, plan in chosen]
        failed = sum(outcome.state == "failed" for outcome in outcomes)
        message = f"{len(chosen)} written to {result.file.name}"
        if failed:
            message += f", {failed} of them not cloned"
        return ApplyResult(file=file, outcomes=tuple(outcomes), message=message, undo=undo)

    async def _outcome(
        self, choice: ImportChoice, plan: Plan, scope: RequestScope
    ) -> ImportOutcome:
        name = choice.name or plan.row.name
        state, message = "written", ""
        if plan.row.kind == "marketplace" and plan.table.get("source_type") == "git":
            try:
                message = await self._clone(name, scope)
            except CoreError as error:
                message = error.message
            state = "failed" if message else "cloned"
        return ImportOutcome(id=plan.row.id, name=name, state=state, message=message)


def _masks() -> Masks:
    from core.importer.masks import Masks

    return Masks(is_secret_name, masked_url, masked_arguments, Secrets().mask)


def _checked(choice: ImportChoice, plans: Mapping[str, Plan]) -> Plan:
    plan = plans.get(choice.id)
    if plan is None or plan.row.digest != choice.digest:
        name = plan.row.name if plan is not None else choice.id
        raise InvalidRequest(f"{name} has changed since it was shown; look at it again")
    if plan.row.state == "blocked":
        raise InvalidRequest(f"{plan.row.name} cannot be written: {plan.row.reason}")
    if plan.bare and not choice.copy_secrets:
        places = ", ".join(plan.row.secrets)
        raise InvalidRequest(
            f"{plan.row.name} holds a literal secret in {places}; it was not copied",
            hint="say that it may be copied, or write the entry by hand",
        )
    return plan


def _edits(chosen: Sequence[tuple[ImportChoice, Plan]], present: Mapping[str, Any]) -> list[Edit]:
    edits: list[Edit] = []
    taken: set[tuple[str, str]] = set()
    for choice, plan in chosen:
        kind, own = plan.path
        name = choice.name if choice.name is not None else own
        if not name.strip():
            raise InvalidRequest(f"{own} needs a name")
        path = (kind, name)
        if path in taken:
            raise InvalidRequest(f"two of them would be called {name}; rename or leave out one")
        taken.add(path)
        if name in present.get(kind, {}) and not choice.replace:
            raise InvalidRequest(
                f"{name} is in the configuration already",
                hint="rename it, or replace what is there",
            )
        table = plan.copied if choice.copy_secrets else plan.table
        edits.append(Edit.at(*path, value=dict(table)))
    return edits
