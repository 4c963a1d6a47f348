"""Options that all commands of `codex` take."""

from __future__ import annotations

from core.cli.codex.words import Option

CONFIG = Option(
    key="config",
    long="config",
    short="c",
    value="key=value",
    many=True,
    about="Override a configuration value that would otherwise be loaded from "
    "`~/.codex/config.toml`. Use a dotted path (`foo.bar.baz`) to override nested values. "
    "The `value` portion is parsed as TOML. If it fails to parse as TOML, the raw string is "
    "used as a literal",
    more=(
        'Examples: - `-c model="o3"` - `-c \'sandbox_permissions=["disk-full-read-access"]\'` '
        "- `-c shell_environment_policy.inherit=all`",
    ),
)
ENABLE = Option(
    key="enable",
    long="enable",
    value="FEATURE",
    many=True,
    about="Enable a feature (repeatable). Equivalent to `-c features.<name>=true`",
)
DISABLE = Option(
    key="disable",
    long="disable",
    value="FEATURE",
    many=True,
    about="Disable a feature (repeatable). Equivalent to `-c features.<name>=false`",
)


def json_option(about: str) -> Option:
    """`--json`."""
    return Option(key="json", long="json", about=about)
