"""One step of the path, and how it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from core.explain.scene import Scene, Target
from core.protocol.facts import Evidence
from core.protocol.jackfield_explain import Action, Check, Layer, Status


@dataclass(frozen=True)
class Found:
    """What a step found.

    Attributes:
        ends: The path goes no further, without a fault.
        through: It is a fault, and what lies behind can be looked at all the same.
    """

    status: Status
    finding: str
    evidence: tuple[Evidence, ...] = ()
    actions: tuple[Action, ...] = ()
    ends: bool = False
    through: bool = False


@dataclass(frozen=True)
class Step:
    """A thing to look at.

    Attributes:
        look: None where it does not concern this target.
        last_known: What was known of it before, for a step that is not reached.
    """

    id: str
    layer: Layer
    title: str
    look: Callable[[Scene, Target], Found | None]
    last_known: Callable[[Scene, Target], str] = lambda scene, target: ""

    def told(self, found: Found) -> Check:
        """As it goes to the person."""
        return Check(
            id=self.id,
            layer=self.layer,
            title=self.title,
            status=found.status,
            finding=found.finding,
            evidence=found.evidence,
            actions=found.actions,
        )

    def not_reached(self, scene: Scene, target: Target) -> Check:
        """The same behind the end of the path."""
        known = self.last_known(scene, target)
        finding = f"not reached; {known}" if known else "not reached"
        return self.told(Found("notReached", finding))


def passed(finding: str, *evidence: Evidence) -> Found:
    """As it should be."""
    return Found("pass", finding, _placed(evidence))


def failed(finding: str, *actions: Action, evidence: Iterable[Evidence] = ()) -> Found:
    """In the way."""
    return Found("fail", finding, _placed(evidence), actions)


def normal(
    finding: str, *actions: Action, evidence: Iterable[Evidence] = (), ends: bool = False
) -> Found:
    """As it is meant to be, though the model gets nothing by it."""
    return Found("normal", finding, _placed(evidence), actions, ends)


def unknown(finding: str, *actions: Action, evidence: Iterable[Evidence] = ()) -> Found:
    """Somebody would have to be asked."""
    return Found("unknown", finding, _placed(evidence), actions)


def _placed(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    return tuple(one for one in evidence if one != Evidence())
