"""Reading the activity log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Select, and_, case, null, or_, select

from app.domain.shared.author import Origin
from app.domain.shared.containing import containing
from app.domain.shared.local_days import ends_at, starts_at
from app.domain.shared.money import format_money
from app.domain.shared.records import existing
from app.domain.sites import audit
from app.domain.sites.activity_filter import BY_ITSELF, ORIGINS, ActivityFilter
from app.domain.sites.models import AuditEntry
from app.domain.sites.sites import currency_of, time_zone_of
from app.extensions import db

PAGE_SIZE = 50
READ_AT_ONCE = 500
WAYS = {Origin.API.value: "through the API", Origin.MCP.value: "through MCP"}  # The command line is its own actor.
EVERYTHING = ActivityFilter()
LONGEST_VALUE = 200
AMOUNTS = frozenset(("openingFloat", "countedCash", "maxTransactionAmount", "posMaxTransactionAmount"))  # Minor units.


@dataclass(frozen=True, slots=True)
class FieldChange:
    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ActivityEntry:
    """An entry of the activity log, as pages show it. `origin` is an Origin, None for what the shop did by itself.
    `subject` is the type and id of the thing. `lost_by` is the task by which products lost the values that the entry is
    about; these may be megabytes, so `differences` leaves them out."""

    id: int
    at: datetime
    actor: str
    origin: str | None
    action: str
    subject: tuple[str, str]
    summary: str
    differences: tuple[FieldChange, ...]
    lost_by: str | None

    @property
    def via(self) -> str:
        """The way in which the change came in, such as “through MCP”; empty for the admin's pages."""
        return WAYS.get(self.origin or "", "")

    @property
    def origin_label(self) -> str:
        return ORIGINS.get(self.origin or BY_ITSELF, self.origin or "")


@dataclass(frozen=True, slots=True)
class ActivityPage:
    """A page of the log, the latest first. `newer` is the id of the entry after which the page of newer ones lies,
    `older` that of the entry before which the page of older ones lies; None where there is no such page."""

    items: Sequence[ActivityEntry]
    newer: int | None = None
    older: int | None = None


_IS_LOST = AuditEntry.action == audit.LOST_VALUES
_COLUMNS = select(
    AuditEntry.id,
    AuditEntry.at,
    AuditEntry.actor,
    AuditEntry.origin,
    AuditEntry.action,
    AuditEntry.subject_type,
    AuditEntry.subject_id,
    AuditEntry.summary,
    AuditEntry.after,
    case((_IS_LOST, null()), else_=AuditEntry.before).label("before"),
    case((_IS_LOST, AuditEntry.subject_id), else_=null()).label("lost_by"),
)
_LATEST_FIRST = (AuditEntry.at.desc(), AuditEntry.id.desc())
_OLDEST_FIRST = (AuditEntry.at, AuditEntry.id)


def activity(site_id: int, filters: ActivityFilter = EVERYTHING) -> ActivityPage:
    """Return a page of the activity log, in three statements however far back it lies."""
    conditions = _conditions(site_id, filters)
    if filters.after is not None and (after := _place(site_id, filters.after)):
        return _page_after(site_id, conditions, after)
    before = _place(site_id, filters.before) if filters.before is not None else None
    older = [*conditions, _is_older(*before)] if before else conditions
    entries = _entries(site_id, _COLUMNS.where(*older).order_by(*_LATEST_FIRST).limit(PAGE_SIZE + 1))
    shown = entries[:PAGE_SIZE]
    newer = shown[0].id if before and shown else None
    return ActivityPage(shown, newer, shown[-1].id if len(entries) > PAGE_SIZE else None)


def entry_of(site_id: int, entry_id: int) -> ActivityEntry:
    """Return an entry of the activity log. Raises NotFound."""
    found = _entries(site_id, _COLUMNS.where(AuditEntry.site_id == site_id, AuditEntry.id == entry_id))
    return existing(found[0] if found else None, "Activity entry not found.")


def every_entry(site_id: int, filters: ActivityFilter) -> Iterator[ActivityEntry]:
    """Yield every entry that the filter finds, the latest first, read page by page."""
    conditions, place = _conditions(site_id, filters), None
    while True:
        older = [*conditions, _is_older(*place)] if place else conditions
        entries = _entries(site_id, _COLUMNS.where(*older).order_by(*_LATEST_FIRST).limit(READ_AT_ONCE))
        yield from entries
        if len(entries) < READ_AT_ONCE:
            return
        place = entries[-1].at, entries[-1].id


def _page_after(site_id: int, conditions: list[ColumnElement[bool]], after: tuple[datetime, int]) -> ActivityPage:
    at, id_ = after
    is_newer = and_(AuditEntry.at >= at, or_(AuditEntry.at > at, AuditEntry.id > id_))
    query = _COLUMNS.where(*conditions, is_newer).order_by(*_OLDEST_FIRST).limit(PAGE_SIZE + 1)
    entries = _entries(site_id, query)
    shown = entries[:PAGE_SIZE][::-1]
    newer = shown[0].id if len(entries) > PAGE_SIZE else None
    return ActivityPage(shown, newer, shown[-1].id if shown else None)


def _is_older(at: datetime, id_: int) -> ColumnElement[bool]:
    """Return the condition of entries older than a place in the log; its first part is the one that an index
    answers."""
    return and_(AuditEntry.at <= at, or_(AuditEntry.at < at, AuditEntry.id < id_))


def _place(site_id: int, entry_id: int) -> tuple[datetime, int] | None:
    at = db.session.scalar(select(AuditEntry.at).where(AuditEntry.site_id == site_id, AuditEntry.id == entry_id))
    return (at, entry_id) if at else None


def _conditions(site_id: int, filters: ActivityFilter) -> list[ColumnElement[bool]]:
    zone = ZoneInfo(time_zone_of(site_id))
    exact = {
        AuditEntry.action: filters.action,
        AuditEntry.subject_type: filters.thing,
        AuditEntry.subject_id: filters.thing_id,
    }
    conditions = [AuditEntry.site_id == site_id, *(column == value for column, value in exact.items() if value)]
    conditions += [containing(AuditEntry.actor, filters.who)] if filters.who else []
    conditions += [containing(AuditEntry.summary, filters.words)] if filters.words else []
    conditions += [AuditEntry.at >= starts_at(filters.first, zone)] if filters.first else []
    conditions += [AuditEntry.at < ends_at(filters.last, zone)] if filters.last else []
    if filters.origin:
        is_shop = filters.origin == BY_ITSELF
        conditions.append(AuditEntry.origin.is_(None) if is_shop else AuditEntry.origin == filters.origin)
    return conditions


def _entries(site_id: int, query: Select[Any]) -> list[ActivityEntry]:
    currency = currency_of(site_id)
    return [
        ActivityEntry(
            id=row.id,
            at=row.at,
            actor=row.actor,
            origin=row.origin,
            action=row.action,
            subject=(row.subject_type, row.subject_id),
            summary=row.summary,
            differences=differences(row.before, row.after, currency),
            lost_by=row.lost_by,
        )
        for row in db.session.execute(query)
    ]


def differences(before: Any, after: Any, currency: str = "") -> tuple[FieldChange, ...]:
    """Return the differences: field by field where a side is a record, else the one value against the other. Amounts of
    money are formatted where `currency` is given."""
    if not isinstance(before, dict) and not isinstance(after, dict):
        return () if before == after else (FieldChange("", written(before), written(after)),)
    old = before if isinstance(before, dict) else {}
    new = after if isinstance(after, dict) else {}
    names = dict.fromkeys((*old, *new))
    return tuple(
        FieldChange(name, *(_of_field(name, side.get(name), currency) for side in (old, new)))
        for name in names
        if old.get(name) != new.get(name)
    )


def _of_field(name: str, value: Any, currency: str) -> str:
    is_amount = currency and name in AMOUNTS and isinstance(value, int)
    return format_money(value, currency) if is_amount else written(value)


def written(value: Any) -> str:
    """Format a value for people; a long one is cut."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        text = ", ".join(f"{name}: {written(item)}" for name, item in value.items())
    elif isinstance(value, list):
        text = ", ".join(written(item) for item in value)
    else:
        text = "" if value is None else str(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
