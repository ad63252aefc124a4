"""Since when a product has a search term is known whatever way the term came."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.catalogue.terms import add_terms, replace_terms
from app.domain.search_statistics.counting.before_after import starts_of
from app.domain.search_statistics.models import SearchTermStart
from app.domain.shared.author import Author
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import WHEN, make_product
from tests.fakes.clock import StoppedClock

FIRST = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def product_id(site_id: int) -> int:
    with transaction():
        return make_product(db.session.get_one(Site, site_id), search_terms=["Rain Coat"]).id


def test_terms_of_a_new_product_begin_with_it(site_id: int, product_id: int) -> None:
    assert starts_of(site_id, product_id) == {"rain coat": WHEN}


def test_a_term_begins_when_it_is_added_and_goes_when_it_is_removed(
    clock: StoppedClock, site_id: int, product_id: int
) -> None:
    with transaction():
        add_terms(Author(site_id, "Mia", clock), product_id, ["mac"])
    clock.move(days=3)
    with transaction():
        replace_terms(Author(site_id, "Mia", clock), product_id, ["RAIN COAT", "poncho"])
    assert starts_of(site_id, product_id) == {"rain coat": WHEN, "poncho": clock.now()}


def test_a_term_that_comes_back_begins_anew(clock: StoppedClock, site_id: int, product_id: int) -> None:
    with transaction():
        replace_terms(Author(site_id, "Mia", clock), product_id, [])
    clock.move(days=1)
    with transaction():
        replace_terms(Author(site_id, "Mia", clock), product_id, ["rain coat"])
    assert starts_of(site_id, product_id) == {"rain coat": clock.now()}


def test_a_save_of_something_else_changes_nothing(site_id: int, product_id: int) -> None:
    with transaction():
        db.session.get_one(Product, product_id).name = "Coat"
    assert starts_of(site_id, product_id) == {"rain coat": WHEN}


def test_fifty_terms_that_grow_when_folded_fit(clock: StoppedClock, site_id: int, product_id: int) -> None:
    terms = ["ﷺ" * 40 + str(number) for number in range(50)]
    with transaction():
        replace_terms(Author(site_id, "Mia", clock), product_id, terms)
    assert all(len(term) <= 100 for term in starts_of(site_id, product_id))


def test_a_product_that_goes_takes_its_history_along(site_id: int, product_id: int) -> None:
    with transaction():
        db.session.delete(db.session.get_one(Product, product_id))
    assert db.session.scalars(select(SearchTermStart)).all() == []
