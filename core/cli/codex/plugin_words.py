"""The words of `codex plugin`."""

from __future__ import annotations

from core.cli.codex.common_words import CONFIG, DISABLE, ENABLE, json_option
from core.cli.codex.words import Command, Operand, Option

_SELECTOR = "PLUGIN[@MARKETPLACE]"
_EITHER = "Pass either `PLUGIN@MARKETPLACE` or pass `PLUGIN` with `--marketplace MARKETPLACE`."


def _marketplace(about: str) -> Option:
    return Option(
        key="marketplace", long="marketplace", short="m", value="MARKETPLACE", about=about
    )


_NAMED = _marketplace("Marketplace name to use when PLUGIN does not include @MARKETPLACE")


def _plugin(name: str, about: str, verb: str) -> Command:
    return Command(
        path=f"codex plugin {name}",
        about=about,
        more=(_EITHER,),
        operands=(
            Operand(
                key="plugin",
                value=_SELECTOR,
                about=f"Plugin selector to {verb}: "
                "either PLUGIN@MARKETPLACE or PLUGIN with --marketplace",
            ),
        ),
        options=(CONFIG, _NAMED, ENABLE, json_option(f"Output {verb} result as JSON"), DISABLE),
        examples=(
            "Examples:",
            f"  codex plugin {name} sample@debug",
            f"  codex plugin {name} sample --marketplace debug",
        ),
    )


ADD = _plugin("add", "Install a plugin from a configured or remote marketplace", "install")
LIST = Command(
    path="codex plugin list",
    about="List plugins available from configured and remote marketplaces",
    options=(
        CONFIG,
        _marketplace("Only list plugins from this marketplace name"),
        ENABLE,
        json_option("Output plugin list as JSON"),
        Option(
            key="available",
            long="available",
            needs=("json",),
            about="Include uninstalled marketplace plugins in the JSON output",
        ),
        DISABLE,
    ),
    examples=(
        "Examples:",
        "  codex plugin list",
        "  codex plugin list --marketplace debug",
        "  codex plugin list --json",
        "  codex plugin list --available --json",
    ),
)
REMOVE = _plugin("remove", "Uninstall a plugin and remove its local cache", "remove")
MARKETPLACE_ADD = Command(
    path="codex plugin marketplace add",
    about="Add a local or Git marketplace to the configured marketplace sources",
    operands=(
        Operand(
            key="source",
            value="SOURCE",
            about="Marketplace source: a local path, owner/repo[@ref], HTTPS Git URL, "
            "or SSH Git URL",
        ),
    ),
    options=(
        CONFIG,
        Option(
            key="ref",
            long="ref",
            value="REF",
            about="Git ref to fetch for Git marketplace sources",
        ),
        ENABLE,
        Option(
            key="sparse",
            long="sparse",
            value="PATH",
            many=True,
            about="Sparse checkout path for Git marketplace sources. Can be repeated",
        ),
        DISABLE,
        json_option("Output add result as JSON"),
    ),
    examples=(
        "Examples:",
        "  codex plugin marketplace add ./path/to/marketplace",
        "  codex plugin marketplace add owner/repo --ref main",
        "  codex plugin marketplace add https://github.com/owner/repo --sparse plugins/foo",
    ),
)
MARKETPLACE_LIST = Command(
    path="codex plugin marketplace list",
    about="List plugin marketplaces Codex is currently considering and their roots",
    options=(CONFIG, json_option("Output marketplace list as JSON"), ENABLE, DISABLE),
)
MARKETPLACE_UPGRADE = Command(
    path="codex plugin marketplace upgrade",
    about="Refresh configured Git marketplace snapshots",
    more=("Omit MARKETPLACE_NAME to upgrade all configured Git marketplaces.",),
    operands=(
        Operand(
            key="name",
            value="MARKETPLACE_NAME",
            about="Optional configured marketplace name to upgrade. "
            "Omit to upgrade all Git marketplaces",
            required=False,
        ),
    ),
    options=(CONFIG, json_option("Output upgrade result as JSON"), ENABLE, DISABLE),
    examples=(
        "Examples:",
        "  codex plugin marketplace upgrade",
        "  codex plugin marketplace upgrade debug",
    ),
)
MARKETPLACE_REMOVE = Command(
    path="codex plugin marketplace remove",
    about="Remove a configured marketplace source by name",
    operands=(
        Operand(
            key="name", value="MARKETPLACE_NAME", about="Configured marketplace name to remove"
        ),
    ),
    options=(CONFIG, json_option("Output remove result as JSON"), ENABLE, DISABLE),
    examples=("Example:", "  codex plugin marketplace remove debug"),
)
MARKETPLACE = Command(
    path="codex plugin marketplace",
    about="Add, list, upgrade, or remove configured plugin marketplaces",
    options=(CONFIG, ENABLE, DISABLE),
    commands=(MARKETPLACE_ADD, MARKETPLACE_LIST, MARKETPLACE_UPGRADE, MARKETPLACE_REMOVE),
)
PLUGIN = Command(
    path="codex plugin",
    about="Manage Codex plugins",
    options=(CONFIG, ENABLE, DISABLE),
    commands=(ADD, LIST, MARKETPLACE, REMOVE),
)
