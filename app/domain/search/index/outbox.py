"""Writes an outbox entry for every indexed record in the transaction that changed it.

A session listener does so for every change that goes through the session, so that no path can forget. Bulk statements
bypass it: their caller calls `enqueue` in the same transaction and says so with the execution options
INDEXED_SEPARATELY, else they are refused.

A product's document names its categories and all above them, so moving or deleting a category concerns the products of
its whole branch, a changed rule those that the old or the new one names; a name, an address or being hidden concerns
none. It also holds the names of its level and of those above it.
"""

from __future__ import annotations

from collections.abc import Collection as Several
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, and_, event, insert, inspect, or_, select
from sqlalchemy.orm import ORMExecuteState, Session, UOWTransaction, scoped_session

from app.domain.catalogue.models import Collection, CollectionEntry, Page, Product, ProductImage, Variant
from app.domain.merchandising.category_rules import SourceRule
from app.domain.merchandising.membership import any_of, shown_by
from app.domain.merchandising.models import Node, Placement, Tree
from app.domain.orders.models import ProductSales
from app.domain.search.document_ids import COLLECTION, PAGE, PRODUCT
from app.domain.search.events import IndexChangesWaiting
from app.domain.search.models import OutboxEntry
from app.domain.taxonomy.taxonomies import active_tree
from app.events import publish
from app.extensions import Base, db

RULE = ("source_levels", "source_manufacturers")

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


@dataclass(slots=True)
class _Concerned:
    """The changes of one site: ids of categories that are concerned with all below them, of deleted trees and of
    categories whose rule changes, and the rules as they will be."""

    branches: list[int] = field(default_factory=list)
    trees: list[int] = field(default_factory=list)
    own_rules: list[int] = field(default_factory=list)
    new_rules: list[SourceRule] = field(default_factory=list)


def products_of_changed_categories(session: Session) -> Iterator[tuple[int, int]]:
    """Yield (site id, product id) for the changes of categories that the session is about to write. Reads what is
    stored, so call it before the flush."""
    by_site: dict[int, _Concerned] = {}
    for record in (*session.new, *session.dirty, *session.deleted):
        if isinstance(record, Node | Tree):
            _note_category(session, record, by_site.setdefault(record.site_id, _Concerned()))
    for site_id, concerned in by_site.items():
        node_ids, rules = _read_concerned(session, concerned)
        if node_ids or rules:
            shown = any_of(shown_by(site_id, node_ids, rules, active_tree(site_id)))
            found = session.scalars(select(Product.id).where(Product.site_id == site_id, shown))
            yield from ((site_id, product_id) for product_id in found)


def _note_category(session: Session, record: Node | Tree, concerned: _Concerned) -> None:
    """Note which categories and rules the change of a category or of a tree concerns."""
    if isinstance(record, Tree):
        if record in session.deleted:
            concerned.trees.append(record.id)
    elif record in session.deleted:
        concerned.branches.append(record.id)
    elif record in session.new:
        concerned.new_rules.append(_source_rule(record.source_levels, record.source_manufacturers))
    else:
        if _has_changed(record, ("parent_id",)):
            concerned.branches.append(record.id)
        if _has_changed(record, RULE):
            concerned.own_rules.append(record.id)
            concerned.new_rules.append(_source_rule(record.source_levels, record.source_manufacturers))


def _has_changed(record: Node, names: Iterable[str]) -> bool:
    attributes = inspect(record).attrs
    return any(attributes[name].history.has_changes() for name in names)


def _read_concerned(session: Session, concerned: _Concerned) -> tuple[list[int], list[SourceRule]]:
    """Return the ids of the categories in moved or deleted branches and trees, and all rules that the changes concern:
    as they are stored and as they will be."""
    rules = [rule for rule in concerned.new_rules if rule != SourceRule()]
    conditions: list[ColumnElement[bool]] = []
    if concerned.branches:
        roots = select(Node.tree_id, Node.path).where(Node.id.in_(concerned.branches))
        conditions += [
            and_(Node.tree_id == tree_id, or_(Node.path == path, Node.path.startswith(f"{path}/", autoescape=True)))
            for tree_id, path in session.execute(roots)
        ]
    if concerned.trees:
        conditions.append(Node.tree_id.in_(concerned.trees))
    nodes: Sequence[Any] = _read_rules(session, or_(*conditions)) if conditions else ()
    changed: Sequence[Any] = _read_rules(session, Node.id.in_(concerned.own_rules)) if concerned.own_rules else ()
    rules += (_source_rule(*row[1:]) for row in (*nodes, *changed))
    return [row.id for row in nodes], rules


def _read_rules(session: Session, condition: ColumnElement[bool]) -> Sequence[Any]:
    return session.execute(select(Node.id, Node.source_levels, Node.source_manufacturers).where(condition)).all()


def _source_rule(levels: Sequence[str] | None, manufacturers: Sequence[str] | None) -> SourceRule:
    return SourceRule(tuple(levels or ()), tuple(manufacturers or ()))
