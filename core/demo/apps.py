"""The apps of the demo world: what its directory lists, and the tools of those that are linked."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

PAGES = 9


@dataclass(frozen=True)
class DemoApp:
    """An app; `tools` names those of a linked one, "" where the app is not linked.

    A tool's name ends in `!` when it destroys, in `~` when it writes, in `'` when only the app's
    own page may see it.
    """

    id: str
    name: str
    about: str
    category: str
    tools: str = ""


LINKED = (
    DemoApp(
        "boardroom",
        "Boardroom",
        "Boards, cards and the people who move them.",
        "Planning",
        "list_boards read_board search_cards read_card list_labels read_activity create_card~ "
        "move_card~ comment_card~ assign_card~ label_card~ create_board~ archive_card! "
        "delete_board!",
    ),
    DemoApp(
        "calendar-desk",
        "Calendar Desk",
        "Reads calendars, finds a free hour and books it.",
        "Planning",
        "list_calendars list_events read_event find_free_time list_rooms create_event~ "
        "move_event~ invite_people~ cancel_event!",
    ),
    DemoApp(
        "design-desk",
        "Design Desk",
        "Frames, comments and exports of design files.",
        "Design",
        "list_files read_frame export_frame list_comments comment_frame~",
    ),
    DemoApp(
        "expense-box",
        "Expense Box 🧾",
        "Receipts in, reports out.",
        "Finance",
        "list_reports read_receipt add_receipt~",
    ),
    DemoApp(
        "mailroom",
        "Mailroom",
        "Search and read mail; drafts, but never sends by itself.",
        "Communication",
        "search_mail read_thread draft_reply~",
    ),
    DemoApp(
        "people-finder",
        "People Finder",
        "Who is who, who sits where, who reports to whom.",
        "People",
        "search_people read_profile org_chart",
    ),
    DemoApp(
        "ticket-well",
        "Ticket Well",
        "Support tickets with their whole history.",
        "Support",
        "search_tickets read_ticket list_queues list_macros read_customer list_tags "
        "answer_ticket~ assign_ticket~ close_ticket~ merge_tickets!",
    ),
    DemoApp(
        "doc-shelf",
        "Doc Shelf",
        "The documents of the whole company, searched by meaning.",
        "Knowledge",
        "search_documents read_document list_collections create_document~ render_preview'",
    ),
    DemoApp(
        "translation-bench",
        "翻訳ベンチ",
        "Translation memory, glossaries and review 用語集.",
        "Knowledge",
        "translate_text list_glossaries read_glossary suggest_term~",
    ),
    DemoApp(
        "survey-garden",
        "Survey Garden 🌱",
        "Asks many people one thing and counts what they say.",
        "Research",
        "list_surveys read_results create_survey~ close_survey!",
    ),
    DemoApp(
        "widget-only",
        "Widget Corner",
        "Draws small pages beside the conversation; nothing for the model to call.",
        "Design",
        "render_widget' refresh_widget'",
    ),
)

UNLINKED = (
    DemoApp("ad-ledger", "Ad Ledger", "Budgets and clicks of campaigns.", "Marketing"),
    DemoApp("archive-lift", "Archive Lift", "Brings cold files back up.", "Storage"),
    DemoApp("audio-loom", "Audio Loom", "Cuts, cleans and labels recordings.", "Media"),
    DemoApp("badge-office", "Badge Office", "Visitors, badges, doors.", "People"),
    DemoApp("bug-jar", "Bug Jar 🐞", "Crashes by release, with their first bad commit.", "Code"),
    DemoApp("cargo-board", "Cargo Board", "Where a shipment is and when it lands.", "Logistics"),
    DemoApp("clause-library", "Clause Library", "Contract clauses that were agreed.", "Legal"),
    DemoApp("cloud-meter", "Cloud Meter", "What each service cost, by the hour.", "Finance"),
    DemoApp("code-atlas", "Code Atlas", "Maps of repositories and who knows them.", "Code"),
    DemoApp("course-shed", "Course Shed", "Courses, seats and certificates.", "People"),
    DemoApp("crm-one", "CRM One", "Accounts, deals and the last word in each.", "Sales"),
    DemoApp("customer-voice", "Customer Voice", "What customers wrote, sorted.", "Support"),
    DemoApp("data-lake-view", "Data Lake View", "Tables and their owners.", "Data"),
    DemoApp("data-cleaner", "数据清洗助手", "清洗、去重、规范化表格数据。", "Data"),
    DemoApp("deploy-radio", "Deploy Radio", "Says what goes out, and to where.", "Code"),
    DemoApp("desk-phone", "Desk Phone ☎️", "Calls, voicemail, transcripts.", "Communication"),
    DemoApp("door-plan", "Door Plan", "Floors and desks to book.", "People"),
    DemoApp("energy-diary", "Energy Diary ⚡", "Meters of every site.", "Facilities"),
    DemoApp("feature-dial", "Feature Dial", "Flags by audience.", "Code"),
    DemoApp("field-notes", "Field Notes", "Visits, photos, follow-ups.", "Sales"),
    DemoApp("fleet-view", "Fleet View", "Vehicles, routes, fuel.", "Logistics"),
    DemoApp("forecast-room", "Forecast Room", "Numbers for next quarter.", "Finance"),
    DemoApp("grant-desk", "Grant Desk", "Calls, deadlines, reports.", "Research"),
    DemoApp("hiring-loop", "Hiring Loop", "Candidates and interviews.", "People"),
    DemoApp("image-press", "Image Press", "Resizes and captions pictures.", "Media"),
    DemoApp("incident-bell", "Incident Bell 🔔", "Pages whoever is on call.", "Operations"),
    DemoApp("invoice-mill", "Invoice Mill", "Sends, reminds, reconciles.", "Finance"),
    DemoApp("kanji-notes", "漢字ノート", "Flash cards for a long train ride.", "Education"),
    DemoApp("lab-journal", "Lab Journal", "Protocols and what came of them.", "Research"),
    DemoApp("legal-inbox", "Legal Inbox", "Requests to counsel, in order.", "Legal"),
    DemoApp("log-river", "Log River", "Logs of all services, searched.", "Operations"),
    DemoApp("lunch-list", "Lunch List 🍜", "Who eats what, and where.", "People"),
    DemoApp("map-table", "Map Table", "Places, distances, borders.", "Data"),
    DemoApp("meeting-minutes", "Meeting Minutes", "Decisions and who owes what.", "Planning"),
    DemoApp("metric-tree", "Metric Tree", "Numbers and what they hang from.", "Data"),
    DemoApp("note-quarry", "Note Quarry", "Everything anyone wrote down.", "Knowledge"),
    DemoApp("office-plants", "Office Plants 🪴", "Waters them on paper.", "Facilities"),
    DemoApp("order-book", "Order Book", "Orders from quote to cash.", "Sales"),
    DemoApp("parcel-post", "Parcel Post 📦", "Labels and tracking.", "Logistics"),
    DemoApp("pay-slip", "Pay Slip", "Your own, nobody else's.", "People"),
    DemoApp("photo-well", "Photo Well", "Pictures with their rights.", "Media"),
    DemoApp("policy-index", "Policy Index", "What is allowed, since when.", "Legal"),
    DemoApp("press-room", "Press Room", "Mentions and answers.", "Marketing"),
    DemoApp("price-watch", "Price Watch", "Competitors, every morning.", "Sales"),
    DemoApp("query-bench", "Query Bench", "SQL with a conscience.", "Data"),
    DemoApp("release-train", "Release Train 🚆", "What leaves the station when.", "Code"),
    DemoApp("risk-map", "Risk Map", "Likely times bad.", "Legal"),
    DemoApp("road-plan", "Road Plan", "Themes, bets and dates.", "Planning"),
    DemoApp(
        "the-longest-name",
        "Interdepartmental Correspondence and Acknowledgement Registry (Head Office)",
        "Keeps letters, and letters about letters.",
        "Communication",
    ),
    DemoApp("vendor-gate", "Vendor Gate", "Suppliers and their papers.", "Finance"),
    DemoApp("video-attic", "Video Attic 🎞️", "Talks nobody has time to watch.", "Media"),
)

CHANGING = (
    DemoApp("quota-clock", "Quota Clock", "How much of it is left.", "Operations"),
    DemoApp("site-gauge", "Site Gauge", "How fast the pages are.", "Operations"),
    DemoApp("standup-bot", "Stand-up", "What everybody did.", "Planning"),
    DemoApp("term-bank", "Term Bank", "Words and what they mean here.", "Knowledge"),
)

WORKSPACE = (
    DemoApp("northwind-intranet", "Northwind Intranet", "Only for Northwind.", "Knowledge"),
    DemoApp("northwind-ledger", "Northwind Ledger", "The books.", "Finance"),
)


def directory(reading: int) -> list[list[dict[str, Any]]]:
    """The pages of one reading, counted from 0: each brings something new, changed, gone."""
    apps = sorted((*LINKED, *UNLINKED), key=lambda app: app.id)
    coming = [app for place, app in enumerate(CHANGING) if (reading + place) % len(CHANGING) < 2]
    entries = [_entry(app, reading) for app in sorted((*apps, *coming), key=lambda app: app.id)]
    cuts = [len(entries) * page // PAGES for page in range(PAGES + 1)]
    return [entries[start:end] for start, end in pairwise(cuts)]


def workspace() -> list[dict[str, Any]]:
    """The workspace's own list."""
    return [_entry(app, 0) for app in WORKSPACE]


def _entry(app: DemoApp, reading: int) -> dict[str, Any]:
    about = app.about
    if app.id == "calendar-desk" and reading:
        about = f"{about} Now with rooms (edition {reading + 1})."
    if app.id == "log-river" and reading % 2:
        about = "Logs of all services, searched; kept for 30 days now."
    return {
        "id": app.id,
        "name": app.name,
        "description": about,
        "branding": {
            "category": app.category,
            "developer": "Demo Works",
            "website": f"https://{app.id}.example/",
            "isDiscoverableApp": True,
        },
        "labels": {"demo": "yes"},
    }


def hosted_tools() -> list[dict[str, Any]]:
    """What the hosted server lists: the tools of the linked apps."""
    return [_tool(app, spelled) for app in LINKED for spelled in app.tools.split()]


def metadata(app_id: str) -> dict[str, Any] | None:
    """What the metadata method tells of an app."""
    for app in (*LINKED, *UNLINKED, *CHANGING, *WORKSPACE):
        if app.id == app_id:
            tools = [_tool(app, spelled) for spelled in app.tools.split()]
            return {
                "id": app.id,
                "name": app.name,
                "description": app.about,
                "distribution_channel": "ECOSYSTEM_DIRECTORY",
                "tools": [
                    {
                        "name": tool["name"],
                        "title": tool["title"],
                        "description": tool["description"],
                        "is_read_only": tool["annotations"]["readOnlyHint"],
                    }
                    for tool in tools
                ],
            }
    return None


def _tool(app: DemoApp, spelled: str) -> dict[str, Any]:
    word = spelled.rstrip("!~'")
    title = word.replace("_", " ").capitalize()
    meta: dict[str, Any] = {
        "connector_id": app.id,
        "connector_name": app.name,
        "connector_description": app.about,
    }
    if spelled.endswith("'"):
        meta["ui"] = {"visibility": ["app"]}
    subject = word.split("_", 1)[-1]
    return {
        "name": f"{app.id.replace('-', '_')}_{word}",
        "title": title,
        "description": f"{title} in {app.name}.",
        "inputSchema": {
            "type": "object",
            "properties": {
                subject: {"type": "string", "description": f"Which {subject.replace('_', ' ')}"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
            },
            "required": [subject],
            "additionalProperties": False,
        },
        "annotations": {
            "readOnlyHint": spelled[-1] not in "!~",
            "destructiveHint": spelled.endswith("!"),
            "openWorldHint": False,
        },
        "_meta": meta,
        "demo": {"text": f"{app.name}: {title.lower()} done with {{arguments}}"},
    }
