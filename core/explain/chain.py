"""The path down the layers: every step in its order, the first fault, the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.explain import (
    actions,
    app_checks,
    auth_checks,
    feature_checks,
    plugin_checks,
    server_checks,
)
from core.explain.scene import Scene, Target
from core.explain.step import Found, Step, failed
from core.explain.targets import Meaning
from core.protocol.jackfield_explain import Check, ExplainResult, Kind, Layer, Outcome

STEPS: tuple[Step, ...] = (
    *feature_checks.STEPS,
    *plugin_checks.STEPS,
    *app_checks.STEPS,
    *server_checks.SERVER_STEPS,
    *auth_checks.STEPS,
    *server_checks.INVENTORY_STEPS,
)
_WORKS = {
    "plugin": "Codex uses it",
    "app": "The model can call it",
    "server": "The model can use it",
    "tool": "The model can call it",
}
_STOPPED = {
    "plugin": "Codex does not get all of it",
    "app": "The model cannot call it",
    "server": "The model cannot use it",
    "tool": "The model cannot call it",
}


def explain(scene: Scene, text: str, target: Target) -> ExplainResult:
    """The path of one target."""
    chain, stop = _walk(scene, target)
    outcome = _outcome(chain, stop)
    return ExplainResult(
        target=text,
        outcome=outcome,
        verdict=_verdict(target.kind, outcome, chain, stop),
        kind=target.kind,
        id=target.id,
        name=target.name,
        stop=stop,
        chain=chain,
    )


def unexplained(scene: Scene, text: str, meaning: Meaning, kind: Kind | None) -> ExplainResult:
    """What is said where a name means several things, or nothing."""
    if meaning.ambiguous:
        count = len(meaning.candidates)
        verdict = f"{text} may be any of {count} things; which one is meant?"
        return ExplainResult(
            target=text, outcome="ambiguous", verdict=verdict, candidates=meaning.candidates
        )
    if (why := _unread(scene)) is not None:
        verdict = f"Nothing here is called {text}, and not everything could be read: {why.finding}."
        return ExplainResult(
            target=text, outcome="stopped", verdict=verdict, kind=kind, stop=0, chain=(why,)
        )
    verdict = f"Nothing here is called {text}"
    if not scene.tools and kind in (None, "tool"):
        verdict += "; tools are known once their servers run"
    return ExplainResult(
        target=text, outcome="notFound", verdict=f"{verdict}.", candidates=meaning.candidates
    )


def _unread(scene: Scene) -> Check | None:
    """A fault for which things may be missing from every list."""
    for problem in scene.config_problems:
        misspelt = problem.rule == "unknown-key" and problem.severity == "warning"
        if problem.codex.startswith(feature_checks.REFUSAL) or misspelt:
            where = actions.place(problem.evidence)
            said = f"{where}: {problem.message}"
            what = problem.hint or "correct it, or take it out"
            mend = actions.write(problem.evidence, what)
            step = feature_checks.STEPS[0]
            return step.told(failed(said, mend, evidence=[problem.evidence]))
    return None


def _walk(scene: Scene, target: Target) -> tuple[tuple[Check, ...], int | None]:
    chain: list[Check] = []
    stop: int | None = None
    ended = False
    for step, found in _looks(scene, target):
        if ended:
            chain.append(step.not_reached(scene, target))
            continue
        if found.status == "fail" or found.ends:
            stop = len(chain) if stop is None else stop
            ended = not found.through
        chain.append(step.told(found))
    if stop is None:
        stop = next((at for at, check in enumerate(chain) if check.status == "unknown"), None)
    return tuple(chain), stop


def _looks(scene: Scene, target: Target) -> Iterator[tuple[Step, Found]]:
    for step in STEPS:
        found = step.look(scene, target)
        if found is not None:
            yield step, found
        if target.kind == "plugin" and step is _LAST_OF_PLUGIN:
            yield from _parts(scene, target)


_LAST_OF_PLUGIN = plugin_checks.STEPS[-1]


def _parts(scene: Scene, target: Target) -> Iterator[tuple[Step, Found]]:
    """Apps and servers that a plugin brings, a line each: what stops them, or nothing."""
    plugin = scene.plugins.get(target.id)
    if plugin is None or not (plugin.installed and plugin.enabled):
        return
    for app_id in scene.brings(plugin.plugin_id, "app"):
        part = Target(kind="app", id=app_id, name=app_id)
        yield _part(scene, part, f"app {app_id}", "snapshot", app_checks.STEPS)
    steps = (
        *server_checks.SERVER_STEPS,
        *auth_checks.STEPS,
        *server_checks.INVENTORY_STEPS,
    )
    for name in scene.brings(plugin.plugin_id, "server"):
        if name in scene.servers:
            part = Target(kind="server", id=name, name=name)
            yield _part(scene, part, f"server {name}", "server", steps)


def _part(
    scene: Scene, part: Target, called: str, layer: Layer, steps: Sequence[Step]
) -> tuple[Step, Found]:
    ending: tuple[Step, Found] | None = None
    last: tuple[Step, Found] | None = None
    for step in steps:
        found = step.look(scene, part)
        if found is None:
            continue
        last = (step, found)
        if found.status == "fail" or found.ends:
            ending = last
            break
        if found.status == "unknown" and ending is None:
            ending = last
    chosen = ending or last
    found = chosen[1] if chosen is not None else Found("pass", "nothing is in its way")
    at = chosen[0].layer if ending is not None and chosen is not None else layer
    step = Step(f"{layer}:{part.id}", at, called, lambda scene, target: None)
    told = Found(found.status, f"{part.name}: {found.finding}", found.evidence, found.actions)
    return step, told


def _outcome(chain: Sequence[Check], stop: int | None) -> Outcome:
    if stop is None:
        return "works"
    by_status: dict[str, Outcome] = {"fail": "stopped", "normal": "normal"}
    return by_status.get(chain[stop].status, "unknown")


def _verdict(kind: Kind, outcome: Outcome, chain: Sequence[Check], stop: int | None) -> str:
    if stop is None:
        notes = [check.finding for check in chain if check.status == "normal"]
        tail = f"; {notes[0]}" if notes else ""
        return f"{_WORKS[kind]}{tail}."
    finding = chain[stop].finding
    match outcome:
        case "stopped":
            behind = [check.finding for check in chain[stop + 1 :] if check.status == "fail"]
            more = f"; apart from that, {behind[0]}" if behind else ""
            return f"{_STOPPED[kind]}: {finding}{more}."
        case "normal":
            return f"Nothing is wrong: {finding}."
        case _:
            return f"Not known yet: {finding}."
