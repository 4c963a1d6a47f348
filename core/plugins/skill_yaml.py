"""`agents/openai.yaml` beside a SKILL.md: how the skill is shown, what it needs, who may see it.

One wrong type, and Codex 0.171.0 ignores the whole file, saying nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from msgspec import UNSET

from core.plugins.entries import PRODUCTS
from core.plugins.front_matter import NAME_LIMIT, TEXT_LIMIT
from core.plugins.text import collapse
from core.plugins.yaml_scalars import YamlFault
from core.plugins.yaml_text import Mapping, Node, Scalar, Sequence, parse_yaml
from core.protocol.skills import SkillDependencies, SkillInterface, SkillToolDependency

_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_OURS = frozenset({"CODEX", "codex"})
_TRUTH = frozenset({"true", "false", "True", "False", "TRUE", "FALSE"})


@dataclass(frozen=True)
class SkillExtras:
    """What the file adds. `hidden`: the skill is for other products only."""

    interface: SkillInterface | None = None
    dependencies: SkillDependencies | None = None
    hidden: bool = False


NOTHING = SkillExtras()


class _Wrong(Exception):
    """A type that makes the file count for nothing."""


def read_extras(data: bytes, directory: str) -> SkillExtras:
    """What an `openai.yaml` says. `directory`: of the skill, base of its icons."""
    try:
        node = parse_yaml(data.decode())
        if not isinstance(node, Mapping):
            return NOTHING
        interface = _table(node.get("interface"))
        dependencies = _table(node.get("dependencies"))
        policy = _table(node.get("policy"))
        return SkillExtras(
            _interface(interface, directory) if interface is not None else None,
            _dependencies(dependencies) if dependencies is not None else None,
            _hidden(policy) if policy is not None else False,
        )
    except (UnicodeDecodeError, YamlFault, _Wrong):
        return NOTHING


def _table(node: Node | None) -> Mapping | None:
    if node is None or (isinstance(node, Scalar) and node.is_null):
        return None
    if not isinstance(node, Mapping):
        raise _Wrong
    return node


def _text(table: Mapping, name: str) -> str | None:
    node = table.get(name)
    if node is None or (isinstance(node, Scalar) and node.is_null):
        return None
    if not isinstance(node, Scalar):
        raise _Wrong
    return node.text


def _limited(text: str | None, limit: int) -> str | None:
    text = collapse(text or "")
    return text if text and len(text) <= limit else None


def _interface(table: Mapping, directory: str) -> SkillInterface | None:
    colour = (_text(table, "brand_color") or "").strip()
    interface = SkillInterface(
        display_name=_limited(_text(table, "display_name"), NAME_LIMIT),
        short_description=_limited(_text(table, "short_description"), TEXT_LIMIT),
        icon_small=_icon(_text(table, "icon_small"), directory),
        icon_large=_icon(_text(table, "icon_large"), directory),
        brand_color=colour if _COLOUR.fullmatch(colour) else None,
        default_prompt=_limited(_text(table, "default_prompt"), TEXT_LIMIT),
    )
    return interface if interface != SkillInterface() else None


def _icon(path: str | None, directory: str) -> str | None:
    """Icons lie in `assets`."""
    parts = [part for part in (path or "").split("/") if part != "."]
    if not path or path.startswith("/") or ".." in parts:
        return None
    parts = [part for part in parts if part]
    if parts[:1] != ["assets"]:
        return None
    return "/".join([directory, *parts])


def _dependencies(table: Mapping) -> SkillDependencies | None:
    node = table.get("tools")
    if node is None or (isinstance(node, Scalar) and node.is_null):
        return None
    if not isinstance(node, Sequence):
        raise _Wrong
    tools: list[SkillToolDependency] = []
    for item in node.items:
        if not isinstance(item, Mapping):
            raise _Wrong
        texts = {name: collapse(_text(item, name) or "") for name in _TOOL}
        if texts["type"] and texts["value"]:
            tools.append(SkillToolDependency(**{k: v or UNSET for k, v in texts.items()}))  # type: ignore[arg-type]
    return SkillDependencies(tools=tuple(tools)) if tools else None


_TOOL = ("type", "value", "description", "transport", "command", "url")


def _hidden(table: Mapping) -> bool:
    implicit = table.get("allow_implicit_invocation")
    if implicit is not None and not (
        isinstance(implicit, Scalar)
        and (implicit.is_null or (implicit.plain and implicit.text in _TRUTH))
    ):
        raise _Wrong
    node = table.get("products")
    if node is None or (isinstance(node, Scalar) and node.plain and not node.text):
        return False
    if not isinstance(node, Sequence):
        raise _Wrong
    products: set[str] = set()
    for item in node.items:
        if not isinstance(item, Scalar) or item.text not in PRODUCTS:
            raise _Wrong
        products.add(item.text)
    return bool(products) and products.isdisjoint(_OURS)
