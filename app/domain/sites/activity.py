"""The activity log: written in the transaction of each change, found by a filter that a page's address holds, and
read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Select, and_, case, func, null, or_, select
from sqlalchemy.orm import InstrumentedAttribute, aliased

from app.domain.shared.addresses import day_in, id_in, reversed_days
from app.domain.shared.author import Author, Origin
from app.domain.shared.clock import ends_at, starts_at
from app.domain.shared.money import format_money
from app.domain.shared.problems import Problem
from app.domain.shared.records import containing, existing
from app.domain.sites.models import AuditEntry
from app.domain.sites.sites import currency_of, time_zone_of
from app.extensions import db

COMMAND_LINE = "command line"  # The actor in the activity log where nobody signed in.
LOST_VALUES = "taxonomy.lost_values"  # Its `before` may be megabytes: what the products of one batch lost.
LONGEST_WORDS = 200
BY_ITSELF = "shop"  # The origin of what the shop did by itself.
ORIGINS = {
    Origin.ADMIN.value: "Admin pages",
    Origin.API.value: "API",
    Origin.COMMAND_LINE.value: "Command line",
    Origin.MCP.value: "MCP",
    BY_ITSELF: "The shop itself",
}
PAGE_SIZE = 50
READ_AT_ONCE = 500
WAYS = {Origin.API.value: "through the API", Origin.MCP.value: "through MCP"}  # The command line is its own actor.
LONGEST_VALUE = 200
AMOUNTS = frozenset(("openingFloat", "countedCash", "maxTransactionAmount", "posMaxTransactionAmount"))  # Minor units.
MOST_CHOICES = 300


@dataclass(frozen=True, slots=True)
class ActivityFilter:
    """A filter of the activity log, and a place in it. Days are those of the shop's time zone, both included. `before`
    and `after` are the ids of entries: a page lies before the one or after the other. An invalid value filters nothing
    and is named in `problems`."""

    words: str = ""
    who: str = ""
    action: str = ""
    thing: str = ""
    thing_id: str = ""
    origin: str = ""
    first: date | None = None
    last: date | None = None
    before: int | None = None
    after: int | None = None
    problems: tuple[Problem, ...] = ()

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> ActivityFilter:
        first, last = day_in(parameters.get("from")), day_in(parameters.get("to"))
        origin = next((origin for origin in ORIGINS if origin.lower() == parameters.get("origin", "").lower()), "")
        read = {"from": first, "to": last, "origin": origin, "before": id_in(parameters.get("before"))}
        read["after"] = id_in(parameters.get("after"))
        return cls(
            words=_clean_words(parameters.get("q")),
            who=_clean_words(parameters.get("who")),
            action=_clean_words(parameters.get("action")),
            thing=_clean_words(parameters.get("thing")),
            thing_id=_clean_words(parameters.get("id")),
            origin=origin,
            first=first,
            last=last,
            before=id_in(parameters.get("before")),
            after=id_in(parameters.get("after")),
            problems=(*_filter_problems(parameters, read), *reversed_days(first, last)),
        )

    @property
    def is_filtered(self) -> bool:
        return replace(self, before=None, after=None, problems=()) != ActivityFilter()

    def query(self, **changes: object) -> str:
        """Return the query string of this filter with changes, at the first page unless they name another."""
        changed = replace(self, **{"before": None, "after": None, **changes})  # type: ignore[arg-type]
        parameters = {
            "q": changed.words,
            "who": changed.who,
            "action": changed.action,
            "thing": changed.thing,
            "id": changed.thing_id,
            "origin": changed.origin.lower(),
            "from": changed.first,
            "to": changed.last,
            "before": changed.before,
            "after": changed.after,
        }
        return urlencode({name: str(value) for name, value in parameters.items() if value})


def _filter_problems(parameters: Mapping[str, str], read: Mapping[str, object]) -> Iterator[Problem]:
    labels = {"from": "From", "to": "To", "origin": "Origin", "before": "Page", "after": "Page"}
    for name, value in read.items():
        if not value and (text := parameters.get(name, "")):
            yield Problem("invalid_filter", f"{labels[name]}: “{text[:40]}” cannot be looked for.", f"#/{name}")


def _clean_words(value: str | None) -> str:
    return " ".join((value or "")[:LONGEST_WORDS].replace("\0", "").split())


EVERYTHING = ActivityFilter()


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


def record(
    author: Author,
    action: str,
    subject: tuple[str, str],
    summary: str,
    before: Any = None,
    after: Any = None,
) -> None:
    """Add an entry to the activity log, in the transaction of the change. `subject` is (type, id); `action` is a dotted
    verb such as `product.save`; `before` and `after` hold what changed, and the whole record of content that was added
    or deleted."""
    db.session.add(
        AuditEntry(
            site_id=author.site_id,
            at=author.now(),
            actor=author.name[:100],
            action=action,
            subject_type=subject[0],
            subject_id=subject[1],
            summary=summary[:500],
            before=before,
            after=after,
            origin=author.origin.value if author.origin else None,
        )
    )


def last_action(site_id: int) -> str | None:
    """Return the latest action on the site; None where there was none."""
    newest = select(AuditEntry.action).where(AuditEntry.site_id == site_id)
    return db.session.scalar(newest.order_by(AuditEntry.at.desc(), AuditEntry.id.desc()).limit(1))


def has_entry(site_id: int, action: str) -> bool:
    """Whether the site's activity log has an entry of this action."""
    query = select(AuditEntry.id).where(AuditEntry.site_id == site_id, AuditEntry.action == action).limit(1)
    return db.session.scalar(query) is not None


_IS_LOST = AuditEntry.action == LOST_VALUES
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
    """Return the differences: field by field where a side is a record, else the one value against the other. Fields
    that hold nothing on either side are left out. Amounts of money are formatted where `currency` is given."""
    if not isinstance(before, dict) and not isinstance(after, dict):
        return () if before == after else (FieldChange("", format_value(before), format_value(after)),)
    old = before if isinstance(before, dict) else {}
    new = after if isinstance(after, dict) else {}
    changed = (name for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name))
    texts = (
        FieldChange(name, *(_format_field(name, side.get(name), currency) for side in (old, new))) for name in changed
    )
    return tuple(change for change in texts if change.before or change.after)


def _format_field(name: str, value: Any, currency: str) -> str:
    is_amount = currency and name in AMOUNTS and isinstance(value, int)
    return format_money(value, currency) if is_amount else format_value(value)


def format_value(value: Any) -> str:
    """Format a value for people; a long one is cut."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        text = ", ".join(f"{name}: {format_value(item)}" for name, item in value.items())
    elif isinstance(value, list):
        text = ", ".join(format_value(item) for item in value)
    else:
        text = "" if value is None else str(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


def actions(site_id: int) -> list[str]:
    return _distinct_values(site_id, "action")


def label_of(action: str) -> str:
    """An action in words: `pos_agent.enable` is “POS agent: enable”."""
    thing, _, act = action.replace("_", " ").partition(".")
    thing = " ".join("POS" if word == "pos" else word for word in thing.split(" "))
    thing = thing[:1].upper() + thing[1:]
    return f"{thing}: {act}" if act else thing


def things(site_id: int) -> list[str]:
    return _distinct_values(site_id, "subject_type")


def _distinct_values(site_id: int, name: str) -> list[str]:
    """Return the values of a column by a recursive query: the smallest value, then the smallest above it, and so on."""
    column: InstrumentedAttribute[Any] = getattr(AuditEntry, name)
    found = select(func.min(column).label("value")).where(AuditEntry.site_id == site_id).cte("found", recursive=True)
    entry = aliased(AuditEntry)
    above = select(func.min(getattr(entry, name))).where(entry.site_id == site_id, getattr(entry, name) > found.c.value)
    found = found.union_all(select(above.scalar_subquery()).where(found.c.value.is_not(None)))
    query = select(found.c.value).where(found.c.value.is_not(None)).limit(MOST_CHOICES)
    return list(db.session.scalars(query))
