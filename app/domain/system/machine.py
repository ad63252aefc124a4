"""The lines of the System page about the machine: scheduler, clock, database, disks, folders, backups, certificate."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import inspect, text

from app.domain.retention.clock_trust import ClockReading
from app.domain.retention.models import ONLY, StoredReading
from app.domain.system.facts import Health, Line, size_text
from app.domain.system.job_runs import JobRun
from app.domain.system.release import known_revisions, newest_revision, version
from app.extensions import db

SILENT_AFTER = timedelta(minutes=3)  # The scheduler notes the clock every minute.
MB = 1_000_000
BEGIN_SHOP = "Start the shop with `make run`, or the scheduler alone with `flask --app wsgi scheduler`; read its log."
LATER_RELEASE = (
    "A later release upgraded the database, and it cannot be downgraded. Install that release again; only it can "
    "restore a backup made now."
)
DATABASE_NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
DATABASE_SIZES = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "postgresql": "SELECT pg_database_size(current_database())",
}
DATABASE_VERSIONS = {"sqlite": "SELECT sqlite_version()", "postgresql": "SHOW server_version"}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The configuration that the lines need: the `folders` that the shop writes to, by the name of their contents, the
    free disk space in MB below which an alert is raised, whether backups and a certificate are checked, and the place
    of the pictures where that is another machine."""

    folders: Mapping[str, Path]
    least_free_mb: int
    has_backups: bool
    has_certificate: bool
    picture_place: str = ""


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


def machine_lines(now: datetime, surroundings: Surroundings, runs: Mapping[str, JobRun]) -> list[Line]:
    """Return the lines about the machine. Raises SQLAlchemyError."""
    reading = db.session.get(StoredReading, ONLY)
    return [
        Line("Shop", f"Version {version()}", Health.PLAIN, f"Python {platform.python_version()}"),
        _scheduler_line(now, reading),
        _clock_line(reading),
        database_line(database_facts()),
        *_disk_lines(surroundings),
        *_folder_lines(surroundings, runs.get("measure")),
        _safeguard_line(
            "Backups", "the newest is from", surroundings.has_backups, "BACKUP_DIR", runs.get("check-backup")
        ),
        _safeguard_line(
            "Certificate",
            "it ends",
            surroundings.has_certificate,
            "ALERT_CERTIFICATE_HOST",
            runs.get("check-certificate"),
        ),
    ]


def _scheduler_line(now: datetime, reading: StoredReading | None) -> Line:
    if reading is None:
        return Line("Scheduler", "Never ran", Health.BAD, advice=BEGIN_SHOP)
    is_silent = abs(now - reading.wall_at) > SILENT_AFTER
    word, health = ("Silent", Health.BAD) if is_silent else ("Runs", Health.GOOD)
    return Line("Scheduler", word, health, "last seen", reading.wall_at, BEGIN_SHOP if is_silent else "")


def _clock_line(reading: StoredReading | None) -> Line:
    if reading is None:
        return Line("Clock", "Not read yet", Health.PLAIN)
    known = ClockReading(reading.wall_at, reading.steady_at, reading.doubted_at)
    if known.is_trusted:
        return Line("Clock", "Trusted", Health.GOOD, "runs steadily; expired records are removed every night")
    advice = "If the clock is right, run `flask --app wsgi purge --all`. If it is wrong, set it with a time service."
    return Line("Clock", "In doubt", Health.WARN, known.description, advice=advice)


def database_facts() -> DatabaseFacts:
    """Return the facts of the database. Raises SQLAlchemyError."""
    dialect = db.session.get_bind().dialect.name
    version = str(db.session.scalar(text(DATABASE_VERSIONS[dialect])))
    size = int(db.session.scalar(text(DATABASE_SIZES[dialect])) or 0)
    return DatabaseFacts(
        DATABASE_NAMES[dialect], version.partition(" ")[0], size, _stored_revision(), newest_revision()
    )


def _stored_revision() -> str | None:
    if not inspect(db.session.connection()).has_table("alembic_version"):
        return None
    revision = db.session.scalar(text("SELECT version_num FROM alembic_version LIMIT 1"))
    return None if revision is None else str(revision)


def database_line(facts: DatabaseFacts) -> Line:
    detail = f"{facts.name} {facts.version}, {size_text(facts.size)}, migration {facts.revision or 'none'}"
    if facts.revision is None:
        advice = "Its tables were not created by migrations. Use a new database and run `flask --app wsgi db upgrade`."
        return Line("Database", "Unversioned", Health.WARN, detail, advice=advice)
    if facts.is_up_to_date:
        return Line("Database", "Up to date", Health.GOOD, detail)
    if facts.is_of_later_release:
        return Line("Database", "From a later release", Health.WARN, detail, advice=LATER_RELEASE)
    advice = f"This version needs the migration {facts.newest}: run `flask --app wsgi db upgrade`."
    return Line("Database", "Other version", Health.WARN, detail, advice=advice)


def _disk_lines(surroundings: Surroundings) -> Iterator[Line]:
    """Yield a line for each disk, named after the folders on it."""
    by_disk: dict[int, tuple[list[str], Path]] = {}
    for name, folder in surroundings.folders.items():
        if folder.is_dir():
            by_disk.setdefault(folder.stat().st_dev, ([], folder))[0].append(name)
    for names, folder in by_disk.values():
        usage = shutil.disk_usage(folder)
        is_low = usage.free < surroundings.least_free_mb * MB
        detail = f"{size_text(usage.free)} of {size_text(usage.total)} free, with {', '.join(names)}"
        word, health = ("Nearly full", Health.BAD) if is_low else ("OK", Health.GOOD)
        advice = "Free up space or move to a larger disk. Nothing can be saved on a full disk." if is_low else ""
        yield Line("Disk", word, health, detail, advice=advice)


def _folder_lines(surroundings: Surroundings, run: JobRun | None) -> Iterator[Line]:
    """Yield a line for the pictures, which may be most of a disk, and one for all other folders."""
    measured: Mapping[str, Mapping[str, Any]] = (run.report if run and isinstance(run.report, dict) else None) or {}
    if surroundings.picture_place:
        yield Line("Pictures (media)", "Not on this machine", Health.PLAIN, f"in {surroundings.picture_place}")
    elif run is None or not measured:
        yield Line("Pictures (media)", "Not measured yet", Health.PLAIN, "measured every hour by the job “measure”")
    else:
        pictures = measured.get("pictures", {})
        files = pictures.get("files")
        detail = f"{'could not be read in time' if files is None else f'{files:,} files'}, measured"
        yield Line("Pictures (media)", size_text(pictures.get("bytes")), Health.PLAIN, detail, run.finished_at)
    if not measured:
        return
    others = [name for name in surroundings.folders if name in measured and name != "pictures"]
    texts = (f"{name} {size_text(measured[name].get('bytes'))}" for name in others)
    yield Line("Other folders", "Measured", Health.PLAIN, ", ".join(texts))


def _safeguard_line(label: str, words: str, is_set_up: bool, setting: str, run: JobRun | None) -> Line:
    if not is_set_up:
        return Line(label, "Not watched", Health.PLAIN, advice=f"Set `{setting}` to check it every hour.")
    found = run.report if run and isinstance(run.report, dict) else None
    if found is None:
        return Line(label, "Not checked yet", Health.PLAIN)
    at = datetime.fromisoformat(found["at"]) if found.get("at") else None
    if found.get("fault"):
        return Line(label, "Needs attention", Health.BAD, found["fault"], at)
    return Line(label, "Fine", Health.GOOD, words, at)
