"""The front matter of a SKILL.md and the `openai.yaml` beside it.

Files that are plain `name: value` lines are read without the YAML reader, which is slow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.plugins.text import collapse, trim
from core.plugins.yaml_scalars import YamlFault
from core.plugins.yaml_text import BROKEN, NULLS, Mapping, Node, Scalar, Sequence, parse_yaml

NAME_LIMIT = 64
TEXT_LIMIT = 1024
NO_FRONT_MATTER = "missing YAML frontmatter delimited by ---"

_KNOWN = ("name", "description", "metadata")
_LINE = re.compile(
    r"""([A-Za-z][\w-]{0,200}):[ ]+(?:
        "(?P<double>[^"\\\x00-\x1f\x7f-\x9f\u2028\u2029]*)"
      | '(?P<single>[^'\x00-\x1f\x7f-\x9f\u2028\u2029]*)'
      | (?P<plain>[^\W_](?:[^:\#\\\x00-\x1f\x7f-\x9f\u2028\u2029]|:(?=[^\s])|(?<=[^\s])\#)*)
    )[ ]*""",
    re.VERBOSE,
)
_SCALAR = re.compile(
    r"""(\s*(?:-\s+)*(?:"[^"]*"|'[^']*'|[^\s"'#\[\]{},&*!|>%@`-](?:[^:#]|(?<=\S)\#)*?)\s*:\s+)(\S.*)"""
)


class SkillFault(ValueError):
    """Why a SKILL.md is left out, exactly as `skills/list` says it."""


@dataclass(frozen=True)
class FrontMatter:
    """What a SKILL.md says of itself; white space is collapsed. `name` may be ""."""

    name: str
    description: str
    short_description: str | None = None


def read_front_matter(data: bytes) -> FrontMatter:
    """The front matter of a file.

    Raises:
        SkillFault: It is left out.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise SkillFault(_not_utf8(error)) from None
    lines = _between(text)
    values = _quickly(lines)
    if values is None:
        values = _thoroughly("\n".join(lines))
    name = collapse(values.get("name") or "")
    description = collapse(values.get("description") or "")
    short = collapse(values.get("short") or "")
    if len(name) > NAME_LIMIT:
        raise SkillFault(f"invalid name: exceeds maximum length of {NAME_LIMIT} characters")
    if not description:
        raise SkillFault("missing field `description`")
    return FrontMatter(name, description, short or None)


def _not_utf8(error: UnicodeDecodeError) -> str:
    """As Rust tells it."""
    bad = error.object[error.start : error.end]
    if error.end >= len(error.object) and "unexpected end" in error.reason:
        return f"failed to read file: incomplete utf-8 byte sequence from index {error.start}"
    count = len(bad)
    return f"failed to read file: invalid utf-8 sequence of {count} bytes from index {error.start}"


def _between(text: str) -> list[str]:
    """Lines between the two `---`."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if trim(lines[0]) != "---":
        raise SkillFault(NO_FRONT_MATTER)
    for index, line in enumerate(lines[1:], 1):
        if trim(line) == "---":
            if index == 1:
                break
            return lines[1:index]
    raise SkillFault(NO_FRONT_MATTER)


def _quickly(lines: list[str]) -> dict[str, str | None] | None:
    values: dict[str, str | None] = {}
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is None or match[1] in values:
            return None
        plain = match["plain"]
        quoted = match["double"] if match["double"] is not None else match["single"]
        values[match[1]] = quoted if plain is None else None if plain in NULLS else plain
    return None if "metadata" in values else values


def _thoroughly(text: str) -> dict[str, str | None]:
    try:
        return _fields(text)
    except (YamlFault, SkillFault) as error:
        first = error
    try:
        return _fields(_with_quotes(text))
    except (YamlFault, SkillFault):
        pass
    raise first if isinstance(first, SkillFault) else SkillFault(f"invalid YAML: {first}")


def _with_quotes(text: str) -> str:
    """Codex's second try: values on one line that only lack quotes get them."""
    lines = text.split("\n")
    return "\n".join(map(_quote_scalar, lines, [*lines[1:], ""]))


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 0


def _is_whole(value: str) -> bool:
    """Whether a flow list or object ends where the value does."""
    depth = 0
    for index, char in enumerate(value):
        depth += (char in "[{") - (char in "]}")
        if not depth:
            return index == len(value) - 1
    return False


def _quote_scalar(line: str, after: str) -> str:
    match = _SCALAR.fullmatch(line)
    if match is None or _indentation(after) > _indentation(line):
        return line
    value = re.split(r"\s+#", match[2], maxsplit=1)[0].rstrip()
    opens = value[0] in "[{" and not _is_whole(value)
    lacks = ": " in value or ":\t" in value or opens or value[0] in "@`"
    if value[0] in "\"'|>#" or not lacks:
        return line
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'{match[1]}"{quoted}"'


def _fields(text: str) -> dict[str, str | None]:
    """The known members. What has the wrong type before a fault of syntax is told before it."""
    try:
        node = parse_yaml(text)
    except YamlFault as fault:
        if isinstance(fault.partial, Scalar | Sequence | Mapping):
            _members(fault.partial)
        raise
    return _members(node)


def _members(node: Node | None) -> dict[str, str | None]:
    if node is None or (isinstance(node, Scalar) and node.plain and not node.text):
        return {}
    if not isinstance(node, Mapping):
        raise SkillFault(_wrong("", node, "struct SkillFrontmatter"))
    values: dict[str, str | None] = {}
    for key, value in node.pairs:
        if not isinstance(key, Scalar):
            raise SkillFault(_wrong("", key, "field identifier"))
        if key.text not in _KNOWN:
            continue
        if key.text in values:
            raise SkillFault(f"invalid YAML: duplicate field `{key.text}`{_place(node)}")
        values[key.text] = None
        if value is BROKEN:
            break
        if key.text == "metadata":
            values["short"] = _short(value)
        else:
            values[key.text] = _text(key.text, value)
    return values


def _short(metadata: Node) -> str | None:
    if isinstance(metadata, Scalar) and metadata.plain and not metadata.text:
        return None
    if not isinstance(metadata, Mapping):
        raise SkillFault(_wrong("metadata", metadata, "struct SkillFrontmatterMetadata"))
    if repeated := metadata.repeats("short-description"):
        place = f"duplicate field `{repeated}` at {metadata.mark}"
        raise SkillFault(f"invalid YAML: metadata: {place}")
    return _text("metadata.short-description", metadata.get("short-description"))


def _text(path: str, node: Node | None) -> str | None:
    if node is None or node is BROKEN or (isinstance(node, Scalar) and node.is_null):
        return None
    if not isinstance(node, Scalar):
        raise SkillFault(_wrong(path, node, "a string"))
    return node.text


def _wrong(path: str, node: Node, expected: str) -> str:
    match node:
        case Sequence():
            found = "sequence"
        case Mapping():
            found = "map"
        case Scalar() if node.is_null:
            found = "unit value"
        case Scalar():
            from core.plugins.json_text import quoted

            found = f"string {quoted(node.text)}"
    text = f"invalid type: {found}, expected {expected}"
    text += _place(node)
    return f"invalid YAML: {path}: {text}" if path else f"invalid YAML: {text}"


def _place(node: Node) -> str:
    return f" at {node.mark}" if node.mark.line or node.mark.column else ""
