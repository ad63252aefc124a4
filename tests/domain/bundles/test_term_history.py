"""An import writes down since when products have their search terms, as any other save does."""

from __future__ import annotations

from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.search_statistics.models import SearchTermStart
from app.extensions import db
from tests.domain.bundles.conftest import SITE, Take, product
from tests.fakes.clock import StoppedClock


def starts() -> dict[tuple[str, str], object]:
    rows = select(Product.sku, SearchTermStart.term, SearchTermStart.since).join(
        Product, Product.id == SearchTermStart.product_id
    )
    return {(sku, term): since for sku, term, since in db.session.execute(rows)}


def test_terms_begin_when_they_come_and_go_when_they_are_missing(take: Take, clock: StoppedClock) -> None:
    first = clock.now()
    take(site=SITE, products=[product(searchTerms=["Shelter", "bivvy"]), product("T-2")])
    assert starts() == {("T-1", "shelter"): first, ("T-1", "bivvy"): first}
    clock.move(days=2)
    take(site=SITE, products=[product(searchTerms=["shelter", "tarp"]), product("T-2", searchTerms=["cot"])])
    later = clock.now()
    assert starts() == {("T-1", "shelter"): first, ("T-1", "tarp"): later, ("T-2", "cot"): later}
    take(site=SITE, products=[product(searchTerms=["SHELTER"], price=1), product("T-2", searchTerms=[])])
    assert starts() == {("T-1", "shelter"): first}
