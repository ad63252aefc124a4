"""Record since when a product has had each of its search terms, for the comparison before and after.

A session listener records it for every product that goes through the session; code that changes products in bulk calls
`record`. A term that is older than this record has no row: its start is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Table, delete, event, insert, inspect, select, tuple_
from sqlalchemy.orm import Session, UOWTransaction, scoped_session

from app.domain.catalogue.models import Product
from app.domain.search_statistics.counting.models import SearchTermStart
from app.domain.search_statistics.counting.words import LONGEST_WORD, folded
from app.domain.shared.portions import portions
from app.extensions import db

STARTS: Table = SearchTermStart.__table__  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class TermsChange:
    """The search terms of a product before and after it was saved at `at`."""

    site_id: int
    product_id: int
    before: Sequence[str]
    after: Sequence[str]
    at: datetime


def listen(session_factory: Any) -> None:
    """Register the listener on the sessions of a factory, once for each factory."""
    if not event.contains(session_factory, "after_flush", _after_flush):
        event.listen(session_factory, "after_flush", _after_flush)


def record(session: Session | scoped_session[Any], changes: Iterable[TermsChange]) -> None:
    """Record changes within the transaction that makes them."""
    gone: list[tuple[int, str]] = []
    new: dict[tuple[int, str], dict[str, Any]] = {}
    for change in changes:
        before, after = normalized_terms(change.before), normalized_terms(change.after)
        gone += [(change.product_id, term) for term in before - after]
        for term in sorted(after - before):
            row = {"product_id": change.product_id, "term": term, "site_id": change.site_id, "since": change.at}
            new[change.product_id, term] = row
    connection = session.connection()
    for keys in portions([*gone, *new]):
        connection.execute(delete(STARTS).where(tuple_(STARTS.c.product_id, STARTS.c.term).in_(keys)))
    if new:
        connection.execute(insert(STARTS), list(new.values()))


def normalized_terms(terms: Iterable[str]) -> set[str]:
    """Return terms as they are stored here, folded: two that differ only in case are one."""
    return {folded(term)[:LONGEST_WORD] for term in terms}


def starts_of(site_id: int, product_id: int) -> Mapping[str, datetime]:
    """Return when the product got each of its terms, as far as that is known, by normalized term."""
    known = select(SearchTermStart.term, SearchTermStart.since).where(
        SearchTermStart.site_id == site_id, SearchTermStart.product_id == product_id
    )
    return {term: since for term, since in db.session.execute(known)}


def _after_flush(session: Session, _flush: UOWTransaction) -> None:
    if changes := list(_changes(session)):
        record(session, changes)


def _changes(session: Session) -> Iterator[TermsChange]:
    for product in [one for one in session.new if isinstance(one, Product) and one.search_terms]:
        yield TermsChange(product.site_id, product.id, (), product.search_terms, product.updated_at)
    for product in [one for one in session.dirty if isinstance(one, Product)]:
        history = inspect(product).attrs.search_terms.history
        if history.has_changes():
            before = history.deleted[0] if history.deleted else ()
            yield TermsChange(product.site_id, product.id, before or (), product.search_terms, product.updated_at)
