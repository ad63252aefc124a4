"""Copy the database of the shop into an empty one of either kind, and compare the two before it counts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, inspect, select
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from app.config import Config
from app.domain.shared.author import Origin
from app.domain.shared.redaction import error_summary
from app.domain.sites.activity import COMMAND_LINE
from app.domain.sites.models import AuditEntry, Site
from app.operations.backups.restoring import hold_installation
from app.operations.database_copy.places import Upgrade, check_unused_still, open_source, open_target
from app.operations.database_copy.tables import (
    CopyRefused,
    all_tables,
    copy_table,
    read_counters,
    sum_of,
    write_counters,
)
from app.operations.instance import is_unfinished
from app.operations.replaced_database import end_rebuilds, forget_backups, release_machines, upgrade_database

MOVED = "The shop moved to another database during this rebuild."
NOT_COPIED = ("alembic_version", "sqlite_sequence")
NoteTable = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Copied:
    """The outcome of a copy. `left_out` are tables that are not the shop's."""

    tables: int
    rows: int
    left_out: tuple[str, ...]


def copy_database(
    config: Config,
    target_url: URL,
    now: datetime,
    is_rehearsal: bool,
    note: NoteTable,
    upgrade: Upgrade = upgrade_database,
) -> Copied:
    """Copy all rows into an empty database, and compare each table. `note` is called with each table and its rows. A
    rehearsal is as of one moment while the shop runs. Raises CopyRefused, and the other database is as empty as
    before unless the message says otherwise; BackupError while the shop runs or a backup is being made."""
    if is_unfinished(config.instance_folder):
        raise CopyRefused("A restore was interrupted: run the same restore again, then the copy.")
    try:
        with (
            nullcontext() if is_rehearsal else hold_installation(config.instance_folder),
            open_source(config, is_rehearsal) as source,
            open_target(config, target_url, upgrade) as target,
        ):
            rows = _copy_rows(source, target, note)
            end_rebuilds(target, MOVED)
            forget_backups(target)
            release_machines(target)
            _record(target, now)
            if not is_rehearsal:
                check_unused_still(source)
            others = set(inspect(source).get_table_names()) - {table.name for table in all_tables()}
            return Copied(len(all_tables()), rows, tuple(sorted(others - set(NOT_COPIED))))
    except DBAPIError as error:
        raise CopyRefused(f"A database failed, so nothing was copied: {error_summary(error)}") from error


def _copy_rows(source: Connection, target: Connection, note: NoteTable) -> int:
    """Copy the rows of all tables and return how many. Raises CopyRefused for a table that is not the same then."""
    rows = 0
    for table in all_tables():
        copied = copy_table(source, target, table)
        if sum_of(target, table) != copied:
            raise CopyRefused(f"{table.name} is not the same in the other database, which is left empty.")
        note(table.name, copied.rows)
        rows += copied.rows
    write_counters(target, read_counters(source))
    return rows


def _record(target: Connection, now: datetime) -> None:
    """Note the copy in the activity log of every site, in the new database alone: the other is as it was."""
    entry = {
        "at": now,
        "actor": COMMAND_LINE,
        "action": "database.copy",
        "subject_type": "database",
        "subject_id": target.dialect.name,
        "summary": f"Copied the database to {'PostgreSQL' if target.dialect.name == 'postgresql' else 'SQLite'}",
        "origin": Origin.COMMAND_LINE.value,
    }
    for site_id in target.scalars(select(Site.id).order_by(Site.id)).all():
        target.execute(insert(AuditEntry).values(site_id=site_id, **entry))
