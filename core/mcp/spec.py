"""One server of the effective set: where it stands, how it is reached, what it may do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from core.config.server_entry import OAuthEntry, ServerEntry
from core.mcp.masking import Secrets, masked_arguments, masked_url
from core.protocol.facts import Evidence, Problem
from core.seams import Redirects, SignInTarget

START_TIMEOUT = 30.0
TOOL_TIMEOUT = 300.0

Standing = Literal["usable", "disabled", "blocked", "untrusted", "invalid", "elsewhere"]


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program to run.

    Attributes:
        argv: The program and its arguments.
        cwd: Absolute.
        env: Its whole environment.
        env_names: Variables that the entry hands it, set or not.
    """

    argv: tuple[str, ...] = field(repr=False)
    cwd: str
    env: Mapping[str, str] = field(repr=False)
    env_names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A streamable HTTP endpoint.

    Attributes:
        headers: Static ones and those from the environment.
        helper: Shell command that prints more headers, or "".
        helper_cwd: Where it runs; absolute.
        bearer: Token from the environment; None when no variable is configured.
        bearer_variable: Name of that variable, or "".
        sign_in: Stored OAuth tokens apply.
        env_names: Variables that are read for it, set or not.
        hosted: It is the apps server of the signed-in account.
        strict_redirects: Nothing is followed while configured headers go along.
        oauth, scopes, resource: What the entry says about signing in.
        enterprise: Its sign-in is the enterprise's (`auth = "ema_auth"`).
    """

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    helper: str = field(default="", repr=False)
    helper_cwd: str = ""
    bearer: str | None = field(default=None, repr=False)
    bearer_variable: str = ""
    sign_in: bool = True
    env_names: tuple[str, ...] = ()
    hosted: bool = False
    strict_redirects: bool = False
    oauth: OAuthEntry | None = field(default=None, repr=False)
    scopes: tuple[str, ...] | None = None
    resource: str | None = None
    enterprise: bool = False

    @property
    def redirects(self) -> Redirects:
        """What is followed while talking to it."""
        if self.enterprise:
            return "none"
        return "same-origin-anonymous" if self.strict_redirects else "same-origin"

    @property
    def authorized(self) -> bool:
        """Authorisation is configured, whether or not the variable is set."""
        return bool(self.bearer_variable or self.bearer) or any(
            name.lower() == "authorization" for name in self.headers
        )


@dataclass(frozen=True, kw_only=True)
class ServerSpec:
    """A server as the configuration, the plugins and the policy make it.

    Attributes:
        target: None when the entry cannot be used.
        standing: `usable`, or what keeps it from being started. `elsewhere`: it belongs to an
            execution environment that does not exist here.
        reason: Why it is not usable, for people.
        start_fault: Text with which every start fails at once, or "".
        origin, enabled_at: Where it stands, and where it is switched.
        scope: Whose entry it is: `user`, `project:FOLDER`, `plugin:ID` or another layer's name.
        plugin_name: What tools call the plugin that brings it; "" when none does.
        enabled_tools: None when all are allowed; the deny list counts after it.
        approval, tool_approvals: What model calls need, for all tools and for single ones.
        fingerprint: Of everything in the entry; differs when any part does.
        link: Of what makes the connection; the same link needs no new one.
        secrets: What must not be shown of this server.
        entry: As configured; None when it cannot be used, or is nobody's.
    """

    name: str
    target: Program | Endpoint | None
    standing: Standing = "usable"
    reason: str = ""
    start_fault: str = ""
    enabled: bool = True
    required: bool = False
    origin: Evidence = Evidence()
    enabled_at: Evidence = Evidence()
    scope: str = "user"
    plugin_id: str | None = None
    plugin_name: str = ""
    environment_id: str | None = None
    start_timeout: float = START_TIMEOUT
    tool_timeout: float = TOOL_TIMEOUT
    enabled_tools: frozenset[str] | None = None
    disabled_tools: frozenset[str] = frozenset()
    approval: str | None = None
    tool_approvals: Mapping[str, str] = field(default_factory=dict[str, str])
    fingerprint: str = ""
    link: str = ""
    problems: tuple[Problem, ...] = ()
    secrets: Secrets = field(default_factory=Secrets, repr=False, compare=False)
    entry: ServerEntry | None = field(default=None, repr=False, compare=False)

    @property
    def transport(self) -> str:
        """`stdio`, `http`, or "" when the entry cannot be used."""
        match self.target:
            case Program():
                return "stdio"
            case Endpoint():
                return "http"
            case None:
                return ""

    @property
    def url(self) -> str:
        """Of an HTTP server, else ""."""
        return self.target.url if isinstance(self.target, Endpoint) else ""

    @property
    def label(self) -> str:
        """The name as errors spell it: with its environment, when it has one."""
        return labelled(self.name, self.environment_id)

    def sign_in_target(self, endpoint: Endpoint) -> SignInTarget:
        """This server, as signing in to it knows it."""
        oauth = endpoint.oauth or OAuthEntry()
        return SignInTarget(
            server=self.name,
            url=endpoint.url,
            headers=endpoint.headers,
            client_id=oauth.client_id,
            client_secret=oauth.client_secret,
            callback_url=oauth.callback_url,
            callback_port=oauth.callback_port,
            scopes=endpoint.scopes,
            resource=endpoint.resource,
            redirects=endpoint.redirects,
        )

    @property
    def usable(self) -> bool:
        return self.standing == "usable"

    def allows(self, tool: str) -> bool:
        """`tool` passes enabled_tools and disabled_tools."""
        listed = self.enabled_tools is None or tool in self.enabled_tools
        return listed and tool not in self.disabled_tools

    def shown_target(self) -> tuple[str, str]:
        """The command line or URL with secrets masked, and "" or a word on what is masked."""
        match self.target:
            case Program(argv=argv):
                shown = " ".join(_quoted(part) for part in masked_arguments(argv))
                whole = " ".join(_quoted(part) for part in argv)
            case Endpoint(url=url):
                shown, whole = masked_url(url), url
            case None:
                return "", ""
        shown = self.secrets.mask(shown)
        return shown, "" if shown == whole else "secrets masked"


def labelled(name: str, environment_id: str | None) -> str:
    """`name`, or `name (environment local)`."""
    return f"{name} (environment {environment_id})" if environment_id is not None else name


def _quoted(part: str) -> str:
    """For reading, not for a shell: quotes only where the end of an argument would be unclear."""
    if part and not any(character.isspace() for character in part):
        return part
    return f'"{part}"' if '"' not in part else f"'{part}'"
