"""The Undo button in a success message, for changes that the activity of search can undo."""

from __future__ import annotations

from flask import flash
from flask_login import current_user

from app.blueprints.author import current_author
from app.domain.relevance import history


def undoable_entry(kind: str, subject_id: str | int) -> int | None:
    """Return the id of the current user's latest change of a record, None where it cannot be undone."""
    return history.undoable_change(current_user.site_id, kind, str(subject_id), current_author().name)


def flash_undoable(message: str, kind: str, subject_id: str | int, back: str) -> None:
    """Flash a success with an Undo button, which leads back to `back`, a path of the admin."""
    entry_id = undoable_entry(kind, subject_id)
    flash({"text": message, "undo": entry_id, "back": back} if entry_id else message, "good")  # type: ignore[arg-type]
