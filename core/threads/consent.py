"""Which programs and endpoints a person has agreed to; asked once for each, and when it changes.

The answers lie in our own state folder: `consents.json`, 0600, written whole under a lock.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import anyio.to_thread
import msgspec

from core.mcp.masking import masked_arguments, masked_url
from core.mcp.spec import Endpoint, Program, ServerSpec
from core.ports import Clock
from core.protocol.jackfield import ConsentItem
from core.threads.atomic import locked, replace_file

FILE = "consents.json"
KEPT = 1000
_LOCAL_FIRST = frozenset({"npx", "npm", "pnpm", "pnpx", "yarn", "bunx", "bun"})


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What was said to one program.

    Attributes:
        subject: Scope and name: the same server, whatever it runs.
        lines: What it was then, secrets masked.
        at: Seconds since the epoch.
    """

    subject: str
    agreed: bool
    lines: tuple[str, ...]
    at: float


def item_of(spec: ServerSpec) -> ConsentItem | None:
    """What there is to agree to; None for an entry that cannot be used."""
    match spec.target:
        case Program() as program:
            facts: dict[str, Any] = {
                "kind": "stdio",
                "command": program.argv,
                "cwd": program.cwd,
                "env_names": program.env_names,
            }
            parts: list[Any] = [program.argv, program.cwd if _anchored(program) else ""]
        case Endpoint() as endpoint:
            helper = ("/bin/sh", "-c", endpoint.helper) if endpoint.helper else ()
            facts = {
                "kind": "http",
                "command": helper,
                "cwd": endpoint.helper_cwd if helper else "",
                "url": endpoint.url,
                "env_names": endpoint.env_names,
            }
            parts = [endpoint.url, helper]
        case None:
            return None
    parts += [sorted(facts["env_names"]), spec.scope, spec.name]
    text = json.dumps(parts, separators=(",", ":"))
    return ConsentItem(
        id=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32],
        name=spec.name,
        origin=spec.origin,
        plugin_id=spec.plugin_id,
        **facts,
    )


def lines_of(item: ConsentItem) -> tuple[str, ...]:
    """An item in lines that can be compared, secrets masked."""
    if item.kind == "hook":
        # Files that the command names may change while it does not.
        command, *files = item.command or ("",)
        return (f"command {command}", *(f"file {file}" for file in files))
    found = [
        ("command", " ".join(masked_arguments(item.command))),
        ("url", masked_url(item.url)),
        ("runs in", item.cwd),
        ("gets", ", ".join(sorted(item.env_names))),
    ]
    return tuple(f"{label} {value}" for label, value in found if value)


def _anchored(program: Program) -> bool:
    """What is run depends on the folder: another folder means another program."""
    command, *arguments = program.argv
    if "/" in command and not os.path.isabs(command):
        return True
    if os.path.basename(command) in _LOCAL_FIRST and _is_there(program.cwd, "node_modules"):
        return True
    module = ""
    for argument in arguments:
        if module and _is_there(program.cwd, argument.replace(".", "/")):
            return True
        if module and _is_there(program.cwd, argument.replace(".", "/") + ".py"):
            return True
        module = argument if argument == "-m" else ""
        relative = not argument.startswith("-") and not os.path.isabs(argument)
        if relative and argument and _is_there(program.cwd, argument):
            return True
    return False


def _is_there(folder: str, name: str) -> bool:
    try:
        return os.path.exists(os.path.join(folder, name))
    except ValueError:
        return False


class ConsentStore:
    """The answers, in memory and on disk."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._file = folder / FILE
        self._clock = clock
        self._answers: dict[str, Answer] = {}

    async def load(self) -> None:
        """Read the file; one that cannot be read means that nothing was agreed to."""
        self._answers = await anyio.to_thread.run_sync(_read, self._file)

    def standing(self, item: ConsentItem) -> tuple[str, Answer | None]:
        """`agreed`, `declined`, `changed` or `new`, and the answer that this rests on."""
        own = self._answers.get(item.id)
        if own is not None:
            return ("agreed" if own.agreed else "declined"), own
        subject = _subject(item)
        earlier = [a for a in self._answers.values() if a.subject == subject and a.agreed]
        if not earlier:
            return "new", None
        return "changed", max(earlier, key=lambda answer: answer.at)

    async def answer(self, said: Iterable[tuple[ConsentItem, bool]]) -> None:
        """Remember answers, beside those that another panel has written meanwhile."""
        now = self._clock.now()
        fresh = {
            item.id: Answer(subject=_subject(item), agreed=yes, lines=lines_of(item), at=now)
            for item, yes in said
        }
        self._answers = await anyio.to_thread.run_sync(_add, self._file, fresh)


def _subject(item: ConsentItem) -> str:
    return f"{item.plugin_id or item.origin.layer or ''} {item.name}"


def _read(file: Path) -> dict[str, Answer]:
    try:
        stored: Any = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(stored, dict):
        return {}
    programs: Any = cast("dict[str, Any]", stored).get("programs")
    if not isinstance(programs, dict):
        return {}
    answers: dict[str, Answer] = {}
    for key, value in cast("dict[str, Any]", programs).items():
        try:
            answers[key] = Answer(
                subject=str(value["subject"]),
                agreed=value["agreed"] is True,
                lines=tuple(str(line) for line in value["lines"]),
                at=float(value["at"]),
            )
        except (KeyError, TypeError, ValueError):
            continue
    return answers


def _add(file: Path, fresh: Mapping[str, Answer]) -> dict[str, Answer]:
    with locked(file):
        answers = {**_read(file), **fresh}
        kept = sorted(answers.items(), key=lambda pair: pair[1].at)[-KEPT:]
        programs = {
            key: {"subject": a.subject, "agreed": a.agreed, "lines": list(a.lines), "at": a.at}
            for key, a in kept
        }
        replace_file(file, json.dumps({"version": 1, "programs": programs}, indent=1))
    return dict(kept)


class Consent:
    """What the panel's thread may start.

    Args:
        everything: All programs count as agreed to; nothing is remembered of that.
    """

    def __init__(self, store: ConsentStore, *, everything: bool = False) -> None:
        self._store = store
        self.everything = everything

    def holds(self, spec: ServerSpec) -> bool:
        """True while there is no yes to exactly this."""
        item = item_of(spec)
        if item is None:
            return True
        return not self.everything and self._store.standing(item)[0] != "agreed"

    def reason(self, spec: ServerSpec) -> str:
        """Why it is held, for the row: `new`, `command changed since 28 Nov`."""
        item = item_of(spec)
        if item is None:
            return ""
        status, answer = self._store.standing(item)
        if status == "declined":
            return "you said no to it"
        if answer is None or status != "changed":
            return status
        then, now = answer.lines, lines_of(item)
        words = [
            line.partition(" ")[0] for line in (*now, *then) if (line in then) != (line in now)
        ]
        what = {"runs": "folder", "gets": "environment"}.get(words[0], words[0]) if words else "it"
        day = time.strftime("%d %b", time.localtime(answer.at)).lstrip("0")
        return f"{what} changed since {day}"

    def detail(self, spec: ServerSpec) -> dict[str, Any]:
        """What is agreed to and what was, in lines with secrets masked; {} where nothing can be."""
        item = item_of(spec)
        if item is None:
            return {}
        answer = self._store.standing(item)[1]
        judged = self._judged(item)
        mask = spec.secrets.mask
        told = {
            "status": judged.status,
            "now": [mask(line) for line in lines_of(item)],
            "was": [mask(line) for line in judged.was],
        }
        return {"consent": {**told, "at": answer.at if answer is not None else None}}

    def items(self, specs: Iterable[ServerSpec]) -> tuple[ConsentItem, ...]:
        """All that can be agreed to, what waits for an answer first."""
        found: list[ConsentItem] = []
        for spec in specs:
            item = item_of(spec) if spec.usable else None
            if item is not None:
                found.append(self._judged(item))
        order = ("changed", "new", "declined", "agreed")
        return tuple(sorted(found, key=lambda item: order.index(item.status)))

    def waiting(self, specs: Iterable[ServerSpec]) -> frozenset[str]:
        """Ids of what has not been answered at all."""
        unasked = {"new", "changed"}
        return frozenset(item.id for item in self.items(specs) if item.status in unasked)

    async def answer(self, specs: Iterable[ServerSpec], answers: Mapping[str, bool]) -> None:
        """Remember answers by item id; ids that are no longer there are passed over."""
        by_id = {item.id: item for item in self.items(specs)}
        await self._store.answer((by_id[key], yes) for key, yes in answers.items() if key in by_id)

    def _judged(self, item: ConsentItem) -> ConsentItem:
        if self.everything:
            return msgspec.structs.replace(item, status="agreed")
        status, answer = self._store.standing(item)
        was: tuple[str, ...] = ()
        if status == "changed" and answer is not None:
            now = set(lines_of(item))
            was = tuple(line for line in answer.lines if line not in now)
        return msgspec.structs.replace(item, status=status, was=was)
