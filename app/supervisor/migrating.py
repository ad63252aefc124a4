"""The compatibility of releases with a database. Migrations only add what the previous release can live with, unless
they say `NEEDS_A_STOP = True`. Each upgrade notes the previous release beside the database, so that it may come
back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from alembic.migration import MigrationContext
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Engine

from app.domain.system.release import MIGRATIONS, known_revisions, newest_revision

NOTE = "older-releases.json"


def revision_of(engine: Engine) -> str | None:
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def needs_a_stop(revision: str | None) -> bool:
    """Whether a release that runs on this revision could not run on what the pending migrations make of the
    database."""
    return any(getattr(script.module, "NEEDS_A_STOP", False) for script in _pending(revision))


def lives_with(instance: Path, revision: str | None) -> bool:
    """Whether the database's revision is of a later release, which noted this release as compatible."""
    is_later = revision is not None and revision not in known_revisions()
    return is_later and _noted(instance) == {"database": revision, "livesWith": newest_revision()}


def _noted(instance: Path) -> object:
    """Return the note of the last upgrade; None without one, and where a power cut left part of it."""
    try:
        return json.loads((instance / NOTE).read_text())
    except (FileNotFoundError, ValueError):
        return None


def note_upgrade(instance: Path, before: str | None) -> None:
    """Note the release `before` as compatible with the upgraded database, or remove the note where it is not. To be
    called before the migrations."""
    if before in (None, newest_revision()):
        return
    if needs_a_stop(before):
        (instance / NOTE).unlink(missing_ok=True)
    else:
        (instance / NOTE).write_text(json.dumps({"database": newest_revision(), "livesWith": before}))


def _pending(revision: str | None) -> Sequence[Script]:
    return list(ScriptDirectory(str(MIGRATIONS)).iterate_revisions("heads", revision))
