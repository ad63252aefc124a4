"""The releases that live with a database. Migrations only add what the release before can live with, unless they say
`NEEDS_A_STOP = True`. Each upgrade notes it beside the database, so that the release before may come back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from alembic.migration import MigrationContext
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Engine

from app.release import MIGRATIONS, known_revisions, newest_revision

NOTE = "older-releases.json"


def revision_of(engine: Engine) -> str | None:
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def needs_a_stop(revision: str | None) -> bool:
    """Whether a release that runs on that revision could not live with what the migrations make of it."""
    return any(getattr(script.module, "NEEDS_A_STOP", False) for script in _pending(revision))


def lives_with(instance: Path, revision: str | None) -> bool:
    """Whether that revision is of a later release, which noted that this one lives with it."""
    is_later = revision is not None and revision not in known_revisions()
    return is_later and _noted(instance) == {"database": revision, "livesWith": newest_revision()}


def _noted(instance: Path) -> object:
    """Return the note; None where nothing was noted, and where a power cut left part of it."""
    try:
        return json.loads((instance / NOTE).read_text())
    except (FileNotFoundError, ValueError):
        return None


def note_upgrade(instance: Path, before: str | None) -> None:
    """Note an upgrade. To be called before the migrations, with the revision of then."""
    if before in (None, newest_revision()):
        return
    if needs_a_stop(before):
        (instance / NOTE).unlink(missing_ok=True)
    else:
        (instance / NOTE).write_text(json.dumps({"database": newest_revision(), "livesWith": before}))


def _pending(revision: str | None) -> Sequence[Script]:
    return list(ScriptDirectory(str(MIGRATIONS)).iterate_revisions("heads", revision))
