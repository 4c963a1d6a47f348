"""A person's other agents: one file of each format, secrets among them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from core.importer.masks import Masks
from core.importer.places import Around
from core.importer.scanning import Scan, scan
from core.mcp.masking import Secrets, is_secret_name, masked_arguments, masked_url
from core.protocol.jackfield_import import ImportRow

MASKS = Masks(is_secret_name, masked_url, masked_arguments, Secrets().mask)
SECRET = "hunter2-hunter2-hunter2"


def put(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    return path


class Desk:
    """A home and a project below a test's folder."""

    def __init__(self, root: Path, platform: str = "linux", **environ: str) -> None:
        self.home, self.project = root / "home", root / "work"
        self.home.mkdir(exist_ok=True)
        self.project.mkdir(exist_ok=True)
        self.around = Around(str(self.home), str(self.project), platform, environ)

    def put(self, path: str, content: Any) -> Path:
        """`~/…` is below the home, anything else below the project."""
        base = self.home if path.startswith("~/") else self.project
        return put(base / path.removeprefix("~/"), content)

    def scan(self, present: dict[str, Any] | None = None, app: str = "") -> Scan:
        return scan(self.around, present or {}, MASKS, app=app)

    def rows(self, present: dict[str, Any] | None = None) -> dict[str, ImportRow]:
        return {plan.row.name: plan.row for plan in self.scan(present).plans}

    def row(self, path: str, key: str, server: dict[str, Any], name: str = "s") -> ImportRow:
        """The row of one server in a file of its own."""
        self.put(path, {key: {name: server}})
        return self.rows()[name]

    def table(self, path: str, key: str, server: dict[str, Any]) -> dict[str, Any]:
        self.put(path, {key: {"s": server}})
        (plan,) = self.scan().plans
        return dict(plan.table)
