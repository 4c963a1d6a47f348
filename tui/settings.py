"""The person's own settings: `settings.toml` in our configuration folder. Only ever read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = "settings.toml"
THEMES = ("dusk", "paper", "stark", "terminal")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the file says; None = not set.

    Attributes:
        theme: `dusk`, `paper`, `stark` or `terminal`.
        ascii: Draw with ASCII only.
        fault: Why (a part of) the file is not used, or "".
    """

    theme: str | None = None
    ascii: bool | None = None
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
    theme, ascii_only = table.get("theme"), table.get("ascii")
    if theme is not None and theme not in THEMES:
        faults.append(f"theme must be one of {', '.join(THEMES)}")
        theme = None
    if ascii_only is not None and not isinstance(ascii_only, bool):
        faults.append("ascii must be true or false")
        ascii_only = None
    faults += [f"{key} is not known" for key in sorted(table.keys() - {"theme", "ascii"})]
    fault = f"{file}: {'; '.join(faults)}" if faults else ""
    return Settings(theme=theme, ascii=ascii_only, fault=fault)
