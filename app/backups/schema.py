"""The version of this release, and the states of the database that it knows."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from alembic.script import ScriptDirectory

from app.backups.errors import BackupError
from app.config import Config

ROOT = Path(__file__).parents[2]
MIGRATIONS = ROOT / "migrations"


def version() -> str:
    found: str = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    return found


def known_revisions() -> frozenset[str]:
    return frozenset(script.revision for script in ScriptDirectory(str(MIGRATIONS)).walk_revisions())


def head() -> str | None:
    return ScriptDirectory(str(MIGRATIONS)).get_current_head()


def upgrade(config: Config, database_url: str) -> None:
    """Run the migrations on that database, in a process of its own: this one is set up for another. Raises
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
