"""What can be done about a server's table, its tools and its traffic."""

from __future__ import annotations

from core.protocol.rows import ServerRow
from tui.commands import Offer
from tui.views.base import Place

_NO_APPROVAL = ("invalid", "untrusted", "blocked")


def of_table(row: ServerRow, place: Place) -> list[Offer]:
    """Tools, traffic, edit, remove, approval; with the reason where the file is not ours."""
    offers: list[Offer] = []
    if row.tools_total:
        offers.append(Offer("servers.tools", "its tools", about=row.name))
    offers.append(Offer("servers.traffic", about=row.name))
    writing = [Offer("row.edit"), Offer("row.remove")]
    if row.status not in _NO_APPROVAL and row.configured:
        writing.append(Offer("tools.approval", about=row.name))
    if why := place.read_only:
        return [*offers, *(Offer(each.id, why=why) for each in writing)]
    if why := not_ours(row):
        writing[:2] = [Offer("row.edit", why=why), Offer("row.remove", why=why)]
    return [*offers, *writing]


def longer(row: ServerRow, place: Place) -> list[Offer]:
    """More time, while it starts."""
    if row.status != "starting" or not row.limit or not_ours(row) or place.read_only:
        return []
    return [Offer("servers.longer", "raise the limit", about=row.name)]


def not_ours(row: ServerRow) -> str:
    """Why the table of a server cannot be changed here, or ""."""
    if row.plugin_id:
        return f"plugin {row.plugin_id} brings it"
    if not row.configured:
        return "no file names it any more"
    if row.status == "untrusted":
        return "its project folder is not trusted"
    if row.origin.layer not in (None, "user", "project"):
        return f"it is of {row.origin.layer}"
    return ""
