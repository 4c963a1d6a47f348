"""How a server is asked, and as whom."""

from __future__ import annotations

from collections.abc import Iterator

from tests.integration.explain.table import state
from tests.integration.explain.world import World

STATIC = "s --kind server"
AGAIN = f"{STATIC} --again --yes"
NEVER = 'Bearer realm="mcp"'


@state("auth.sign-in", "S_TOKEN is not set", "set S_TOKEN")
def the_variable_of_a_token_is_not_set(w: World) -> Iterator[str]:
    w.http(table={"bearer_token_env_var": "S_TOKEN"}, tokens={"good"})
    yield AGAIN
    w.patch.setenv("S_TOKEN", "good")


@state("auth.sign-in", "the token in S_TOKEN is refused", "put a good token into S_TOKEN")
def the_token_of_a_variable_is_refused(w: World) -> Iterator[str]:
    w.patch.setenv("S_TOKEN", "old")
    w.http(table={"bearer_token_env_var": "S_TOKEN"}, tokens={"good"})
    yield AGAIN
    w.patch.setenv("S_TOKEN", "good")


@state("auth.sign-in", "the header of its entry is refused", "correct its entry")
def the_header_of_an_entry_is_refused(w: World) -> Iterator[str]:
    w.http(table={"http_headers": {"Authorization": "Bearer old"}}, tokens={"good"})
    yield AGAIN
    w.replace("Bearer old", "Bearer good")


@state("auth.sign-in", "nothing is stored", "sign in")
def a_server_wants_a_sign_in_and_there_is_none(w: World) -> Iterator[str]:
    site = w.http(tokens={"good"}, challenge=NEVER)
    yield AGAIN
    w.grant(site.url, "good")


@state("auth.sign-in", "tells no way", "correct its entry")
def a_server_wants_a_token_and_tells_no_way(w: World) -> Iterator[str]:
    site = w.http(plan={"*": 401})
    yield AGAIN
    site.plan.clear()


@state("auth.sign-in", "tells no way", "correct its entry")
def a_server_forbids(w: World) -> Iterator[str]:
    site = w.http(plan={"*": 403})
    yield AGAIN
    site.plan.clear()


@state("auth.sign-in", "", "sign in again")
def a_sign_in_has_expired(w: World) -> Iterator[str]:
    site = w.http(tokens={"good"})
    w.grant(site.url, "good", expires_in=-60)
    yield AGAIN
    w.grant(site.url, "good", expires_in=3600)


@state("auth.sign-in", "", "forget this sign-in")
def a_sign_in_has_expired_and_nobody_has_asked(w: World) -> Iterator[str]:
    site = w.http(tokens={"good"})
    w.grant(site.url, "good", expires_in=-60)
    yield STATIC
    w.grant(site.url, "good", expires_in=3600)
    yield AGAIN


@state("auth.sign-in", "", "sign in again")
def a_sign_in_was_revoked(w: World) -> Iterator[str]:
    site = w.http(tokens={"good"})
    w.grant(site.url, "old")
    yield AGAIN
    w.grant(site.url, "good")


@state("auth.sign-in", "", "sign in", outcome="stopped")
def a_sign_in_is_for_another_url(w: World) -> Iterator[str]:
    site = w.http(tokens={"good"}, challenge=NEVER)
    w.grant("http://127.0.0.1:9/mcp", "good")
    yield AGAIN
    w.grant(site.url, "good")
