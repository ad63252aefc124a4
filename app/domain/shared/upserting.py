"""INSERT … ON CONFLICT, which SQLite and PostgreSQL each have in their own dialect."""

from __future__ import annotations

from typing import Any

from sqlalchemy.dialects import postgresql, sqlite

from app.extensions import Base, db


def upsert(model: type[Base]) -> Any:
    """An insert into the model's table that has `on_conflict_do_nothing` and `on_conflict_do_update`."""
    on_postgresql = db.session.get_bind().dialect.name == "postgresql"
    return (postgresql if on_postgresql else sqlite).insert(model)
