"""The contents of a database, as the manifest of a backup lists them."""

from __future__ import annotations

from sqlalchemy import Connection, func, inspect, select, text

from app.backups.errors import BackupError
from app.backups.manifest import Contents
from app.domain.sites.models import Domain
from app.extensions import db


def read_contents(connection: Connection) -> Contents:
    """Return the contents of a shop's database. Raises BackupError for a database that is no shop's."""
    tables = set(inspect(connection).get_table_names())
    if "alembic_version" not in tables or Domain.__tablename__ not in tables:
        raise BackupError("The database is not set up yet: there is nothing to back up.")
    revision = connection.scalar(text("SELECT version_num FROM alembic_version"))
    hosts = connection.scalars(select(Domain.host).where(Domain.primary).order_by(Domain.host))
    rows = {
        name: connection.scalar(select(func.count()).select_from(table)) or 0
        for name, table in sorted(db.metadata.tables.items())
        if name in tables
    }
    return Contents(str(revision), tuple(hosts), rows)
