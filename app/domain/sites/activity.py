"""Reading the activity log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import case, func, null, select

from app.domain.shared.author import Origin
from app.domain.shared.money import format_money
from app.domain.shared.paging import Paged
from app.domain.sites import audit
from app.domain.sites.models import AuditEntry
from app.domain.sites.sites import currency_of
from app.extensions import db

PAGE_SIZE = 50
LONGEST_VALUE = 200
AMOUNTS = frozenset(("openingFloat", "countedCash", "maxTransactionAmount", "posMaxTransactionAmount"))  # Minor units.
DOORS = {Origin.API: "through the API", Origin.MCP: "through MCP"}  # The command line is its own actor.


@dataclass(frozen=True, slots=True)
class FieldChange:
    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ActivityEntry:
    """`door` says how it was done where that is not the admin, such as “through MCP”. `lost_by` is the task by which
    products lost the values that the entry is about. There may be megabytes, so they are no differences here."""

    at: datetime
    actor: str
    door: str
    summary: str
    differences: tuple[FieldChange, ...]
    lost_by: str | None


_IS_LOST = AuditEntry.action == audit.LOST_VALUES
_COLUMNS = select(
    AuditEntry.at,
    AuditEntry.actor,
    AuditEntry.origin,
    AuditEntry.summary,
    AuditEntry.after,
    case((_IS_LOST, null()), else_=AuditEntry.before).label("before"),
    case((_IS_LOST, AuditEntry.subject_id), else_=null()).label("lost_by"),
)


def activity(site_id: int, page_number: int) -> Paged[ActivityEntry]:
    """The latest first."""
    of_site = AuditEntry.site_id == site_id
    total = db.session.scalar(select(func.count()).select_from(AuditEntry).where(of_site)) or 0
    rows = db.session.execute(
        _COLUMNS.where(of_site)
        .order_by(AuditEntry.at.desc(), AuditEntry.id.desc())
        .limit(PAGE_SIZE)
        .offset((page_number - 1) * PAGE_SIZE)
    )
    currency = currency_of(site_id)
    entries = [
        ActivityEntry(
            row.at, row.actor, _door(row.origin), row.summary, differences(row.before, row.after, currency), row.lost_by
        )
        for row in rows
    ]
    return Paged(entries, page_number, PAGE_SIZE, total)


def _door(origin: str | None) -> str:
    return DOORS.get(Origin(origin), "") if origin in set(Origin) else ""


def differences(before: Any, after: Any, currency: str = "") -> tuple[FieldChange, ...]:
    """Field by field where both sides are records, else the one value against the other. Amounts of
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
    """For people; a long one is cut."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        text = ", ".join(f"{name}: {written(item)}" for name, item in value.items())
    elif isinstance(value, list):
        text = ", ".join(written(item) for item in value)
    else:
        text = "" if value is None else str(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
