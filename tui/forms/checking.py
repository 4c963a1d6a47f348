"""A value against a JSON Schema of a stranger: what does not fit, in bounded time.

Nothing is fetched, patterns go through `tui.forms.pattern`, and every step counts: a schema that
would take for ever is given up and the answer says what was not checked. Meant for a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from tui.forms.form import Path
from tui.forms.formats import format_fault
from tui.forms.pattern import matches
from tui.forms.saying import fault_text
from tui.forms.schema import MOST_NODES, larger_than

STEPS = 100_000
MOST_FAULTS = 50
MOST_UNIQUE = 1_000

Keyword = Callable[[Any, Any, Any, Any], Iterator[Any]]


@dataclass(frozen=True)
class Fault:
    """Something that does not fit, at its place in the value."""

    path: Path
    text: str


@dataclass(frozen=True)
class Checked:
    """What came of a check.

    Attributes:
        unchecked: What could not be checked here, in words; "" = all of it was.
    """

    faults: tuple[Fault, ...] = ()
    unchecked: str = ""


class _TooCostly(Exception):
    """The schema takes too many steps."""


def check(schema: Any, value: Any) -> Checked:
    """Whether a value fits; loads jsonschema at its first call."""
    if schema is True or schema == {}:
        return Checked()
    if larger_than(schema, MOST_NODES):
        return Checked(unchecked="the schema is too large to be checked here")
    try:
        return _Check(schema).run(value)
    except (_TooCostly, RecursionError):
        return Checked(unchecked="the schema takes too long to be checked here")
    except Exception as error:
        # Foreign schemas make the library raise anything: what it cannot say is not checked.
        return Checked(unchecked=f"the schema cannot be checked here ({type(error).__name__})")


class _Check:
    def __init__(self, schema: Any) -> None:
        from jsonschema import Draft202012Validator, validators

        self._schema = schema
        self._steps = STEPS
        self._notes: dict[str, None] = {}
        known_as: Any = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
        base: Any = Draft202012Validator
        if isinstance(known_as.get("$schema"), str):
            base = validators.validator_for(known_as, default=Draft202012Validator)
        known = cast("dict[str, Keyword]", base.VALIDATORS)
        self._base = base
        self._kind = cast("Any", validators).extend(
            base, {name: self._counted(keyword) for name, keyword in self._own(known).items()}
        )

    def run(self, value: Any) -> Checked:
        from referencing.exceptions import Unresolvable

        try:
            return self._run(value)
        except Unresolvable:
            return Checked(unchecked="the schema refers to what is not in it")

    def _run(self, value: Any) -> Checked:
        from referencing.jsonschema import EMPTY_REGISTRY

        if fault := self._schema_fault():
            return Checked(unchecked=f"the schema itself is wrong: {fault}")
        self._steps = STEPS
        errors = self._kind(self._schema, registry=EMPTY_REGISTRY).iter_errors(value)
        faults = tuple(
            Fault(tuple(error.absolute_path), fault_text(error))
            for error in islice(errors, MOST_FAULTS)
        )
        return Checked(faults, "; ".join(self._notes))

    def _schema_fault(self) -> str:
        """What makes the schema none, by the rules of its own draft."""
        from jsonschema.validators import SPECIFICATIONS  # type: ignore[attr-defined]

        base = self._base
        rules = self._kind(base.META_SCHEMA, registry=SPECIFICATIONS)
        fault = next(iter(rules.iter_errors(self._schema)), None)
        if fault is None:
            return ""
        place = ".".join(str(part) for part in fault.absolute_path)
        return f"{place} {fault_text(fault)}".strip()

    def _counted(self, keyword: Keyword) -> Keyword:
        def counted(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
            many = len(cast("list[Any]", wanted)) if isinstance(wanted, list) else 0
            self._spend(1 + many)
            yield from keyword(validator, wanted, instance, schema) or ()

        return counted

    def _spend(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise _TooCostly

    # -- keywords of our own

    def _own(self, known: dict[str, Keyword]) -> dict[str, Keyword]:
        ours: dict[str, Keyword] = {
            "pattern": self._pattern,
            "patternProperties": self._pattern_properties,
            "additionalProperties": self._additional,
            "format": self._format,
            "required": _required,
            "uniqueItems": self._unique(known.get("uniqueItems")),
        }
        if self._has_patterns():
            ours["unevaluatedProperties"] = self._unevaluated
        return {**known, **{name: keyword for name, keyword in ours.items() if name in known}}

    def _has_patterns(self) -> bool:
        """`patternProperties` stands somewhere; the library would match them by itself."""
        waiting: list[Any] = [self._schema]
        while waiting:
            one = waiting.pop()
            if isinstance(one, dict):
                known = cast("dict[str, Any]", one)
                if "patternProperties" in known:
                    return True
                waiting.extend(known.values())
            elif isinstance(one, list):
                waiting.extend(cast("list[Any]", one))
        return False

    def _matches(self, pattern: Any, text: str) -> bool | None:
        self._spend(10)
        found = matches(pattern, text) if isinstance(pattern, str) else None
        if found is None:
            self._notes["a pattern cannot be checked here"] = None
        return found

    def _pattern(self, validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if isinstance(instance, str) and self._matches(wanted, instance) is False:
            yield _error(f"does not match {wanted}")

    def _pattern_properties(
        self, validator: Any, wanted: Any, instance: Any, schema: Any
    ) -> Iterator[Any]:
        if not isinstance(instance, dict):
            return
        for pattern, inner in cast("dict[str, Any]", wanted).items():
            for name, value in cast("dict[str, Any]", instance).items():
                if self._matches(pattern, name):
                    yield from validator.descend(value, inner, path=name, schema_path=pattern)

    def _additional(self, validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if not isinstance(instance, dict):
            return
        known = cast("dict[str, Any]", schema)
        patterns = list(cast("dict[str, Any]", known.get("patternProperties", {})))
        properties = cast("dict[str, Any]", known.get("properties", {}))
        for name, value in cast("dict[str, Any]", instance).items():
            found = [self._matches(pattern, name) for pattern in patterns]
            if name in properties or any(one is not False for one in found):
                continue
            if wanted is False:
                yield _error("is not known to it", name)
            elif isinstance(wanted, dict):
                yield from validator.descend(value, wanted, path=name)

    def _unevaluated(
        self, validator: Any, wanted: Any, instance: Any, schema: Any
    ) -> Iterator[Any]:
        self._notes["unevaluatedProperties cannot be checked here"] = None
        yield from ()

    def _format(self, validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if isinstance(wanted, str) and isinstance(instance, str):
            if fault := format_fault(wanted, instance):
                yield _error(fault)

    def _unique(self, known: Keyword | None) -> Keyword:
        def unique(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
            many = len(cast("list[Any]", instance)) if isinstance(instance, list) else 0
            if many > MOST_UNIQUE:
                self._notes[f"whether {many:,} items differ cannot be checked here"] = None
            elif known is not None:
                yield from known(validator, wanted, instance, schema) or ()

        return unique


def _required(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if isinstance(instance, dict):
        for name in cast("list[Any]", wanted):
            if name not in instance:
                yield _error("required", name)


def _error(text: str, *path: Any) -> Any:
    """Of ours: its message is what is told."""
    from jsonschema import ValidationError

    return ValidationError(text, path=path, cause=_SAID)


_SAID = ValueError("said by us")
