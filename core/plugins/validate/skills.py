"""Looks over a plugin's skills."""

from __future__ import annotations

import os
import re
from collections import defaultdict

from core.plugins.front_matter import NAME_LIMIT, TEXT_LIMIT, SkillFault, read_front_matter
from core.plugins.layout import BOM, is_file, read_file
from core.plugins.manifest import Manifest
from core.plugins.skill_yaml import NOTHING, read_extras
from core.plugins.skills import Found, plugin_skills
from core.plugins.validate.report import LARGEST_TEXT, Report, placed
from core.plugins.yaml_scalars import YamlFault
from core.plugins.yaml_text import Mapping, Scalar, parse_yaml

_FORM = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_RULES = (
    ("missing YAML frontmatter", "skill-front-matter"),
    ("missing field `description`", "skill-description"),
    ("invalid name", "skill-name"),
    ("failed to read", "skill-read"),
)


def look_at_skills(manifest: Manifest, report: Report) -> int:
    """Tell what is wrong with the skills; how many Codex can use."""
    found = Found(skills=[], faults=[], seen=set())
    plugin_skills(manifest, found, read=False)
    names: dict[str, list[str]] = defaultdict(list)
    for skill in found.skills:
        report.tick()
        with report.part(skill.path):
            if name := _skill(skill.path, report):
                names[name].append(skill.path)
    for name, paths in names.items():
        if len(paths) > 1:
            first = os.path.relpath(sorted(paths)[0], manifest.root)
            for path in sorted(paths)[1:]:
                message = f"`{name}` is the name of {first} too"
                report.add("skill-duplicate", path, message, place="name")
    used = sum(map(len, names.values()))
    top = f"{manifest.root}/SKILL.md"
    if is_file(top) and top not in found.seen:
        report.add("skill-root", top, "a SKILL.md in the plugin's own folder")
    return used


def _skill(path: str, report: Report) -> str:
    """Look at one; its name, or "" when Codex leaves it out."""
    if not report.readable(path, LARGEST_TEXT):
        return ""
    data = read_file(path)
    folder = os.path.dirname(path)
    _extras(f"{folder}/agents/openai.yaml", folder, report)
    try:
        front = read_front_matter(data)
    except SkillFault as fault:
        _left_out(path, data, str(fault), report)
        return ""
    _strictly(path, data, report)
    name = front.name or os.path.basename(folder)
    if len(front.description) > TEXT_LIMIT:
        message = f"its description has {len(front.description):,} characters"
        report.add("skill-description-long", path, message, place="description", line=2)
    if not _FORM.fullmatch(name):
        message = f"`{name}` is no name of the Agent Skills format"
        report.add("skill-name-form", path, message, place="name", line=_line(data, b"name"))
    return name


def _left_out(path: str, data: bytes, message: str, report: Report) -> None:
    if data.startswith(BOM):
        message = "it begins with a byte order mark"
        report.add("skill-front-matter", path, message, line=1, hint="save it as UTF-8 without one")
        return
    rule = next((rule for start, rule in _RULES if message.startswith(start)), "skill-yaml")
    message, line, column = placed(message)
    # The parser counts from the line after the first `---`.
    line = line + 1 if line else 1
    if rule == "skill-name":
        message, line = f"its name has more than {NAME_LIMIT} characters", _line(data, b"name")
    report.add(rule, path, message, line=line, column=column)


def _strictly(path: str, data: bytes, report: Report) -> None:
    """Front matter that only a second, lenient try could read."""
    lines = data.decode("utf-8", "replace").split("\n")
    ends = [number for number, line in enumerate(lines) if line.strip() == "---"]
    text = "\n".join(line.removesuffix("\r") for line in lines[ends[0] + 1 : ends[1]])
    try:
        parse_yaml(text)
    except YamlFault as fault:
        message, line, column = placed(str(fault))
        report.add(
            "skill-lenient", path, f"strict YAML fails: {message}", line=line + 1, column=column
        )


def _extras(path: str, folder: str, report: Report) -> None:
    if not is_file(path) or not report.readable(path, LARGEST_TEXT):
        return
    data = read_file(path)
    try:
        node = parse_yaml(data.decode())
    except (UnicodeDecodeError, YamlFault) as fault:
        message, line, column = placed(str(fault))
        report.add("skill-extras", path, f"no YAML: {message}", line=line, column=column)
        return
    if not isinstance(node, Mapping):
        report.add("skill-extras", path, "nothing of it counts: it holds no members", line=1)
        return
    shown = node.get("interface")
    if shown is None and isinstance(outside := node.get("display_name"), Scalar):
        message = "`display_name` stands outside `interface`"
        report.add("skill-extras", path, message, line=outside.mark.line + 1, place="display_name")
    named = isinstance(shown, Mapping) and isinstance(shown.get("display_name"), Scalar)
    if named and read_extras(data, folder) == NOTHING:
        report.add("skill-extras", path, "nothing of it counts: a member has the wrong type")


def _line(data: bytes, member: bytes) -> int:
    """The line of a member of the front matter; 1 when it is not there."""
    for number, line in enumerate(data.splitlines()[:200], 1):
        if line.startswith(member + b":"):
            return number
    return 1
