"""The person's own settings: `settings.toml` in our configuration folder. Only ever read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

FILE = "settings.toml"
_KNOWN = frozenset({"theme", "ascii", "cursor", "keys"})
THEMES = ("dusk", "paper", "stark", "terminal")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the file says; None = not set.

    Attributes:
        theme: `dusk`, `paper`, `stark` or `terminal`.
        ascii: Draw with ASCII only.
        cursor: Show the terminal's own cursor on the selected row.
        keys: Keys by the id of their command, as the person wrote them.
        fault: Why (a part of) the file is not used, or "".
    """

    theme: str | None = None
    ascii: bool | None = None
    cursor: bool = False
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    fault: str = ""


def read_settings(folder: Path) -> Settings:
    """A missing file is no fault; a wrong value leaves the others as they are."""
    file = folder / FILE
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        return Settings(fault=f"{file}: {error.strerror or error}")
    import tomli

    try:
        table = tomli.loads(data.decode("utf-8-sig"))
    except (tomli.TOMLDecodeError, UnicodeDecodeError) as error:
        return Settings(fault=f"{file}: {error}")
    return _checked(file, table)


def _checked(file: Path, table: dict[str, Any]) -> Settings:
    faults: list[str] = []

    def flag(name: str) -> bool | None:
        value = table.get(name)
        if value is not None and not isinstance(value, bool):
            faults.append(f"{name} must be true or false")
            return None
        return value

    theme = table.get("theme")
    if theme is not None and theme not in THEMES:
        faults.append(f"theme must be one of {', '.join(THEMES)}")
        theme = None
    ascii_only, cursor = flag("ascii"), flag("cursor")
    keys = _keys(table.get("keys", {}), faults)
    faults += [f"{key} is not known" for key in sorted(table.keys() - _KNOWN)]
    return Settings(
        theme=theme,
        ascii=ascii_only,
        cursor=bool(cursor),
        keys=keys,
        fault=f"{file}: {'; '.join(faults)}" if faults else "",
    )


def _keys(table: object, faults: list[str]) -> dict[str, str]:
    if not isinstance(table, dict):
        faults.append("keys must be a table of command ids")
        return {}
    sound: dict[str, str] = {}
    for name, keys in cast("dict[str, Any]", table).items():
        if isinstance(keys, str):
            sound[name] = keys
        else:
            faults.append(f'keys.{name} must be a text, such as "^g" or "f5"')
    return sound
