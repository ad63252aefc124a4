"""The backlog of the outbox, and how an entry ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Delete, Select, Update, delete, exists, func, select, update

from app.domain.search.engine import IndexName
from app.domain.search.index.outbox import COLLECTION, PAGE, PRODUCT
from app.domain.search.models import OutboxEntry, RebuildRun
from app.domain.work.states import UNFINISHED
from app.extensions import db

KINDS = {IndexName.PRODUCTS: (PRODUCT,), IndexName.CONTENT: (PAGE, COLLECTION)}
AT_ONCE = 500
HELD_UP = timedelta(minutes=2)  # A change that waits longer is held up.


@dataclass(frozen=True, slots=True)
class Waiting:
    """One row of the outbox: index this record as it is now."""

    id: int
    kind: str
    record_id: int

    @property
    def record(self) -> tuple[str, int]:
        return self.kind, self.record_id


@dataclass(frozen=True, slots=True)
class SetAside:
    """A record that could not be indexed, and why."""

    kind: str
    record_id: int
    error: str


def newest(site_id: int, index: IndexName) -> int:
    """The id of the newest entry; 0 without any."""
    query = select(func.max(OutboxEntry.id)).where(OutboxEntry.site_id == site_id, OutboxEntry.kind.in_(KINDS[index]))
    return db.session.scalar(query) or 0


def waiting(site_id: int, index: IndexName, up_to: int) -> list[Waiting]:
    """Return the oldest AT_ONCE entries that are neither applied nor set aside, none newer than the id `up_to`."""
    query = _entries(site_id, index).where(_is_waiting(), OutboxEntry.id <= up_to)
    query = query.order_by(OutboxEntry.id).limit(AT_ONCE)
    return [Waiting(entry, kind, record) for entry, kind, record in db.session.execute(query)]


def all_of(site_id: int, index: IndexName) -> list[Waiting]:
    """Return every stored entry of an index, applied or not, set aside or not."""
    query = _entries(site_id, index).order_by(OutboxEntry.id)
    return [Waiting(entry, kind, record) for entry, kind, record in db.session.execute(query)]


def oldest_by_site() -> dict[int, int]:
    """Return the id of the oldest waiting entry of each site that has one."""
    query = select(OutboxEntry.site_id, func.min(OutboxEntry.id)).where(_is_waiting()).group_by(OutboxEntry.site_id)
    return {site_id: entry_id for site_id, entry_id in db.session.execute(query)}


def count(site_id: int) -> tuple[int, int]:
    """Return how many entries wait, and how many records are set aside."""
    waiting_rows = select(func.count()).select_from(OutboxEntry).where(OutboxEntry.site_id == site_id, _is_waiting())
    return db.session.scalar(waiting_rows) or 0, len(set_aside(site_id))


def of_record(site_id: int, kind: str, record_id: int) -> tuple[bool, str | None]:
    """Return whether a change of the record waits, and the error for which it is set aside, None where it is not."""
    own = (OutboxEntry.site_id == site_id) & (OutboxEntry.kind == kind) & (OutboxEntry.record_id == record_id)
    query = select(OutboxEntry.attempts, OutboxEntry.error).where(own, OutboxEntry.applied_at.is_(None))
    found = db.session.execute(query.order_by(OutboxEntry.id)).all()
    reasons = [error or "" for attempts, error in found if attempts]
    return any(not attempts for attempts, _ in found), reasons[-1] if reasons else None


def has_waiting(site_id: int, index: IndexName) -> bool:
    """Whether a change of a record of an index waits."""
    return bool(db.session.scalar(select(_entries(site_id, index).where(_is_waiting()).exists())))


def waiting_since(site_id: int) -> datetime | None:
    """Return the time at which the oldest change that still waits was saved."""
    query = select(OutboxEntry.created_at).where(OutboxEntry.site_id == site_id, _is_waiting())
    return db.session.scalars(query.order_by(OutboxEntry.created_at).limit(1)).first()


def set_aside(site_id: int) -> list[SetAside]:
    """Records that could not be indexed while others could. Saving one again, or a rebuild, gives it another chance."""
    query = select(OutboxEntry.kind, OutboxEntry.record_id, func.max(OutboxEntry.error)).where(
        OutboxEntry.site_id == site_id, _is_set_aside()
    )
    grouped = query.group_by(OutboxEntry.kind, OutboxEntry.record_id).order_by(OutboxEntry.kind, OutboxEntry.record_id)
    return [SetAside(kind, record, error or "") for kind, record, error in db.session.execute(grouped)]


def set_aside_entries(site_id: int, index: IndexName) -> list[Waiting]:
    query = _entries(site_id, index).where(_is_set_aside())
    return [Waiting(entry, kind, record) for entry, kind, record in db.session.execute(query)]


def settle(site_id: int, entry_ids: Iterable[int]) -> None:
    """Remove entries whose changes the live index holds durably. While a rebuild is under way, mark them as applied
    instead: it may have read their records before they changed, and finds every change since its start in the outbox,
    in whatever order they committed."""
    for ids in portions(entry_ids):
        chosen = OutboxEntry.id.in_(ids)
        _run(delete(OutboxEntry).where(chosen, ~_rebuild_under_way(site_id)))
        _run(update(OutboxEntry).where(chosen).values(applied_at=func.now()))


def drop(entry_ids: Iterable[int]) -> None:
    """Remove entries whose changes a new index holds, or which nothing needs any more."""
    for ids in portions(entry_ids):
        _run(delete(OutboxEntry).where(OutboxEntry.id.in_(ids)))


def drop_applied(site_id: int) -> None:
    """Remove the applied entries that stayed only for a rebuild that has ended since."""
    applied = (OutboxEntry.site_id == site_id) & OutboxEntry.applied_at.is_not(None)
    _run(delete(OutboxEntry).where(applied, ~_rebuild_under_way(site_id)))


def put_aside(entry_ids: Iterable[int], error: str) -> None:
    """Set aside the entries of a record that cannot be indexed, with its error, so that they delay no others."""
    for ids in portions(entry_ids):
        failed = update(OutboxEntry).where(OutboxEntry.id.in_(ids))
        _run(failed.values(attempts=OutboxEntry.attempts + 1, error=error[:1000]))


def portions(ids: Iterable[int]) -> Iterator[Sequence[int]]:
    """Yield the ids, sorted, in portions of AT_ONCE, as many as a statement takes."""
    everything = sorted(ids)
    for start in range(0, len(everything), AT_ONCE):
        yield everything[start : start + AT_ONCE]


def _entries(site_id: int, index: IndexName) -> Select[int, str, int]:
    return select(OutboxEntry.id, OutboxEntry.kind, OutboxEntry.record_id).where(
        OutboxEntry.site_id == site_id, OutboxEntry.kind.in_(KINDS[index])
    )


def _is_waiting() -> ColumnElement[bool]:
    return OutboxEntry.applied_at.is_(None) & (OutboxEntry.attempts == 0)


def _is_set_aside() -> ColumnElement[bool]:
    return OutboxEntry.applied_at.is_(None) & (OutboxEntry.attempts > 0)


def is_rebuilt(site_id: int) -> bool:
    """Whether a rebuild of the site waits or runs."""
    return bool(db.session.scalar(select(_rebuild_under_way(site_id))))


def _rebuild_under_way(site_id: int) -> ColumnElement[bool]:
    return exists().where(RebuildRun.site_id == site_id, RebuildRun.state.in_(UNFINISHED))


def _run(statement: Delete | Update) -> None:
    """Execute a statement. No row is ever held as an object, so there is none to bring up to date."""
    db.session.execute(statement, execution_options={"synchronize_session": False})
