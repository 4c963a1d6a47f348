"""Which marketplaces managed requirements allow: `[marketplaces] restrict_to_allowed_sources`.

Rules and words as observed in Codex 0.171.0. With the restriction on, a marketplace counts only
when the configuration names it and one rule fits its source; what is not allowed is neither
listed nor installed, its installed plugins contribute nothing, and it can still be removed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from core.config.model import Loaded
from core.config.paths import Home
from core.config.pattern import PatternError, compile_anywhere
from core.config.requirements import Requirements
from core.errors import InvalidRequest
from core.plugins import names
from core.plugins.discovery import managed_name, managed_name_of_file
from core.plugins.marketplace_file import Marketplace
from core.plugins.marketplaces.roots import Configured, checkout_of, configured
from core.plugins.marketplaces.source_text import GitPlace, LocalPlace, marketplace_source

CURATED_SOURCE = GitPlace("https://github.com/openai/plugins.git")
_SCP = re.compile(r"[^/@]+@([^:/]+):")
_BUNDLED = frozenset({names.BUNDLED, "openai-bundled-alpha"})
_FROM_ACCOUNT = names.RESERVED - _BUNDLED - {names.CURATED, names.API_CURATED}


@dataclass(frozen=True)
class _Rule:
    """One allowed source; `host` is searched for in the host of a git URL."""

    git: GitPlace | None = None
    host: re.Pattern[str] | None = None
    root: str = ""

    def fits(self, place: LocalPlace | GitPlace) -> bool:
        if isinstance(place, LocalPlace):
            return bool(self.root) and self.root == place.root
        if self.host is not None:
            return self.host.search(host_of(place.url)) is not None
        rule = self.git
        return rule is not None and rule.url == place.url and rule.ref in (None, place.ref)


class SourcePolicy:
    """The restriction as it stands in one configuration. Reading it blocks.

    Attributes:
        restricted: Only allowed sources count.
        evidence: The line that restricts them.
    """

    def __init__(self, home: Home, loaded: Loaded) -> None:
        self._home = home
        self._loaded = loaded
        required = loaded.requirements
        table = _table(required.value.get("marketplaces"))
        self._closed = required.broken.message if required.broken is not None else ""
        self.restricted = required.closed or table.get("restrict_to_allowed_sources") is True
        self.evidence = required.place("marketplaces", "restrict_to_allowed_sources")
        self._source = required.source
        self._rules: tuple[_Rule, ...] = ()
        self._fault = ""
        if self.restricted and not required.closed:
            self._read_rules(required, _table(table.get("allowed_sources")))

    def _read_rules(self, required: Requirements, written: Mapping[str, Any]) -> None:
        """One rule that cannot be read closes all of them."""
        rules: list[_Rule] = []
        for name, rule in sorted(written.items()):
            try:
                rules.append(_read_rule(_table(rule), str(self._home.home)))
            except (InvalidRequest, PatternError) as error:
                self._fault = (
                    f"invalid marketplace allowed source `{name}` in {self._source}: {error}"
                )
                self.evidence = required.place("marketplaces", "allowed_sources", name)
                return
        self._rules = tuple(rules)

    @property
    def reason(self) -> str:
        """Why a marketplace's plugins are blocked, for their rows."""
        place = self.evidence
        where = os.path.basename(place.file) if place.file else (place.layer or "policy")
        line = f":{place.line}" if place.line is not None else ""
        return f"by policy, {where}{line}"

    def place_fault(self, place: LocalPlace | GitPlace) -> str:
        """Why a source must not be added or upgraded; "" when it may."""
        if not self.restricted:
            return ""
        if fault := self._closed or self._fault:
            return fault
        if any(rule.fits(place) for rule in self._rules):
            return ""
        return (
            f"marketplace source `{written(place)}` is not allowed by requirements "
            f"from {self._source}"
        )

    def market_fault(self, name: str, root: str, managed: str = "") -> str:
        """Why the marketplace in a directory must not be used; "" when it may.

        Args:
            name: As its file says.
            managed: The name that this directory of the product's own must carry, or "".
        """
        if not self.restricted or managed in _BUNDLED:
            return ""
        if managed:
            return self.place_fault(CURATED_SOURCE)
        if self._closed or self._fault:
            return self._closed or self._fault
        known = configured(self._loaded).get(name)
        if known is None:
            return (
                f"marketplace `{name}` must be added to config before plugins can be installed "
                "while marketplace source restrictions are enabled"
            )
        if os.path.realpath(self._root_of(known)) != os.path.realpath(root):
            return f"marketplace path `{root}` does not match configured marketplace `{name}`"
        return self.place_fault(place_of(known))

    def plugin_fault(self, marketplace: str) -> str:
        """Why installed plugins of a marketplace contribute nothing; "" when they do."""
        if not self.restricted or marketplace in _FROM_ACCOUNT:
            return ""
        if marketplace in (names.CURATED, names.API_CURATED):
            return self.place_fault(CURATED_SOURCE)
        known = configured(self._loaded).get(marketplace)
        root = self._root_of(known) if known is not None else ""
        managed = managed_name(self._home, root) if root else ""
        return self.market_fault(marketplace, root, managed)

    def check(self, market: Marketplace) -> None:
        """Raises InvalidRequest, in Codex' words, for a marketplace that must not be used."""
        managed = managed_name_of_file(self._home, market.path)
        if fault := self.market_fault(market.name, market.root, managed):
            message = f"invalid marketplace file `{market.path}`: {fault}"
            raise InvalidRequest(message, evidence=self.evidence)

    def _root_of(self, known: Configured) -> str:
        return checkout_of(self._home, known.name) if known.kind == "git" else known.source


def place_of(known: Configured) -> LocalPlace | GitPlace:
    """The source of a configured marketplace."""
    if known.kind == "git":
        return GitPlace(known.source, known.ref, known.sparse)
    return LocalPlace(os.path.realpath(known.source) if known.source else "")


def written(place: LocalPlace | GitPlace) -> str:
    """A source as Codex names it in its messages."""
    if isinstance(place, LocalPlace):
        return place.root
    return f"{place.url}#{place.ref}" if place.ref is not None else place.url


def host_of(url: str) -> str:
    """The host of a git URL or of `user@host:path`, or ""."""
    scp = _SCP.match(url)
    if scp is not None and "://" not in url:
        return scp[1].lower()
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _read_rule(rule: Mapping[str, Any], home: str) -> _Rule:
    """Raises InvalidRequest or PatternError with what is wrong with it."""
    match rule.get("source"):
        case "git":
            return _Rule(git=_read_git(rule, home))
        case "host_pattern":
            return _Rule(host=compile_anywhere(_text(rule, "host_pattern")))
        case "local":
            path = _text(rule, "path")
            if not os.path.isabs(path):
                raise InvalidRequest("local path must be absolute")
            return _Rule(root=os.path.realpath(path))
        case _:
            raise InvalidRequest("missing source")


def _read_git(rule: Mapping[str, Any], home: str) -> GitPlace:
    url, ref = _text(rule, "url"), rule.get("ref")
    if isinstance(ref, str) and not ref.strip():
        raise InvalidRequest("ref must not be empty")
    place = marketplace_source(url, ref if isinstance(ref, str) else None, (), cwd="/", home=home)
    if isinstance(place, LocalPlace):
        raise InvalidRequest("expected a Git URL")
    return place


def _text(rule: Mapping[str, Any], name: str) -> str:
    value = rule.get(name)
    if not isinstance(value, str):
        raise InvalidRequest(f"missing {name}")
    return value


def _table(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
