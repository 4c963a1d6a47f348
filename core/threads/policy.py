"""What a thread is like: a value that travels with it, so that no code asks who is asking."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Identity:
    """How we introduce ourselves to MCP servers and authorization servers.

    Attributes:
        client_name, client_title: Of the MCP `initialize`; `client_name` also in user-agent.
        registration_name: `client_name` of a dynamic client registration.
        client_id_document: Base URL of the client-id metadata document, or None where we have
            none and register dynamically.
    """

    client_name: str
    client_title: str
    registration_name: str
    client_id_document: str | None


@dataclass(frozen=True, kw_only=True)
class ThreadPolicy:
    """Behaviour of a thread and of requests without one.

    Attributes:
        reconnect: A failed or dead server is tried again by itself, with back-off.
        follow_config: A file edit that was agreed to changes running servers.
        obey_list_changed: Tools are listed again when the server says they changed.
        consent: Servers wait for the person's yes before their first start.
        negotiate: Only list what the server's capabilities name; tolerate what the protocol
            allows. Otherwise exactly the real one's sequence and demands.
        keep_connections: Status lists without a thread use the kept connections.
        strict_config: A configuration that Codex refuses is refused when a thread starts or
            reloads; otherwise what is wrong with it is left out and told.
        identity: How it introduces itself.
        installs_on_list: Listing plugins installs those that are configured and differ from
            their source.
        obeys_pins: Plugins that are to stay as they are stay so when a marketplace is upgraded,
            and former versions are kept.
    """

    reconnect: bool
    follow_config: bool
    obey_list_changed: bool
    consent: bool
    negotiate: bool
    keep_connections: bool
    strict_config: bool
    identity: Identity
    installs_on_list: bool = False
    obeys_pins: bool = False


CODEX = ThreadPolicy(
    reconnect=False,
    follow_config=False,
    obey_list_changed=False,
    consent=False,
    negotiate=False,
    keep_connections=False,
    strict_config=True,
    identity=Identity(
        client_name="codex-mcp-client",
        client_title="Codex",
        registration_name="Codex",
        client_id_document="https://chatgpt.com/oauth/codex",
    ),
    installs_on_list=True,
)
"""Threads of the app-server face: exactly the real one's behaviour."""

PANEL = ThreadPolicy(
    reconnect=True,
    follow_config=True,
    obey_list_changed=True,
    consent=True,
    negotiate=True,
    keep_connections=True,
    strict_config=False,
    identity=Identity(
        client_name="jackfield",
        client_title="Jackfield",
        registration_name="Jackfield",
        client_id_document=None,
    ),
    obeys_pins=True,
)
"""Threads of the panel and the command line."""
