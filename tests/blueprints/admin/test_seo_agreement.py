"""Sitemap, site check and inspector say the same of every page of a shop."""

from __future__ import annotations

from functools import partial

import pytest
from flask import Flask

from app.domain.catalogue.models import Collection, Product
from app.domain.merchandising.models import Node
from app.domain.merchandising.shop import read_shop
from app.domain.search.engine import SearchContext
from app.domain.seo.inspector import InspectedAddress, InspectedShop, inspect_page
from app.domain.seo.landing.directory import LandingDirectory
from app.domain.seo.site_check import shop_to_crawl
from app.domain.seo.site_crawl import Crawl
from app.domain.seo.sitemap.entries import ExactCounts
from app.extensions import db
from app.transaction import transaction
from app.web.in_process import pages_of
from tests.blueprints.storefront import small_shop
from tests.snapshots import built

BRANDS = [{"facetId": "manufacturer", "minProducts": 1}]


@pytest.fixture
def site_id(app: Flask) -> int:
    return built(app, shop_with_exceptions)


def shop_with_exceptions() -> int:
    """Landing pages, a category that is left out, one with another canonical, and canonicals here and elsewhere."""
    site_id = small_shop.build()
    with transaction():
        nodes = {node.path: node for node in db.session.query(Node).filter_by(site_id=site_id)}
        for node in nodes.values():
            node.landing_rules = BRANDS
        nodes["camping"].exclude_from_sitemap = True
        nodes["gifts"].canonical_override = "/c/camping/tents"
        products = (
            db.session.query(Product).filter_by(site_id=site_id, enabled=True).order_by(Product.id).limit(3).all()
        )
        products[0].canonical_url = "https://elsewhere.test/p/tent"
        products[1].canonical_url = f"/p/{products[2].seo_name}"
        products[2].canonical_url = f"//shop.test/p/{products[2].seo_name}"
        db.session.query(Collection).filter_by(site_id=site_id, seo_name="best").one().canonical_url = "/c/camping"
    return site_id


def test_nothing_contradicts_itself_and_the_inspector_knows_what_is_listed(
    app: Flask, indexing: SearchContext, site_id: int
):
    with app.app_context():
        shop, fetch = read_shop(site_id), pages_of("shop.test")
        crawl = Crawl(shop_to_crawl(indexing.engine, indexing.clock, shop, fetch), most_samples=20)
        for _ in crawl.steps():
            pass
        landing_pages_of = partial(LandingDirectory().of, indexing.engine, indexing.clock, shop)
        counts = ExactCounts.of_site(indexing.engine, site_id)
        request = InspectedShop(shop, fetch, landing_pages_of, counts.of)
        listed = {
            address
            for address in crawl.seen
            if inspect_page(request, InspectedAddress("shop.test", address)).sitemap.is_listed
        }

    assert crawl.findings.kept == []
    assert listed == set(crawl.shop.sitemap)
    assert [address for address in listed if "/brand/" in address], "landing pages are among them"
    assert "/c/camping" not in listed and "/c/camping/tents" in listed and "/c/gifts" not in listed
