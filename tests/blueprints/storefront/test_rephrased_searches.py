"""From shoppers' second tries, through pages and counts, to a suggestion: by many shoppers, not by one of them."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.relevance.models import Synonym
from app.domain.relevance.synonym_mining import describe_evidence
from app.domain.search_statistics.models import SearchRephrasing
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.jobs.relevance import suggest_synonyms_nightly
from app.jobs.search_statistics import drain
from app.transaction import transaction
from tests.blueprints.storefront.shopper import Shopper
from tests.fakes.clock import StoppedClock

GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


def visit(app: Flask, network: str, agent: str | None = None) -> None:
    """A visit of a browser without cookies that searches in vain, then in other words, and opens what it finds."""
    shopper = Shopper(app)
    shopper.client.environ_base["REMOTE_ADDR"] = network
    if agent:
        shopper.client.environ_base["HTTP_USER_AGENT"] = agent
    assert "No results for “bivouac”" in shopper.get("/search?q=bivouac").text
    page = shopper.get("/search?q=tent").text
    start = page.index('href="/p/') + len('href="')
    shopper.get(page[start : page.index('"', start)], Referer="http://shop.test/search?q=tent")


def counted(app: Flask) -> int:
    with app.app_context():
        drain()
        return sum(db.session.scalars(select(SearchRephrasing.visits)))


def suggested(app: Flask, site_id: int) -> list[tuple[str | None, list[str], str]]:
    with app.app_context():
        drain()
        suggest_synonyms_nightly(site_id)
        found = db.session.scalars(select(Synonym).where(Synonym.site_id == site_id))
        return [(one.root, one.words, describe_evidence(one.evidence)) for one in found]


def test_shoppers_of_several_weeks_make_a_suggestion(app: Flask, site_id: int, clock: StoppedClock) -> None:
    for week in range(3):
        for number in range(5):
            visit(app, f"192.0.2.{number}")
        clock.move(days=7)
        assert (suggested(app, site_id) == []) is (week < 2)
    ((root, words, evidence),) = suggested(app, site_id)
    assert (root, words) == ("bivouac", ["tent"])
    assert evidence.startswith("15 visits in 3 weeks searched “bivouac” and then opened something from “tent”.")


def test_a_bot_that_repeats_a_pair_day_after_day_for_two_weeks_makes_none(
    app: Flask, site_id: int, clock: StoppedClock
) -> None:
    clock.move(days=3)  # To a Monday.
    for _ in range(14):
        for _ in range(3):
            visit(app, "203.0.113.9")
        clock.move(days=1)
    assert counted(app) == 14, "a network counts once a day"
    assert suggested(app, site_id) == []


def test_what_four_shoppers_of_a_week_did_is_nowhere(app: Flask, site_id: int) -> None:
    for number in range(4):
        visit(app, f"192.0.2.{number}")
    assert counted(app) == 0


def test_a_bot_of_many_networks_makes_none_in_a_day(app: Flask, site_id: int) -> None:
    for number in range(20):
        visit(app, f"203.0.{number}.9")
    assert counted(app) == 20
    assert suggested(app, site_id) == []


@pytest.mark.parametrize("setting", ["search-term-tracking-enabled", "search-click-tracking-enabled"])
def test_nothing_is_counted_while_tracking_or_clicks_are_off(
    app: Flask, site_id: int, clock: StoppedClock, setting: str
) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {setting: False})
    clock.move(seconds=2)
    visit(app, "192.0.2.7")
    assert counted(app) == 0


def test_programs_that_say_so_do_not_count(app: Flask, site_id: int) -> None:
    visit(app, "192.0.2.7", GOOGLEBOT)
    assert counted(app) == 0
