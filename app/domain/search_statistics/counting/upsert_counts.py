"""Add counts to rows that exist, and insert the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import case, inspect

from app.domain.search_statistics.counting.models import CountColumns
from app.domain.search_statistics.counting.sums import SUMMED
from app.domain.shared.upserting import upsert
from app.extensions import db


def add_counts(model: type[CountColumns], rows: Sequence[dict[str, Any]], also: Sequence[str] = ()) -> None:
    """Add the rows' SUMMED columns, and those of `also`, by primary key. Only a search replaces `last_result_count`,
    and `last_day` with it where the rows have one: batches are counted in the order in which they were recorded."""
    if not rows:
        return
    statement = upsert(model)  # type: ignore[arg-type]
    coming = statement.excluded
    changed: dict[str, Any] = {name: getattr(model, name) + coming[name] for name in (*SUMMED, *also)}
    later = coming.searches > 0
    if hasattr(model, "last_day"):
        later &= coming.last_day >= model.last_day
    latest = [name for name in ("last_day", "last_result_count") if hasattr(model, name)]
    changed |= {name: case((later, coming[name]), else_=getattr(model, name)) for name in latest}
    key = [column.name for column in inspect(model).primary_key]
    # One statement, sent for each row: one with the values of many would take longer to write than to run.
    db.session.connection().execute(statement.on_conflict_do_update(index_elements=key, set_=changed), list(rows))
