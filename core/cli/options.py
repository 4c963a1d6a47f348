"""Options that several verbs take, and what they mean."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import CoreError
from core.ports import Deps


def add_place(parser: argparse.ArgumentParser) -> None:
    """Where to work: `--home`, `--cwd`."""
    parser.add_argument(
        "--home", type=_folder, metavar="DIR", help="the Codex home, instead of $CODEX_HOME"
    )
    parser.add_argument("--cwd", type=_folder, metavar="DIR", help="the workspace, instead of here")


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """What counts more than every file: `-c`, `--enable`, `--disable`."""
    parser.add_argument(
        "-c",
        "--config",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a setting: a dotted key and a TOML value, or a plain string",
    )
    for name in ("enable", "disable"):
        parser.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="FEATURE",
            help=f"the same as -c features.FEATURE={'true' if name == 'enable' else 'false'}",
        )


def deps_of(given: argparse.Namespace) -> Deps:
    """The real world, at the place that was asked for."""
    from core.deps import real_deps

    environ = dict(os.environ)
    if given.home is not None:
        environ["CODEX_HOME"] = str(given.home)
    return real_deps(environ, given.cwd or Path.cwd())


def overrides_of(given: argparse.Namespace) -> dict[str, Any]:
    """The overrides as a tree, later ones winning.

    Raises:
        CoreError: One has no `=` or no key.
    """
    try:
        return override_tree(given.config, given.enable, given.disable)
    except CoreError as error:
        raise CoreError(f"error parsing -c overrides: {error.message}") from None


def override_tree(
    settings: Sequence[str], on: Sequence[str] = (), off: Sequence[str] = ()
) -> dict[str, Any]:
    """`KEY=VALUE` texts and features as a tree, later ones winning.

    Raises:
        CoreError: One has no `=` or no key.
    """
    pairs = [setting(text) for text in settings]
    pairs += [(["features", feature], True) for feature in on]
    pairs += [(["features", feature], False) for feature in off]
    tree: dict[str, Any] = {}
    for path, value in pairs:
        _put(tree, path, value)
    return tree


def setting(text: str) -> tuple[list[str], Any]:
    """`KEY=VALUE`: the steps of its dotted key, and its value. Raises CoreError for none."""
    key, equals, value = text.partition("=")
    if not equals:
        raise CoreError(f"Invalid override (missing '='): {text}")
    if not key.strip():
        raise CoreError(f"Empty key in override: {text}")
    return key.strip().split("."), _value(value.strip())


def _value(text: str) -> Any:
    """The value as TOML; what is no TOML is a string, and may have quotes around it."""
    import tomli

    try:
        return tomli.loads(f"value = {text}")["value"]
    except tomli.TOMLDecodeError:
        return text.strip("\"'")


def _put(tree: dict[str, Any], path: Sequence[str], value: Any) -> None:
    *parents, last = path
    for name in parents:
        if not isinstance(tree.get(name), dict):
            tree[name] = {}
        tree = tree[name]
    tree[last] = value


def _folder(text: str) -> Path:
    path = Path(text).expanduser().absolute()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{path} is no folder")
    return path
