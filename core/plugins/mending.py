"""What to do about a fault in a marketplace file or a manifest, in a sentence."""

from __future__ import annotations

import os

from core.plugins.names import BAD_PLUGIN_NAME

_HINTS = {
    "source-path": "write the path from the marketplace's root: `./plugins/NAME`",
    "source-url": "write an https, ssh or file URL, `git@HOST:PATH` or `OWNER/REPO`",
    "source-shape": "write a path, or an object with `source` and its members",
    "source-package": "write the package as npm knows it",
    "plugin-name": f"rename it: {BAD_PLUGIN_NAME}",
    "duplicate": "rename or remove one of the two",
    "product": "add `CODEX` to `policy.products`, or leave `products` out",
    "manifest-missing": "add `.codex-plugin/plugin.json`",
    "manifest-encoding": "save it as UTF-8 without a byte order mark",
    "manifest-symlink": "put the file itself there instead of a link",
    "encoding": "save it as UTF-8 without a byte order mark",
    "marketplace-name": "rename it: only ASCII letters, digits, `_`, and `-` are allowed",
}


def hint(rule: str, subject: str = "") -> str:
    """What to do next, or "".

    Args:
        subject: What the source says, for `source-kind`.
    """
    if rule == "source-kind":
        kind, _, place = subject.partition(" ")
        if kind == "github" and place.count("/") == 1:
            url = f"https://github.com/{place}.git"
            return f'write {{"source": "url", "url": "{url}"}}'
        return "write one of the kinds local, url, git-subdir, npm"
    return _HINTS.get(rule, "")


def link_stub(path: str, data: bytes) -> str:
    """The file that a text stands for which was a symlink before git wrote it out, or "".

    A checkout without symlinks holds their targets as the files' contents.
    """
    text = data[:1024].decode("utf-8", "replace").strip()
    if len(data) > 1024 or "\n" in text or not text or text[0] in "[{\"'":
        return ""
    target = os.path.normpath(os.path.join(os.path.dirname(path), text))
    return target if os.path.isfile(target) else ""
