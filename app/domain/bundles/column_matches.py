"""What people said that the columns of their tables are about, remembered by the names of the columns: the next file of
the same program is matched like the last one. Call what writes within a transaction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select

from app.domain.bundles.models import ColumnMatch
from app.domain.bundles.table_rows import NOT_IMPORTED
from app.domain.shared.author import Author
from app.domain.shared.records import upsert
from app.domain.shared.text import one_line
from app.extensions import db

MOST_MATCHES = 50  # Of a site; the one that was used longest ago is forgotten first.


@dataclass(frozen=True, slots=True)
class RememberedMatch:
    """What each column of a table was about the last time, and when that was."""

    columns: Sequence[str]
    matched_at: datetime


def header_digest(header: Sequence[str]) -> str:
    """Return what tables with the same columns in the same order have in common, whatever the case of their names."""
    names = [one_line(name).casefold() for name in header]
    return hashlib.sha256(json.dumps(names).encode()).hexdigest()


def remember_match(author: Author, header: Sequence[str], columns: Sequence[str]) -> None:
    """Remember what the columns of a table are about, in place of what was remembered of such tables."""
    row = {"site_id": author.site_id, "header_digest": header_digest(header), "columns": [*columns]}
    statement = upsert(ColumnMatch).values(**row, matched_at=author.now())
    chosen = {"columns": statement.excluded.columns, "matched_at": statement.excluded.matched_at}
    db.session.execute(statement.on_conflict_do_update(index_elements=["site_id", "header_digest"], set_=chosen))
    of_site = ColumnMatch.site_id == author.site_id
    latest_first = ColumnMatch.matched_at.desc(), ColumnMatch.header_digest
    beyond = select(ColumnMatch.header_digest).where(of_site).order_by(*latest_first).offset(MOST_MATCHES)
    digests = db.session.scalars(beyond).all()
    db.session.execute(delete(ColumnMatch).where(of_site, ColumnMatch.header_digest.in_(digests)))


def remembered_match(site_id: int, header: Sequence[str], targets: Collection[str]) -> RememberedMatch | None:
    """Return how such a table was matched the last time; None for one that is new. A column that was about something
    which is no longer among `targets`, such as an attribute that was deleted, is not imported."""
    match = db.session.get(ColumnMatch, (site_id, header_digest(header)))
    if match is None:
        return None
    columns = [target if target in targets else NOT_IMPORTED for target in match.columns]
    return RememberedMatch(columns, match.matched_at)
