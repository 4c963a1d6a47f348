"""Layer auth: who asks, as the server sees it."""

from __future__ import annotations

from datetime import datetime

from core.explain import actions
from core.explain.scene import Scene, ServerFacts, Target
from core.explain.server_checks import HOSTED, refused, server_of
from core.explain.step import Found, Step, failed, passed, unknown
from core.protocol.facts import Evidence
from core.protocol.jackfield_explain import Action
from core.protocol.rows import ServerRow


def _sign_in(scene: Scene, target: Target) -> Found | None:
    row = server_of(scene, target)
    if row is None or row.transport != "http" or row.name == HOSTED:
        return None
    if row.status in ("untrusted", "invalid", "blocked", "disabled"):
        return None
    facts = scene.server_facts(row.name)
    if row.status == "connected":
        return _connected(row, facts)
    if facts.unset:
        return _unset(row, facts)
    return _unanswered(scene, row, facts)


def _unanswered(scene: Scene, row: ServerRow, facts: ServerFacts) -> Found | None:
    at = [Evidence(layer=facts.store)] if facts.store else []
    if facts.enterprise:
        who = actions.administrator(Evidence(), "authorise this server for you")
        return failed("its sign-in is the enterprise's", who) if refused(scene, row) else None
    if facts.stored == "notLoggedIn":
        return _useless(row, facts, at)
    if facts.until is not None and facts.until <= scene.now and not facts.renews:
        said = f"the sign-in expired {_when(facts.until)} and cannot be renewed"
        again = actions.sign_in(row.name, again=True)
        return failed(said, again, actions.sign_out(row.name), evidence=at)
    if refused(scene, row):
        return _refused(row, facts, at)
    if facts.stored == "unknown":
        why = facts.stored_reason or "the store does not answer"
        return unknown(f"what is stored cannot be read: {why}")
    if facts.stored == "oAuth":
        return passed(_signed_in(facts), *at)
    if row.auth == "notLoggedIn" and scene.again:
        return failed("it offers a sign-in, and nothing is stored", actions.sign_in(row.name))
    if row.auth == "bearerToken":
        where = f" from {facts.bearer_variable}" if facts.bearer_variable else ""
        return passed(f"a token{where} goes along")
    return unknown("whether it wants a sign-in is not known")


def _unset(row: ServerRow, facts: ServerFacts) -> Found:
    names = ", ".join(facts.unset)
    are = "is" if len(facts.unset) == 1 else "are"
    mend = Action(label=f"set {names} in the environment, and start anew")
    edit = actions.edit(row.name, row.origin)
    return failed(f"{names} {are} not set", mend, edit, evidence=[row.origin])


def _connected(row: ServerRow, facts: ServerFacts) -> Found:
    if facts.stored == "oAuth":
        return passed(_signed_in(facts), Evidence(layer=facts.store or None))
    if row.auth == "bearerToken":
        where = f" from {facts.bearer_variable}" if facts.bearer_variable else ""
        return passed(f"the token{where} is accepted")
    return passed("it serves without a sign-in")


def _useless(row: ServerRow, facts: ServerFacts, at: list[Evidence]) -> Found:
    why = facts.stored_reason or row.auth_reason or "what is stored is of no use any more"
    evidence = [*at, *(Evidence(wire=line) for line in facts.wire)]
    again = actions.sign_in(row.name, again=True)
    return failed(
        f"the sign-in is over: {why}", again, actions.sign_out(row.name), evidence=evidence
    )


def _refused(row: ServerRow, facts: ServerFacts, at: list[Evidence]) -> Found:
    evidence = [*at, *(Evidence(wire=line) for line in facts.wire)]
    if facts.bearer_variable:
        said = f"the token in {facts.bearer_variable} is refused"
        mend = Action(label=f"put a good token into {facts.bearer_variable}, and start anew")
        return failed(said, mend, actions.edit(row.name, row.origin), evidence=evidence)
    if facts.stored == "oAuth":
        again = actions.sign_in(row.name, again=True)
        said = "the server refuses the sign-in that is stored"
        return failed(said, again, actions.sign_out(row.name), evidence=evidence)
    if row.auth == "bearerToken":
        edit = actions.edit(row.name, row.origin)
        return failed("the header of its entry is refused", edit, evidence=evidence)
    if row.status == "authenticationRequired" or row.auth == "notLoggedIn":
        said = "it wants a sign-in, and nothing is stored"
        return failed(said, actions.sign_in(row.name), evidence=evidence)
    said = f"{row.reason}: it asks for a token and tells no way to get one"
    edit = actions.edit(row.name, row.origin)
    return failed(said, edit, actions.sign_in(row.name), evidence=evidence)


def _signed_in(facts: ServerFacts) -> str:
    where = f", kept in {facts.store}" if facts.store else ""
    if facts.renews:
        return f"signed in, renewed by itself{where}"
    until = f" until {_when(facts.until)}" if facts.until is not None else ""
    return f"signed in{until}{where}"


def _when(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%d %b %H:%M")


STEPS = (Step("auth.sign-in", "auth", "Sign-in", _sign_in),)
