"""The outbox: the entries of records that are to be indexed. A change of a record writes one in its own transaction, a
worker applies them to the live indexes, and each ends applied, set aside with an error, or dropped.

A session listener writes an entry for every change that goes through the session, so that no path can forget. Bulk
statements bypass it: their caller calls `enqueue` in the same transaction and says so with the execution options
INDEXED_SEPARATELY, else they are refused.

A product's document also holds the names of its level and of those above it; what categories have to do with it stands
in category_changes.py.
"""

from __future__ import annotations

from collections.abc import Collection as Several
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from math import inf
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Delete,
    Select,
    Update,
    delete,
    event,
    exists,
    func,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.orm import ORMExecuteState, Session, UOWTransaction, scoped_session

from app.domain.catalogue.models import Collection, CollectionEntry, Page, Product, ProductImage, Variant
from app.domain.merchandising.models import Placement
from app.domain.orders.models import ProductSales
from app.domain.search.document_ids import COLLECTION, PAGE, PRODUCT, Record
from app.domain.search.engine import Change, EngineFault, EngineState, IndexName, SearchContext, SearchUnavailable
from app.domain.search.events import IndexChangesWaiting
from app.domain.search.index.category_changes import products_of_changed_categories
from app.domain.search.index.documents import changes_of, ranks_by_meaning
from app.domain.search.models import OutboxEntry, RebuildRun
from app.domain.shared.clock import Clock
from app.domain.shared.paging import batched
from app.domain.shared.redaction import error_summary
from app.domain.sites import versioning
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.work.context import read_afresh
from app.domain.work.models import UNFINISHED
from app.events import publish
from app.extensions import Base, db

KINDS = {IndexName.PRODUCTS: (PRODUCT,), IndexName.CONTENT: (PAGE, COLLECTION)}
AT_ONCE = 500
READ_AT_ONCE = 10_000
HELD_UP = timedelta(minutes=2)  # A change that waits longer is held up.
ENOUGH_TO_BLAME_THE_ENGINE = 3
# Faults that may be those of one record. INDEX is what an engine says that knows no more about it.
OF_A_RECORD = frozenset((EngineFault.MAPPING, EngineFault.REFUSED, EngineFault.INDEX))
TURN = 2.0  # Seconds after which other sites and other jobs come first.

# By the model of a changed record, what is indexed anew: the kind, and the attribute that has the id of its record.
_SUBJECTS: Mapping[type[Base], tuple[str, str]] = {
    Product: (PRODUCT, "id"),
    Variant: (PRODUCT, "product_id"),
    ProductImage: (PRODUCT, "product_id"),
    Placement: (PRODUCT, "product_id"),
    CollectionEntry: (PRODUCT, "product_id"),
    ProductSales: (PRODUCT, "product_id"),
    Page: (PAGE, "id"),
    Collection: (COLLECTION, "id"),
}
# Attributes that no document holds: the order of a category is given to a search, not held by the index.
_UNINDEXED: Mapping[type[Base], frozenset[str]] = {Placement: frozenset(("position",))}
_TABLES = frozenset(model.__tablename__ for model in _SUBJECTS)
_READ_BEFORE = "concerned_by_what_only_the_database_knows"

_CATEGORIES_SEPARATELY = "categories_indexed_separately"

Entry = tuple[int, str, int]
AnySession = Session | scoped_session[Any]
Failures = dict[Record, str]


def listen(session_factory: Any) -> None:
    """Register the listeners on the sessions of a factory, once for each factory."""
    if not event.contains(session_factory, "after_flush", _write_entries):
        event.listen(session_factory, "before_flush", _read_before)
        event.listen(session_factory, "after_flush", _write_entries)
        event.listen(session_factory, "do_orm_execute", _refuse_bulk_changes)


def enqueue(session: AnySession, site_id: int, kind: str, record_ids: Iterable[int]) -> None:
    """Enqueue records for changes made in bulk. Call it in the transaction that makes them; `kind` is PRODUCT, PAGE or
    COLLECTION."""
    _insert(session, {(site_id, kind, record_id) for record_id in record_ids})


def enqueue_products_of_levels(site_id: int, level_ids: Several[str]) -> None:
    """Enqueue the products of the levels, which got other names, and of all below them."""
    if level_ids:
        tree = active_tree(site_id)
        named = {id for level_id in level_ids for id in (level_id, *tree.below(level_id))}
        of_levels = select(Product.id).where(Product.site_id == site_id, Product.taxonomy_level_id.in_(named))
        enqueue(db.session, site_id, PRODUCT, db.session.scalars(of_levels))


@contextmanager
def categories_indexed_separately(session: AnySession) -> Iterator[None]:
    """Leave out changes of many categories made one by one: the caller enqueues the products that they concern, in the
    same transaction, instead of each change looking for its own."""
    session.info[_CATEGORIES_SEPARATELY] = True
    try:
        yield
    finally:
        del session.info[_CATEGORIES_SEPARATELY]


def _read_before(session: Session, _flush: UOWTransaction, _objects: object) -> None:
    """Read what cannot be read after the flush: the keys of deleted records, the products of a deleted collection,
    whose entries the database removes by itself, and those of categories that are moved, changed or deleted."""
    entries: set[Entry] = set()
    with session.no_autoflush:
        for record in [record for record in session.deleted if type(record) in _SUBJECTS]:
            _entry_of(record)
            if isinstance(record, Collection):
                members = select(CollectionEntry.product_id).where(CollectionEntry.collection_id == record.id)
                entries |= {(record.site_id, PRODUCT, product_id) for product_id in session.scalars(members)}
        if not session.info.get(_CATEGORIES_SEPARATELY):
            entries |= {(site_id, PRODUCT, id) for site_id, id in products_of_changed_categories(session)}
    session.info[_READ_BEFORE] = entries


def _write_entries(session: Session, _flush: UOWTransaction) -> None:
    """Write the entries of all records that the flush added, changed or deleted."""
    modified = [record for record in session.dirty if session.is_modified(record) and _is_indexed(record)]
    changed = [record for record in (*session.new, *modified, *session.deleted) if type(record) in _SUBJECTS]
    entries = {_entry_of(record) for record in changed if not _is_unreadable(record)}
    _insert(session, entries | session.info.pop(_READ_BEFORE, set()))


def _entry_of(record: Any) -> Entry:
    kind, attribute = _SUBJECTS[type(record)]
    return record.site_id, kind, getattr(record, attribute)


def _is_indexed(record: Any) -> bool:
    """Whether a modified record has changed in any attribute that a document holds."""
    unindexed = _UNINDEXED.get(type(record), frozenset())
    return not unindexed or any(
        value.history.has_changes() for value in inspect(record).attrs if value.key not in unindexed
    )


def _is_unreadable(record: Any) -> bool:
    """Whether the keys of a deleted record are unknown, since it was removed from its parent before it was ever loaded;
    the parent's own change stands for it."""
    state = inspect(record)
    return bool(state.expired_attributes & {"site_id", "product_id"}) and state.deleted


def _insert(session: AnySession, entries: set[Entry]) -> None:
    rows = [{"site_id": site, "kind": kind, "record_id": record} for site, kind, record in sorted(entries)]
    if not rows:
        return
    session.connection().execute(insert(OutboxEntry), rows)
    for site_id in sorted({site_id for site_id, _, _ in entries}):
        publish(IndexChangesWaiting(site_id))


def _refuse_bulk_changes(execution: ORMExecuteState) -> None:
    changes = execution.is_insert or execution.is_update or execution.is_delete
    if not changes or execution.execution_options.get("indexed_separately"):
        return
    table = getattr(getattr(execution.statement, "table", None), "name", None)
    if table in _TABLES:
        raise RuntimeError(
            f"A statement changes {table} in bulk, which the index would miss. Call outbox.enqueue in the same "
            "transaction and execute the statement with execution_options=INDEXED_SEPARATELY "
            "(app/domain/catalogue/models.py)."
        )


@dataclass(frozen=True, slots=True)
class Waiting:
    """One row of the outbox: index this record as it is now."""

    id: int
    kind: str
    record_id: int

    @property
    def record(self) -> Record:
        return self.kind, self.record_id


@dataclass(frozen=True, slots=True)
class SetAside:
    """A record that could not be indexed, and why."""

    kind: str
    record_id: int
    error: str


@dataclass(frozen=True, slots=True)
class Unindexed:
    """Numbers of changes of records that are `waiting` to get into search, `held_up` if for minutes already, and of
    records that are `set_aside` because they could not be indexed."""

    waiting: int
    held_up: bool
    set_aside: int

    def __bool__(self) -> bool:
        return bool(self.waiting or self.set_aside)


def apply_for_a_turn(context: SearchContext, site_id: int) -> bool:
    """Apply waiting entries until TURN is over. Return whether it ran out, so that more may wait: embedding the
    products of a large import takes minutes. Raises SearchUnavailable."""
    ends = context.clock.monotonic() + TURN
    applied = apply_waiting(context, site_id, ends)
    return applied > 0 and context.clock.monotonic() >= ends


def apply_waiting(context: SearchContext, site_id: int, ends: float = inf) -> int:
    """Apply the outbox entries that wait now, and return how many were applied or set aside; later ones have a wake-up
    of their own. Of each index at least one batch is applied, and no further one once the time is `ends`. The entries
    of an index that cannot take changes now keep waiting. Those of one that is not set up are dropped: without an
    engine there is nothing to bring up to date, and one that comes later begins with a rebuild. Raises
    SearchUnavailable when the engine fails on the way."""
    applied = 0
    for index in IndexName:
        state = context.engine.status(site_id, index).state
        if state not in (EngineState.HEALTHY, EngineState.NOT_SET_UP):
            continue
        read_afresh()
        kinds = OutboxEntry.kind.in_(KINDS[index])
        newest = db.session.scalar(select(func.max(OutboxEntry.id)).where(OutboxEntry.site_id == site_id, kinds)) or 0
        if state is EngineState.NOT_SET_UP:
            dropped = [entry.id for entry in oldest_entries(site_id, index, newest)]
            if dropped:
                context.commit(partial(settle, site_id, dropped))
            continue
        while batch := _apply_batch(context, site_id, index, newest):
            applied += batch
            if context.clock.monotonic() >= ends:
                break
    return applied


def _apply_batch(context: SearchContext, site_id: int, index: IndexName, newest: int) -> int:
    """Apply one batch and return its size. The records are read and applied under one lock, so that an older state
    never overwrites a newer; embedding, which takes long, is done before, for the records as they are then."""
    if ranks_by_meaning(site_id):
        context.engine.prepare(site_id, index, _upcoming_changes(site_id, index, newest))
    with context.engine.exclusive(site_id, index):
        read_afresh()
        batch = oldest_entries(site_id, index, newest)
        if not batch:
            return 0
        failures: Failures = {}

        def refuse(kind: str, record_id: int, error: Exception) -> None:
            failures[kind, record_id] = error_summary(error)

        records = {entry.record for entry in batch}
        changes = changes_of(site_id, index, records, refuse)
        try:
            context.engine.apply(site_id, index, changes)
        except SearchUnavailable:
            failures |= _apply_singly(context, site_id, index, [record for record in records if record not in failures])
        context.commit(lambda: _end_entries(site_id, index, batch, failures))
    return len(batch)


def _upcoming_changes(site_id: int, index: IndexName, newest: int) -> Iterator[Change]:
    """Yield the changes of the next batch, to be prepared. No transaction stays open meanwhile."""
    read_afresh()
    records = {entry.record for entry in oldest_entries(site_id, index, newest)}
    changes = changes_of(site_id, index, records, lambda *_: None)
    read_afresh()
    yield from changes


def _apply_singly(context: SearchContext, site_id: int, index: IndexName, records: Sequence[Record]) -> Failures:
    """Apply records one by one and return those that the engine refuses, with their errors. Raises SearchUnavailable
    when the engine itself is broken: when it is away, overloaded or overtaken by another writer, or when it refuses all
    of the first ENOUGH_TO_BLAME_THE_ENGINE, or all there are."""
    failures: Failures = {}
    for number, record in enumerate(records, 1):
        try:
            context.engine.apply(site_id, index, changes_of(site_id, index, [record]))
        except SearchUnavailable as error:
            failures[record] = error_summary(error)
            if len(failures) == number and number in (len(records), ENOUGH_TO_BLAME_THE_ENGINE):
                raise
            if not _is_of_the_record(context, site_id, index, error):
                raise
    return failures


def _is_of_the_record(context: SearchContext, site_id: int, index: IndexName, error: SearchUnavailable) -> bool:
    """Whether an error may be that of the record that was applied, so that the next one is worth a try."""
    if error.fault is EngineFault.INDEX:
        return context.engine.status(site_id, index).state is EngineState.HEALTHY
    return error.fault in OF_A_RECORD


def _end_entries(site_id: int, index: IndexName, batch: Sequence[Waiting], failures: Failures) -> None:
    """Settle the entries whose changes were applied, with those of the same records that were set aside before, and set
    aside the others."""
    applied = {entry.record for entry in batch} - failures.keys()
    before = [Waiting(*row) for row in db.session.execute(_entries(site_id, index).where(_is_set_aside()))]
    settle(site_id, [entry.id for entry in (*batch, *before) if entry.record in applied])
    for entry in batch:
        if error := failures.get(entry.record):
            put_aside([entry.id], error)
    versioning.index_changed(db.session(), site_id)


def settle(site_id: int, entry_ids: Iterable[int]) -> None:
    """Remove entries whose changes the live index holds durably. While a rebuild is under way, mark them as applied
    instead: it may have read their records before they changed, and finds every change since its start in the outbox,
    in whatever order they committed."""
    for ids in batched(sorted(entry_ids), AT_ONCE):
        chosen = OutboxEntry.id.in_(ids)
        _execute(delete(OutboxEntry).where(chosen, ~_rebuild_under_way(site_id)))
        _execute(update(OutboxEntry).where(chosen).values(applied_at=func.now()))


def drop(entry_ids: Iterable[int]) -> None:
    """Remove entries whose changes a new index holds, or which nothing needs any more."""
    for ids in batched(sorted(entry_ids), AT_ONCE):
        _execute(delete(OutboxEntry).where(OutboxEntry.id.in_(ids)))


def drop_applied(site_id: int) -> None:
    """Remove the applied entries that stayed only for a rebuild that has ended since."""
    applied = (OutboxEntry.site_id == site_id) & OutboxEntry.applied_at.is_not(None)
    _execute(delete(OutboxEntry).where(applied, ~_rebuild_under_way(site_id)))


def put_aside(entry_ids: Iterable[int], error: str) -> None:
    """Set aside the entries of a record that cannot be indexed, with its error, so that they delay no others."""
    for ids in batched(sorted(entry_ids), AT_ONCE):
        failed = update(OutboxEntry).where(OutboxEntry.id.in_(ids))
        _execute(failed.values(attempts=OutboxEntry.attempts + 1, error=error[:1000]))


def retry_set_aside(site_id: int, indexes: Iterable[IndexName]) -> None:
    """Let the records that were set aside wait again: what refused them may have been the engine."""
    kinds = [kind for index in indexes for kind in KINDS[index]]
    chosen = (OutboxEntry.site_id == site_id) & OutboxEntry.kind.in_(kinds)
    _execute(update(OutboxEntry).where(chosen, _is_set_aside()).values(attempts=0))


def oldest_entries(site_id: int, index: IndexName, up_to: int) -> list[Waiting]:
    """Return the oldest AT_ONCE entries that are neither applied nor set aside, none newer than the id `up_to`."""
    query = _entries(site_id, index).where(_is_waiting(), OutboxEntry.id <= up_to)
    query = query.order_by(OutboxEntry.id).limit(AT_ONCE)
    return [Waiting(entry, kind, record) for entry, kind, record in db.session.execute(query)]


def all_of(site_id: int, index: IndexName) -> Iterator[Waiting]:
    """Yield every stored entry of an index, applied or not, set aside or not. They are read some at a time: after the
    import of a large shop there are as many as it has products."""
    query = _entries(site_id, index).order_by(OutboxEntry.id).execution_options(yield_per=READ_AT_ONCE)
    for entry, kind, record in db.session.execute(query):
        yield Waiting(entry, kind, record)


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
    """Return the time at which the oldest change that still waits was saved; of several that were saved at the same
    moment, that of the one that began first."""
    query = select(OutboxEntry.created_at).where(OutboxEntry.site_id == site_id, _is_waiting())
    return db.session.scalars(query.order_by(OutboxEntry.id).limit(1)).first()


def unindexed(clock: Clock, site_id: int) -> Unindexed:
    """Return the numbers of what is not in search yet."""
    waiting, set_aside = count(site_id)
    since = waiting_since(site_id) if waiting else None
    return Unindexed(waiting, since is not None and clock.now() - since > HELD_UP, set_aside)


def set_aside(site_id: int) -> list[SetAside]:
    """Return the records that could not be indexed while others could. Saving one again, a rebuild, or the nightly
    comparison gives it another chance."""
    query = select(OutboxEntry.kind, OutboxEntry.record_id, func.max(OutboxEntry.error)).where(
        OutboxEntry.site_id == site_id, _is_set_aside()
    )
    grouped = query.group_by(OutboxEntry.kind, OutboxEntry.record_id).order_by(OutboxEntry.kind, OutboxEntry.record_id)
    return [SetAside(kind, record, error or "") for kind, record, error in db.session.execute(grouped)]


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


def _execute(statement: Delete | Update) -> None:
    """Execute a statement. No row is ever held as an object, so there is none to bring up to date."""
    db.session.execute(statement, execution_options={"synchronize_session": False})
