"""One look over a folder: a marketplace, or else a plugin."""

from __future__ import annotations

import os
from threading import Event

from core.plugins.layout import (
    MARKETPLACE_FILES,
    is_directory,
    is_file,
    marketplace_file,
    split_marketplace_path,
)
from core.plugins.manifest_file import find_manifest
from core.plugins.validate.folder import Walk
from core.plugins.validate.marketplace import MarketplaceLook
from core.plugins.validate.plugin import PluginLook
from core.plugins.validate.report import SECONDS, Report, Stopped
from core.protocol.jackfield_validate import ValidateResult

_ELSEWHERE = (
    "marketplace.json",
    "plugins/marketplace.json",
    ".codex-plugin/marketplace.json",
    ".github/plugin/marketplace.json",
)
"""Places where marketplace files have been seen that nobody but others reads."""
_MANIFEST_FOLDERS = (".codex-plugin", ".claude-plugin", ".cursor-plugin")


def validate(
    path: str,
    home: str,
    *,
    seconds: float = SECONDS,
    gone: Event | None = None,
    resting: bool = False,
) -> ValidateResult:
    """Look a marketplace or plugin over. Reads disk, blocks, never raises for what it finds.

    Args:
        path: A folder, or a marketplace file or plugin.json; absolute.
        home: What a leading `~` in a marketplace file stands for.
        seconds: How long it may take; then it says that it ended early.
        gone: Set from outside when nobody waits for the answer any more.
        resting: Let other threads have their turn now and then.
    """
    path = os.path.normpath(path)
    report = Report(seconds=seconds, gone=gone, resting=resting)
    market = _marketplace(path)
    if market is not None:
        return _look_at_marketplace(path, market, home, report)
    root = _plugin_root(path)
    if root is not None:
        return _look_at_plugin(path, root, report)
    _nothing(path, report)
    return _done(path, report, "nothing")


def _marketplace(path: str) -> tuple[str, str, str] | None:
    """File, root and format."""
    if split := split_marketplace_path(path):
        return (path, *split) if os.path.lexists(path) else None
    found = marketplace_file(path)
    return None if found is None else (found[0], path, found[1])


def _plugin_root(path: str) -> str | None:
    if os.path.basename(path) == "plugin.json" and is_file(path):
        folder = os.path.dirname(path)
        return os.path.dirname(folder) if folder.endswith(_MANIFEST_FOLDERS) else folder
    if not is_directory(path):
        return None
    if find_manifest(path) is None and any(is_file(f"{path}/{place}") for place in _ELSEWHERE):
        return None
    parts = ("skills", "hooks", ".mcp.json", ".app.json", "commands", "SKILL.md")
    known = find_manifest(path) is not None
    return path if known or any(os.path.lexists(f"{path}/{part}") for part in parts) else None


def _nothing(path: str, report: Report) -> None:
    if not os.path.lexists(path):
        report.add("no-manifest", path, "there is no such file or folder")
        return
    if not is_directory(path):
        report.add("no-manifest", path, "neither a folder nor a marketplace file nor a plugin.json")
        return
    for place in _ELSEWHERE:
        if is_file(f"{path}/{place}"):
            report.add(
                "no-manifest",
                f"{path}/{place}",
                "no place where Codex or Claude Code looks for a marketplace",
                hint=f"move it to {MARKETPLACE_FILES[0][0]}",
            )
            return
    looked = ", ".join([*(place for place, _ in MARKETPLACE_FILES), ".codex-plugin/plugin.json"])
    report.add("no-manifest", path, f"neither a marketplace nor a plugin; looked for {looked}")


def _look_at_marketplace(
    path: str, found: tuple[str, str, str], home: str, report: Report
) -> ValidateResult:
    file, root, format = found
    look = MarketplaceLook(file, root, format, home, report)
    try:
        Walk(root, report).run()
        look.run()
    except Stopped:
        report.stopped(root)
    market = look.market
    return _done(
        path,
        report,
        "marketplace",
        format=format,
        name=market.name,
        total=market.total,
        listed=len(market.listed),
        useless=look.useless,
    )


def _look_at_plugin(path: str, root: str, report: Report) -> ValidateResult:
    look = PluginLook(root, report)
    try:
        Walk(root, report).run()
        with report.part(root):
            look.run()
    except Stopped:
        report.stopped(root)
    manifest = look.manifest
    return _done(
        path,
        report,
        "plugin",
        format=manifest.format if manifest is not None else "",
        name=manifest.name if manifest is not None else os.path.basename(root),
        total=1,
        useless=int(look.useless),
    )


def _done(
    path: str,
    report: Report,
    kind: str,
    *,
    format: str = "",
    name: str = "",
    total: int = 0,
    listed: int = 0,
    useless: int = 0,
) -> ValidateResult:
    if report.left_off:
        message = f"{report.left_off:,} more findings were left off"
        report.findings.pop()
        report.add("stopped", path, message)
    return ValidateResult(
        path=path,
        kind=kind,
        format=format,
        name=name,
        total=total,
        listed=listed,
        useless=useless,
        findings=report.result(),
        whole=report.whole and not report.left_off,
    )
