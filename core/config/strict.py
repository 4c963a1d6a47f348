"""What the real app-server refuses, in its words. Only the wire asks; the panel is lenient."""

from __future__ import annotations

from typing import Literal

from core.config.model import Layer, Loaded
from core.config.schema import check_tree
from core.config.spans import Range, value_range
from core.config.toml.fault import Place, codex_place_of, excerpt
from core.errors import CoreError, InternalError, InvalidRequest

Kind = Literal["reload", "thread", "read", "refresh", "write", "layers"]
_PREFIXES: dict[Kind, str] = {
    "reload": "failed to reload config: ",
    "thread": "failed to load configuration: ",
    "read": "failed to read configuration layers: ",
    "refresh": "failed to refresh MCP servers: ",
    "write": "failed to load configuration: ",
    "layers": "failed to read configuration layers: ",
}


class Refusal(Exception):
    """Why Codex refuses the configuration.

    Attributes:
        message: Without the prefix of a request.
        file: The file that is to blame, when one is.
        range: The place in it.
        reading: A layer could not be read at all, as against one that says something wrong.
    """

    def __init__(
        self, message: str, file: str = "", range: Range | None = None, *, reading: bool = False
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.range = range
        self.reading = reading


def refusal(loaded: Loaded) -> Refusal | None:
    """The first thing that Codex refuses, or None."""
    if loaded.requirements.broken is not None:
        return Refusal(_closing_line(loaded), reading=True)
    for layer in loaded.layers:
        if layer.active and (found := _unreadable(layer)):
            return found
    if loaded.bad:
        for layer in loaded.layers:
            if layer.active and (found := _wrong_by_itself(layer)):
                return found
        first = loaded.bad[0]
        return Refusal(f"{first.fault.merged_message}\nin `{_told(first.told_merged)}`\n")
    return Refusal(loaded.late[0]) if loaded.late else None


def _closing_line(loaded: Loaded) -> str:
    problem = loaded.requirements.broken
    message = problem.message if problem is not None else ""
    # The parser's text with the offending line ends in a newline; single sentences do not.
    return message + "\n" if "\n" in message else message


def _told(path: tuple[str | int, ...]) -> str:
    return ".".join(step for step in path if isinstance(step, str))


def _unreadable(layer: Layer) -> Refusal | None:
    source = layer.source
    if source is None:
        return None
    if source.unreadable:
        what = "project config file" if layer.kind == "project" else "config file"
        return Refusal(f"Failed to read {what} {source.path}: {source.unreadable}", reading=True)
    if source.fault is None:
        return None
    fault = source.fault
    if layer.kind == "project":
        told = excerpt(source.text, fault.offset, fault.reason)
        message = f"Error parsing project config file {source.path}: {told}"
        return Refusal(message, reading=True)
    place = codex_place_of(source.text, fault.offset)
    message = f"{source.path}:{place.line}:{place.column}: {fault.reason}"
    return Refusal(message, source.path, Range(place, place), reading=True)


def _wrong_by_itself(layer: Layer) -> Refusal | None:
    if layer.file is None or layer.read is None:
        return None
    bad = check_tree(layer.value)
    if not bad:
        return None
    found = value_range(layer.read, bad[0].told_at)
    start: Place = found.start
    message = f"{layer.file}:{start.line}:{start.column}: {bad[0].fault.message}"
    return Refusal(message, str(layer.file), found)


def strict(loaded: Loaded, kind: Kind = "reload") -> None:
    """Raise what the wire answers when Codex refuses the configuration.

    Args:
        loaded: What was loaded for the request.
        kind: `thread` for thread/start (−32600), `refresh` for config/mcpServer/reload, `read` for
            config/read, `layers` for configRequirements/read, which minds only what cannot be read
            at all, `reload` for everything else (−32603).

    Raises:
        CoreError: With the exact text of Codex 0.171.0.
    """
    found = refusal(loaded)
    if found is None or (kind == "layers" and not found.reading):
        return
    raise wire_error(found, loaded, kind)


def wire_error(found: Refusal, loaded: Loaded, kind: Kind) -> CoreError:
    """The error of a refusal, with its evidence."""
    evidence = next((problem.evidence for problem in loaded.problems), None)
    if kind == "read" and not found.reading:
        if loaded.bad:
            first = loaded.bad[0]
            told = f"{first.fault.merged_message}\nin `{_told(first.told_merged)}`\n"
            return InternalError(f"invalid configuration: {told}", evidence=evidence)
        prefix = "failed to resolve feature override precedence: "
        return InternalError(prefix + found.message, evidence=evidence)
    error = InvalidRequest if kind == "thread" else InternalError
    return error(_PREFIXES[kind] + found.message, evidence=evidence)
