"""hooks/list: the hooks of configuration layers and of enabled plugins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from core.config.model import Layer, Loaded
from core.config.paths import Home
from core.config.store import ConfigStore
from core.config.strict import refusal
from core.plugins.effective import active_plugins
from core.plugins.hook_list import HookOwner, listed
from core.plugins.hooks import EVENTS, HookSet, HookSets, hooks_value, plugin_hooks, read_hooks_file
from core.protocol.hooks import HookError, HookMetadata, HooksListEntry

_NAMES = frozenset(name for name, _, _ in EVENTS)


class HookLists:
    """Reads hooks; every call reads the disk, none runs anything."""

    def __init__(self, home: Home, configs: ConfigStore, cwd: Path) -> None:
        self._home = home
        self._configs = configs
        self._cwd = cwd

    def entry(self, cwd: str) -> HooksListEntry:
        """The hooks of one directory, called as it was asked for. Blocks."""
        loaded = self._configs.load(self._cwd / cwd)
        if (found := refusal(loaded)) is not None:
            message = f"failed to reload config: {found.message}"
            errors = (HookError(path=cwd, message=message),)
            return HooksListEntry(cwd=cwd, hooks=(), warnings=(), errors=errors)
        return self.of(cwd, loaded)

    def of(self, cwd: str, loaded: Loaded) -> HooksListEntry:
        """The hooks that count under a configuration. Blocks."""
        if not loaded.feature("hooks"):
            return HooksListEntry(cwd=cwd, hooks=(), warnings=(), errors=())
        state = _table(loaded.get("hooks", "state"))
        plugins = [
            (plugin, plugin_hooks(plugin.manifest)) for plugin in active_plugins(self._home, loaded)
        ]
        warnings = [warning for _, sets in plugins for warning in sets.warnings]
        hooks: list[HookMetadata] = []
        for layer in loaded.layers:
            if layer.active and layer.file is not None:
                sets = layer_hooks(layer)
                warnings += sets.warnings
                owner = HookOwner("", layer.kind)
                hooks += listed(sets, owner, state, len(hooks), warnings)
        for plugin, sets in plugins:
            owner = HookOwner(
                plugin.plugin_id,
                "plugin",
                plugin.plugin_id,
                plugin.root,
                plugin.data_root(self._home),
            )
            hooks += listed(sets, owner, state, len(hooks), warnings)
        return HooksListEntry(cwd=cwd, hooks=tuple(hooks), warnings=tuple(warnings), errors=())


def layer_hooks(layer: Layer) -> HookSets:
    """The hooks of a layer: the `hooks.json` beside its file, then its own tables."""
    sets = HookSets()
    if layer.file is None:
        return sets
    path = layer.file.parent / "hooks.json"
    if path.is_file():
        read_hooks_file(str(path), "", sets, "hooks config")
    events = {
        name: value for name, value in _table(layer.value.get("hooks")).items() if name in _NAMES
    }
    inline = hooks_value({"hooks": events}) if events else None
    if inline:
        if sets.sets:
            both = f"{path} and {layer.file}"
            sets.warnings.append(
                f"loading hooks from both {both}; prefer a single representation for this layer"
            )
        sets.sets.append(HookSet(str(layer.file), "", inline))
    return sets


def _table(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
