"""Export of a person's data: counted for a page, and whole as JSON, piece by piece."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import func, select

from app.domain.personal_data.holdings import HOLDINGS, Holding
from app.domain.personal_data.people import Person
from app.domain.personal_data.traces import done_by
from app.domain.shared.author import Author
from app.domain.shared.clock import rfc3339
from app.domain.sites import activity
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db

SHOWN = 20  # Of a holding on the page; the export has all.
READ_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Kept:
    """A holding with `number` records, the first of which are shown."""

    holding: Holding
    number: int
    shown: Sequence[Mapping[str, Any]]


def kept_about(person: Person) -> list[Kept]:
    """Return the holdings with records about a person; at most two statements a holding."""
    found = []
    for holding in HOLDINGS:
        number = db.session.scalar(select(func.count()).select_from(holding.model).where(holding.which(person))) or 0
        if number:
            found.append(Kept(holding, number, list(_records(holding, person, SHOWN))))
    return found


def count_done(person: Person) -> int:
    """Return the number of entries of the activity log that name the person as their author."""
    if person.account is None:
        return 0
    return db.session.scalar(select(func.count()).select_from(AuditEntry).where(done_by(person))) or 0


def note_export(author: Author, person: Person) -> None:
    """Record the export in the activity log. Call it in a transaction."""
    subject = str(person.account.user_id) if person.account else "person"
    activity.record(author, "personal_data.export", ("person", subject), "Exported what is kept about a person")


def export(person: Person, at: datetime) -> Iterator[str]:
    """Yield the data of a person as pieces of one JSON document, for people to read: never whole in memory."""
    site = db.session.get_one(Site, person.site_id)
    yield "{\n"
    yield f'  "shop": {_format_json({"name": site.name, "host": site.primary_host})},\n'
    yield f'  "person": {_format_json(person.email or {"order": person.order_id})},\n'
    yield f'  "exportedAt": {_format_json(rfc3339(at))}'
    for holding in HOLDINGS:
        yield from _format_section(holding.name, holding.title, holding.becomes, _records(holding, person))
    if person.account:
        yield from _format_section("activity", "Activity", "The name is replaced by a number.", _activity(person))
    yield "\n}\n"


def _format_section(name: str, title: str, becomes: str, records: Iterator[Mapping[str, Any]]) -> Iterator[str]:
    about = f'"title": {_format_json(title)},\n    "whenErased": {_format_json(becomes)}'
    yield f',\n  {_format_json(name)}: {{\n    {about},\n    "records": ['
    separator = "\n"
    for record in records:
        yield f"{separator}      {_format_json(record)}"
        separator = ",\n"
    yield "]\n  }" if separator == "\n" else "\n    ]\n  }"


def _records(holding: Holding, person: Person, most: int | None = None) -> Iterator[Mapping[str, Any]]:
    query = select(*holding.expressions()).where(holding.which(person))
    key = holding.model.__table__.primary_key.columns
    rows = db.session.execute(query.order_by(*key).limit(most).execution_options(yield_per=READ_AT_ONCE))
    for row in rows:
        yield {_camel(name): value for name, value in zip(holding.columns, row, strict=True)}


def _activity(person: Person) -> Iterator[Mapping[str, Any]]:
    columns = (AuditEntry.at, AuditEntry.action, AuditEntry.subject_type, AuditEntry.subject_id, AuditEntry.summary)
    query = select(*columns).where(done_by(person)).order_by(AuditEntry.id)
    for row in db.session.execute(query.execution_options(yield_per=READ_AT_ONCE)):
        yield {_camel(name): value for name, value in row._mapping.items()}


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


def _format_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_format_text)


def _format_text(value: object) -> str:
    if isinstance(value, datetime):
        return rfc3339(value)
    return value.isoformat() if isinstance(value, date) else str(value)
