"""A database that takes the place of another, as a restored or a copied one does: it is brought up to date, and nothing
in it waits for the machines that used the other."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime

from sqlalchemy import Connection, delete, func, update

from app.config import Config
from app.domain.bundles.models import BundleRun
from app.domain.catalogue.models import PictureUpload
from app.domain.machines.models import Machine
from app.domain.search.models import RebuildRun
from app.domain.seo.models import SitemapBuild
from app.domain.system import release
from app.domain.system.backup_runs import BackupRun
from app.domain.work.models import UNFINISHED, State


class UpgradeFailed(Exception):
    """A migration failed; the message is the reason."""


def upgrade_database(config: Config, database_url: str) -> None:
    """Run the migrations on a database, in a process of its own, since this one is set up for another database. Raises
    UpgradeFailed."""
    settings = {
        "DATABASE_URL": database_url,
        "SECRET_KEY": config.secret_key,
        "SHOP_ENV": config.environment,
        "INDEX_DIR": str(config.index_dir),
        "MEDIA_DIR": str(config.media_dir),
        "PAYMENT_PROCESSOR": "none",
        "PYTHONPATH": str(release.ROOT),
    }
    command = [sys.executable, "-m", "flask", "--app", "wsgi", "db", "upgrade"]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UpgradeFailed((done.stderr.strip().splitlines() or ["no reason was given"])[-1])


def end_rebuilds(connection: Connection, reason: str) -> None:
    """End the unfinished rebuilds: their worker is gone, and until its lease has run out no other rebuild could begin.
    Their end is dated at their start, so that the rebuild of an index that is not there need not wait."""
    ended = func.coalesce(RebuildRun.started_at, RebuildRun.created_at)
    unfinished = update(RebuildRun).where(RebuildRun.state.in_(UNFINISHED))
    values = {"state": State.FAILED.value, "error": reason, "finished_at": ended, "lease_until": None}
    connection.execute(unfinished.values(values))


def forget_backups(connection: Connection) -> None:
    """Remove the backups that were being made: the one that is restored is among them, and nobody waits for another."""
    connection.execute(delete(BackupRun).where(BackupRun.state.in_(UNFINISHED)))


def release_machines(connection: Connection) -> None:
    """Note that none of the machines runs, so that this one, which may be another, need not wait for them, and let any
    machine do what theirs had to do: their files came along or are lost."""
    connection.execute(update(Machine).values(seen_at=datetime.fromtimestamp(0, UTC)))
    for model in (PictureUpload, BundleRun, SitemapBuild):
        connection.execute(update(model).where(model.state.in_(UNFINISHED)).values(machine=""))
