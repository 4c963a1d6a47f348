"""skills/config/write: switches a skill by name or path in `[[skills.config]]`."""

from __future__ import annotations

from typing import Any, cast

from core.config.edit import ConfigEditor
from core.config.edit_plan import Edit
from core.config.store import ConfigStore
from core.errors import InvalidParams
from core.plugins.json_fast import member
from core.plugins.text import trim


def selector(name: str | None, path: str | None) -> dict[str, str]:
    """What a rule names a skill by.

    Raises:
        InvalidParams: Neither or both.
    """
    name = trim(name or "")
    if bool(name) == (path is not None):
        raise InvalidParams("skills/config/write requires exactly one of path or name")
    return {"name": name} if path is None else {"path": path}


def with_rule(rules: Any, chosen: dict[str, str], enabled: bool) -> list[Any]:
    """The rules with one more, or one changed; a skill that is on needs none."""
    kept = list(cast("list[Any]", rules)) if isinstance(rules, list) else []
    index = next((at for at, rule in enumerate(kept) if _names(rule, chosen)), None)
    if enabled:
        if index is not None:
            del kept[index]
    elif index is None:
        kept.append({**chosen, "enabled": False})
    else:
        kept[index] = {**kept[index], "enabled": False}
    return kept


def _names(rule: Any, chosen: dict[str, str]) -> bool:
    return all(member(rule, name) == value for name, value in chosen.items())


async def write_rule(
    store: ConfigStore, editor: ConfigEditor, chosen: dict[str, str], enabled: bool
) -> None:
    """Write the user's rules. Raises ConfigWriteError, InternalError."""
    written = member(store.load(None).user.written.get("skills"), "config")
    rules = with_rule(written, chosen, enabled)
    if rules != written and (rules or written):
        await editor.write([Edit.at("skills", "config", value=rules or None)])
