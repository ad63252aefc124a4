"""The activity log: filtered, entry by entry, and as a table for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from zoneinfo import ZoneInfo

from flask import Response, render_template, request, url_for
from flask_login import current_user

from app import ports
from app.blueprints.admin import spreadsheet
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.undo import may_undo
from app.domain.appearance.appearances import APPEARANCES
from app.domain.changes import history
from app.domain.changes.history import Change
from app.domain.delivery.deliveries import DELIVERIES
from app.domain.shared.problems import Invalid, NotFound
from app.domain.sites import activity as log
from app.domain.sites.activity import ORIGINS, ActivityEntry, ActivityFilter
from app.domain.sites.sites import time_zone_of
from app.domain.taxonomy.tasks.undo import undoable_tasks
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

ENDED_TASKS = ("taxonomy.assign_level", "taxonomy.assign_value", "taxonomy.undo")
HEADER = ("Entry", "When", "Who", "Origin", "Action", "Thing", "Id", "What", "Changes")


@bp.get("/activity")
@requires(Permission.MANAGE_SETTINGS)
def activity() -> str:
    site_id, filters = current_user.site_id, ActivityFilter.read(request.args)
    page = log.activity(site_id, filters)
    changes = history.changes_of(site_id, [entry.id for entry in page.items])
    context = {"page": page, "changes_by_id": changes, "filters": filters, "time_zone": time_zone_of(site_id)}
    context["undone_at"] = undone_at(site_id, page.items) | undo_pages(changes.values())
    if wants_fragment():
        return render_template("admin/activity/_results.html", **context)
    return render_template("admin/activity/list.html", **context, **_choices(site_id))


@bp.get("/activity/<int(max=2147483647):entry_id>")
@requires(Permission.MANAGE_SETTINGS)
def activity_entry(entry_id: int) -> str:
    site_id = current_user.site_id
    entry = log.entry_of(site_id, entry_id)
    change = _change_of(site_id, entry_id)
    pages = undone_at(site_id, [entry]) | undo_pages([change] if change and change.is_of_search else [])
    context = {"change": change, "undone_at": pages, "time_zone": time_zone_of(site_id)}
    return render_template("admin/activity/entry.html", entry=entry, **context)


def _change_of(site_id: int, entry_id: int) -> Change | None:
    """Return the change of an entry, where it is of a kind that the user may undo."""
    try:
        change = history.change_of(site_id, entry_id)
    except NotFound:
        return None
    return change if may_undo(change.name) else None


def undo_pages(changes: Iterable[Change]) -> dict[int | None, str]:
    """Return the address of the page that shows what undoing a change would do, by the id of its entry, for those that
    can be undone by the user."""
    return {
        change.id: url_for("admin.search_history_entry", entry_id=change.id)
        if change.is_of_search
        else url_for("admin.activity_entry", entry_id=change.id, _anchor="undo")
        for change in changes
        if change.can_be_undone and may_undo(change.name)
    }


def undone_at(site_id: int, entries: Sequence[ActivityEntry]) -> dict[int | None, str]:
    """Return the address of the page that undoes an entry, by its id, for those that are undone by pages of their
    own."""
    found: dict[int | None, str] = {}
    for values, page in ((APPEARANCES, "admin.appearance"), (DELIVERIES, "admin.delivery")):
        if any(entry.subject == values.subject for entry in entries):
            found[values.undoable_entry(site_id)] = url_for(page)
    ended = {entry.id: entry.subject[1] for entry in entries if entry.action in ENDED_TASKS}
    undoable = undoable_tasks(site_id, ended.values()) if ended else set()
    pages = {
        id: url_for("admin.taxonomy_task", task_id=task_id) for id, task_id in ended.items() if task_id in undoable
    }
    return found | pages


@bp.get("/activity.csv")
@requires(Permission.MANAGE_SETTINGS)
def activity_table() -> Response:
    """Return the entries that the filter finds as a table. Raises Invalid for a filter that cannot be read, so that no
    other one is used in its place."""
    site_id, filters = current_user.site_id, ActivityFilter.read(request.args)
    if filters.problems:
        raise Invalid(filters.problems)
    zone = ZoneInfo(time_zone_of(site_id))
    header = [f"{name} ({zone.key})" if name == "When" else name for name in HEADER]
    lines = (_cells(entry, zone) for entry in log.every_entry(site_id, filters))
    day = ports.clock().now().astimezone(zone).date()
    return spreadsheet.download(chain([header], lines), f"activity-{day.isoformat()}.csv")


def _choices(site_id: int) -> dict[str, list[tuple[str, str]]]:
    return {
        "actions": [("", "Any action"), *((name, log.label_of(name)) for name in log.actions(site_id))],
        "things": [("", "Any thing"), *((name, name.replace("_", " ")) for name in log.things(site_id))],
        "origins": [("", "Any origin"), *((origin.lower(), label) for origin, label in ORIGINS.items())],
    }


def _cells(entry: ActivityEntry, zone: ZoneInfo) -> tuple[str, ...]:
    at = entry.at.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S")
    changes = "; ".join(
        f"{change.field or 'value'}: {change.before or '–'} → {change.after or '–'}" for change in entry.differences
    )
    return (str(entry.id), at, entry.actor, entry.origin_label, entry.action, *entry.subject, entry.summary, changes)
