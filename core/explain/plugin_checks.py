"""Layers marketplace and plugin: where it comes from, what is installed, what Codex uses of it."""

from __future__ import annotations

from core.explain import actions
from core.explain.scene import Scene, Target
from core.explain.step import Found, Step, failed, normal, passed
from core.protocol.facts import Evidence, Problem
from core.protocol.jackfield_explain import Action
from core.protocol.jackfield_install import IgnoredPart
from core.protocol.rows import MarketplaceRow, PluginRow

_KINDS = {
    "local": "a folder",
    "git": "a git repository",
    "home": "the home's own",
    "workspace": "the project's own",
    "curated": "the curated one",
    "remote": "a remote catalog",
}

_UNTRUSTED = frozenset({"untrusted", "modified"})


def _plugin(scene: Scene, target: Target) -> PluginRow | None:
    if target.kind == "plugin":
        return scene.plugins.get(target.id)
    server = scene.servers.get(target.owner or target.id)
    if server is None or server.plugin_id is None:
        return None
    rows = [row for row in scene.plugins.values() if row.plugin_id == server.plugin_id]
    return next((row for row in rows if row.installed), rows[0] if rows else None)


def _marketplace(scene: Scene, target: Target) -> Found | None:
    plugin = _plugin(scene, target)
    if plugin is None:
        return None
    market = scene.marketplaces.get(plugin.marketplace)
    if market is None or plugin.left_over == "notOffered":
        if plugin.state == "leftOver":
            return _gone(plugin)
        return passed("its marketplace is known", plugin.evidence)
    fault = next((p for p in market.problems if p.severity == "error"), None)
    if market.listed == "blocked":
        at = market.problems[-1].evidence if market.problems else market.evidence
        said = f"{market.name} is not among the sources that policy allows"
        return failed(said, actions.administrator(at, f"allow {market.name}"), evidence=[at])
    if market.listed in ("missing", "unreadable", "reserved"):
        return _unusable(market, fault)
    if market.listed == "off":
        return passed(f"{market.name} is found; plugins are off", market.evidence)
    kind = _KINDS.get(market.source, market.source)
    return passed(f"{market.name}, {kind}, lists {market.total}", market.evidence)


def _gone(plugin: PluginRow) -> Found:
    mends: list[Action] = [actions.remove_plugin(plugin.plugin_id)]
    market = plugin.plugin_id.rpartition("@")[2]
    if plugin.left_over == "moved":
        mends.insert(0, actions.install(plugin.moved_to, f"install it from {plugin.moved_to}"))
    elif plugin.left_over == "marketplaceGone":
        mends.append(Action(id="list.add", label=f"add its marketplace again, {market}"))
    elif plugin.left_over == "notOffered":
        mends.append(actions.author(market, "offer it again"))
    return failed(plugin.reason, *mends, evidence=[plugin.enabled_at, plugin.evidence])


def _unusable(market: MarketplaceRow, fault: Problem | None) -> Found:
    said = fault.message if fault is not None else f"it is {market.listed}"
    at = [fault.evidence] if fault is not None else [market.evidence]
    mends: list[Action] = []
    if fault is not None and fault.rule == "checkout-missing":
        mends.append(actions.upgrade(market.name, market.id))
    elif fault is not None and fault.hint:
        mends.append(_by_hand(market, fault))
    elif fault is not None and market.source != "git":
        what = "rename it" if fault.rule == "marketplace-name" else "correct the file"
        mends.append(actions.write(fault.evidence, what))
    if market.source == "git" and not mends:
        mends.append(actions.upgrade(market.name, market.id))
    if market.evidence.key or market.id.startswith("config:"):
        mends.append(actions.remove_marketplace(market.name, market.id))
    if not mends:
        mends.append(actions.author(market.name, "rename it, or correct its file"))
    return failed(f"{market.name} cannot be used: {said}", *mends, evidence=at)


def _by_hand(market: MarketplaceRow, fault: Problem) -> Action:
    if market.source == "git":
        return actions.author(market.name, fault.hint)
    return actions.write(fault.evidence, fault.hint)


def _entry(scene: Scene, target: Target) -> Found | None:
    plugin = _plugin(scene, target)
    if plugin is None:
        return None
    market = scene.marketplaces.get(plugin.marketplace)
    if plugin.state == "leftOver":
        return _left_over(plugin)
    fault = next((p for p in plugin.problems if p.severity != "note"), None)
    if plugin.state == "skipped":
        said = fault.message if fault is not None else plugin.reason
        at = fault.evidence if fault is not None else plugin.evidence
        codex = f"; Codex {fault.codex}" if fault is not None and fault.codex else ""
        mend = _entry_mend(market, at, fault)
        return failed(f"its entry is left out: {said}{codex}", mend, evidence=[at])
    if plugin.state == "broken" and not plugin.installed and fault is not None:
        mend = _entry_mend(market, fault.evidence, fault)
        return failed(f"it cannot be installed: {fault.message}", mend, evidence=[fault.evidence])
    if not plugin.installed and (refusal := _refusal(scene, plugin)):
        if plugin.state == "notOffered":
            said = "its marketplace lists it, and does not offer it for installing"
            return normal(said, evidence=[plugin.evidence], ends=True)
        mend = _entry_mend(market, plugin.evidence, None)
        return failed(f"Codex would not install it: {refusal}", mend, evidence=[plugin.evidence])
    version = f", {plugin.offered}" if plugin.offered else ""
    return passed(f"offered from {plugin.source or plugin.source_kind}{version}", plugin.evidence)


def _refusal(scene: Scene, plugin: PluginRow) -> str:
    compat = scene.compat.get(plugin.plugin_id)
    if compat is not None and compat.refusal:
        return compat.refusal
    return "not offered" if plugin.state == "notOffered" else ""


def _left_over(plugin: PluginRow) -> Found:
    if plugin.left_over == "unconfigured":
        mend = actions.remove_plugin(plugin.plugin_id)
        return failed(plugin.reason, mend, evidence=[plugin.evidence])
    return _gone(plugin)


def _entry_mend(market: MarketplaceRow | None, at: Evidence, fault: Problem | None) -> Action:
    what = fault.hint if fault is not None and fault.hint else "correct the entry"
    if market is not None and market.source == "git":
        return actions.author(market.name, what)
    return actions.write(at, what)


def _installed(scene: Scene, target: Target) -> Found | None:
    plugin = _plugin(scene, target)
    if plugin is None:
        return None
    at = Evidence(file=plugin.root or None)
    if plugin.installed:
        if plugin.state == "broken":
            mends = (actions.install(plugin.plugin_id, "install it anew"),)
            return failed(plugin.reason, *mends, evidence=[at])
        version = plugin.version or "without a version"
        newer = f"; {plugin.reason}" if plugin.state == "update" and plugin.reason else ""
        return passed(f"installed, {version}{newer}", at)
    if plugin.configured:
        said = "the configuration turns it on, and no copy of it is installed"
        if not plugin.enabled:
            said = "it is configured and off, and no copy of it is installed"
        return failed(said, actions.install(plugin.plugin_id), evidence=[plugin.enabled_at])
    return normal(
        "found, not installed", actions.install(plugin.plugin_id), evidence=[at], ends=True
    )


def _enabled(scene: Scene, target: Target) -> Found | None:
    plugin = _plugin(scene, target)
    if plugin is None:
        return None
    at = plugin.enabled_at
    where = actions.place(at)
    if plugin.state == "blocked":
        return failed(
            f"blocked: {plugin.reason}",
            actions.administrator(at, "allow it"),
            evidence=[at],
        )
    if plugin.enabled:
        return passed(f"on, {where}", at)
    if at.layer in (None, "user"):
        return failed(f"off, {where}", actions.turn_on("plugin", plugin.plugin_id), evidence=[at])
    mend = actions.write(at, "set enabled = true")
    return failed(f"off, decided by the {at.layer} layer, {where}", mend, evidence=[at])


def _content(scene: Scene, target: Target) -> Found | None:
    plugin = _plugin(scene, target)
    compat = scene.compat.get(plugin.plugin_id) if plugin is not None else None
    if target.kind != "plugin" or plugin is None or compat is None or not compat.known:
        return None
    if (
        dropped := next((part for part in compat.ignores if part.what == "server"), None)
    ) is not None:
        return _dropped(plugin, dropped)
    ignored = "; ".join(f"{len(part.names)} {part.what} unused" for part in compat.ignores)
    at = [Evidence(file=path) for path, _ in compat.faults]
    if not compat.nothing:
        counts = [
            f"{number} {kind}{'' if number == 1 else 's'}"
            for kind in ("skill", "hook", "server", "app")
            if (number := sum(part.kind == kind for part in compat.uses))
        ]
        faults = "; ".join(said for _, said in compat.faults)
        tail = "".join(f"; {part}" for part in (ignored, faults) if part)
        return passed(f"Codex uses {', '.join(counts)}{tail}", *at)
    if compat.faults:
        path, said = compat.faults[0]
        author = compat.display_name or plugin.name
        mend = actions.author(f"the author of {author}", "correct the file and publish it")
        update = actions.update(plugin.plugin_id)
        return failed(f"Codex uses nothing of it: {path}: {said}", update, mend, evidence=at)
    said = "Codex uses nothing of it" + (f": {ignored}" if ignored else ", it is empty")
    return normal(said, evidence=[Evidence(file=compat.read_from or None)], ends=True)


def _dropped(plugin: PluginRow, part: IgnoredPart) -> Found:
    author = actions.author(f"the author of {plugin.plugin_id}", "correct the entry")
    said = f"Codex leaves its server {part.names[0]} out: {part.reason.removeprefix('left out: ')}"
    return failed(said, author, actions.update(plugin.plugin_id))


def _hooks(scene: Scene, target: Target) -> Found | None:
    plugin = scene.plugins.get(target.id) if target.kind == "plugin" else None
    hooks = scene.hooks.get(plugin.plugin_id, ()) if plugin is not None else ()
    if plugin is None or not hooks:
        return None
    waiting = [event for event, standing in hooks if standing in _UNTRUSTED]
    if not waiting:
        return passed(f"Codex trusts {len(hooks)} of {len(hooks)}")
    names = ", ".join(dict.fromkeys(waiting))
    said = f"{len(waiting)} of {len(hooks)} hooks do not run before Codex is told to: {names}"
    return normal(said, Action(label="review them in Codex, with /hooks"))


STEPS = (
    Step("marketplace.usable", "marketplace", "Marketplace", _marketplace),
    Step("plugin.entry", "plugin", "Entry", _entry),
    Step("plugin.installed", "plugin", "Installed", _installed),
    Step("plugin.enabled", "plugin", "Enabled", _enabled),
    Step("plugin.content", "plugin", "Contents", _content),
    Step("plugin.hooks", "plugin", "Hooks", _hooks),
)
