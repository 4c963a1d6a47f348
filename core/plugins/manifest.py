"""Plugin manifests: what they say. All rules as observed in Codex 0.171.0."""

from __future__ import annotations

import os
from typing import Any, cast

import msgspec
from msgspec import UNSET, UnsetType

from core.plugins import json_fast
from core.plugins.json_shape import ANY, TEXT, Items, Maybe, Record, read_exactly
from core.plugins.json_tokens import JsonFault
from core.plugins.layout import os_reason, read_file
from core.plugins.manifest_file import ManifestFault, find_manifest, text_fault
from core.plugins.text import collapse, trim
from core.protocol.plugins import PluginInterface

PROMPT_LIMIT = 512
PROMPTS_KEPT = 3

MANIFEST = Record(
    "RawPluginManifest",
    {
        "name": TEXT,
        "version": Maybe(TEXT),
        "description": Maybe(TEXT),
        "keywords": Items(TEXT),
        "skills": ANY,
        "mcpServers": ANY,
        "apps": Maybe(TEXT),
        "hooks": ANY,
        "interface": Maybe(
            Record(
                "RawPluginManifestInterface",
                {
                    "displayName": Maybe(TEXT),
                    "shortDescription": Maybe(TEXT),
                    "longDescription": Maybe(TEXT),
                    "developerName": Maybe(TEXT),
                    "category": Maybe(TEXT),
                    "capabilities": Items(TEXT),
                    "websiteUrl": Maybe(TEXT),
                    "privacyPolicyUrl": Maybe(TEXT),
                    "termsOfServiceUrl": Maybe(TEXT),
                    "defaultPrompt": ANY,
                    "brandColor": Maybe(TEXT),
                    "composerIcon": Maybe(TEXT),
                    "logo": Maybe(TEXT),
                    "logoDark": Maybe(TEXT),
                    "screenshots": Items(TEXT),
                },
                aliases={
                    "websiteURL": "websiteUrl",
                    "privacyPolicyURL": "privacyPolicyUrl",
                    "termsOfServiceURL": "termsOfServiceUrl",
                },
            )
        ),
        "extensions": ANY,
    },
)
"""What the real reader wants of a classic manifest; the array form follows this order."""


class _RawInterface(msgspec.Struct, rename="camel", gc=False):
    display_name: str | None = None
    short_description: str | None = None
    long_description: str | None = None
    developer_name: str | None = None
    category: str | None = None
    capabilities: tuple[str, ...] = ()
    website_url: str | None | UnsetType = UNSET
    privacy_policy_url: str | None | UnsetType = UNSET
    terms_of_service_url: str | None | UnsetType = UNSET
    website_upper: str | None | UnsetType = msgspec.field(default=UNSET, name="websiteURL")
    privacy_upper: str | None | UnsetType = msgspec.field(default=UNSET, name="privacyPolicyURL")
    terms_upper: str | None | UnsetType = msgspec.field(default=UNSET, name="termsOfServiceURL")
    default_prompt: Any = None
    brand_color: str | None = None
    composer_icon: str | None = None
    logo: str | None = None
    logo_dark: str | None = None
    screenshots: tuple[str, ...] = ()


class _RawManifest(msgspec.Struct, gc=False):
    name: str = ""
    version: str | None = None
    description: str | None = None
    keywords: tuple[str, ...] = ()
    skills: Any = None
    mcp_servers: Any = msgspec.field(default=None, name="mcpServers")
    apps: str | None = None
    hooks: Any = None
    interface: _RawInterface | None = None
    extensions: Any = None
    commands: Any = None


class Manifest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a plugin says of itself.

    Attributes:
        path: Its file; "" for the members of a marketplace entry that stand in for one.
        root: Directory of the plugin, or "" when it is not here.
        format: `codex`, `claude`, `cursor`, `agent-plugins`, `entry`.
        name: As written, else the directory's name.
        skills, mcp_servers, hooks: As written; their shapes are judged where they are used.
        onboarding_skill: Path of a SKILL.md, as written.
        commands: As written; only Claude runs commands, an install makes skills of simple ones.
    """

    path: str
    root: str
    format: str
    name: str
    version: str | None = None
    description: str | None = None
    keywords: tuple[str, ...] = ()
    interface: PluginInterface | None = None
    skills: Any = None
    mcp_servers: Any = None
    apps: str | None = None
    hooks: Any = None
    onboarding_skill: str | None = None
    commands: Any = None

    @property
    def agent_plugins(self) -> bool:
        """Whether it is of the Agent Plugins format, whose parts lie in fixed places."""
        return self.format == "agent-plugins"


def read_manifest(root: str) -> Manifest | ManifestFault | None:
    """The manifest that counts below `root`; None when there is none."""
    found = find_manifest(root)
    if found is None or isinstance(found, ManifestFault):
        return found
    if found.format == "agent-plugins":
        from core.plugins.agent_plugins import read_agent_manifest

        return read_agent_manifest(found.path, root)
    return read_classic(found.path, root, found.format, found.stamp[1])


def read_classic(
    path: str, root: str, format: str, size: int | None = None
) -> Manifest | ManifestFault:
    """A manifest of the classic schema."""
    try:
        data = read_file(path, size)
    except OSError as error:
        return ManifestFault(path, "read", os_reason(error))
    value = json_fast.decode(data)
    raw = None if value is json_fast.SUSPECT else _convert(value)
    if raw is None:
        exact = _exactly(data, path)
        if isinstance(exact, ManifestFault):
            return exact
        raw = _convert(exact)
    if raw is None:
        return ManifestFault(path, "type", "a member has the wrong type")
    return _manifest(raw, path, root, format)


def _exactly(data: bytes, path: str) -> Any:
    if fault := text_fault(data, path):
        return fault
    try:
        return read_exactly(data, MANIFEST)
    except JsonFault as fault:
        rule = "type" if fault.reason.startswith(_MEANING) else "json"
        return ManifestFault(path, rule, fault.reason, fault.line, fault.column)


_MEANING = ("invalid type", "duplicate field", "missing field", "invalid length")


def _convert(value: Any) -> _RawManifest | None:
    if not isinstance(value, dict):
        return None
    try:
        raw = msgspec.convert(value, _RawManifest)
    except msgspec.ValidationError:
        return None
    shown = raw.interface
    if shown is None or (
        (shown.website_url is UNSET or shown.website_upper is UNSET)
        and (shown.privacy_policy_url is UNSET or shown.privacy_upper is UNSET)
        and (shown.terms_of_service_url is UNSET or shown.terms_upper is UNSET)
    ):
        return raw
    return None


def manifest_from(value: Any, path: str, root: str, format: str) -> Manifest | None:
    """A classic manifest from a decoded value, or None when its types are wrong."""
    raw = _convert(value)
    return None if raw is None else _manifest(raw, path, root, format)


def _manifest(raw: _RawManifest, path: str, root: str, format: str) -> Manifest:
    shown = raw.interface
    return Manifest(
        path=path,
        root=root,
        format=format,
        name=raw.name if trim(raw.name) else os.path.basename(root),
        version=(trim(raw.version) or None) if raw.version is not None else None,
        description=raw.description,
        keywords=raw.keywords,
        interface=None if shown is None else _interface(shown, root),
        skills=raw.skills,
        mcp_servers=raw.mcp_servers,
        apps=raw.apps,
        hooks=raw.hooks,
        onboarding_skill=_onboarding(raw.extensions) if raw.extensions is not None else None,
        commands=raw.commands,
    )


def _onboarding(extensions: Any) -> str | None:
    if not isinstance(extensions, dict):
        return None
    ours: Any = cast("dict[str, Any]", extensions).get("com.openai")
    skill: Any = (
        cast("dict[str, Any]", ours).get("onboardingSkill") if isinstance(ours, dict) else 0
    )
    return skill if isinstance(skill, str) else None


_BLANK_INTERFACE = PluginInterface()


def _interface(raw: _RawInterface, root: str) -> PluginInterface | None:
    website = raw.website_url if raw.website_upper is UNSET else raw.website_upper
    privacy = raw.privacy_policy_url if raw.privacy_upper is UNSET else raw.privacy_upper
    terms = raw.terms_of_service_url if raw.terms_upper is UNSET else raw.terms_upper
    shots = [below(shot, root) for shot in raw.screenshots] if raw.screenshots else ()
    interface = PluginInterface(
        display_name=raw.display_name,
        short_description=raw.short_description,
        long_description=raw.long_description,
        developer_name=raw.developer_name,
        category=raw.category,
        capabilities=raw.capabilities,
        website_url=None if website is UNSET else website,
        privacy_policy_url=None if privacy is UNSET else privacy,
        terms_of_service_url=None if terms is UNSET else terms,
        default_prompt=None if raw.default_prompt is None else _prompts(raw.default_prompt),
        brand_color=raw.brand_color,
        composer_icon=below(raw.composer_icon, root) if raw.composer_icon else None,
        logo=below(raw.logo, root) if raw.logo else None,
        logo_dark=below(raw.logo_dark, root) if raw.logo_dark else None,
        screenshots=tuple(shot for shot in shots if shot is not None) if shots else (),
    )
    if interface.display_name is None and interface == _BLANK_INTERFACE:
        return None
    return interface


def _prompts(raw: Any) -> tuple[str, ...] | None:
    written = cast("list[Any]", raw) if isinstance(raw, list) else [raw]
    kept: list[str] = []
    for prompt in written:
        if not isinstance(prompt, str):
            continue
        text = collapse(prompt)
        if text and len(text) <= PROMPT_LIMIT:
            kept.append(text)
            if len(kept) == PROMPTS_KEPT:
                break
    return tuple(kept) or None


def below(path: str | None, root: str) -> str | None:
    """The absolute path of a path-valued member, or None when it may not be one."""
    if path is None or not root or not path.startswith("./"):
        return None
    rest = path[2:]
    if not rest or rest.startswith("/") or "\0" in rest:
        return None
    parts = rest.split("/")
    if ".." in parts:
        return None
    kept = [part for part in parts if part not in ("", ".")]
    return "/".join([root, *kept])
