"""What the inspector says, rule by rule."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.seo.crawled_page import Fetched
from app.domain.seo.inspector import (
    LONGEST_ADDRESS,
    RULE_TEXTS,
    ListedPage,
    describe_failure,
    describe_redirect,
    describe_rule,
    read_address,
    sitemap_membership,
)
from app.domain.seo.redirects.rules import Destination, Source
from app.domain.seo.redirects.stored_redirects import Follower
from app.domain.seo.sitemap.entries import WHY_LEFT_OUT, LeftOut
from app.domain.shared.problems import Invalid

HOSTS = ("shop.test", "www.shop.test")
OWN = "https://shop.test/c/tea"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("/c/tea?colour=red", "https://shop.test/c/tea?colour=red"),
        ("https://shop.test/c/tea#top", OWN),
        ("http://SHOP.test:80/c/tea", OWN),
        ("shop.test/c/tea", OWN),
        ("shop.test", "https://shop.test/"),
        ("shop.test:443/c/tea", OWN),
        ("https://shop.test:8000/c/tea", OWN),
        ("//shop.test/c/tea", OWN),
        ("https://www.shop.test?x=1", "https://www.shop.test/?x=1"),
        ("  /c/té ", "https://shop.test/c/t%C3%A9"),
        ("/c/../c/tea", OWN),
    ],
)
def test_a_page_of_the_shop_in_any_spelling(text: str, url: str):
    assert read_address(text, HOSTS).url == url


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("https://elsewhere.test/c/tea", "foreign_host"),
        ("//elsewhere.test/", "foreign_host"),
        ("https://shop.test.elsewhere.test/", "foreign_host"),
        ("https://user@elsewhere.test/shop.test", "foreign_host"),
        ("tea", "not_an_address"),
        ("elsewhere.test/c/tea", "not_an_address"),
        ("javascript:alert(1)", "not_an_address"),
        ("ftp://shop.test/", "not_an_address"),
        ("https://[", "not_an_address"),
        ("a page of tea", "not_an_address"),
        ("/c/\x00", "not_an_address"),
        ("/" + "x" * LONGEST_ADDRESS, "address_too_long"),
    ],
)
def test_anything_else_is_refused_by_name(text: str, code: str):
    with pytest.raises(Invalid) as refused:
        read_address(text, HOSTS)
    assert [problem.code for problem in refused.value.problems] == [code]


@given(st.text())
def test_no_text_is_more_than_refused(text: str):
    with suppress(Invalid):
        assert read_address(text, HOSTS).host in HOSTS


def test_each_reason_has_a_sentence():
    assert all(describe_rule(reason, ()) == sentence for reason, sentence in RULE_TEXTS.items())
    assert "canonical address" in describe_rule("indexable", (), is_own=False)
    assert "filters the list" in describe_rule("facet_parameter:colour", {"colour"})
    assert "filters the list" in describe_rule("facet_parameter:weight_min", {"weight_min"})
    assert "filters the list" in describe_rule("facet_parameter:price", {"price"})
    assert "Unknown parameter “ref”" in describe_rule("facet_parameter:ref", {"colour"})


def test_redirects_are_explained_by_their_address():
    there = Fetched(301, location="/x")

    assert "slash" in describe_redirect("/c/tea/", "", there)
    assert "landing page" in describe_redirect("/c/tea", "colour=red", there)
    assert "search rule" in describe_redirect("/search", "q=tea", there)
    assert describe_redirect("/theme", "", there) and describe_redirect("/admin", "", there)
    assert describe_redirect("/c/tea", "colour=red", Fetched(200)) == ""


def test_a_stored_redirect_is_named_with_its_day_and_what_made_it():
    stored = Follower(Destination("/c/tea"), "/c/coffee", Source.CATEGORY, datetime(2026, 11, 2, tzinfo=UTC))
    says = describe_redirect("/c/coffee", "", Fetched(301, location="/c/tea"), stored)

    assert says == "Redirects to /c/tea since 2 November 2026, by the redirect of /c/coffee (Category)."


def test_failures_say_what_search_engines_make_of_them():
    assert describe_failure(200) == describe_failure(301) == ""
    assert len({describe_failure(status) for status in (400, 404, 503)}) == 3


def listed(**more: object) -> ListedPage:
    fields = {"url": OWN, "host": "shop.test", "status": 200, "is_indexable": True, "canonical": OWN}
    return ListedPage(**(fields | more))  # type: ignore[arg-type]


def test_a_page_that_is_its_own_canonical_is_listed():
    assert sitemap_membership(listed()).is_listed


@pytest.mark.parametrize(
    ("page", "word"),
    [
        (listed(status=404), "answer"),
        (listed(is_indexable=False), "indexable"),
        (listed(left_out=LeftOut.EMPTY), "no products"),
        (listed(left_out=LeftOut.EXCLUDED), "excluded from the sitemap"),
        (listed(canonical="https://elsewhere.test/tea"), "another host"),
        (listed(url=f"{OWN}?p=2", canonical=f"{OWN}?p=2"), "first page"),
        (listed(url=f"{OWN}?utm_source=x"), OWN),
        (listed(canonical=""), "none"),
    ],
)
def test_each_reason_to_leave_a_page_out_is_said(page: ListedPage, word: str):
    found = sitemap_membership(page)

    assert not found.is_listed
    assert word in found.reason


def test_each_reason_for_leaving_a_category_out_has_a_sentence():
    assert set(WHY_LEFT_OUT) >= {LeftOut.HIDDEN, LeftOut.EXCLUDED, LeftOut.OVERRIDE, LeftOut.EMPTY}
