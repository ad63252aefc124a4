"""What stands in a sitemap, in which order, and what does not."""

from __future__ import annotations

from functools import partial

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.catalogue.models import Collection, Page, Product
from app.domain.merchandising.models import Node
from app.domain.merchandising.shop import read_shop
from app.domain.search.engine import SearchContext
from app.domain.seo.landing.directory import LandingDirectory
from app.domain.seo.sitemap.generator import pages_among
from app.domain.shared.clock import Clock
from app.domain.sites.models import Domain
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.domain.seo.sitemap.reading import addresses, built, dates, paths
from tests.snapshots import built as snapshot

pytestmark = pytest.mark.usefixtures("context")

BRANDS = ["/c/camping/tents/brand/fell-fern", "/c/camping/tents/brand/moor"]
CATEGORIES = [
    "/c/camping",
    "/c/camping/brand/fell-fern",
    "/c/camping/brand/moor",
    "/c/camping/tents",
    *BRANDS,
    "/c/camping/mugs",
    "/c/gifts",
]


@pytest.fixture
def site_id(app: Flask) -> int:
    site_id = snapshot(app, small_shop.build)
    _change(site_id, "camping", landing_rules=[{"facetId": "manufacturer"}])
    _change(site_id, "camping/tents", landing_rules=[{"facetId": "manufacturer"}])
    return site_id


def _change(site_id: int, path: str, **columns: object) -> None:
    with transaction():
        node = db.session.scalars(select(Node).where(Node.site_id == site_id, Node.path == path)).one()
        for name, value in columns.items():
            setattr(node, name, value)


def _set_canonical(model: type, site_id: int, seo_name: str, address: str | None) -> None:
    with transaction():
        found = select(model).where(model.site_id == site_id, model.seo_name == seo_name)
        db.session.scalars(found).one().canonical_url = address


def _categories(indexing: SearchContext, site_id: int) -> list[str]:
    built(indexing, site_id)
    return [path for path in paths(site_id) if path.startswith("/c/")]


def test_pages_categories_with_their_landing_pages_collections_and_products_follow_the_front_page(
    indexing: SearchContext, site_id: int
) -> None:
    build = built(indexing, site_id)
    products = [
        *(f"/p/mug-{number}" for number in (10, 11, 12)),
        *(f"/p/tent-{number}" for number in (1, *range(3, 10))),
    ]
    listed = ["/", "/pages/delivery", *CATEGORIES, "/collections/best", *products]
    assert paths(site_id) == listed
    assert (build.state, build.done, build.files, build.left_out) == ("done", len(listed), 1, 0)


def test_every_address_is_on_the_primary_domain(indexing: SearchContext, site_id: int) -> None:
    built(indexing, site_id)
    assert all(address.startswith("https://shop.test/") for address in addresses(site_id))


def test_dates_stand_where_they_are_known(indexing: SearchContext, site_id: int) -> None:
    built(indexing, site_id)
    by_address = dates(site_id)
    assert by_address["https://shop.test/c/gifts"] == "2026-01-01T00:00:00Z"
    assert by_address["https://shop.test/p/tent-1"] == "2026-01-01T00:00:00Z"
    assert by_address["https://shop.test/"] is None
    assert by_address[f"https://shop.test{BRANDS[0]}"] is None


def test_a_hidden_category_hides_all_below_it(indexing: SearchContext, site_id: int) -> None:
    _change(site_id, "camping", visible=False)
    assert _categories(indexing, site_id) == ["/c/gifts"]


def test_a_category_that_is_excluded_leaves_those_below_it(indexing: SearchContext, site_id: int) -> None:
    _change(site_id, "camping", exclude_from_sitemap=True)
    assert _categories(indexing, site_id) == ["/c/camping/tents", *BRANDS, "/c/camping/mugs", "/c/gifts"]


def test_a_category_with_a_canonical_of_its_own_is_not_listed(indexing: SearchContext, site_id: int) -> None:
    _change(site_id, "camping/tents", canonical_override="/c/camping")
    assert _categories(indexing, site_id) == [*CATEGORIES[:3], "/c/camping/mugs", "/c/gifts"]


def test_a_category_that_is_known_to_be_empty_is_not_listed(indexing: SearchContext, site_id: int) -> None:
    _change(site_id, "camping/mugs", source_levels=[])
    with transaction():
        for product in db.session.scalars(select(Product).where(Product.taxonomy_level_id == "mugs")):
            product.enabled = False
    small_shop.index(site_id)
    assert "/c/camping/mugs" not in _categories(indexing, site_id)


@pytest.mark.parametrize(
    ("model", "seo_name", "path"),
    [
        (Page, "delivery", "/pages/delivery"),
        (Collection, "best", "/collections/best"),
        (Product, "tent-1", "/p/tent-1"),
    ],
)
class TestCanonicals:
    def test_one_on_another_host_leaves_the_page_out_and_is_no_failure(
        self, indexing: SearchContext, site_id: int, model: type, seo_name: str, path: str
    ) -> None:
        _set_canonical(model, site_id, seo_name, f"https://other.test{path}")
        build = built(indexing, site_id)
        assert path not in paths(site_id)
        assert not any("other.test" in address for address in addresses(site_id))
        assert (build.left_out, build.warnings) == (0, ())

    @pytest.mark.parametrize("written", ["http://shop.test{}", "https://shop.test{}", "//shop.test{}", "{}"])
    def test_one_on_the_primary_domain_is_listed_over_https(
        self, indexing: SearchContext, site_id: int, model: type, seo_name: str, path: str, written: str
    ) -> None:
        _set_canonical(model, site_id, seo_name, written.format(path))
        built(indexing, site_id)
        assert addresses(site_id).count(f"https://shop.test{path}") == 1

    def test_one_that_is_another_page_of_the_shop_is_left_to_that_page(
        self, indexing: SearchContext, site_id: int, model: type, seo_name: str, path: str
    ) -> None:
        for target in ("/p/tent-3", "/c/gifts", CATEGORIES[1], "/collections/best?p=2", "/p/tent-2", "/search?q=tent"):
            _set_canonical(model, site_id, seo_name, f"http://shop.test{target}")
            built(indexing, site_id)
            listed = paths(site_id)
            assert path not in listed, target
            assert len(listed) == len(set(listed))
            assert not any("?" in address for address in listed)

    def test_one_that_is_no_page_of_the_shop_is_listed_once(
        self, indexing: SearchContext, site_id: int, model: type, seo_name: str, path: str
    ) -> None:
        _set_canonical(model, site_id, seo_name, "http://shop.test/blog/tents")
        _set_canonical(Product, site_id, "tent-5", "//shop.test/blog/tents")
        built(indexing, site_id)
        assert paths(site_id).count("/blog/tents") == 1
        assert path not in paths(site_id) and "/p/tent-5" not in paths(site_id)


@pytest.mark.parametrize("spelt", ["{}", "{}/", "{}//", "/{}", "{}/?p=2"])
def test_slashes_too_many_lead_to_the_page_all_the_same(
    indexing: SearchContext, clock: Clock, site_id: int, spelt: str
) -> None:
    """The shop answers them with a redirect, which no sitemap may list."""
    shop = read_shop(site_id)
    pages_of = partial(LandingDirectory().of, indexing.engine, clock, shop)
    own = ("", "/search", "/p/tent-3", "/c/gifts", CATEGORIES[1], "/collections/best", "/pages/delivery")
    addresses = {f"https://shop.test{spelt.format(path)}" for path in own}
    elsewhere = {f"https://shop.test{spelt.format(path)}" for path in ("/blog/tents", "/c/blog", "/p/camping/tents")}
    assert pages_among(shop, pages_of, addresses | elsewhere) == addresses


def test_one_on_a_secondary_domain_is_on_another_host(indexing: SearchContext, site_id: int) -> None:
    _set_canonical(Product, site_id, "tent-1", "https://www.shop.test/p/tent-1")
    built(indexing, site_id)
    assert not any("tent-1" in address for address in addresses(site_id))


def test_the_primary_domain_is_the_one_of_now(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        first, second = db.session.scalars(select(Domain).where(Domain.site_id == site_id).order_by(Domain.host))
        first.primary = False
        db.session.flush()
        second.primary = True
    built(indexing, site_id)
    assert all(address.startswith("https://www.shop.test/") for address in addresses(site_id))
