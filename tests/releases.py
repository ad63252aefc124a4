"""Releases of the shop in folders of their own, as an upgrade finds them, each perhaps with a migration more."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from app.domain.system.release import newest_revision
from tests.surroundings import ROOT

MIGRATION = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = {revision!r}, {before!r}, None, None
{more}

def upgrade():
    op.add_column("sites", sa.Column({revision!r}, sa.String(20), nullable=True))
"""


class Releases:
    """Folders of releases, of which `current` leads to one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._migrations: list[Path] = sorted((ROOT / "migrations" / "versions").glob("*.py"))
        self._last = newest_revision()

    @property
    def current(self) -> Path:
        return self.folder / "current"

    def add(self, name: str, migration: str | None = None, more: str = "") -> Path:
        release = self.folder / name
        (release / "migrations" / "versions").mkdir(parents=True)
        for same in ("app", "wsgi.py", "worker.py", "pyproject.toml"):
            (release / same).symlink_to(ROOT / same)
        (release / ".venv").symlink_to(sys.prefix)
        for path in (ROOT / "migrations").glob("*.*"):
            (release / "migrations" / path.name).symlink_to(path)
        for path in self._migrations:
            (release / "migrations" / "versions" / path.name).symlink_to(path)
        if migration:
            own = release / "migrations" / "versions" / f"{migration}.py"
            own.write_text(MIGRATION.format(revision=migration, before=self._last, more=more))
            self._migrations, self._last = [*self._migrations, own], migration
        return release

    def switch_to(self, release: Path) -> None:
        fresh = self.folder / "fresh"
        fresh.symlink_to(release)
        os.replace(fresh, self.current)
