"""The commit that a checkout is at, read from its files."""

from __future__ import annotations

import re

from core.plugins.layout import read_file

FULL_ID = re.compile(r"[0-9a-f]{40}", re.ASCII)


def checkout_commit(root: str) -> str:
    """The commit that a checkout is at, or "" when that cannot be told from its files."""
    try:
        head = read_file(f"{root}/.git/HEAD").decode().strip()
        if not head.startswith("ref: "):
            return head
        name = head.removeprefix("ref: ")
        try:
            return read_file(f"{root}/.git/{name}").decode().strip()
        except OSError:
            for line in read_file(f"{root}/.git/packed-refs").decode().splitlines():
                if line.endswith(f" {name}"):
                    return line.partition(" ")[0]
    except (OSError, UnicodeDecodeError):
        pass
    return ""
