"""Since when a product has had each of its search terms, so that it can be told whether the term helped.

A session listener writes it for every product that goes through the session; who changes products in bulk calls
`note`. A term that a product had before anybody wrote this down has no row: nobody knows since when.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Table, delete, event, insert, inspect, select, tuple_
from sqlalchemy.orm import Session, UOWTransaction, scoped_session

from app.domain.catalogue.models import Product
from app.domain.search.counting.models import SearchTermStart
from app.domain.search.counting.words import LONGEST_WORD, folded
from app.extensions import db

STARTS: Table = SearchTermStart.__table__  # type: ignore[assignment]
AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class TermsChange:
    """The search terms of a product before and after it was saved at `at`."""

    site_id: int
    product_id: int
    before: Sequence[str]
    after: Sequence[str]
    at: datetime


def listen(session_factory: Any) -> None:
    """Register on the application's sessions, once per factory."""
    if not event.contains(session_factory, "after_flush", _after_flush):
        event.listen(session_factory, "after_flush", _after_flush)


def note(session: Session | scoped_session[Any], changes: Iterable[TermsChange]) -> None:
    """Call it in the transaction that changes the terms."""
    gone: list[tuple[int, str]] = []
    new: dict[tuple[int, str], dict[str, Any]] = {}
    for change in changes:
        before, after = kept_form(change.before), kept_form(change.after)
        gone += [(change.product_id, term) for term in before - after]
        for term in sorted(after - before):
            row = {"product_id": change.product_id, "term": term, "site_id": change.site_id, "since": change.at}
            new[change.product_id, term] = row
    connection = session.connection()
    for keys in _portions([*gone, *new]):
        connection.execute(delete(STARTS).where(tuple_(STARTS.c.product_id, STARTS.c.term).in_(keys)))
    if new:
        connection.execute(insert(STARTS), list(new.values()))


def kept_form(terms: Iterable[str]) -> set[str]:
    """Terms in the form in which they are kept here: two that differ only in case are one."""
    return {folded(term)[:LONGEST_WORD] for term in terms}


def starts_of(site_id: int, product_id: int) -> Mapping[str, datetime]:
    """When the product got those of its terms of which that is known, by `kept_form`."""
    known = select(SearchTermStart.term, SearchTermStart.since).where(
        SearchTermStart.site_id == site_id, SearchTermStart.product_id == product_id
    )
    return {term: since for term, since in db.session.execute(known)}


def _after_flush(session: Session, _flush: UOWTransaction) -> None:
    if changes := list(_changes(session)):
        note(session, changes)


def _changes(session: Session) -> Iterator[TermsChange]:
    for product in [record for record in session.new if isinstance(record, Product) and record.search_terms]:
        yield TermsChange(product.site_id, product.id, (), product.search_terms, product.updated_at)
    for product in [record for record in session.dirty if isinstance(record, Product)]:
        history = inspect(product).attrs.search_terms.history
        if history.has_changes():
            before = history.deleted[0] if history.deleted else ()
            yield TermsChange(product.site_id, product.id, before or (), product.search_terms, product.updated_at)


def _portions(keys: Sequence[tuple[int, str]]) -> Iterator[Sequence[tuple[int, str]]]:
    yield from (keys[start : start + AT_ONCE] for start in range(0, len(keys), AT_ONCE))
