"""What a name means: a plugin, an app, a server, a tool, or several of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from core.explain.scene import Scene, Target
from core.protocol.jackfield_explain import Candidate, Kind

LIKE = 5


@dataclass(frozen=True)
class Meaning:
    """`target` when there is one; else `candidates`: what it may mean, or what is like it."""

    target: Target | None = None
    candidates: tuple[Candidate, ...] = ()
    ambiguous: bool = False


def meaning_of(scene: Scene, text: str, kind: Kind | None) -> Meaning:
    """The target that a person means."""
    everything = [each for each in _all(scene) if kind in (None, each.kind)]
    found = [each for each in everything if each.id == text]
    if not found or (kind is None and "@" not in text and "/" not in text):
        found = _named(everything, text, found)
    if len(found) == 1:
        return Meaning(found[0])
    if found:
        return Meaning(candidates=tuple(map(_candidate, found)), ambiguous=True)
    if (alone := _unlisted(scene, text, kind)) is not None:
        return Meaning(alone)
    return Meaning(candidates=tuple(_like(everything, text)))


def _named(everything: list[Target], text: str, exact: list[Target]) -> list[Target]:
    wanted = text.casefold()
    named = [each for each in everything if wanted in (each.id.casefold(), each.name.casefold())]
    return named or exact


def _all(scene: Scene) -> Iterator[Target]:
    for plugin in scene.plugins.values():
        market = scene.marketplaces.get(plugin.marketplace)
        about = f"in {market.name}" if market is not None else plugin.state
        yield Target(kind="plugin", id=plugin.id, name=plugin.name, about=about)
    ids = {**scene.apps, **scene.installed}
    for app_id, app in ids.items():
        yield Target(kind="app", id=app_id, name=app.name, about=app_id)
    for server in scene.servers.values():
        about = server.plugin_id or server.target
        yield Target(kind="server", id=server.name, name=server.name, about=about)
    for tool in scene.tools.values():
        owner = tool.id.removesuffix(f"/{tool.name}") if tool.source == "app" else tool.owner
        yield Target(kind="tool", id=tool.id, name=tool.name, owner=owner, about=f"of {owner}")


def _unlisted(scene: Scene, text: str, kind: Kind | None) -> Target | None:
    """A tool of a server that has not listed any yet; an app, or what a plugin brings."""
    owners = [name for name in scene.servers if text.startswith(f"{name}/")]
    if owners and kind in (None, "tool"):
        owner = max(owners, key=len)
        return Target(kind="tool", id=text, name=text[len(owner) + 1 :], owner=owner)
    if kind == "app":
        return Target(kind="app", id=text, name=text)
    if kind is None or kind == "server":
        bringing = [
            row for row in scene.plugins.values() if row.brings and text in row.brings.names
        ]
        if len(bringing) == 1:
            row = bringing[0]
            return Target(kind="plugin", id=row.id, name=row.name, about=f"brings {text}")
    return None


def _like(everything: list[Target], text: str) -> Iterator[Candidate]:
    by_name = {each.name: each for each in everything}
    for name in get_close_matches(text, by_name, n=LIKE, cutoff=0.6):
        yield _candidate(by_name[name])


def _candidate(target: Target) -> Candidate:
    return Candidate(kind=target.kind, id=target.id, name=target.name, about=target.about)
