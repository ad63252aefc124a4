"""What a walk through a shop finds."""

from __future__ import annotations

import pytest

from app.domain.seo.crawled_page import Fetched
from app.domain.seo.indexing_decision import NOINDEX
from app.domain.seo.site_crawl import Crawl, CrawledShop, FindingKind
from tests.domain.seo.site_check.pages import HOST, crawl, found, page, redirect


def test_a_shop_that_fits_together_has_no_findings():
    walk = crawl(
        {
            "/": page("/c/tea", "https://elsewhere.test/x", "mailto:a@b.test", "#top", "/c/tea#list"),
            "/c/tea": page("/p/pot", "/c/tea?p=2", '<a rel="nofollow" href="/c/tea?colour=red">red</a>'),
            "/c/tea?p=2": page("/c/tea"),
            "/c/tea?colour=red": page("/p/pot", robots=NOINDEX, canonical="/c/tea"),
            "/p/pot": page("/", "/basket"),
            "/basket": page(robots=NOINDEX, canonical=None),
        },
        sitemap=("/", "/c/tea", "/p/pot"),
    )

    assert found(walk) == []
    assert len(walk.seen) == 6


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Fetched(404), FindingKind.SITEMAP_FAILS),
        (Fetched(503), FindingKind.SITEMAP_FAILS),
        (redirect("/"), FindingKind.SITEMAP_REDIRECTS),
        (page(robots=NOINDEX), FindingKind.SITEMAP_NOT_INDEXABLE),
        (page(canonical="/"), FindingKind.SITEMAP_NOT_CANONICAL),
        (page(canonical=None), FindingKind.SITEMAP_NOT_CANONICAL),
    ],
)
def test_what_the_sitemap_lists_must_answer_be_indexable_and_be_canonical_to_itself(answer: Fetched, kind: FindingKind):
    walk = crawl({"/": page("/c/tea"), "/c/tea": answer}, sitemap=("/", "/c/tea"))

    assert found(walk) == [(kind, "/c/tea")]


def test_an_indexable_page_that_the_sitemap_lacks_is_found_unless_it_is_left_out_on_purpose():
    pages = {"/": page("/c/tea", "/c/tea?p=2"), "/c/tea": page(), "/c/tea?p=2": page()}

    assert found(crawl(pages)) == [(FindingKind.MISSING_FROM_SITEMAP, "/c/tea")]
    assert found(crawl(pages, left_out=("/c/tea",))) == []


def test_links_that_fail_or_redirect_are_found_with_the_page_on_which_they_stand():
    walk = crawl({"/": page("/old", "/gone"), "/old": redirect("/new"), "/new": page(robots=NOINDEX, canonical=None)})

    assert found(walk) == [(FindingKind.LINK_REDIRECTS, "/old"), (FindingKind.LINK_FAILS, "/gone")]
    assert [finding.linked_from for finding in walk.findings.kept] == ["/", "/"]
    assert "leads to /new" in walk.findings.kept[0].detail


def test_a_link_that_crawlers_need_not_follow_is_tried_too():
    walk = crawl({"/": page('<a rel="nofollow" href="/c/tea?colour=red">red</a>')})

    assert found(walk) == [(FindingKind.LINK_FAILS, "/c/tea?colour=red")]


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (Fetched(404), FindingKind.CANONICAL_FAILS),
        (redirect("/"), FindingKind.CANONICAL_FAILS),
        (page(robots=NOINDEX, canonical=None), FindingKind.CANONICAL_NOT_INDEXABLE),
    ],
)
def test_a_canonical_must_lead_to_an_indexable_page(target: Fetched, kind: FindingKind):
    walk = crawl({"/": page("/a"), "/a": page(canonical="/b"), "/b": target})

    assert (kind, "/a") in found(walk)


def test_a_canonical_is_no_link():
    pages = {"/": page("/a"), "/a": page(canonical="/b"), "/b": page()}

    assert found(crawl(pages, sitemap=("/", "/b"))) == [(FindingKind.NOT_LINKED, "/b")]


def test_a_canonical_that_fails_is_found_once():
    assert found(crawl({"/": page("/a"), "/a": page(canonical="/b")})) == [(FindingKind.CANONICAL_FAILS, "/a")]


def test_pages_with_the_same_title_are_found_once_for_each_further_one():
    pages = {"/": page("/a", "/b"), "/a": page(title="Tea"), "/b": page(title="Tea")}
    walk = crawl(pages, sitemap=("/", "/a", "/b"))

    assert found(walk) == [(FindingKind.SAME_TITLE, "/b")]
    assert "/a" in walk.findings.kept[0].detail


def test_a_page_that_only_the_sitemap_leads_to_is_named():
    pages = {"/": page("/a"), "/a": page(), "/b": page("/b")}

    assert found(crawl(pages, sitemap=("/", "/a", "/b"))) == [(FindingKind.NOT_LINKED, "/b")]


def test_other_surfaces_of_the_server_are_no_pages_of_the_shop():
    walk = crawl({"/": page("/admin", "/admin/login", "/static/x.css", "/media/1/x.jpg", "/v1/x")})

    assert list(walk.seen) == ["/"]


def test_one_address_in_two_spellings_is_read_once():
    walk = crawl({"/": page("/c/t%C3%A9", "/c/té", "https://shop.test/c/té", "http://SHOP.test:80/c/té")})

    assert list(walk.seen) == ["/", "/c/t%C3%A9"]


def test_no_more_addresses_are_read_than_a_check_may_and_the_others_are_counted():
    def fetch(address: str) -> Fetched:
        number = int(address.removeprefix("/") or 0)
        return page(f"/{number * 2 + 1}", f"/{number * 2 + 2}", robots=NOINDEX, canonical=None)

    walk = Crawl(CrawledShop(HOST, fetch, ()), most=10)
    steps = list(walk.steps())

    assert steps[-1] == (10, 10)
    assert walk.unvisited == 11


def test_filters_are_tried_in_a_sample_that_is_the_same_every_time():
    filters = [f"/c/tea?colour={number}" for number in range(50)]
    pages = {"/": page(*filters)} | {address: page(robots=NOINDEX, canonical="/") for address in filters}

    first, second = crawl(pages), crawl(pages)

    assert len(first.seen) == 3
    assert list(first.seen) == list(second.seen)


def test_redirects_whose_address_is_gone_or_leads_on_are_found():
    pages = {"/": page("/old"), "/old": redirect("/gone"), "/on": redirect("/there"), "/there": page()}
    walk = crawl(pages, redirects={"/old": "/gone", "/older": "/on", "/fine": "/there"})
    kinds = [one for one in found(walk) if one[0].startswith("redirect_")]
    assert kinds == [(FindingKind.REDIRECT_FAILS, "/old"), (FindingKind.REDIRECT_LEADS_ON, "/older")]
    assert (FindingKind.LINK_REDIRECTS, "/old") in found(walk), "a link to an old address is named, too"
    assert Crawl.resumed(walk.state(), HOST, walk.shop.fetch).shop.redirects == walk.shop.redirects
