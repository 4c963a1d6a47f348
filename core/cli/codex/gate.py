"""A configuration that the real one refuses is refused here too, in the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from core.cli.codex.face import Failed, Run

if TYPE_CHECKING:
    from core.config.model import Layer, Loaded

BOOTSTRAP = "failed to load bootstrap configuration"
WHOLE = "failed to load configuration"


async def check_bootstrap(run: Run) -> Loaded:
    """For `mcp` and `plugin marketplace`: files that cannot be read, values that are wrong.

    Raises:
        Failed: The configuration is refused.
    """
    return await _checked(run, BOOTSTRAP, places=False)


async def check_whole(run: Run) -> Loaded:
    """For `plugin add`, `list` and `remove`: the same, with the place of a wrong value.

    Raises:
        Failed: The configuration is refused.
    """
    return await _checked(run, WHOLE, places=True)


async def _checked(run: Run, text: str, *, places: bool) -> Loaded:
    from core.config.strict import refusal

    loaded = await run.loaded(run.deps.cwd)
    found = refusal(loaded)
    if found is None:
        return loaded
    if found.reading:
        raise Failed(text, found.message, *_excerpts(loaded.layers))
    causes = [found.message] if places and found.range is not None else []
    if loaded.bad:
        first = loaded.bad[0]
        key = ".".join(step for step in first.told_merged if isinstance(step, str))
        causes.append(f"{first.fault.merged_message}\nin `{key}`\n")
    else:
        causes.append(found.message)
    raise Failed(text, *causes)


def _excerpts(layers: tuple[Layer, ...] | list[Layer]) -> list[str]:
    """The line that is no TOML, of the first file that is none."""
    from core.config.toml.fault import excerpt

    for layer in layers:
        source = layer.source
        if layer.active and layer.kind != "project" and source is not None and source.fault:
            return [excerpt(source.text, source.fault.offset, source.fault.reason)]
    return []


async def check_own_servers(run: Run) -> None:
    """For `mcp remove`, which reads the servers of the person's own file and nothing else.

    Raises:
        Failed: The file cannot be read, or one of them is refused.
    """
    from core.config.server_entry import check_server
    from core.config.strict import refusal

    loaded = await run.loaded(None)
    home = run.core.config.home
    text = f"failed to load MCP servers from {home.codex_home}"
    found = refusal(loaded)
    if loaded.requirements.broken is not None and found is not None:
        raise Failed(text, found.message)
    source = loaded.user.source
    if source is not None and source.fault is not None:
        from core.config.toml.fault import codex_place_of

        place = codex_place_of(source.text, source.fault.offset)
        first = f"{home.config_file}:{place.line}:{place.column}: {source.fault.reason}"
        raise Failed(text, first, *_excerpts([loaded.user]))
    for name, entry in own_servers(loaded).items():
        if fault := check_server(entry):
            key = ".".join(str(step) for step in (name, *fault.path) if isinstance(step, str))
            raise Failed(text, f"{fault.message}\nin `{key}`\n")


def own_servers(loaded: Loaded) -> dict[str, Any]:
    """`[mcp_servers]` of the person's own file, right or wrong."""
    servers = loaded.user.written.get("mcp_servers")
    return cast("dict[str, Any]", servers) if isinstance(servers, dict) else {}
