"""The shop's own pages, requested within the process."""

from __future__ import annotations

import pytest
from flask import Flask, g
from structlog.typing import EventDict

from app.domain.seo.indexing_decision import INDEX, NOINDEX
from app.extensions import db
from app.ports import WITH_PAGES, application_with_pages, counting, crawler_visits
from app.web.in_process import pages_of
from tests.blueprints.storefront import small_shop
from tests.snapshots import built


@pytest.fixture(autouse=True)
def _shop(app: Flask) -> None:
    built(app, small_shop.build)


def test_a_page_comes_with_what_it_decided_about_itself(app: Flask):
    with app.app_context():
        fetch = pages_of("shop.test")
        plain, filtered = fetch("/c/camping"), fetch("/c/camping?colour=Fern")

    assert (plain.status, plain.robots) == (200, INDEX)
    assert plain.decision is not None and plain.decision.reason == "indexable"
    assert (filtered.status, filtered.robots) == (200, NOINDEX)
    assert filtered.decision is not None and filtered.decision.reason == "facet_parameter:colour"


def test_redirects_are_not_followed_and_files_have_no_text(app: Flask):
    with app.app_context():
        fetch = pages_of("shop.test")
        sent_on, missing, robots = fetch("/c/camping/"), fetch("/c/nothing"), fetch("/robots.txt")

    assert (sent_on.status, sent_on.location, sent_on.decision) == (301, "/c/camping", None)
    assert (missing.status, missing.robots) == (404, NOINDEX)
    assert (robots.status, robots.text) == (200, "")


def test_such_requests_are_in_no_statistics_and_no_log(app: Flask, log_lines: list[EventDict]):
    with app.app_context():
        for address in ("/search?q=tent", "/p/tent-1", "/c/camping?ref=mail"):
            assert pages_of("shop.test")(address).status == 200
        assert not counting().has_pending()
        assert not crawler_visits().has_pending()

    assert [line for line in log_lines if line["event"] == "request"] == []


def test_the_caller_keeps_its_own_session_and_globals(app: Flask):
    with app.app_context():
        g.mine, session = "mine", db.session()
        pages_of("shop.test")("/c/camping")

        assert g.mine == "mine" and "shop" not in g
        assert db.session() is session


def test_a_process_without_pages_makes_an_application_that_has_them(app: Flask):
    bare = Flask("bare")
    bare.extensions[WITH_PAGES] = lambda: app

    with bare.app_context():
        assert application_with_pages() is app
    with app.app_context():
        assert application_with_pages() is app
