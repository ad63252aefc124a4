"""robots.txt and the sitemap, as crawlers ask for them."""

from __future__ import annotations

import re
from shutil import rmtree

import pytest
from flask import Flask
from sqlalchemy import select

from app import ports
from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Node
from app.domain.search.engine import SearchContext
from app.domain.seo.models import SitemapBuild
from app.domain.seo.sitemap.files import Limits
from app.domain.sites.models import Domain, Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront.conftest import Get
from tests.domain.seo.sitemap.reading import built
from tests.factories import make_product
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue


@pytest.fixture
def build_it(app: Flask, indexing: SearchContext, site_id: int):
    def build(limits: Limits | None = None) -> None:
        with app.app_context():
            built(indexing, site_id, limits or Limits())

    return build


def _change_site(app: Flask, site_id: int, clock: StoppedClock, **columns: object) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        for name, value in columns.items():
            setattr(site, name, value)
    clock.move(seconds=2)


class TestSitemap:
    def test_it_is_served_as_it_was_built(self, get: Get, build_it) -> None:
        build_it()
        answer = get("/sitemap.xml")
        assert (answer.status_code, answer.content_type) == (200, "application/xml")
        assert b"<loc>https://shop.test/pages/delivery</loc>" in answer.data

    def test_a_crawler_that_has_it_gets_no_second_copy(self, get: Get, build_it) -> None:
        build_it()
        first = get("/sitemap.xml")
        assert get("/sitemap.xml", If_None_Match=first.headers["ETag"]).status_code == 304
        assert get("/sitemap.xml", If_Modified_Since=first.headers["Last-Modified"]).status_code == 304
        assert get("/sitemap.xml", If_None_Match='"another"').status_code == 200

    def test_a_build_that_finds_nothing_new_sends_nothing_new(self, get: Get, build_it) -> None:
        build_it()
        first = get("/sitemap.xml")
        build_it()
        assert get("/sitemap.xml", If_None_Match=first.headers["ETag"]).status_code == 304

    def test_a_changed_shop_has_another_version(self, app: Flask, get: Get, build_it, site_id: int) -> None:
        build_it()
        first = get("/sitemap.xml")
        with app.app_context(), transaction():
            make_product(db.session.get_one(Site, site_id), "KETTLE")
        build_it()
        second = get("/sitemap.xml", If_None_Match=first.headers["ETag"])
        assert second.status_code == 200 and b"/p/kettle<" in second.data

    def test_a_secondary_domain_serves_the_addresses_of_the_primary_one(self, get: Get, build_it) -> None:
        build_it()
        answer = get("/sitemap.xml", host="www.shop.test")
        assert answer.data == get("/sitemap.xml").data
        assert b"www.shop.test" not in answer.data

    def test_another_host_is_no_shops(self, get: Get, build_it) -> None:
        """T38."""
        build_it()
        for host in ("evil.test", "shop.test.evil.test", "evilshop.test"):
            for path in ("/sitemap.xml", "/robots.txt", "/sitemap-1.xml"):
                assert get(path, host=host).status_code == 404
        answer = get("/robots.txt", X_Forwarded_Host="evil.test")
        assert answer.status_code == 200 and "evil" not in answer.text
        for host in ("SHOP.TEST", "shop.test.", "shop.test:8443"):
            assert get("/sitemap.xml", host=host).status_code == 200
            assert "Sitemap: https://shop.test/sitemap.xml" in get("/robots.txt", host=host).text

    def test_only_its_head_can_be_asked_for(self, app: Flask, build_it, get: Get) -> None:
        build_it()
        answer = app.test_client().head("/sitemap.xml", base_url="http://shop.test")
        assert answer.status_code == 200 and answer.data == b"" and "ETag" in answer.headers

    def test_parts_are_served_and_what_is_no_part_is_not_found(self, get: Get, build_it) -> None:
        build_it(Limits(addresses=5))
        index = get("/sitemap.xml").text
        assert "<sitemapindex" in index and "https://shop.test/sitemap-1.xml" in index
        assert b"<loc>https://shop.test/</loc>" in get("/sitemap-1.xml").data
        for path in (
            "/sitemap-99.xml",
            "/sitemap-0.xml",
            "/sitemap-01.xml",
            "/sitemap-1.xml.gz",
            "/sitemap-9999999.xml",
        ):
            assert get(path).status_code == 404, path

    def test_parts_of_a_sitemap_that_was_in_parts_are_gone(self, get: Get, build_it) -> None:
        build_it(Limits(addresses=5))
        build_it()
        assert get("/sitemap-1.xml").status_code == 404


def test_sitemap_head_and_header_agree(app: Flask, get: Get, build_it, site_id: int, clock: StoppedClock) -> None:
    """Whatever is listed answers, may be listed, and is known by the address by which it is listed."""
    with app.app_context(), transaction():
        for node in db.session.scalars(select(Node)):
            node.landing_rules = [{"facetId": "manufacturer"}, {"facetId": "colour"}]
        pages = {page.seo_name: page for page in db.session.scalars(select(Product))}
        pages["tent-1"].canonical_url = "http://shop.test/p/tent-1"
        pages["tent-3"].canonical_url = "https://other.test/p/tent-3"
        pages["tent-4"].canonical_url = "/p/tent-5"
    clock.move(seconds=2)
    build_it()
    listed = re.findall("<loc>(.*?)</loc>", get("/sitemap.xml").text)
    assert len(listed) > 20 and any("/colour/" in address for address in listed)
    for address in listed:
        answer = get(address.removeprefix("https://shop.test"))
        assert (answer.status_code, answer.headers["X-Robots-Tag"]) == (200, "index, follow"), address
        assert f'<link rel="canonical" href="{address}">' in answer.text, address


class TestWithoutSitemap:
    def test_crawlers_shall_come_again_and_one_build_is_requested(
        self, app: Flask, get: Get, queue: RecordingQueue
    ) -> None:
        for _ in range(3):
            answer = get("/sitemap.xml")
            assert answer.status_code == 503 and int(answer.headers["Retry-After"]) > 0
        assert [job for job, _ in queue.jobs] == ["seo:build_sitemap"]
        with app.app_context():
            assert ports.sitemaps().files(1) == [], "nothing is built on a crawler's request"

    def test_builds_that_fail_are_not_repeated_by_crawlers(self, app: Flask, get: Get, queue: RecordingQueue) -> None:
        get("/sitemap.xml")
        with app.app_context(), transaction():
            db.session.scalars(select(SitemapBuild)).one().state = "failed"
        assert get("/sitemap.xml").status_code == 503
        assert len(queue.jobs) == 1

    def test_files_that_are_lost_are_written_anew(
        self, app: Flask, get: Get, build_it, queue: RecordingQueue, clock: StoppedClock
    ) -> None:
        build_it()
        queue.jobs.clear()
        clock.move(minutes=6)
        rmtree(app.config["SHOP"].sitemap_folder)
        for _ in range(3):
            assert get("/sitemap.xml").status_code == 503
        assert [job for job, _ in queue.jobs] == ["seo:build_sitemap"]

    def test_a_part_is_not_found(self, get: Get) -> None:
        assert get("/sitemap-1.xml").status_code == 404


class TestRobots:
    def test_it_names_the_sitemap_on_the_primary_domain(self, get: Get) -> None:
        for host in ("shop.test", "www.shop.test"):
            answer = get("/robots.txt", host=host)
            assert (answer.status_code, answer.mimetype) == (200, "text/plain")
            assert answer.text == "User-agent: *\nDisallow:\n\nSitemap: https://shop.test/sitemap.xml\n"

    def test_it_names_the_parameters_that_the_site_wants_skipped(
        self, app: Flask, get: Get, site_id: int, clock: StoppedClock
    ) -> None:
        with app.app_context(), transaction():
            change_settings(site_id, {"seo-robots-skipped-parameters": ["sid"]})
        clock.move(seconds=2)
        assert "Disallow: /*?sid=\nDisallow: /*&sid=\n" in get("/robots.txt").text

    def test_a_copy_is_not_sent_twice(self, get: Get) -> None:
        assert get("/robots.txt", If_None_Match=get("/robots.txt").headers["ETag"]).status_code == 304

    def test_a_new_primary_domain_counts_at_once(self, app: Flask, get: Get, site_id: int, clock: StoppedClock) -> None:
        with app.app_context(), transaction():
            first, second = db.session.scalars(select(Domain).where(Domain.site_id == site_id).order_by(Domain.host))
            first.primary = False
            db.session.flush()
            second.primary = True
        clock.move(seconds=2)
        assert "https://www.shop.test/sitemap.xml" in get("/robots.txt").text


def test_a_staging_site_keeps_crawlers_out(
    app: Flask, get: Get, build_it, site_id: int, clock: StoppedClock, queue: RecordingQueue
) -> None:
    build_it()
    queue.jobs.clear()
    _change_site(app, site_id, clock, staging=True)
    assert get("/robots.txt").text == "User-agent: *\nDisallow: /\n"
    assert get("/sitemap.xml").status_code == 404
    assert get("/sitemap-1.xml").status_code == 404
    assert queue.jobs == []
