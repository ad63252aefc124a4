"""Bring the database of an older backup up to date."""

from __future__ import annotations

import os
import subprocess
import sys

from app.backups.errors import BackupError
from app.config import Config
from app.domain.system.release import ROOT


def upgrade(config: Config, database_url: str) -> None:
    """Run the migrations on a database, in a process of its own, since this one is set up for another database. Raises
    BackupError."""
    settings = {
        "DATABASE_URL": database_url,
        "SECRET_KEY": config.secret_key,
        "SHOP_ENV": config.environment,
        "INDEX_DIR": str(config.index_dir),
        "MEDIA_DIR": str(config.media_dir),
        "PAYMENT_PROCESSOR": "none",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "flask", "--app", "wsgi", "db", "upgrade"]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
        raise BackupError(f"The migrations of this version failed on the database of the backup: {last}")
