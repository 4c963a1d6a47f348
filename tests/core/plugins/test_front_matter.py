"""The front matter of SKILL.md files (observed in Codex 0.171.0)."""

from __future__ import annotations

import pytest

from core.plugins.front_matter import FrontMatter, SkillFault, read_front_matter


def of(body: str) -> bytes:
    return f"---\n{body}\n---\ntext".encode()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("name: a\ndescription: d", FrontMatter("a", "d")),
        ("description:  much   room ", FrontMatter("", "much room")),
        ("description: 7\nname: true", FrontMatter("true", "7")),
        ("name: 'a'\ndescription: >\n  long\n  text", FrontMatter("a", "long text")),
        (
            "name: a\ndescription: d\nmetadata:\n  short-description: s",
            FrontMatter("a", "d", "s"),
        ),
        ("name: a\ndescription: d\nother: {x: [1]}", FrontMatter("a", "d")),
    ],
)
def test_front_matter_is_read(body: str, found: FrontMatter):
    assert read_front_matter(of(body)) == found


@pytest.mark.parametrize(
    ("body", "description"),
    [
        ("name: a\ndescription: Use when: it is so", "Use when: it is so"),
        ("name: a\ndescription: [x", "[x"),
        ("name: a\ndescription: @x", "@x"),
        ('name: a\ndescription: [say "hi"] when: asked', '[say "hi"] when: asked'),
    ],
)
def test_values_that_only_lack_quotes_are_read(body: str, description: str):
    assert read_front_matter(of(body)).description == description


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("name: a", "missing field `description`"),
        ("name: a\ndescription: null", "missing field `description`"),
        ("name: a\ndescription: '  '", "missing field `description`"),
        ("name: a\ndescription: d\nname: b", "invalid YAML: duplicate field `name`"),
        (
            f"name: {'x' * 65}\ndescription: d",
            "invalid name: exceeds maximum length of 64 characters",
        ),
        (
            "name: a\ndescription: [x]",
            "invalid YAML: description: invalid type: sequence, expected a string "
            "at line 2 column 14",
        ),
        ("- a", "invalid YAML: invalid type: sequence, expected struct SkillFrontmatter"),
        (
            "just text",
            'invalid YAML: invalid type: string "just text", expected struct SkillFrontmatter',
        ),
        (
            "name: a\ndescription: d\nmetadata: [a]",
            "invalid YAML: metadata: invalid type: sequence, "
            "expected struct SkillFrontmatterMetadata at line 3 column 11",
        ),
        (
            "name: [x]\ndescription: d\nother: {",
            "invalid YAML: name: invalid type: sequence, expected a string at line 1 column 7",
        ),
        ("- a\nname: b", "invalid YAML: invalid type: sequence, expected struct SkillFrontmatter"),
        (
            "\nname: a\nname: b",
            "invalid YAML: duplicate field `name` at line 2 column 1",
        ),
        (
            'name: a\ndescription: "unclosed',
            "invalid YAML: found unexpected end of stream at line 2 column 23, "
            "while scanning a quoted scalar at line 2 column 14",
        ),
    ],
)
def test_a_skill_that_is_left_out_says_why(body: str, fault: str):
    with pytest.raises(SkillFault) as caught:
        read_front_matter(of(body))
    assert str(caught.value) == fault


MISSING = "missing YAML frontmatter delimited by ---"


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", MISSING),
        (b"---\n---\n", MISSING),
        (b"text", MISSING),
        (b"---\nname: a", MISSING),
        (b"\xef\xbb\xbf---\nname: a\ndescription: b\n---", MISSING),
        (
            b"---\nname: \xff\n---\n",
            "failed to read file: invalid utf-8 sequence of 1 bytes from index 10",
        ),
        (
            b"---\nname: a\xe2\x82",
            "failed to read file: incomplete utf-8 byte sequence from index 11",
        ),
    ],
)
def test_a_file_without_readable_front_matter_says_so(data: bytes, fault: str):
    with pytest.raises(SkillFault) as caught:
        read_front_matter(data)
    assert str(caught.value) == fault


def test_windows_line_ends_and_blanks_around_the_marks_are_fine():
    data = b" --- \r\nname: a\r\ndescription: b\r\n---  \r\ntext"
    assert read_front_matter(data) == FrontMatter("a", "b")
