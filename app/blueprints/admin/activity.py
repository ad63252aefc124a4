"""The activity log: filtered, entry by entry, and as a table for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from zoneinfo import ZoneInfo

from flask import Response, render_template, request, stream_with_context
from flask_login import current_user

from app import ports
from app.blueprints.admin import spreadsheet
from app.blueprints.admin.blueprint import bp
from app.domain.shared.problems import Invalid
from app.domain.sites import activity as log
from app.domain.sites import activity_choices as choices
from app.domain.sites.activity import ActivityEntry
from app.domain.sites.activity_filter import ORIGINS, ActivityFilter
from app.domain.sites.sites import time_zone_of
from app.htmx import wants_fragment
from app.permissions import Permission, requires

WRITTEN_AT_ONCE = 500
HEADER = ("Entry", "When", "Who", "Origin", "Action", "Thing", "Id", "What", "Changes")


@bp.get("/activity")
@requires(Permission.MANAGE_SETTINGS)
def activity() -> str:
    site_id, filters = current_user.site_id, ActivityFilter.read(request.args)
    context = {"page": log.activity(site_id, filters), "filters": filters, "time_zone": time_zone_of(site_id)}
    if wants_fragment():
        return render_template("admin/activity/_results.html", **context)
    return render_template("admin/activity/list.html", **context, **_choices(site_id))


@bp.get("/activity/<int(max=2147483647):entry_id>")
@requires(Permission.MANAGE_SETTINGS)
def activity_entry(entry_id: int) -> str:
    site_id = current_user.site_id
    entry = log.entry_of(site_id, entry_id)
    return render_template("admin/activity/entry.html", entry=entry, time_zone=time_zone_of(site_id))


@bp.get("/activity.csv")
@requires(Permission.MANAGE_SETTINGS)
def activity_table() -> Response:
    """Return the entries that the filter finds as a table. Raises Invalid for a filter that cannot be read, so that no
    other one is used in its place."""
    site_id, filters = current_user.site_id, ActivityFilter.read(request.args)
    if filters.problems:
        raise Invalid(filters.problems)
    zone = ZoneInfo(time_zone_of(site_id))
    lines = _lines(log.every_entry(site_id, filters), zone)
    answer = Response(stream_with_context(lines), mimetype="text/csv")
    day = ports.clock().now().astimezone(zone).date()
    answer.headers["Content-Disposition"] = f'attachment; filename="activity-{day.isoformat()}.csv"'
    return answer


def _choices(site_id: int) -> dict[str, list[tuple[str, str]]]:
    return {
        "actions": [("", "Any action"), *((name, choices.label_of(name)) for name in choices.actions(site_id))],
        "things": [("", "Any thing"), *((name, name.replace("_", " ")) for name in choices.things(site_id))],
        "origins": [("", "Any origin"), *((origin.lower(), label) for origin, label in ORIGINS.items())],
    }


def _lines(entries: Iterator[ActivityEntry], zone: ZoneInfo) -> Iterator[str]:
    """Yield the table in pieces: for years of entries it takes megabytes."""
    header = [f"{name} ({zone.key})" if name == "When" else name for name in HEADER]
    yield spreadsheet.BEGINNING + spreadsheet.lines([header])
    while some := [_cells(entry, zone) for entry in islice(entries, WRITTEN_AT_ONCE)]:
        yield spreadsheet.lines(some)


def _cells(entry: ActivityEntry, zone: ZoneInfo) -> tuple[str, ...]:
    at = entry.at.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S")
    changes = "; ".join(
        f"{change.field or 'value'}: {change.before or '–'} → {change.after or '–'}" for change in entry.differences
    )
    return (str(entry.id), at, entry.actor, entry.origin_label, entry.action, *entry.subject, entry.summary, changes)
