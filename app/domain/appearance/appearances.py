"""The appearance of a site: read, saved, and brought back as it was before. Call the writing functions in a
transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from app.domain.appearance.declaration import Appearance, appearance_problems
from app.domain.appearance.models import StoredAppearance
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, NotFound, Problem, StaleRevision
from app.domain.sites import activity
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db

SUBJECT = ("appearance", "shop")
READABLE = Appearance.schema()


@dataclass(frozen=True, slots=True)
class SavedAppearance:
    """An appearance with its revision, 0 where the site has none of its own; `previous` is what undo brings back."""

    appearance: Appearance
    revision: int = 0
    previous: Appearance | None = None
    updated_at: datetime | None = None
    updated_by: str = ""

    @property
    def can_be_undone(self) -> bool:
        return self.previous is not None and self.previous != self.appearance


def appearance_of(site_id: int) -> Appearance:
    """Return the appearance of a site; that of its theme where it has none of its own."""
    value = db.session.scalar(select(StoredAppearance.value).where(StoredAppearance.site_id == site_id))
    return Appearance() if value is None else read_stored(value)


def saved_appearance(site_id: int) -> SavedAppearance:
    row = db.session.get(StoredAppearance, site_id)
    if row is None:
        return SavedAppearance(Appearance())
    value, previous = read_stored(row.value), read_stored(row.previous)
    return SavedAppearance(value, row.revision, previous, row.updated_at, row.updated_by)


def read_stored(value: Mapping[str, Any]) -> Appearance:
    """Return a stored appearance; what a later release may have written into it is left out."""
    return Appearance.of_json({key: raw for key, raw in value.items() if key in READABLE.fields})


def read_sent(sent: object) -> Appearance:
    """Return an appearance that was sent as JSON, tidied and checked. Raises Invalid with every problem."""
    problems: list[Problem] = []
    fields = READABLE.read(sent, "#", problems)
    if problems:
        raise Invalid(problems)
    appearance = Appearance.of_json(fields).tidied()
    if problems := appearance_problems(appearance):
        raise Invalid(problems)
    return appearance


def save_appearance(author: Author, revision: int | None, wanted: Appearance) -> bool:
    """Save a checked appearance that was read at `revision` (None: at any); return whether anything changed. Raises
    StaleRevision."""
    row = _locked(author.site_id)
    known = Appearance() if row is None else read_stored(row.value)
    current = 0 if row is None else row.revision
    if revision is not None and revision != current:
        who = row.updated_by if row is not None else "Another user"
        raise StaleRevision(f"{who} changed the appearance while you worked on it.", current)
    if wanted == known:
        return False
    _store(author, row, known, wanted)
    _note(author, "appearance.save", "Changed the shop’s appearance", known, wanted)
    return True


def undo_save(author: Author, revision: int) -> None:
    """Bring back the appearance before the last save, which undo brings back in turn. Raises NotFound where there is
    none, and StaleRevision."""
    row = _locked(author.site_id)
    if row is None:
        raise NotFound("There is no change of the appearance to undo.")
    if row.revision != revision:
        raise StaleRevision(f"{row.updated_by} changed the appearance since.", row.revision)
    now, before = read_stored(row.value), read_stored(row.previous)
    _store(author, row, now, before)
    _note(author, "appearance.undo", "Undid the last change of the shop’s appearance", now, before)


def undoable_entry(site_id: int) -> int | None:
    """Return the id of the latest entry about the appearance in the activity log, None where it cannot be undone."""
    if not saved_appearance(site_id).can_be_undone:
        return None
    about = AuditEntry.subject_type == SUBJECT[0], AuditEntry.subject_id == SUBJECT[1]
    latest = select(func.max(AuditEntry.id)).where(AuditEntry.site_id == site_id, *about)
    return db.session.scalar(latest)


def _locked(site_id: int) -> StoredAppearance | None:
    """Return the row of a site, locked with the site itself, so that of two first saves one waits."""
    db.session.execute(select(Site.id).where(Site.id == site_id).with_for_update(key_share=True))
    query = select(StoredAppearance).where(StoredAppearance.site_id == site_id)
    return db.session.scalar(query.with_for_update().execution_options(populate_existing=True))


def _store(author: Author, row: StoredAppearance | None, before: Appearance, wanted: Appearance) -> None:
    if row is None:
        row = StoredAppearance(site_id=author.site_id, revision=0)
        db.session.add(row)
    row.value, row.previous = wanted.as_json(), before.as_json()
    row.files = sorted({*wanted.files, *before.files})
    row.revision += 1
    row.updated_at, row.updated_by = author.now(), author.name[:100]
    db.session.flush()


def _note(author: Author, action: str, summary: str, before: Appearance, after: Appearance) -> None:
    old, new = before.as_json(), after.as_json()
    changed = [key for key in new if old[key] != new[key]]
    labelled = [Appearance.describe({key: side[key] for key in changed}) for side in (old, new)]
    names = {each for each in labelled[0] if labelled[0][each] != labelled[1][each]} or set(labelled[0])
    states = [{name: value for name, value in side.items() if name in names} for side in labelled]
    activity.record(author, action, SUBJECT, summary, states[0], states[1])
