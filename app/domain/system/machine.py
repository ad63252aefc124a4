"""The lines about the machine: scheduler, clock, database, disks, folders, backups, certificate."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from app.domain.retention.clock_trust import ClockReading
from app.domain.retention.models import ONLY, StoredReading
from app.domain.system.database import DatabaseFacts, database_facts
from app.domain.system.facts import Health, Line, size_text
from app.domain.system.models import JobRun
from app.domain.system.release import version
from app.extensions import db

SILENT_AFTER = timedelta(minutes=3)  # The scheduler notes the clock every minute.
MB = 1_000_000
BEGIN_SHOP = "Start the shop with `make run`, or the scheduler alone with `flask --app wsgi scheduler`; read its log."

LATER_RELEASE = (
    "A later release upgraded the database, and it cannot be downgraded. Install that release again; only it can "
    "restore a backup made now."
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The configuration that the lines need: the `folders` that the shop writes to, by the name of their contents, the
    free disk space in MB below which an alert is raised, and whether backups and a certificate are checked."""

    folders: Mapping[str, Path]
    least_free_mb: int
    has_backups: bool
    has_certificate: bool


def machine_lines(now: datetime, surroundings: Surroundings, runs: Mapping[str, JobRun]) -> list[Line]:
    """Return the lines about the machine. Raises SQLAlchemyError."""
    reading = db.session.get(StoredReading, ONLY)
    return [
        Line("Shop", f"Version {version()}", Health.PLAIN, f"Python {platform.python_version()}"),
        _scheduler(now, reading),
        _clock(reading),
        database_line(database_facts()),
        *_disks(surroundings),
        *_folders(surroundings, runs.get("measure")),
        _safeguard("Backups", "the newest is from", surroundings.has_backups, "BACKUP_DIR", runs.get("check-backup")),
        _safeguard(
            "Certificate",
            "it ends",
            surroundings.has_certificate,
            "ALERT_CERTIFICATE_HOST",
            runs.get("check-certificate"),
        ),
    ]


def _scheduler(now: datetime, reading: StoredReading | None) -> Line:
    if reading is None:
        return Line("Scheduler", "Never ran", Health.BAD, advice=BEGIN_SHOP)
    is_silent = abs(now - reading.wall_at) > SILENT_AFTER
    word, health = ("Silent", Health.BAD) if is_silent else ("Runs", Health.GOOD)
    return Line("Scheduler", word, health, "last seen", reading.wall_at, BEGIN_SHOP if is_silent else "")


def _clock(reading: StoredReading | None) -> Line:
    if reading is None:
        return Line("Clock", "Not read yet", Health.PLAIN)
    known = ClockReading(reading.wall_at, reading.steady_at, reading.doubted_at)
    if known.is_trusted:
        return Line("Clock", "Trusted", Health.GOOD, "runs steadily; expired records are removed every night")
    advice = "If the clock is right, run `flask --app wsgi purge --all`. If it is wrong, set it with a time service."
    return Line("Clock", "In doubt", Health.WARN, known.description, advice=advice)


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


def _disks(surroundings: Surroundings) -> Iterator[Line]:
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


def _folders(surroundings: Surroundings, run: JobRun | None) -> Iterator[Line]:
    """Yield a line for the pictures, which may be most of a disk, and one for all other folders."""
    measured: Mapping[str, Mapping[str, Any]] = (run.report if run and isinstance(run.report, dict) else None) or {}
    if run is None or not measured:
        yield Line("Pictures (media)", "Not measured yet", Health.PLAIN, "measured every hour by the job “measure”")
        return
    pictures = measured.get("pictures", {})
    files = pictures.get("files")
    counted = "could not be read in time" if files is None else f"{files:,} files"
    detail = f"{counted}, measured"
    yield Line("Pictures (media)", size_text(pictures.get("bytes")), Health.PLAIN, detail, run.finished_at)
    others = [name for name in surroundings.folders if name in measured and name != "pictures"]
    texts = (f"{name} {size_text(measured[name].get('bytes'))}" for name in others)
    yield Line("Other folders", "Measured", Health.PLAIN, ", ".join(texts))


def _safeguard(label: str, words: str, is_set_up: bool, setting: str, run: JobRun | None) -> Line:
    if not is_set_up:
        return Line(label, "Not watched", Health.PLAIN, advice=f"Set `{setting}` to check it every hour.")
    found = run.report if run and isinstance(run.report, dict) else None
    if found is None:
        return Line(label, "Not checked yet", Health.PLAIN)
    at = datetime.fromisoformat(found["at"]) if found.get("at") else None
    if found.get("fault"):
        return Line(label, "Needs attention", Health.BAD, found["fault"], at)
    return Line(label, "Fine", Health.GOOD, words, at)
