"""Ways out, each with the command of the panel and of the command line that takes it."""

from __future__ import annotations

import os
import shlex

from core.protocol.facts import Evidence
from core.protocol.jackfield_explain import Action, Kind

_DOMAINS = {"plugin": "plugins", "app": "apps", "server": "servers", "tool": "inventory"}


def place(evidence: Evidence) -> str:
    """`config.toml:12`, or the layer's name."""
    if evidence.file is None:
        return evidence.layer or ""
    name = os.path.basename(evidence.file)
    return f"{name}:{evidence.line}" if evidence.line else name


def _line(*words: str) -> str:
    return shlex.join(("jackfield", *words))


def _row(kind: str, subject: str, id: str, label: str, *words: str) -> Action:
    cli = _line(*words) if words else ""
    return Action(id=id, label=label, cli=cli, domain=_DOMAINS[kind], subject=subject)


def turn_on(kind: Kind, subject: str) -> Action:
    """Switch something on in the person's own configuration."""
    return _row(kind, subject, "row.switch", "turn it on", "enable", subject, "--kind", kind)


def install(plugin_id: str, label: str = "install it") -> Action:
    """Install a plugin, or put its copy in order again."""
    return _row("plugin", plugin_id, "plugins.install", label, "install", plugin_id)


def update(plugin_id: str) -> Action:
    """Install what is offered over a copy that is of no use."""
    return _row("plugin", plugin_id, "plugins.update", "update it", "update", plugin_id)


def remove_plugin(plugin_id: str) -> Action:
    """Take out what is left of a plugin."""
    return _row("plugin", plugin_id, "row.remove", "remove what is left", "uninstall", plugin_id)


def sign_in(server: str, *, again: bool = False) -> Action:
    """Sign in to a server."""
    label = "sign in again" if again else "sign in"
    return _row("server", server, "servers.sign-in", label, "login", server)


def sign_out(server: str) -> Action:
    """Forget what is stored for a server."""
    return _row("server", server, "servers.sign-out", "forget this sign-in", "logout", server)


def reconnect(server: str) -> Action:
    """Start a server anew."""
    words = ("mcp", "reconnect", server)
    return _row("server", server, "row.refresh", "start it anew", *words)


def longer(server: str) -> Action:
    """More time to start."""
    return _row("server", server, "servers.longer", "give it more time to start")


def agree(server: str) -> Action:
    """Let the program of a server be started."""
    words = ("explain", server, "--kind", "server", "--again", "--yes")
    return _row("server", server, "row.mend", "look at what it runs, and agree", *words)


def edit(server: str, at: Evidence) -> Action:
    """Correct the entry of a server."""
    label = f"correct its entry, {where}" if (where := place(at)) else "correct its entry"
    return _row("server", server, "row.edit", label)


def look_again(kind: Kind, subject: str, label: str = "check again") -> Action:
    """Have Explain ask those who know."""
    words = ("explain", subject, "--kind", kind, "--again")
    return _row(kind, subject, "explain.again", label, *words)


def upgrade(marketplace: str, row_id: str) -> Action:
    """Fetch a git marketplace."""
    return Action(
        id="row.refresh",
        label="fetch it",
        cli=_line("marketplace", "upgrade", marketplace),
        domain="marketplaces",
        subject=row_id,
    )


def remove_marketplace(name: str, row_id: str) -> Action:
    """Take a marketplace out of the configuration."""
    return Action(
        id="row.remove",
        label="remove it",
        cli=_line("marketplace", "remove", name),
        domain="marketplaces",
        subject=row_id,
    )


def write(at: Evidence, what: str) -> Action:
    """Something to write into a file of one's own."""
    where = at.file or "config.toml"
    line = f":{at.line}" if at.line else ""
    return Action(label=f"{what}, in {where}{line}")


def on_page(url: str) -> Action:
    """Something that is done on a page of the provider."""
    return Action(id="row.open", label=f"link it at {url}", who="you", domain="apps")


def administrator(at: Evidence, what: str) -> Action:
    """Only whoever keeps the requirements can."""
    whom = f"whoever keeps {at.file}" if at.file else "your administrator"
    return Action(label=what, who="administrator", whom=whom)


def author(of: str, what: str) -> Action:
    """Only the author of a plugin, marketplace or server can."""
    return Action(label=what, who="author", whom=of)


def provider(host: str, what: str) -> Action:
    """Only whoever runs a host can."""
    return Action(label=what, who="provider", whom=host)
