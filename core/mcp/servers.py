"""The effective set of servers: all layers of the configuration, plugins, the hosted apps server.

Source: what is read from where, and who wins, was observed in Codex 0.171.0.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from core.config.model import Layer, Loaded
from core.config.server_entry import LOCAL, EntryError, ServerEntry, parse_server
from core.mcp.hosted import HOSTED_NAME, hosted_spec
from core.mcp.masking import Secrets
from core.mcp.spec import START_TIMEOUT, Endpoint, Program, ServerSpec, Standing
from core.mcp.targets import endpoint_of, fingerprint, program_of, secrets_of, start_fault
from core.protocol.facts import Evidence, Problem
from core.seams import DeclaredServer, DeclaredServers, HostedServer

_POLICY = ("enabled", "enabled_tools", "disabled_tools", "default_tools_approval_mode", "tools")
_WORDS = {
    "url is not supported for stdio": "both command and url are set",
    "invalid transport": "neither command nor url is set",
}
_RULES = {
    "not-listed": "does not list it",
    "identity": "lists it with another command or URL",
    "empty-list": "allows no servers",
    "plugin-not-listed": "does not list it for this plugin",
    "unreadable": "cannot be read, so nothing is started",
}


@dataclass(frozen=True, kw_only=True)
class ServerSet:
    """Everything that a set is made from, and for whom.

    Attributes:
        base: Where servers run: the thread's directory, or CODEX_HOME without a thread.
    """

    loaded: Loaded
    declared: DeclaredServers
    environ: Mapping[str, str]
    base: Path
    hosted: HostedServer | None = None

    def specs(self) -> tuple[ServerSpec, ...]:
        """All servers, in byte order of their names; blocking, but only for a moment."""
        found = {name: self._configured(name, entry) for name, entry in self._entries().items()}
        for spec in self._invalid():
            found.setdefault(spec.name, spec)
        self._add_plugins(found)
        for spec in self._untrusted():
            found.setdefault(spec.name, spec)
        self._add_hosted(found)
        return tuple(sorted(found.values(), key=lambda spec: spec.name.encode()))

    def trial(self, name: str, entry: ServerEntry) -> ServerSpec:
        """An entry on its own, switched on."""
        on = replace(entry, enabled=True)
        origin = self.loaded.origin("mcp_servers", name)
        return self._spec(name, on, origin=origin, enabled_at=Evidence(), scope="trial")

    def _entries(self) -> dict[str, ServerEntry]:
        return {k: v for k, v in self.loaded.servers.items() if k != HOSTED_NAME}

    def _configured(self, name: str, entry: ServerEntry) -> ServerSpec:
        origin = self.loaded.origin("mcp_servers", name)
        scope = origin.layer or "user"
        if scope == "project":
            scope = f"project:{self.loaded.project_root}"
        switch = self.loaded.origin("mcp_servers", name, "enabled")
        return self._spec(
            name, entry, origin=origin, enabled_at=switch if switch.layer else origin, scope=scope
        )

    def _spec(
        self,
        name: str,
        entry: ServerEntry,
        *,
        origin: Evidence,
        enabled_at: Evidence,
        scope: str,
        declared: DeclaredServer | None = None,
    ) -> ServerSpec:
        target = self._target(entry, declared)
        plugin_id = declared.plugin_id if declared is not None else None
        standing, reason, decided_at = self._standing(name, entry, plugin_id, enabled_at)
        fault = start_fault(name, entry, target)
        if entry.environment_id != LOCAL and not fault:
            fault = (
                f"MCP server `{name}` references unknown environment id `{entry.environment_id}`"
            )
        return ServerSpec(
            name=name,
            target=target,
            standing=standing,
            reason=reason,
            start_fault=fault,
            enabled=entry.enabled,
            required=entry.required,
            origin=origin,
            enabled_at=decided_at,
            scope=scope,
            plugin_id=plugin_id,
            plugin_name=_plugin_name(declared) if declared is not None else "",
            environment_id=LOCAL if declared is not None else None,
            start_timeout=entry.startup_seconds,
            tool_timeout=entry.tool_seconds,
            enabled_tools=None if entry.enabled_tools is None else frozenset(entry.enabled_tools),
            disabled_tools=frozenset(entry.disabled_tools or ()),
            approval=entry.default_tools_approval_mode,
            tool_approvals={
                tool: rule.approval_mode
                for tool, rule in entry.tools.items()
                if rule.approval_mode is not None
            },
            fingerprint=fingerprint(entry, target),
            link=fingerprint(target, entry.auth, entry.oauth, entry.oauth_resource),
            secrets=secrets_of(entry, target),
            entry=entry,
        )

    def _target(self, entry: ServerEntry, declared: DeclaredServer | None) -> Program | Endpoint:
        base = declared.root if declared is not None and entry.cwd else self.base
        if entry.transport == "stdio":
            return program_of(entry, self.environ, base)
        strict = declared is not None and declared.agent_plugins
        return endpoint_of(entry, self.environ, self.base, strict_redirects=strict)

    def _standing(
        self, name: str, entry: ServerEntry, plugin_id: str | None, enabled_at: Evidence
    ) -> tuple[Standing, str, Evidence]:
        verdict = self.loaded.requirements.allows_server(name, entry, plugin_id)
        if not verdict.allowed:
            rule = _RULES.get(verdict.rule, verdict.rule)
            return "blocked", f"{_place(verdict.evidence)} {rule}", verdict.evidence
        if not entry.enabled:
            by = "by you" if enabled_at.layer == "user" else f"in {_place(enabled_at)}"
            return "disabled", by, enabled_at
        if entry.environment_id != LOCAL:
            return "elsewhere", f"environment {entry.environment_id} is not here", enabled_at
        if entry.auth == "ema_auth" and not self.loaded.get("mcp_enterprise_managed_auth", "idp"):
            return "disabled", "needs an enterprise sign-in, none is configured", enabled_at
        return "usable", "", enabled_at

    def _invalid(self) -> Iterable[ServerSpec]:
        """Tables that the configuration leaves out because of a fault in them."""
        for problem in self.loaded.problems:
            name = problem.subject
            if problem.domain == "servers" and name and name not in self.loaded.servers:
                yield self._unusable(name, problem)
        if HOSTED_NAME in self.loaded.servers:
            problem = Problem(
                id=f"servers:{HOSTED_NAME}:reserved",
                domain="servers",
                subject=HOSTED_NAME,
                rule="reserved",
                message="the name is reserved",
                evidence=self.loaded.origin("mcp_servers", HOSTED_NAME),
                codex="leaves the entry out, says nothing",
            )
            yield self._unusable(HOSTED_NAME, problem)

    def _unusable(self, name: str, problem: Problem) -> ServerSpec:
        message = problem.message.removeprefix(f"mcp_servers.{name}.")
        words = _WORDS.get(message, message)
        origin = self.loaded.origin("mcp_servers", name)
        return ServerSpec(
            name=name,
            target=None,
            standing="invalid",
            reason=f"{_place(problem.evidence)} — {words}",
            origin=origin if origin.layer else problem.evidence,
            enabled_at=origin,
            problems=(problem,),
        )

    def _add_plugins(self, found: dict[str, ServerSpec]) -> None:
        """The configuration wins over plugins, of these the alphabetically first one."""
        servers = sorted(self.declared.servers, key=lambda each: (each.plugin_id, each.name))
        for declared in servers:
            winner = found.get(declared.name)
            if winner is not None:
                found[declared.name] = _noting(winner, declared)
                continue
            spec = self._from_plugin(declared)
            if spec is not None:
                found[declared.name] = spec

    def _from_plugin(self, declared: DeclaredServer) -> ServerSpec | None:
        policy: Any = self.loaded.get(
            "plugins", declared.plugin_id, "mcp_servers", declared.name, default={}
        )
        table = cast("dict[str, Any]", policy) if isinstance(policy, dict) else {}
        over = {key: table[key] for key in _POLICY if key in table}
        try:
            entry = parse_server(declared.name, {**declared.entry, **over})
        except EntryError as error:
            return _unusable_of_plugin(declared, error.message)
        if entry.auth == "ema_auth":
            return None
        path = ("plugins", declared.plugin_id, "mcp_servers", declared.name, "enabled")
        return self._spec(
            declared.name,
            entry,
            origin=declared.origin,
            enabled_at=self.loaded.origin(*path) if "enabled" in over else declared.origin,
            scope=f"plugin:{declared.plugin_id}",
            declared=declared,
        )

    def _untrusted(self) -> Iterable[ServerSpec]:
        """Servers of project files that do not count, because nobody trusts the folder."""
        for layer in self.loaded.layers:
            if layer.kind != "project" or layer.active:
                continue
            table: Any = layer.written.get("mcp_servers")
            if not isinstance(table, dict):
                continue
            for name, value in cast("dict[str, Any]", table).items():
                yield self._untrusted_spec(name, value, layer)

    def _untrusted_spec(self, name: str, value: Any, layer: Layer) -> ServerSpec:
        origin = layer.evidence("mcp_servers", name)
        folder = str(self.loaded.project_root or "")
        spec = ServerSpec(
            name=name,
            target=None,
            standing="untrusted",
            reason=f"project folder {_short(folder, self.environ)}",
            origin=origin,
            enabled_at=origin,
            scope=f"project:{folder}",
        )
        try:
            entry = parse_server(name, cast("dict[str, Any]", value))
        except (EntryError, AttributeError):
            return spec
        target = self._target(entry, None)
        return replace(spec, target=target, secrets=secrets_of(entry, target))

    def _add_hosted(self, found: dict[str, ServerSpec]) -> None:
        if self.hosted is None:
            return
        spec = hosted_spec(self.hosted, limit=START_TIMEOUT)
        shadowed = found.get(HOSTED_NAME)
        if shadowed is not None:
            spec = replace(spec, problems=shadowed.problems)
        link = fingerprint(spec.target)
        secrets = Secrets([*self.hosted.headers.values(), self.hosted.bearer_token or ""])
        found[HOSTED_NAME] = replace(
            spec, scope="hosted", fingerprint=link, link=link, secrets=secrets
        )


def _plugin_name(declared: DeclaredServer) -> str:
    return declared.display_name or declared.plugin_id.rpartition("@")[0]


def _noting(winner: ServerSpec, declared: DeclaredServer) -> ServerSpec:
    """The winner of a clash, with word of who lost."""
    wins = f"plugin {winner.plugin_id}" if winner.plugin_id else _place(winner.origin)
    problem = Problem(
        id=f"servers:{declared.name}:clash:{declared.plugin_id}",
        domain="servers",
        subject=declared.name,
        rule="name-clash",
        severity="note",
        message=f"{declared.name}: plugin {declared.plugin_id} brings it too; {wins} wins",
        evidence=declared.origin,
        codex="leaves the other one out, says nothing",
    )
    return replace(winner, problems=(*winner.problems, problem))


def _unusable_of_plugin(declared: DeclaredServer, message: str) -> ServerSpec:
    words = _WORDS.get(message, message)
    problem = Problem(
        id=f"servers:{declared.name}:server-entry:{declared.plugin_id}",
        domain="servers",
        subject=declared.name,
        rule="server-entry",
        message=f"{declared.name}: {words}",
        evidence=declared.origin,
        codex="leaves the server out, says nothing",
    )
    return ServerSpec(
        name=declared.name,
        target=None,
        standing="invalid",
        reason=f"{_place(declared.origin)} — {words}",
        origin=declared.origin,
        enabled_at=declared.origin,
        scope=f"plugin:{declared.plugin_id}",
        plugin_id=declared.plugin_id,
        environment_id=LOCAL,
        problems=(problem,),
    )


def _place(evidence: Evidence) -> str:
    """`config.toml:88`, as short as it can be said."""
    if evidence.file is None:
        return evidence.layer or "configuration"
    name = os.path.basename(evidence.file)
    return f"{name}:{evidence.line}" if evidence.line else name


def _short(folder: str, environ: Mapping[str, str]) -> str:
    home = environ.get("HOME", "")
    if home and (folder == home or folder.startswith(home + "/")):
        return "~" + folder[len(home) :]
    return folder
