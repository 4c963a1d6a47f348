"""Layer server: its entry, who decides on it, what it runs, and whether it answers."""

from __future__ import annotations

from urllib.parse import urlsplit

from core.explain import actions
from core.explain.scene import Scene, Target
from core.explain.step import Found, Step, failed, normal, passed, unknown
from core.protocol.facts import Evidence
from core.protocol.jackfield_explain import Action
from core.protocol.rows import ServerRow

REFUSED = (401, 403)
_OUTSIDE = (408, 425, 429, 500, 502, 503, 504)
TAIL = 3
HOSTED = "codex_apps"


def server_of(scene: Scene, target: Target) -> ServerRow | None:
    """The server that a target is, or whose tool it is."""
    if target.kind == "server":
        return scene.servers.get(target.id)
    return scene.servers.get(target.owner) if target.kind == "tool" else None


def refused(scene: Scene, row: ServerRow) -> bool:
    """It answered, and wants somebody to be authorised."""
    if row.status == "authenticationRequired":
        return True
    at_fault = row.status in ("failed", "waiting")
    return at_fault and scene.server_facts(row.name).http_status in REFUSED


def _entry(scene: Scene, target: Target) -> Found | None:
    row = server_of(scene, target)
    if row is None:
        return None
    facts = scene.server_facts(row.name)
    if row.status == "invalid":
        return _invalid(row)
    if facts.standing == "elsewhere":
        return failed(row.reason, actions.edit(row.name, row.origin), evidence=[row.origin])
    if not row.configured:
        said = "it runs, though no file names it any more"
        return failed(said, actions.edit(row.name, row.origin), evidence=[row.origin])
    notes = [p.message for p in row.problems if p.rule in ("name-clash", "changed")]
    told = "; ".join([f"its entry is sound, {actions.place(row.origin)}", *notes])
    return passed(told, row.origin)


def _invalid(row: ServerRow) -> Found:
    at = row.problems[0].evidence if row.problems else row.origin
    said = row.problems[0].message if row.problems else row.reason
    said = said.removeprefix(f"{row.name}: ").removeprefix(f"mcp_servers.{row.name}.")
    if row.plugin_id is not None:
        mend: Action = actions.author(f"the author of {row.plugin_id}", "correct the entry")
    else:
        mend = actions.edit(row.name, at)
    return failed(f"its entry cannot be used: {said}", mend, evidence=[at])


def _trust(scene: Scene, target: Target) -> Found | None:
    row = server_of(scene, target)
    if row is None:
        return None
    if row.status != "untrusted":
        if row.origin.layer != "project":
            return None
        return passed(f"{scene.project_root} is trusted", row.origin)
    table = f'[projects."{scene.project_root}"] trust_level = "trusted"'
    mend = actions.write(Evidence(file=scene.config_file), f"write {table}")
    word = "is marked as untrusted" if scene.trusted is False else "has not been trusted yet"
    said = f"the folder {scene.project_root} {word}, so its servers do not count"
    return failed(said, mend, evidence=[row.origin])


def _policy(scene: Scene, target: Target) -> Found | None:
    row = server_of(scene, target)
    if row is None or row.status == "untrusted":
        return None
    if row.status != "blocked":
        return passed("policy lets it start")
    mend = actions.administrator(row.enabled_at, f"list {row.name} with this command or URL")
    return failed(f"blocked by policy: {row.reason}", mend, evidence=[row.enabled_at])


def _enabled(scene: Scene, target: Target) -> Found | None:
    row = server_of(scene, target)
    if row is None or row.status in ("untrusted", "invalid", "blocked"):
        return None
    at, where = row.enabled_at, actions.place(row.enabled_at)
    facts = scene.server_facts(row.name)
    if facts.standing != "disabled":
        return passed("on", at)
    if row.enabled and facts.enterprise:
        whom = actions.administrator(Evidence(), "set up the enterprise sign-in")
        return failed(row.reason, whom, evidence=[at])
    if at.layer in (None, "user", "plugin") or row.plugin_id is not None:
        return failed(f"off, {where}", actions.turn_on("server", row.name), evidence=[at])
    mend = actions.write(at, "set enabled = true")
    return failed(f"off, decided by the {at.layer} layer, {where}", mend, evidence=[at])


def _program(scene: Scene, target: Target) -> Found | None:
    row = server_of(scene, target)
    if row is None or row.name == HOSTED:
        return None
    facts = scene.server_facts(row.name)
    edit = actions.edit(row.name, row.origin)
    if facts.start_fault and not facts.unset:
        return failed(facts.start_fault, edit, evidence=[row.origin])
    if row.transport == "http":
        return _endpoint(row, edit)
    if row.transport != "stdio" or row.status == "connected":
        return passed(row.target, row.origin) if row.target else None
    if not facts.cwd_there:
        said = f"the folder that it runs in is missing: {facts.cwd}"
        return failed(said, edit, evidence=[Evidence(file=facts.cwd), row.origin])
    if facts.resolved is None:
        found = "is missing" if "/" in facts.command else "is not on PATH"
        there = Action(label=f"install {facts.command}")
        return failed(f"{facts.command} {found}", there, edit, evidence=[row.origin])
    return passed(facts.resolved or row.target, row.origin)


def _endpoint(row: ServerRow, edit: Action) -> Found:
    try:
        parts = urlsplit(row.target)
    except ValueError:
        return failed(f"{row.target} is no URL", edit, evidence=[row.origin])
    if parts.scheme not in ("http", "https") or not parts.netloc:
        said = f"{row.target} is no http or https URL"
        return failed(said, edit, evidence=[row.origin])
    return passed(row.target, row.origin)


def _runtime(scene: Scene, target: Target) -> Found | None:
    row = server_of(scene, target)
    if row is None or row.status in ("untrusted", "invalid", "blocked", "disabled"):
        return None
    at = Evidence(at=row.since or None)
    again = actions.look_again("server", row.name)
    match row.status:
        case "connected":
            took = f", answered in {row.latency_ms:.0f} ms" if row.latency_ms is not None else ""
            return passed(f"connected{took}", Evidence(at=row.heard_at))
        case "review" if row.reason != "not asked for":
            said = f"not started here: nobody has agreed to it ({row.reason}); Codex asks nobody"
            return unknown(said, actions.agree(row.name), evidence=[row.origin])
        case "notStarted" | "review":
            return unknown("not started here, so nobody has asked it", again)
        case "starting":
            return unknown("it is starting", again, evidence=[at])
        case _ if unset := ", ".join(scene.server_facts(row.name).unset):
            return unknown(f"not tried without {unset}", evidence=[at])
        case _ if refused(scene, row):
            return passed("it answers, and wants to know who asks", at)
        case "cancelled":
            said = "it was ended by hand"
            return failed(said, actions.reconnect(row.name), evidence=[at])
        case _:
            return _failed(scene, row)


def _failed(scene: Scene, row: ServerRow) -> Found:
    facts = scene.server_facts(row.name)
    evidence = [Evidence(wire=line, at=row.since or None) for line in facts.wire]
    evidence += [Evidence(wire=line) for line in row.stderr_tail[-TAIL:]]
    anew = actions.reconnect(row.name)
    edit = actions.edit(row.name, row.origin)
    if facts.timed_out:
        mends = (actions.longer(row.name), anew, edit)
    elif facts.http_status in _OUTSIDE or (row.transport == "http" and not facts.http_status):
        host = urlsplit(row.target).netloc or row.target
        mends = (anew, actions.provider(f"whoever runs {host}", "bring it back"), edit)
    else:
        mends = (edit, anew)
    return failed(f"it did not start: {row.reason}", *mends, evidence=evidence)


def _last(scene: Scene, target: Target) -> str:
    row = server_of(scene, target)
    return "connected now" if row is not None and row.status == "connected" else ""


def _inventory(scene: Scene, target: Target) -> Found | None:
    row = server_of(scene, target)
    if row is None or row.name == HOSTED:
        return None
    if row.status != "connected":
        return unknown(f"no tools are known{_seen(scene, row)}")
    if row.tools is None or row.tools_total is None:
        said = "connected; its list of tools has not come back yet"
        return normal(said, actions.look_again("server", row.name), ends=True)
    if (
        broken := next((p for p in row.problems if p.codex.startswith("refuses")), None)
    ) is not None:
        mend = actions.author(f"the author of {row.name}", "correct the tool's declaration")
        return failed(f"Codex refuses all its tools: {broken.message}", mend)
    if not row.tools_total:
        return _toolless(row)
    if not row.tools:
        return _filtered(scene, row)
    part = "" if row.tools == row.tools_total else f", {row.tools_total - row.tools} filtered"
    if row.resources is None:
        part += "; resources not listed: none offered, or only tools and sign-in were asked for"
    return passed(f"{row.tools} tools{part}", Evidence(at=row.heard_at))


def _toolless(row: ServerRow) -> Found:
    others = [
        f"{number} {what}"
        for number, what in ((row.resources, "resources"), (row.templates, "templates"))
        if number
    ]
    if others:
        return normal(f"it offers no tools; {' and '.join(others)}, as a resource server does")
    return normal("it offers no tools, resources or prompts", ends=True)


def _filtered(scene: Scene, row: ServerRow) -> Found:
    facts = scene.server_facts(row.name)
    key = "enabled_tools" if facts.enabled_tools is not None else "disabled_tools"
    said = f"all {row.tools_total} tools are filtered out by {key}"
    at = facts.filter_at if facts.filter_at != Evidence() else row.origin
    return failed(said, actions.edit(row.name, at), evidence=[at])


def _seen(scene: Scene, row: ServerRow) -> str:
    known = sum(tool.owner == row.name and tool.kind == "tool" for tool in scene.tools.values())
    return f"; {known} when last seen" if known else ""


def _known_tools(scene: Scene, target: Target) -> str:
    row = server_of(scene, target)
    return _seen(scene, row).removeprefix("; ") if row is not None else ""


def _tool(scene: Scene, target: Target) -> Found | None:
    if target.kind != "tool":
        return None
    row = scene.tools.get(target.id)
    if row is None:
        return _no_tool(scene, target)
    if row.callable:
        effect = f", it {row.effect}" if row.effect else ""
        return passed(f"{row.name} may be called{effect}", Evidence(at=row.seen_at or None))
    if row.filtered:
        facts = scene.server_facts(row.owner)
        said = f"{row.name} is {row.reason}"
        return failed(said, actions.turn_on("tool", row.id), evidence=[facts.filter_at])
    if not row.visible:
        return normal(f"{row.name} is {row.reason}", ends=True)
    if row.kind != "tool":
        return normal(f"it is a {row.kind}, which nobody calls", ends=True)
    if row.reason.startswith("unusable"):
        mend = actions.author(f"the author of {row.owner}", "correct its declaration")
        return failed(f"{row.name} is {row.reason}", mend)
    if row.source == "app":
        if "policy" in row.reason:
            mend = actions.administrator(Evidence(), "allow it")
            return failed(row.reason, mend)
        return failed(f"{row.name}: {row.reason}", actions.turn_on("app", row.owner))
    return failed(row.reason, actions.look_again("server", target.owner))


def _no_tool(scene: Scene, target: Target) -> Found:
    row = server_of(scene, target)
    again = actions.look_again("server", target.owner)
    if row is None or row.status != "connected":
        return unknown(f"whether {target.owner} offers it is not known", again)
    return failed(f"{target.owner} does not offer a tool of this name", again)


SERVER_STEPS = (
    Step("server.entry", "server", "Server", _entry),
    Step("server.trust", "server", "Trust", _trust),
    Step("server.policy", "server", "Policy", _policy),
    Step("server.enabled", "server", "Enabled", _enabled),
    Step("server.program", "server", "Program", _program),
    Step("server.runtime", "server", "Connection", _runtime, _last),
)
INVENTORY_STEPS = (
    Step("inventory.list", "inventory", "Tool list", _inventory, _known_tools),
    Step("inventory.tool", "inventory", "Tool", _tool),
)
