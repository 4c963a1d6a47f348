"""The permission profile of a thread, in the words that sandboxes understand.

Source: observed in Codex 0.171.0. What cannot be expressed exactly is not expressed at all, never
rounded up.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.config.model import Loaded
from core.mcp.sandbox import Permissions, local_permissions
from core.threads.settings import Settings, Wishes, settings_of
from core.threads.thread import Thread

_PROFILES = {
    ":read-only": "readOnly",
    ":workspace": "workspaceWrite",
    ":danger-full-access": "dangerFullAccess",
}
_MODES = {
    "read-only": "readOnly",
    "workspace-write": "workspaceWrite",
    "danger-full-access": "dangerFullAccess",
}
_MANAGED = (
    "allowed_permission_profiles",
    "default_permissions",
    "experimental_network",
    "network_proxy",
    "permissions",
    "remote_sandbox_config",
)
"""Requirements that shape a profile in ways that are not worked out here."""
_KEPT_FROM_WRITING = (".git", ".agents", ".codex", ".aws")


def permissions_of(thread: Thread) -> Permissions | None:
    """What the thread's tools may do now; None when it cannot be expressed exactly.

    A thread that follows the files is given what they say; another one keeps its start.
    """
    settings, loaded = thread.settings, thread.loaded
    if thread.policy.follow_config:
        settings = settings_of(Wishes(), loaded, str(thread.cwd))
    if not _exact(settings, loaded):
        return None
    landlock = loaded.feature("use_legacy_landlock")
    try:
        return local_permissions(profile_of(settings), Path(settings.cwd), legacy_landlock=landlock)
    except (ValueError, UnicodeError):
        return None


def _exact(settings: Settings, loaded: Loaded) -> bool:
    """Nothing has a say in the profile that `settings` does not know of."""
    required = loaded.requirements
    if required.closed or any(key in required.value for key in _MANAGED):
        return False
    allowed: Any = required.value.get("allowed_sandbox_modes")
    kind = settings.sandbox["type"]
    if allowed is not None and kind not in {_MODES.get(mode) for mode in allowed}:
        return False
    chosen: Any = loaded.get("default_permissions")
    return chosen is None or _PROFILES.get(chosen) == kind


def profile_of(settings: Settings) -> Mapping[str, Any]:
    """The permission profile that a sandbox mode stands for."""
    sandbox = settings.sandbox
    if sandbox["type"] == "dangerFullAccess":
        return {"type": "disabled"}
    entries = [_special("root", "read")]
    if sandbox["type"] == "workspaceWrite":
        entries += [_path(root, "write") for root in settings.roots]
        entries += [] if sandbox["excludeSlashTmp"] else [_special("slash_tmp", "write")]
        entries += [] if sandbox["excludeTmpdirEnvVar"] else [_special("tmpdir", "write")]
        entries += [_path(root, "write") for root in sandbox["writableRoots"]]
        entries += [
            {**_path(f"{root.rstrip('/')}/{name}", "read"), "missing_path_behavior": "skip"}
            for name in _KEPT_FROM_WRITING
            for root in settings.roots
        ]
    return {
        "type": "managed",
        "file_system": {"type": "restricted", "entries": entries},
        "network": "enabled" if sandbox["networkAccess"] else "restricted",
    }


def _special(kind: str, access: str) -> dict[str, Any]:
    return {"path": {"type": "special", "value": {"kind": kind}}, "access": access}


def _path(path: str, access: str) -> dict[str, Any]:
    return {"path": {"type": "path", "path": path}, "access": access}
