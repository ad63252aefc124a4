"""Add counts to rows that exist, and insert the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import case, inspect

from app.domain.search_statistics.counting.models import CountColumns
from app.domain.search_statistics.counting.sums import SUMMED
from app.domain.shared.upserting import upsert
from app.extensions import db

LATEST = ("last_at", "last_result_count")


def add_counts(model: type[CountColumns], rows: Sequence[dict[str, Any]], also: Sequence[str] = ()) -> None:
    """Add the rows' SUMMED columns, and those of `also`, by primary key. Only a later search replaces LATEST."""
    if not rows:
        return
    statement = upsert(model)  # type: ignore[arg-type]
    coming = statement.excluded
    changed: dict[str, Any] = {name: getattr(model, name) + coming[name] for name in (*SUMMED, *also)}
    if hasattr(model, "last_at"):
        later = (coming.searches > 0) & (coming.last_at >= model.last_at)
        changed |= {name: case((later, coming[name]), else_=getattr(model, name)) for name in LATEST}
    key = [column.name for column in inspect(model).primary_key]
    # One statement, sent for each row: one with the values of many would take longer to write than to run.
    db.session.connection().execute(statement.on_conflict_do_update(index_elements=key, set_=changed), list(rows))
