"""Values that a site has one of, such as its appearance: read, saved at a revision, and brought back as each was before
its last save. Call the writing functions in a transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from sqlalchemy import ForeignKey, String, func, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, NotFound, Problem, StaleRevision
from app.domain.shared.record_fields import DeclaredRecord
from app.domain.shared.records import JsonValue, UtcDateTime
from app.domain.sites import activity
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db

V = TypeVar("V", bound=DeclaredRecord)
Described = tuple[Mapping[str, Any], Mapping[str, Any]]


class SiteValueColumns:
    """The columns of a site's value, as JSON by its declaration. `previous` is the one before the last save."""

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    value: Mapped[dict[str, Any]] = mapped_column(JsonValue)
    previous: Mapped[dict[str, Any]] = mapped_column(JsonValue)
    revision: Mapped[int]
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_by: Mapped[str] = mapped_column(String(100))


@dataclass(frozen=True, slots=True)
class SavedValue(Generic[V]):
    """A value with its revision, 0 where the site has none of its own; `previous` is what undo brings back."""

    value: V
    revision: int = 0
    previous: V | None = None
    updated_at: datetime | None = None
    updated_by: str = ""

    @property
    def can_be_undone(self) -> bool:
        return self.previous is not None and self.previous != self.value


@dataclass(frozen=True, slots=True)
class SiteValues(Generic[V]):
    """The values of one kind, in the table of `record`. `default` is the one of a site that has none of its own, `noun`
    the subject of its entries in the activity log, and `about` what those say was changed. `problems` finds what is
    wrong with a value, `describe` says how two of a site differ, and `further_columns` are those that `record` has
    besides, of a value and the one before."""

    record: type[Any]
    default: V
    noun: str
    about: str
    problems: Callable[[V], list[Problem]]
    describe: Callable[[int, V, V], Described]
    further_columns: Callable[[V, V], Mapping[str, Any]] = lambda value, before: {}

    @property
    def subject(self) -> tuple[str, str]:
        """What its entries in the activity log are about."""
        return self.noun, "shop"

    def of(self, site_id: int) -> V:
        """Return the value of a site."""
        value = db.session.scalar(select(self.record.value).where(self.record.site_id == site_id))
        return self.default if value is None else self._read(value)

    def saved(self, site_id: int) -> SavedValue[V]:
        """Return the value of a site, and what undo would bring back."""
        row = db.session.get(self.record, site_id)
        if row is None:
            return SavedValue(self.default)
        value, previous = self._read(row.value), self._read(row.previous)
        return SavedValue(value, row.revision, previous, row.updated_at, row.updated_by)

    def read_sent(self, sent: object) -> V:
        """Return a value that was sent as JSON, tidied and checked. Raises Invalid with every problem."""
        problems: list[Problem] = []
        fields = self.default.schema().read(sent, "#", problems)
        if problems:
            raise Invalid(problems)
        value = self.default.of_json(fields).tidied()
        if problems := self.problems(value):
            raise Invalid(problems)
        return value

    def save(self, author: Author, revision: int | None, wanted: V) -> bool:
        """Save a checked value that was read at `revision` (None: at any); return whether anything changed. Raises
        StaleRevision."""
        row = self._locked(author.site_id)
        known = self.default if row is None else self._read(row.value)
        current = 0 if row is None else row.revision
        if revision is not None and revision != current:
            who = row.updated_by if row is not None else "Another user"
            raise StaleRevision(f"{who} changed the {self.noun} while you worked on it.", current)
        if wanted == known:
            return False
        self._store(author, row, known, wanted)
        self._note(author, "save", f"Changed {self.about}", known, wanted)
        return True

    def undo(self, author: Author, revision: int) -> None:
        """Bring back the value before the last save, which undo brings back in turn. Raises NotFound where there is
        none, and StaleRevision."""
        row = self._locked(author.site_id)
        if row is None:
            raise NotFound(f"There is no change of the {self.noun} to undo.")
        if row.revision != revision:
            raise StaleRevision(f"{row.updated_by} changed the {self.noun} since.", row.revision)
        now, before = self._read(row.value), self._read(row.previous)
        self._store(author, row, now, before)
        self._note(author, "undo", f"Undid the last change of {self.about}", now, before)

    def undoable_entry(self, site_id: int) -> int | None:
        """Return the id of the latest entry about the value in the activity log, None where it cannot be undone."""
        if not self.saved(site_id).can_be_undone:
            return None
        kind, subject_id = self.subject
        about = AuditEntry.site_id == site_id, AuditEntry.subject_type == kind, AuditEntry.subject_id == subject_id
        return db.session.scalar(select(func.max(AuditEntry.id)).where(*about))

    def _read(self, value: Mapping[str, Any]) -> V:
        """Return what is stored; what a later release may have written into it is left out."""
        known = self.default.schema().fields
        return self.default.of_json({key: raw for key, raw in value.items() if key in known})

    def _locked(self, site_id: int) -> Any:
        """Return the row of a site or None, locked with the site itself, so that of two first saves one waits."""
        db.session.execute(select(Site.id).where(Site.id == site_id).with_for_update(key_share=True))
        query = select(self.record).where(self.record.site_id == site_id)
        return db.session.scalar(query.with_for_update().execution_options(populate_existing=True))

    def _store(self, author: Author, row: Any, before: V, wanted: V) -> None:
        if row is None:
            row = self.record(site_id=author.site_id, revision=0)
            db.session.add(row)
        row.value, row.previous = wanted.as_json(), before.as_json()
        row.revision += 1
        row.updated_at, row.updated_by = author.now(), author.name[:100]
        for name, value in self.further_columns(wanted, before).items():
            setattr(row, name, value)
        db.session.flush()

    def _note(self, author: Author, action: str, summary: str, before: V, after: V) -> None:
        old, new = self.describe(author.site_id, before, after)
        activity.record(author, f"{self.noun}.{action}", self.subject, summary, old, new)
