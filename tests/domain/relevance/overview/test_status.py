"""The status tells how search is doing in every state of the engine."""

from __future__ import annotations

import pytest

from app.adapters.null_engine import NullEngine
from app.domain.merchandising.models import Tree
from app.domain.relevance.overview import advice_of, status_view
from app.domain.search.engine import SearchContext
from app.domain.search.index.rebuild import rebuild
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.searching import add_page, add_product, add_site, request

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def site_id(indexing: SearchContext) -> int:
    with transaction():
        site_id = add_site().id
        add_product(site_id, "tent")
        add_page(site_id, "delivery")
    return site_id


def test_after_a_rebuild_it_counts_what_is_indexed(indexing: SearchContext, site_id: int) -> None:
    rebuild(indexing, request(indexing, site_id))
    view = status_view(indexing.engine, site_id)
    assert view["engine"] == {"state": "HEALTHY", "error": None}
    assert (view["productsIndexed"], view["pagesIndexed"], view["contentSearch"]) == (1, 1, True)
    assert view["latestRun"]["state"] == "done"
    assert advice_of(indexing.engine, site_id) == ()


def test_before_the_first_rebuild_it_says_so(indexing: SearchContext, site_id: int) -> None:
    view = status_view(indexing.engine, site_id)
    assert view["engine"]["state"] == "UNREACHABLE"
    assert (view["productsIndexed"], view["pagesIndexed"], view["latestRun"]) == (None, None, None)
    assert "no product index yet" in advice_of(indexing.engine, site_id)[0]


def test_without_an_engine_there_is_no_advice(site_id: int) -> None:
    assert status_view(NullEngine(), site_id)["engine"]["state"] == "NOT_SET_UP"
    assert advice_of(NullEngine(), site_id) == ()


def test_pages_are_off_with_content_search(indexing: SearchContext, site_id: int) -> None:
    rebuild(indexing, request(indexing, site_id))
    with transaction():
        change_settings(site_id, {"search-content-enabled": False})
    view = status_view(indexing.engine, site_id)
    assert (view["pagesIndexed"], view["contentSearch"]) == (None, False)


def test_while_a_rebuild_is_under_way_none_is_advised(indexing: SearchContext, site_id: int) -> None:
    request(indexing, site_id)
    assert advice_of(indexing.engine, site_id) == ()


def test_categories_changed_after_the_rebuild_need_no_other(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    """What documents hold of categories is indexed product by product, and filters are read as they are."""
    rebuild(indexing, request(indexing, site_id))
    clock.move(minutes=1)
    with transaction():
        db.session.add(Tree(site_id=site_id, name="Shop", updated_at=clock.now()))
    assert advice_of(indexing.engine, site_id) == ()
