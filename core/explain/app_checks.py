"""Layer snapshot: an app in the directory, linked, switched on, in the committed snapshot."""

from __future__ import annotations

from datetime import datetime

from core.explain import actions
from core.explain.scene import Scene, Target
from core.explain.step import Found, Step, failed, normal, passed, unknown
from core.protocol.facts import Evidence
from core.protocol.rows import InstalledRow


def _app_id(scene: Scene, target: Target) -> str:
    if target.kind == "app":
        return target.id
    tool = scene.tools.get(target.id) if target.kind == "tool" else None
    return tool.owner if tool is not None and tool.source == "app" else ""


def _account(scene: Scene, target: Target) -> Found | None:
    if not _app_id(scene, target):
        return None
    account = scene.account
    if account is None or account.kind == "unknown":
        why = account.reason if account is not None and account.reason else "nobody could say"
        return unknown(f"who is signed in is not known: {why}")
    if account.kind == "chatgpt":
        who = account.email or "somebody"
        return passed(f"{who} is signed in with ChatGPT")
    has = "an API key is used" if account.kind == "apiKey" else "nobody is signed in"
    mend = actions.Action(label="sign in with ChatGPT", cli="codex login")
    return failed(f"apps need a sign-in with ChatGPT; {has}", mend)


def _found(scene: Scene, target: Target) -> Found | None:
    app_id = _app_id(scene, target)
    if not app_id:
        return None
    row = scene.apps.get(app_id)
    if row is not None:
        brought = f", named by {', '.join(row.brought_by)}" if row.brought_by else ""
        old = "; from a cache" if row.cached else ""
        return passed(f"{row.name} is in the list{brought}{old}")
    if why := scene.refresh_failures.get("apps"):
        return failed(f"the list of apps could not be read: {why}", _again(app_id))
    if app_id in scene.installed:
        return normal("the directory does not list it; the hosted server has tools of it")
    if scene.again:
        return failed("neither the directory nor the hosted server knows it", _again(app_id))
    return unknown("the list of apps has not been read here", _again(app_id))


def _linked(scene: Scene, target: Target) -> Found | None:
    app_id = _app_id(scene, target)
    row = scene.apps.get(app_id) if app_id else None
    if row is None:
        return None
    if row.accessible or app_id in scene.installed:
        return passed("linked to this account")
    if not scene.snapshot_at:
        return None  # the hosted tools tell, and nobody has read them
    page = actions.on_page(row.install_url or "https://chatgpt.com/apps")
    return failed("not linked to this account", _for(page, app_id), _again(app_id))


def _enabled(scene: Scene, target: Target) -> Found | None:
    app_id = _app_id(scene, target)
    row = scene.apps.get(app_id) if app_id else None
    if row is None:
        return None
    at = row.enabled_at
    where = actions.place(at)
    if row.enabled:
        return passed("on, by default" if at.layer == "default" else f"on, {where}", at)
    if at.layer == "requirements":
        mend = actions.administrator(at, f"allow apps.{app_id}")
        return failed(f"off by policy, {where}", mend, evidence=[at])
    return failed(f"off, {where}", actions.turn_on("app", app_id), evidence=[at])


def _snapshot(scene: Scene, target: Target) -> Found | None:
    app_id = _app_id(scene, target)
    if not app_id:
        return None
    row = scene.installed.get(app_id)
    if row is None:
        return _absent(scene, app_id)
    at = Evidence(at=row.committed_at or None)
    age = f", committed {_when(row.committed_at)}" if row.committed_at else ""
    if failure := scene.refresh_failures.get("installed"):
        age += f"; the last refresh failed: {failure}"
    return passed(f"{row.tools} tools in the snapshot{age}", at)


def _absent(scene: Scene, app_id: str) -> Found:
    app = scene.apps.get(app_id)
    if failure := scene.refresh_failures.get("installed"):
        said = f"the hosted server's tools could not be read: {failure}"
        return failed(said, _again(app_id), evidence=[Evidence(wire=failure)])
    if not scene.snapshot_at:
        if app is not None:
            said = "app/read and app/list answer; app/installed is empty until a snapshot is "
            said += "committed: two caches, two permission paths"
            return normal(said, _again(app_id), ends=True)
        return unknown("no snapshot of the hosted tools has been committed yet", _again(app_id))
    said = f"the snapshot of {_when(scene.snapshot_at)} has no tools of it"
    return failed(said, _again(app_id), evidence=[Evidence(at=scene.snapshot_at)])


def _callable(scene: Scene, target: Target) -> Found | None:
    app_id = _app_id(scene, target)
    row = scene.installed.get(app_id) if app_id else None
    if row is None or target.kind == "tool":
        return None
    if row.callable:
        return passed(f"{row.callable_tools} of {row.tools} tools can be called")
    return _uncallable(row, app_id)


def _uncallable(row: InstalledRow, app_id: str) -> Found:
    said = row.reason or "none of its tools can be called"
    if "by policy" in said or "policy" in said:
        return failed(said, actions.administrator(Evidence(), f"allow apps.{app_id}"))
    if "own page" in said:
        return normal(f"{said}: its tools are not meant for the model", ends=True)
    return failed(said, actions.turn_on("app", app_id))


def _when(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%d %b %H:%M")


def _again(app_id: str) -> actions.Action:
    return actions.look_again("app", app_id, "fetch the snapshot anew")


def _for(action: actions.Action, app_id: str) -> actions.Action:
    from msgspec.structs import replace

    return replace(action, subject=app_id)


STEPS = (
    Step("snapshot.account", "snapshot", "Account", _account),
    Step("snapshot.found", "snapshot", "Directory", _found),
    Step("snapshot.linked", "snapshot", "Linked", _linked),
    Step("snapshot.enabled", "snapshot", "Enabled", _enabled),
    Step("snapshot.committed", "snapshot", "Snapshot", _snapshot),
    Step("snapshot.callable", "snapshot", "Callable", _callable),
)
