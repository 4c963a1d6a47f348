"""Apps: who is signed in, what is linked, what the committed snapshot says."""

from __future__ import annotations

from collections.abc import Iterator

from tests.fakes.chatgpt_backend import tool
from tests.integration.explain.table import state
from tests.integration.explain.world import World

APP = "a --kind app"
AGAIN = f"{APP} --again"


@state("features.apps", "apps are off", "set features.apps = true")
def apps_are_turned_off(w: World) -> Iterator[str]:
    w.backend(tool("a"))
    w.more("[features]\napps = false")
    yield AGAIN
    w.replace("apps = false", "apps = true")


@state("features.apps", "off by policy", "allow features.apps", who="administrator")
def apps_are_turned_off_by_policy(w: World) -> Iterator[str]:
    w.backend(tool("a"))
    w.required("[features]\napps = false\n")
    yield AGAIN
    w.required("")


@state("snapshot.account", "nobody is signed in", "sign in with ChatGPT")
def nobody_is_signed_in(w: World) -> Iterator[str]:
    w.backend(tool("a"))
    (w.codex / "auth.json").unlink()
    yield AGAIN
    w.sign_in()


@state("snapshot.account", "an API key is used", "sign in with ChatGPT")
def somebody_is_signed_in_with_a_key(w: World) -> Iterator[str]:
    w.backend(tool("a"))
    (w.codex / "auth.json").write_text('{"OPENAI_API_KEY": "sk-test"}')
    yield AGAIN
    w.sign_in()


@state("snapshot.found", "could not be read", "fetch the snapshot anew")
def the_directory_does_not_answer(w: World) -> Iterator[str]:
    backend = w.backend(tool("a"))
    backend.statuses[backend.DIRECTORY] = 500
    backend.statuses[backend.HOSTED] = 500
    yield AGAIN
    backend.statuses.clear()


@state("snapshot.found", "neither the directory nor", "fetch the snapshot anew")
def nobody_knows_an_app(w: World) -> Iterator[str]:
    backend = w.backend(tool("b"), listed=("b",))
    yield AGAIN
    backend.tools.append(tool("a"))
    backend.listed.append("a")


@state("snapshot.linked", "not linked", "link it at")
def an_app_is_not_linked(w: World) -> Iterator[str]:
    backend = w.backend(tool("b"), listed=("a", "b"))
    yield AGAIN
    backend.tools.append(tool("a"))


@state("snapshot.enabled", "off, config.toml:", "turn it on", typed=True)
def an_app_is_off(w: World) -> Iterator[str]:
    w.backend(tool("a"))
    w.more("[apps.a]\nenabled = false")
    yield AGAIN


@state("snapshot.enabled", "off by policy", "allow apps.a", who="administrator")
def an_app_is_off_by_policy(w: World) -> Iterator[str]:
    w.backend(tool("a"))
    w.required("[apps.a]\nenabled = false\n")
    yield AGAIN
    w.required("")


@state("snapshot.callable", "off", "turn")
def every_tool_of_an_app_is_off(w: World) -> Iterator[str]:
    w.backend(tool("a"))
    w.more("[apps.a]\ndefault_tools_enabled = false")
    yield AGAIN
    w.replace("default_tools_enabled = false", "default_tools_enabled = true")


@state("snapshot.callable", "destructive tools are off", "")
def destructive_tools_are_off(w: World) -> Iterator[str]:
    w.backend({**tool("a"), "annotations": {"destructiveHint": True}})
    w.more("[apps.a]\ndestructive_enabled = false")
    yield AGAIN
    w.replace("destructive_enabled = false", "destructive_enabled = true")


@state("snapshot.callable", "own page", outcome="normal")
def the_tools_of_an_app_are_for_its_page(w: World) -> Iterator[str]:
    backend = w.backend(tool("a", ui={"visibility": ["app"]}))
    yield AGAIN
    backend.tools[:] = [tool("a")]


@state("snapshot.found", "has not been read here", "fetch", typed=True, outcome="unknown")
def nobody_has_asked_for_apps(w: World) -> Iterator[str]:
    w.backend(tool("a"))
    yield APP
    yield AGAIN


@state("inventory.tool", "off", "turn")
def a_tool_of_an_app_is_off(w: World) -> Iterator[str]:
    w.backend(tool("a"), tool("a", tool_name="other"))
    w.more("[apps.a.tools.a_tool]\nenabled = false")
    yield "codex_apps/a_tool --kind tool --again"
    w.replace("enabled = false", "enabled = true")


@state("snapshot.committed", "could not be read", "fetch the snapshot anew")
def the_hosted_server_does_not_answer(w: World) -> Iterator[str]:
    backend = w.backend(tool("a"))
    backend.statuses[backend.HOSTED] = 500
    yield AGAIN
    backend.statuses.clear()
