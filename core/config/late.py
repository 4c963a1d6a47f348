"""What Codex refuses once types are right and it puts the configuration to use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

_PROVIDERS = frozenset(("openai", "ollama", "lmstudio", "amazon-bedrock"))


def late_faults(merged: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Key and message of each, in the real one's words. Only of what Jackfield uses."""
    profile = merged.get("profile")
    if isinstance(profile, str):
        yield (
            "profile",
            f'legacy `profile = "{profile}"` config is no longer supported; use '
            f"`--profile {profile}` with `{profile}.config.toml` instead",
        )
    provider = merged.get("model_provider")
    known = merged.get("model_providers")
    if isinstance(provider, str) and provider not in _PROVIDERS:
        if not isinstance(known, dict) or provider not in known:
            yield "model_provider", f"Model provider `{provider}` not found"
    if merged.get("permissions") and "default_permissions" not in merged:
        yield (
            "permissions",
            "config defines `[permissions]` profiles but does not set `default_permissions`",
        )
    if reason := _identity_provider(merged.get("mcp_enterprise_managed_auth")):
        yield "mcp_enterprise_managed_auth", reason


def _identity_provider(value: Any) -> str:
    if type(value) is not dict:
        return ""
    idp = cast("dict[str, Any]", value).get("idp")
    if type(idp) is not dict:
        return ""
    table = cast("dict[str, Any]", idp)
    secret = table.get("client_secret")
    if secret is not None and not str(secret).strip():
        return "enterprise IdP client_secret must not be empty"
    if "token_endpoint_auth_method" in table and secret is None:
        return "enterprise IdP token_endpoint_auth_method requires client_secret"
    return ""
