"""Our own methods about installing: what a plugin brings, trust in it, marketplaces to add."""

from __future__ import annotations

from typing import Literal

from core.protocol.facts import Evidence
from core.protocol.jackfield import Message

PartKind = Literal["skill", "hook", "server", "app"]


class CompatibilityParams(Message, frozen=True, kw_only=True):
    """A plugin, by `plugin_id` as the panel lists it, or by marketplace file and name."""

    plugin_id: str | None = None
    marketplace_path: str | None = None
    plugin_name: str | None = None


class UsedPart(Message, frozen=True, kw_only=True):
    """Something that Codex uses of a plugin. Foreign text throughout.

    Attributes:
        id: Of a program or endpoint: stable for exactly this, wherever the plugin lies; what a
            person agrees to. "" for skills and apps.
        about: A sentence on what it is.
        event, matcher: When a hook runs.
        command: Program and arguments, exactly; of a hook one line for a shell.
        cwd: Where a server starts; "" = in the folder of the session.
        url: Of a server that is reached over HTTP.
        env_names: Variables that it is given or that are read for it; never values.
        sign_in: `oauth`: it asks for a sign-in of its own; a variable's name: its token.
        enabled: False when the plugin itself turns it off.
        notes: What a person should know before agreeing.
        files: Files of the plugin that a hook's command names, with their sha256.
        key: Of a hook, as the configuration spells it.
        standing: `new`, `changed`, `agreed`, `declined`; "" for what needs no agreement.
        was: Lines of what was agreed to that differ now.
        since: When that was, seconds since the epoch; 0 = never.
        evidence: The file that declares it.
    """

    kind: PartKind
    name: str
    id: str = ""
    about: str = ""
    event: str = ""
    matcher: str = ""
    command: tuple[str, ...] = ()
    cwd: str = ""
    url: str = ""
    env_names: tuple[str, ...] = ()
    sign_in: str = ""
    enabled: bool = True
    notes: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    key: str = ""
    standing: str = ""
    was: tuple[str, ...] = ()
    since: float = 0.0
    evidence: Evidence = Evidence()


class IgnoredPart(Message, frozen=True, kw_only=True):
    """Something of a plugin that Codex does not use.

    Attributes:
        what: In words: `command`, `agent`, `language server`, …; one of them.
        names: All of them.
        reason: Why, and what Codex does with it.
    """

    what: str
    names: tuple[str, ...]
    reason: str = ""


class Compatibility(Message, frozen=True, kw_only=True):
    """What Codex makes of a plugin.

    Attributes:
        known: Its files are here; else `why` says what keeps them from being known.
        installed: What was read is the installed copy.
        read_from: The directory that was read, "" when none was.
        nothing: Codex can use nothing of it.
        refusal: Why Codex would not install it, in its own words, or "".
        faults: Files of it that cannot be used: path and reason.
    """

    plugin_id: str
    name: str
    marketplace_path: str = ""
    display_name: str = ""
    version: str = ""
    format: str = ""
    source: str = ""
    known: bool = True
    why: str = ""
    installed: bool = False
    read_from: str = ""
    uses: tuple[UsedPart, ...] = ()
    ignores: tuple[IgnoredPart, ...] = ()
    nothing: bool = False
    refusal: str = ""
    faults: tuple[tuple[str, str], ...] = ()

    @property
    def programs(self) -> tuple[UsedPart, ...]:
        """What runs or connects: what has to be agreed to."""
        return tuple(part for part in self.uses if part.id)


class PluginInstallParams(Message, frozen=True, kw_only=True):
    """Install a plugin that was looked at.

    Attributes:
        agreed, declined: Ids of parts. What is declined is switched off in the configuration in
            the same write that enables the plugin; what is neither waits for an answer.
    """

    marketplace_path: str
    plugin_name: str
    agreed: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()


class AppToLink(Message, frozen=True, kw_only=True):
    """An app that wants a sign-in: its page."""

    id: str
    name: str
    url: str = ""


class PluginInstalled(Message, frozen=True, kw_only=True):
    """What came of an install.

    Attributes:
        version: Installed version, `local` for one without.
        before: The version that it took the place of, or None.
        apps_needing_auth: Apps that have to be linked first.
        sign_in: Servers that ask for a sign-in.
        unseen: Parts that the installed copy has and nobody has agreed to.
        nothing: Codex can use nothing of it.
        message: For a toast.
    """

    plugin_id: str
    version: str
    before: str | None = None
    apps_needing_auth: tuple[AppToLink, ...] = ()
    sign_in: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    nothing: bool = False
    message: str = ""


class PluginTrustParams(Message, frozen=True, kw_only=True):
    """Agree to parts of an installed plugin, or not; declined ones are switched off."""

    plugin_id: str
    agreed: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()


class RemovedResult(Message, frozen=True, kw_only=True):
    """What was removed.

    Attributes:
        message: For a toast.
        undo: For `jackfield/undo`, or None.
        lasting: What cannot be taken back, in words, or "".
    """

    message: str
    undo: str | None = None
    lasting: str = ""


class SourceParams(Message, frozen=True, kw_only=True):
    """What somebody has typed as the source of a marketplace."""

    source: str
    ref_name: str | None = None
    sparse_paths: tuple[str, ...] = ()


class SourceRead(Message, frozen=True, kw_only=True):
    """How it is read, before anything is done.

    Attributes:
        kind: `local`, `git`, or "" when it cannot be read.
        place: The folder or URL that is meant.
        fault: Why it cannot be added, or "".
        evidence: Where that is decided.
        found: Of a folder: the marketplace file in it, or "".
        name: Of a folder: the marketplace's name.
        other: The other way to write a git source: ssh for https and the reverse, or "".
        taken: A marketplace of this name is configured from there: its source, or "".
    """

    kind: str = ""
    place: str = ""
    fault: str = ""
    evidence: Evidence = Evidence()
    found: str = ""
    name: str = ""
    other: str = ""
    taken: str = ""


class MarketplaceRemoveParams(Message, frozen=True, kw_only=True):
    """`plugins`: uninstall what is installed from it too."""

    name: str
    plugins: bool = False


class KindState(Message, frozen=True, kw_only=True):
    """A kind of marketplace, and whether it can be shown.

    Attributes:
        kind: As `plugin/list` calls it; `remote` for the global catalog.
        shown: It is asked for and can be shown.
        why: The first condition that fails, or "".
        evidence: Where that is decided.
        count: Marketplaces of it that are listed now.
    """

    kind: str
    label: str
    shown: bool
    why: str = ""
    evidence: Evidence = Evidence()
    count: int = 0


class KindsResult(Message, frozen=True, kw_only=True):
    """Every kind, local first."""

    kinds: tuple[KindState, ...]
