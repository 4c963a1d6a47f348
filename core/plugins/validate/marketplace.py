"""Looks over a marketplace file and the plugins that lie in its folder."""

from __future__ import annotations

import os
from collections import defaultdict
from typing import Any, cast

from core.plugins.entries import Entry, Skipped
from core.plugins.entry_manifest import entry_manifest
from core.plugins.json_text import Repeated
from core.plugins.layout import MARKETPLACE_FILES, is_directory, is_file, read_file
from core.plugins.marketplace_file import Marketplace, load
from core.plugins.mending import hint, link_stub
from core.plugins.names import RESERVED
from core.plugins.validate import claude
from core.plugins.validate.plugin import Named, PluginLook
from core.plugins.validate.report import Path, Report
from core.plugins.validate.values import any_value
from core.protocol.plugins import GitSource, LocalSource

_CLAUDE = "claude"


class MarketplaceLook:
    """One marketplace.

    Attributes:
        market: As it was read.
        useless: Plugins of its folder of which Codex can use nothing.
    """

    def __init__(self, path: str, root: str, format: str, home: str, report: Report) -> None:
        self._path, self._root, self._format, self._home = path, root, format, home
        self._report = report
        self.market = Marketplace(path=path, root=root, format=format)
        self.useless = 0

    def run(self) -> None:
        """Look at the file, then at each plugin."""
        self._others()
        if not self._report.readable(self._path):
            return
        with self._report.part(self._path):
            self.market = load(
                self._path, self._root, home=self._home, format=self._format, tick=self._report.tick
            )
            self._file()
        self._entries()
        for entry in self.market.entries:
            self._report.tick()
            if isinstance(entry.source, LocalSource):
                with self._report.part(entry.source.path):
                    self._plugin(entry, entry.source.path)

    def _others(self) -> None:
        """Files that the first one hides."""
        for place, kind in MARKETPLACE_FILES:
            other = f"{self._root}/{place}"
            if other != self._path and is_file(other) and kind != "codex-api":
                read = os.path.relpath(self._path, self._root)
                self._report.add("marketplace-hidden", other, f"Codex reads {read} instead of it")

    def _file(self) -> None:
        market, report = self.market, self._report
        if market.refusal is not None:
            self._refused()
        value = any_value(read_file(self._path))
        for at in repeated(value):
            report.add("member-twice", self._path, f"`{at[-1]}` stands twice", at=at)
        if type(value) is dict or isinstance(value, Repeated):
            top = cast("dict[str, Any]", value)
            claude.check_marketplace(report, self._path, top, read=self._format == _CLAUDE)
        if market.name_fault and market.name:
            rule = "marketplace-name"
            if market.name in RESERVED:
                rule = "marketplace-name-reserved"
            report.add(rule, self._path, market.name_fault, at=("name",), hint=hint(rule) or None)
        if market.refusal is None and not market.entries:
            report.add("no-plugins", self._path, "no entry is left that Codex lists")

    def _refused(self) -> None:
        refusal = self.market.refusal
        if refusal is None:
            return
        stub = link_stub(self._path, read_file(self._path)) if refusal.rule == "json" else ""
        if stub:
            message = f"it is a link written out as text; the file is {stub}"
            self._report.add("link-stub", self._path, message)
            return
        rule = f"marketplace-{refusal.rule}"
        message = refusal.reason
        if refusal.rule == "encoding" and refusal.line:
            message = "it begins with a byte order mark"
        elif refusal.rule == "json" and refusal.reason.startswith(_MEANINGS):
            rule = "marketplace-type"
        self._report.add(rule, self._path, message, line=refusal.line, column=refusal.column)

    def _entries(self) -> None:
        for skip in self.market.skipped:
            self._skipped(skip)
        spelled: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.market.entries:
            spelled[entry.name.casefold()].append(entry)
            self._entry(entry)
        for same in spelled.values():
            if len(same) > 1:
                names = ", ".join(f"`{entry.name}`" for entry in same)
                message = f"names that differ in case only: {names}"
                self._add("name-case", message, same[-1].index, "name")

    def _skipped(self, skip: Skipped) -> None:
        name = f"`{skip.name}`: " if skip.name else ""
        mend = hint(skip.rule, skip.source) or None
        member = "source" if skip.rule.startswith("source-") else ""
        member = {"plugin-name": "name", "duplicate": "name", "product": "policy"}.get(
            skip.rule, member
        )
        words = f"{name}{skip.message}"
        # What only Codex does not know is no fault of a file that was written for another agent.
        foreign = skip.rule == "source-kind" and skip.kind in claude.SOURCES
        if foreign and self._format == _CLAUDE:
            self._add(
                skip.rule, words, skip.index, member,
                severity="warning", claude="installs it", hint=mend,
            )  # fmt: skip
            return
        self._add(skip.rule, words, skip.index, member, hint=mend)

    def _entry(self, entry: Entry) -> None:
        source = entry.source
        if self._format == _CLAUDE and not claude.NAME.fullmatch(entry.name):
            message = f"`{entry.name}` is no kebab-case"
            self._add("plugin-name-claude", message, entry.index, "name")
        if isinstance(source, GitSource):
            for member, value in (("ref", source.ref_name), ("sha", source.sha)):
                if value and value.startswith("-"):
                    message = f"`{entry.name}`: {member} `{value}` begins with `-`"
                    self._add("source-option", message, entry.index, "source")

    def _plugin(self, entry: Entry, root: str) -> None:
        if not is_directory(root):
            message = f"`{entry.name}`: its folder is missing"
            self._add("source-missing", message, entry.index, "source", hint=self._rooted())
            return
        real, base = os.path.realpath(root), os.path.realpath(self._root)
        if real != base and not real.startswith(f"{base}/"):
            message = f"`{entry.name}`: its folder is a link to {real}"
            self._add("source-outside", message, entry.index, "source")
        named = Named(
            entry.name,
            self._path,
            entry.index,
            entry_manifest(entry, root),
            entry.metadata.get("version"),
        )
        look = PluginLook(root, self._report, named)
        look.run()
        self.useless += look.useless

    def _rooted(self) -> str | None:
        """Claude Code puts a folder before all paths where the file names one."""
        value: Any = any_value(read_file(self._path))
        metadata: Any = cast("dict[str, Any]", value).get("metadata") if value else None
        if isinstance(metadata, dict) and "pluginRoot" in metadata:
            base = cast("dict[str, Any]", metadata)["pluginRoot"]
            return f"Codex does not put `pluginRoot` before it: write `{base}/…`"
        return None

    def _add(self, rule: str, message: str, index: int, member: str = "", **more: Any) -> None:
        at: Path = ("plugins", index, member) if member else ("plugins", index)
        self._report.add(rule, self._path, message, at=at, **more)


_MEANINGS = ("invalid type", "missing field", "duplicate field", "unknown variant", "invalid len")


def repeated(value: Any, at: Path = (), deep: int = 0) -> list[Path]:
    """Where members stand twice in one object."""
    found: list[Path] = []
    if deep > 12:
        return found
    if isinstance(value, dict):
        if isinstance(value, Repeated):
            found += [(*at, name) for name in sorted(value.repeated)]
        for name, inner in cast("dict[str, Any]", value).items():
            found += repeated(inner, (*at, name), deep + 1)
    elif isinstance(value, list):
        for number, inner in enumerate(cast("list[Any]", value)):
            found += repeated(inner, (*at, number), deep + 1)
    return found


__all__ = ["MarketplaceLook", "repeated"]
