"""Entries of servers, who decides on them, what they run, whether they answer."""

from __future__ import annotations

from collections.abc import Iterator

from tests.fakes.mcp_http import FakeMcpHttp
from tests.integration.explain.table import state
from tests.integration.explain.world import ECHO, World
from tests.integration.oauth.world import free_port

STATIC = "s --kind server"
AGAIN = f"{STATIC} --again --yes"


@state("server.entry", "cannot be used", "correct its entry")
def an_entry_has_both_a_command_and_a_url(w: World) -> Iterator[str]:
    command = str(w.program("s-server"))
    w.server(command=command, url="http://127.0.0.1:9/mcp")
    yield AGAIN
    w.replace('url = "http://127.0.0.1:9/mcp"', "")


@state("server.entry", "cannot be used", "correct its entry")
def an_entry_has_neither_a_command_nor_a_url(w: World) -> Iterator[str]:
    command = w.program("s-server")
    w.more('[mcp_servers.s]\nenv = {A = "b"}')
    yield AGAIN
    w.more(f'command = "{command}"')


@state("server.entry", "bearer_token", "correct its entry")
def a_token_stands_in_the_entry(w: World) -> Iterator[str]:
    w.http(table={"bearer_token": "secret"})
    yield AGAIN
    w.replace('bearer_token = "secret"', "")


@state("server.entry", "reserved", "correct its entry")
def an_entry_has_the_reserved_name(w: World) -> Iterator[str]:
    w.server("codex_apps", command=str(w.program("s-server")))
    yield "codex_apps --kind server --again --yes"
    w.replace('"codex_apps"', '"mine"')
    yield "mine --again --yes"


@state("server.entry", "is not here", "correct its entry")
def an_entry_is_of_another_environment(w: World) -> Iterator[str]:
    w.server(command=str(w.program("s-server")), environment_id="far")
    yield AGAIN
    w.replace('environment_id = "far"', "")


@state("plugin.content", "leaves its server s out", "correct the entry", who="author")
def an_entry_of_a_plugin_has_no_command(w: World) -> Iterator[str]:
    w.plugin("p", servers={"s": {"command": 5}})
    w.marketplace({"name": "p", "source": "./plugins/p"})
    w.install()
    yield "p@m --again --yes"
    w.plugin("p", version="1.1.0", servers={"s": {"command": str(w.program("s-server"))}})
    assert w.run("update", "p@m")[0] == 0


@state("server.trust", "has not been trusted yet", 'trust_level = "trusted"')
def a_server_is_of_a_project_that_nobody_trusts(w: World) -> Iterator[str]:
    w.project(f'[mcp_servers.s]\ncommand = "{w.program("s-server")}"\n')
    yield AGAIN
    w.trust()


@state("server.trust", "is marked as untrusted", 'trust_level = "trusted"')
def a_server_is_of_a_project_that_is_not_trusted(w: World) -> Iterator[str]:
    w.project(f'[mcp_servers.s]\ncommand = "{w.program("s-server")}"\n', trust="untrusted")
    yield AGAIN
    w.replace('"untrusted"', '"trusted"')


@state("server.policy", "does not list it", "list s", who="administrator")
def policy_does_not_list_a_server(w: World) -> Iterator[str]:
    w.server()
    w.required('[mcp_servers.other]\nidentity = {command = "x"}\n')
    yield AGAIN
    w.required(f'[mcp_servers.s]\nidentity = {{command = "{w.root}/bin/s-server"}}\n')


@state("server.policy", "another command or URL", "list s", who="administrator")
def policy_lists_a_server_with_another_command(w: World) -> Iterator[str]:
    w.server()
    w.required('[mcp_servers.s]\nidentity = {command = "x"}\n')
    yield AGAIN
    w.required("")


@state("server.policy", "allows no servers", "list s", who="administrator")
def policy_allows_no_servers(w: World) -> Iterator[str]:
    w.server()
    w.required("[mcp_servers]\n")
    yield AGAIN
    w.required("")


@state("server.enabled", "off, config.toml:", "turn it on", typed=True)
def a_server_is_off(w: World) -> Iterator[str]:
    w.server(command=str(w.program("s-server")), enabled=False)
    yield AGAIN


@state("server.enabled", "decided by the project layer", "set enabled = true")
def a_server_is_off_in_the_project(w: World) -> Iterator[str]:
    w.server()
    w.project("[mcp_servers.s]\nenabled = false\n", trust="trusted")
    yield AGAIN
    w.project("")


@state("server.enabled", "off, ", "turn it on", typed=True)
def a_server_of_a_plugin_is_off(w: World) -> Iterator[str]:
    w.plugin("p", servers={"s": {"command": str(w.program("s-server"))}})
    w.marketplace({"name": "p", "source": "./plugins/p"})
    w.install()
    w.more('[plugins."p@m".mcp_servers.s]\nenabled = false')
    yield AGAIN


@state("server.program", "mytool is not on PATH", "install mytool")
def a_program_is_not_on_the_path(w: World) -> Iterator[str]:
    w.server(command="mytool")
    yield AGAIN
    w.program("mytool")


@state("server.program", "./tools/mytool is missing", "install ./tools/mytool")
def a_program_beside_the_project_is_missing(w: World) -> Iterator[str]:
    w.server(command="./tools/mytool")
    yield AGAIN
    w.script(w.work / "tools" / "mytool")


@state("server.program", "is missing", "correct its entry")
def a_program_may_not_be_run(w: World) -> Iterator[str]:
    file = w.program("s-server")
    file.chmod(0o644)
    w.server(command=str(file))
    yield AGAIN
    file.chmod(0o755)


@state("server.program", "the folder that it runs in is missing", "correct its entry")
def the_folder_of_a_server_is_missing(w: World) -> Iterator[str]:
    w.server(command=str(w.program("s-server")), cwd=str(w.root / "later"))
    yield AGAIN
    (w.root / "later").mkdir()


@state("server.program", "must match pattern", "correct its entry")
def a_server_has_a_name_that_is_not_allowed(w: World) -> Iterator[str]:
    w.server("s s", command=str(w.program("s-server")))
    yield "'s s' --kind server --again --yes"
    w.replace('"s s"', '"ss"')
    yield "ss --again --yes"


@state("server.program", "no http or https URL", "correct its entry")
def a_url_is_of_a_file(w: World) -> Iterator[str]:
    site = w.http()
    w.replace(site.url, "file:///mcp")
    yield AGAIN
    w.replace("file:///mcp", site.url)


@state("server.program", "no http or https URL", "correct its entry")
def a_url_has_no_scheme(w: World) -> Iterator[str]:
    site = w.http()
    w.replace(site.url, "not a url")
    yield AGAIN
    w.replace("not a url", site.url)


@state("server.runtime", "nobody has asked it", "check again", typed=True, outcome="unknown")
def nobody_has_started_a_server(w: World) -> Iterator[str]:
    w.server()
    yield STATIC
    yield AGAIN


@state("server.runtime", "nobody has agreed", "and agree", typed=True, outcome="unknown")
def nobody_has_agreed_to_a_server(w: World) -> Iterator[str]:
    w.server()
    yield f"{STATIC} --again"
    yield AGAIN


@state("server.runtime", "exited 3", "correct its entry")
def a_server_exits_and_says_why(w: World) -> Iterator[str]:
    file = w.program("s-server")
    good = file.read_text()
    file.write_text("#!/bin/sh\necho 'boom: missing API key' >&2\nexit 3\n")
    w.server(command=str(file))
    yield AGAIN
    file.write_text(good)


@state("server.runtime", "no answer to initialize in 1 s", "more time to start")
def a_server_does_not_answer_in_time(w: World) -> Iterator[str]:
    w.fake(mode="mute")
    w.more("startup_timeout_sec = 1")
    yield AGAIN
    w.replace("startup_timeout_sec = 1", "")
    w.fake()


@state("server.runtime", "it did not start", "start it anew")
def a_server_is_killed_while_it_starts(w: World) -> Iterator[str]:
    file = w.program("s-server")
    good = file.read_text()
    file.write_text("#!/bin/sh\nkill -9 $$\n")
    w.server(command=str(file))
    yield AGAIN
    file.write_text(good)


@state("server.runtime", "it did not start", "correct its entry")
def the_interpreter_of_a_server_is_missing(w: World) -> Iterator[str]:
    file = w.program("s-server")
    good = file.read_text()
    file.write_text("#!/no/such/interpreter\n")
    w.server(command=str(file))
    yield AGAIN
    file.write_text(good)


@state("server.runtime", "it did not start", "start it anew")
def a_server_refuses_the_handshake(w: World) -> Iterator[str]:
    error = {"code": -32603, "message": "no licence"}
    w.fake(spec={"errors": {"initialize": error}})
    yield AGAIN
    w.fake()


@state("server.runtime", "it did not start", "start it anew")
def a_server_cannot_list_its_tools(w: World) -> Iterator[str]:
    error = {"code": -32603, "message": "database is locked"}
    w.fake(spec={**ECHO, "errors": {"tools/list": error}})
    yield AGAIN
    w.fake()


@state("server.runtime", "connection refused", "start it anew")
def nobody_listens_at_a_url(w: World) -> Iterator[str]:
    w.server(url=f"http://127.0.0.1:{free_port()}/mcp")
    yield AGAIN
    site = w.ends.enter_context(FakeMcpHttp(spec=ECHO))
    text = (w.codex / "config.toml").read_text()
    old = text.split('url = "')[1].split('"')[0]
    w.replace(old, site.url)


@state("server.runtime", "HTTP 503", "bring it back", who="provider")
def a_host_is_out_of_order(w: World) -> Iterator[str]:
    site = w.http(plan={"*": 503})
    yield AGAIN
    site.plan.clear()


@state("server.runtime", "HTTP 404", "start it anew")
def there_is_nothing_at_a_url(w: World) -> Iterator[str]:
    site = w.http(plan={"*": 404})
    yield AGAIN
    site.plan.clear()


@state("server.runtime", "it did not start", "start it anew")
def a_page_is_at_a_url_and_no_server(w: World) -> Iterator[str]:
    site = w.http(plan={"initialize": "html"})
    yield AGAIN
    site.plan.clear()


@state("server:s", "s: it did not start: exited 3", "correct its entry")
def a_server_of_a_plugin_does_not_start(w: World) -> Iterator[str]:
    file = w.program("s-server")
    good = file.read_text()
    file.write_text("#!/bin/sh\necho 'no display' >&2\nexit 3\n")
    w.plugin("p", servers={"s": {"command": str(file)}})
    w.marketplace({"name": "p", "source": "./plugins/p"})
    w.install()
    yield "p@m --again --yes"
    file.write_text(good)
