"""The database: what it is, how large, and whether its tables are those of this version."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import inspect, text

from app.domain.system.release import known_revisions, newest_revision
from app.extensions import db

NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
SIZES = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "postgresql": "SELECT pg_database_size(current_database())",
}
VERSIONS = {"sqlite": "SELECT sqlite_version()", "postgresql": "SHOW server_version"}


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """The facts of the database. `revision` is the migration that was applied last, None where migrations did not make
    the tables; `newest` is the last that this version has."""

    name: str
    version: str
    size: int
    revision: str | None
    newest: str | None

    @property
    def is_up_to_date(self) -> bool:
        return self.revision == self.newest

    @property
    def is_of_later_release(self) -> bool:
        """Whether the database is of a later release, which upgraded it before this one came back."""
        return self.revision is not None and self.revision not in known_revisions()


def database_facts() -> DatabaseFacts:
    """Return the facts of the database. Raises SQLAlchemyError."""
    dialect = db.session.get_bind().dialect.name
    version = str(db.session.scalar(text(VERSIONS[dialect])))
    size = int(db.session.scalar(text(SIZES[dialect])) or 0)
    return DatabaseFacts(NAMES[dialect], version.partition(" ")[0], size, _revision(), newest_revision())


def _revision() -> str | None:
    if not inspect(db.session.connection()).has_table("alembic_version"):
        return None
    revision = db.session.scalar(text("SELECT version_num FROM alembic_version LIMIT 1"))
    return None if revision is None else str(revision)
