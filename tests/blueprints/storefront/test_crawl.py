"""A crawler that walks the whole demo shop finds no contradiction."""

from __future__ import annotations

import pytest
from flask import Flask

from app.demo.shop import HOST, create_demo
from app.domain.merchandising.shop import read_shop
from app.domain.search.engine import SearchContext
from app.domain.search.index.rebuild import rebuild
from app.domain.seo.site_check import shop_to_crawl
from app.domain.seo.site_crawl import Crawl
from app.domain.sites.sites import site_by_host
from app.ports import images
from app.transaction import transaction
from app.web.in_process import pages_of
from tests.searching import request

SAMPLES = 60  # Addresses with filters; the job tries some hundreds.


def crawl_of(indexing: SearchContext, site_id: int) -> Crawl:
    shop = read_shop(site_id)
    crawl = Crawl(
        shop_to_crawl(indexing.engine, indexing.clock, shop, pages_of(shop.primary_host)), most_samples=SAMPLES
    )
    for _ in crawl.steps():
        pass
    return crawl


@pytest.mark.thorough
def test_every_listed_page_is_there_every_page_is_listed_and_every_link_leads_straight(
    app: Flask, indexing: SearchContext
):
    with app.app_context():
        create_demo(indexing.clock, images(), transaction, "tests", password_memory_kib=8, production=False)
        site_id = site_by_host(HOST).id
        rebuild(indexing, request(indexing, site_id))
        crawl = crawl_of(indexing, site_id)

    assert crawl.findings.kept == []
    assert crawl.unvisited == 0
    statuses = {page.status for page in crawl.seen.values()}
    assert statuses == {200}
    first_parts = {address.partition("?")[0].split("/")[1] for address in crawl.seen}
    assert first_parts >= {"", "c", "p", "collections", "pages", "basket"}
    assert [address for address in crawl.seen if "/brand/" in address], "landing pages are among them"
    assert len(crawl.seen) > 500
