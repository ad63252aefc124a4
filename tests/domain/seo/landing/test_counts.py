"""Counts for landing pages: how long they are believed, and what serves while search is away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode, ShopTree
from app.domain.search.engine import IndexName, SearchRequest, SearchResult, SearchUnavailable, ValueFilter
from app.domain.seo.landing.directory import MOST_COUNTS, LandingCounts
from app.domain.seo.landing.pages import FacetCounts
from app.domain.sites.setting_keys import SETTINGS
from app.domain.sites.settings import SiteSettings
from app.domain.taxonomy.tree import TaxonomyTree
from tests.factories import WHEN
from tests.fakes.clock import StoppedClock

NODE = ShopNode(id=7, tree_id=1, parent_id=None, name="Tents", slug="tents", path="tents", updated_at=WHEN)
BRAND = "manufacturer"


@dataclass
class Engine:
    """Counts what it is asked, and answers one more product each time."""

    requests: list[SearchRequest] = field(default_factory=list)
    is_away: bool = False

    def search(self, site_id: int, name: IndexName, request: SearchRequest) -> SearchResult:
        self.requests.append(request)
        if self.is_away:
            raise SearchUnavailable("away")
        return SearchResult(100, facets={BRAND: (("Moor", len(self.requests)),)})

    @contextmanager
    def away(self) -> Iterator[None]:
        self.is_away = True
        yield
        self.is_away = False


def make_shop(**settings: object) -> Shop:
    defaults = {key: setting.default for key, setting in SETTINGS.items()}
    return Shop(
        site_id=1, version=1, name="Small shop", currency="gbp", time_zone="UTC", primary_host="shop.test",
        staging=False, settings=SiteSettings(defaults | settings), tree=ShopTree([NODE], {}, 1),
        taxonomy=TaxonomyTree(), attributes={}, value_facets=frozenset(), number_facets=frozenset(), pages=(),
        collections=(), index_version=1,
    )  # fmt: skip


@pytest.fixture
def engine() -> Engine:
    return Engine()


class Asking:
    """The same counts, asked again and again."""

    def __init__(self, engine: Engine, clock: StoppedClock) -> None:
        self._engine, self._clock = engine, clock
        self.counts, self.shop, self.node = LandingCounts(), make_shop(), NODE

    def __call__(self) -> FacetCounts | None:
        return self.counts.of(self._engine, self._clock, self.shop, self.node, BRAND)  # type: ignore[arg-type]


@pytest.fixture
def counting_request(engine: Engine, clock: StoppedClock) -> Asking:
    return Asking(engine, clock)


def test_one_query_returns_no_products_and_the_counts_of_one_facet(counting_request: Asking, engine: Engine):
    assert counting_request() == FacetCounts(100, (("Moor", 1),))
    (requests,) = engine.requests
    assert (requests.per_page, requests.facets, requests.scope) == (0, (BRAND,), (ValueFilter("category", ("7",)),))
    assert not requests.filters and not requests.words


def test_counts_are_believed_for_five_minutes(counting_request: Asking, engine: Engine, clock: StoppedClock):
    first = counting_request()
    clock.move(minutes=4, seconds=59)
    assert counting_request() is first and len(engine.requests) == 1
    clock.move(seconds=1)
    assert counting_request() == FacetCounts(100, (("Moor", 2),))


def test_a_clock_that_jumps_keeps_them_no_longer(counting_request: Asking, engine: Engine, clock: StoppedClock):
    counting_request()
    clock.jump(days=-400)
    clock.move(minutes=5)
    counting_request()
    assert len(engine.requests) == 2


def test_a_changed_index_or_category_is_counted_anew(counting_request: Asking, engine: Engine):
    counting_request()
    counting_request.shop = replace(counting_request.shop, index_version=2)
    counting_request()
    counting_request.node = replace(NODE, updated_at=WHEN + timedelta(seconds=1))
    counting_request()
    counting_request.shop = replace(counting_request.shop, site_id=2)
    counting_request()
    assert len(engine.requests) == 4


def test_the_last_good_counts_serve_while_search_is_away(counting_request: Asking, engine: Engine, clock: StoppedClock):
    good = counting_request()
    with engine.away():
        clock.move(hours=24)
        assert counting_request() is good
        clock.move(seconds=1)
        assert counting_request() is None
    assert counting_request() is not None, "it heals as soon as search answers"


def test_without_good_counts_there_are_none_until_search_answers(counting_request: Asking, engine: Engine):
    with engine.away():
        assert counting_request() is None
    assert counting_request() is not None


def test_a_site_that_wants_no_old_counts_gets_none(counting_request: Asking, engine: Engine, clock: StoppedClock):
    counting_request.shop = make_shop(**{"facet-landing-stale-counts": False})
    good = counting_request()
    with engine.away():
        assert counting_request() is good, "they are fresh"
        clock.move(minutes=5)
        assert counting_request() is None


def test_memory_is_bounded_whatever_is_asked(counting_request: Asking):
    for number in range(MOST_COUNTS + 50):
        counting_request.node = replace(NODE, id=number)
        counting_request()
    assert len(counting_request.counts) == MOST_COUNTS
