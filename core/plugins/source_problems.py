"""What is wrong with the source of an entry that Codex takes all the same."""

from __future__ import annotations

from core.plugins.entries import Entry
from core.protocol.facts import Evidence, Problem
from core.protocol.plugins import GitSource


def option_problem(entry: Entry, plugin_id: str, place: Evidence) -> Problem | None:
    """A ref or a commit that git would take for an option; we never give it one."""
    source = entry.source
    if not isinstance(source, GitSource):
        return None
    for member, value in (("ref", source.ref_name), ("sha", source.sha), ("url", source.url)):
        if value is not None and value.startswith("-"):
            return Problem(
                id=f"plugin:{plugin_id}:source-option",
                domain="plugins",
                subject=plugin_id,
                rule="source-option",
                message=f"its {member} begins with `-`, which git takes for an option",
                evidence=Evidence(file=place.file, line=place.line, key=f"{place.key}.{member}"),
                codex="gives it to git as it is",
                hint="name a branch, a tag or a commit",
            )
    return None
