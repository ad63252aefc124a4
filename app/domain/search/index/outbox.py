"""Writes an outbox entry for every indexed record in the transaction that changed it.

A session listener does so for every change that goes through the session, so that no path can forget.
Bulk statements bypass it: their caller calls `enqueue` in the same transaction and says so with the
execution options INDEXED_SEPARATELY, else they are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event, insert, inspect, select
from sqlalchemy.orm import ORMExecuteState, Session, UOWTransaction, scoped_session

from app.domain.catalogue.models import Collection, CollectionEntry, Page, Product, ProductImage, Variant
from app.domain.merchandising.models import Placement
from app.domain.orders.models import ProductSales
from app.domain.search.events import IndexChangesWaiting
from app.domain.search.index.category_changes import products_of_changed_categories
from app.domain.search.models import OutboxEntry
from app.events import publish
from app.extensions import Base

PRODUCT, PAGE, COLLECTION = "product", "page", "collection"

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


def listen(session_factory: Any) -> None:
    """Register the listeners on the sessions of a factory, once for each factory."""
    if not event.contains(session_factory, "after_flush", _write_entries):
        event.listen(session_factory, "before_flush", _read_before)
        event.listen(session_factory, "after_flush", _write_entries)
        event.listen(session_factory, "do_orm_execute", _refuse_unseen_changes)


def enqueue(session: AnySession, site_id: int, kind: str, record_ids: Iterable[int]) -> None:
    """Enqueue records for changes made in bulk. Call it in the transaction that makes them; `kind` is PRODUCT, PAGE or
    COLLECTION."""
    _insert(session, {(site_id, kind, record_id) for record_id in record_ids})


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
    _insert(session, set(_changes(session)) | session.info.pop(_READ_BEFORE, set()))


def _changes(session: Session) -> Iterator[Entry]:
    modified = [record for record in session.dirty if session.is_modified(record) and _is_indexed(record)]
    for record in (*session.new, *modified, *session.deleted):
        if type(record) in _SUBJECTS and not _is_unreadable(record):
            yield _entry_of(record)


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


def _refuse_unseen_changes(execution: ORMExecuteState) -> None:
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
