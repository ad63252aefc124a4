"""The effect beside synonyms and rules, and as a page for a product's search terms."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest
from flask import Flask

from app.domain.search_statistics.counting.events import Event, EventBatch, EventKind
from app.domain.search_statistics.models import SearchTermStart
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.counted_searches import count_batch
from tests.factories import make_product, make_rule, make_synonym
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
LIVE = NOW - timedelta(days=11)
Made = Callable[[Site], int]


def synonym(site: Site) -> int:
    return make_synonym(site, words=["mobile", "cell phone"], live_since=LIVE).id


def rule(site: Site) -> int:
    return make_rule(site, term="Mobile", live_since=LIVE).id


def terms(site: Site) -> int:
    product = make_product(site, search_terms=["Mobile", "handset", "gone"], name="Phone <b>X</b>")
    db.session.query(SearchTermStart).filter_by(term="mobile").update({"since": LIVE})
    db.session.query(SearchTermStart).filter_by(term="handset").update({"since": NOW})
    db.session.query(SearchTermStart).filter_by(term="gone").delete()
    return product.id


@pytest.fixture
def made(app: Flask, site_id: int, clock: StoppedClock) -> Callable[[Made], int]:
    """Makes the record, and twenty days of searches for “mobile”, half of which find nothing until it went live."""
    days = [NOW.date() - timedelta(days=ago) for ago in range(1, 21)]
    live = LIVE.date()

    def found(day: date, number: int) -> int:
        return 0 if day < live and number % 2 else 7

    events = [
        Event(EventKind.SEARCHED, site_id, "mobile", day, found(day, number), True)
        for day in days
        for number in range(10)
    ]

    def make(kind: Made) -> int:
        with app.app_context(), transaction():
            count_batch(clock, EventBatch("a", tuple(events)))
            return kind(db.session.get_one(Site, site_id))

    return make


LESS_FINDS_NOTHING = "90 90 45 50.0% 0 0.0% , better 0 0.0% 0 0.0%"


@pytest.mark.parametrize(("kind", "path"), [(synonym, "synonym"), (rule, "rule")], ids=["synonym", "rule"])
def test_before_and_after_stand_side_by_side(
    made: Callable[[Made], int], signed_in: Callable[..., PageClient], kind: Made, path: str
) -> None:
    page = signed_in().get(f"/admin/search/effect/{path}/{made(kind)}")
    assert page.texts["h1"] == "Effect"
    assert LESS_FINDS_NOTHING in page.texts["span"]


def test_each_term_of_a_product_is_told_by_itself(
    made: Callable[[Made], int], signed_in: Callable[..., PageClient]
) -> None:
    page = signed_in().get(f"/admin/search/effect/terms/{made(terms)}")
    assert page.texts["h3"] == "Mobile handset gone"
    assert "Too early to measure" in page.texts["p"] and "needs three whole days" in page.texts["p"]
    assert "longer than is written down" in page.texts["p"]
    assert LESS_FINDS_NOTHING in page.texts["span"]


def test_htmx_is_given_the_fragment_alone(made: Callable[[Made], int], signed_in: Callable[..., PageClient]) -> None:
    browser = signed_in()
    address = f"/admin/search/effect/rule/{made(rule)}"
    answer = browser.client.get(address, base_url=browser.base, headers={"HX-Request": "true"})
    assert answer.status_code == 200 and "<html" not in answer.text and "before it went live" in answer.text


def test_what_is_not_live_yet_says_so(app: Flask, site_id: int, signed_in: Callable[..., PageClient]) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        found = [("rule", make_rule(site, term="tent", live_since=None).id)]
        found.append(("synonym", make_synonym(site, words=["a", "b"], live_since=None).id))
        found.append(("terms", make_product(site).id))
    text = [signed_in().get(f"/admin/search/effect/{kind}/{record}").texts["p"] for kind, record in found]
    assert "Not in search yet" in text[0] and "Not in search yet" in text[1] and "no search terms" in text[2]


def scheduled(site: Site) -> int:
    start, end = NOW - timedelta(days=9), NOW - timedelta(days=4)
    return make_rule(site, term="Mobile", live_since=LIVE, starts_at=start, ends_at=end).id


def test_a_rule_is_compared_from_its_start_to_its_end(
    made: Callable[[Made], int], signed_in: Callable[..., PageClient]
) -> None:
    text = signed_in().get(f"/admin/search/effect/rule/{made(scheduled)}").texts["p"]
    assert "the 4 days before it went live on 11 November (7 November to 10 November)" in text
    assert "4 days after (12 November to 15 November); nothing after its end is counted" in text


def test_a_rule_that_is_paused_or_has_not_begun_says_so(
    app: Flask, site_id: int, signed_in: Callable[..., PageClient]
) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        paused = make_rule(site, term="tent", live_since=LIVE, enabled=False).id
        later = make_rule(site, term="stove", live_since=LIVE, starts_at=NOW + timedelta(days=5)).id
    text = [signed_in().get(f"/admin/search/effect/rule/{record}").texts["p"] for record in (paused, later)]
    assert "Paused" in text[0] and "Applies from 25 November 2026" in text[1]
