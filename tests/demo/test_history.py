"""The demo shop begins with a past that its reports can speak of."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.demo.history import PAST
from app.demo.shop import BUNDLE, HOST, create_demo
from app.domain.bundles.importer import import_bundle
from app.domain.bundles.report import BundleReport
from app.domain.merchandising.shop import read_shop
from app.domain.orders.listing import OrderFilter
from app.domain.orders.models import Order, OrderLine
from app.domain.orders.queries import counts
from app.domain.relevance.effect import effect_of_rule, effect_of_synonym
from app.domain.relevance.learned_searches import learned_rows, learning_state
from app.domain.relevance.models import GoldenSearch, SearchRule, Synonym
from app.domain.relevance.synonym_mining import mine_rephrasings
from app.domain.search.engine import SearchContext
from app.domain.search.index.rebuild import rebuild
from app.domain.search.listings.browsing import read_request, search_listing
from app.domain.search.serving.configuration import served
from app.domain.search.serving.plan import LearningMode
from app.domain.search_statistics import reports
from app.domain.search_statistics.counting import weekly_counts
from app.domain.search_statistics.counting.aggregation import SUMMED
from app.domain.search_statistics.counting.before_after import Comparable
from app.domain.search_statistics.counting.gathering import countable
from app.domain.search_statistics.measures import ListName
from app.domain.search_statistics.models import SearchDay, SearchProductWeek, SearchWordDay, SearchWordWindow
from app.domain.search_statistics.popular import counted_searches, presentable
from app.domain.shared.author import Author
from app.domain.sites import activity
from app.domain.sites.sites import site_at, site_by_host
from app.extensions import db
from app.ports import images
from app.transaction import transaction
from tests.joined_orders import buyers_named
from tests.searching import request
from tests.snapshots import built

FICTITIOUS = re.compile(r"[a-z]+\.[a-z]+@example\.com")  # RFC 2606.
DRAMA = re.compile(r"07700 900\d{3}")  # Ofcom: numbers for use in drama.


def past_orders() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (PAST / "orders.jsonl").read_text(encoding="utf-8").splitlines()]


def past_searches() -> list[dict[str, str]]:
    with (PAST / "searches.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_one_of_ninety_days_has_searches_that_would_be_counted() -> None:
    rows = past_searches()
    assert {int(row["days_ago"]) for row in rows} == set(range(1, 91))
    assert all(countable(row["search"]) == row["search"] for row in rows)
    assert len({(row["days_ago"], row["search"]) for row in rows}) == len(rows)


def test_nothing_is_clicked_that_was_not_found_or_bought_that_was_not_in_a_basket() -> None:
    bought = Counter(
        (str(order["daysAgo"]), search)
        for order in past_orders()
        for search in {line["search"] for line in order["lines"] if "search" in line}
    )
    for row in past_searches():
        ordered = bought.pop((row["days_ago"], row["search"]), 0)
        steps = [int(row["searches"]), int(row["clicked"]), int(row["added_to_basket"]), ordered]
        assert steps == sorted(steps, reverse=True), row
        assert row["found"] not in ("0", "") or steps[1] == 0, row
    assert not bought, "sales from searches that were not made"


def test_who_rephrased_a_search_made_both_and_clicked() -> None:
    counted = {(row["days_ago"], row["search"]): row for row in past_searches()}
    with (PAST / "rephrasings.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            before, after = (counted[row["days_ago"], row[name]] for name in ("search", "next_search"))
            unclicked = int(before["searches"]) - int(before["clicked"])
            assert 0 < int(row["visits"]) <= min(unclicked, int(after["clicked"])), row


def test_nobody_who_ordered_exists() -> None:
    for order in past_orders():
        assert order["email"] or order["phone"]
        assert not order["email"] or FICTITIOUS.fullmatch(order["email"])
        assert not order["phone"] or DRAMA.fullmatch(order["phone"])


@pytest.fixture
def site_id(app: Flask, indexing: SearchContext) -> Iterator[int]:
    """The demo shop with its first index."""

    def build() -> int:
        create(indexing)
        site = site_by_host(HOST)
        rebuild(indexing, request(indexing, site.id))
        return site.id

    with app.app_context():
        yield built(app, build, __name__)


def test_analytics_orders_and_see_effect_have_something_to_say(indexing: SearchContext, site_id: int) -> None:
    clock = indexing.clock
    _assert_sums_agree(site_id)
    for days in (7, 30):
        report = reports.report(clock, site_id, days)
        assert not report.is_empty and all(report.lists[name] for name in ListName), days
        assert all(measure.comparison for measure in report.measures), days
    waiting = counts(clock, site_id)
    assert waiting[OrderFilter.SUBMITTED] == sum(order["status"] == "SUBMITTED" for order in past_orders()) > 3
    assert waiting[OrderFilter.COLLECTED] > 50 and waiting[OrderFilter.CANCELLED] == 4
    effects = [
        *(effect_of_synonym(clock, site_id, id) for id in db.session.scalars(select(Synonym.id))),
        *(effect_of_rule(clock, site_id, id) for id in db.session.scalars(select(SearchRule.id))),
    ]
    assert len(effects) == 5
    for effect in effects:
        compared = effect.comparison
        assert compared is not None and compared.comparable is Comparable.YES, effect.subject
        before, after = compared.before, compared.after
        assert after.found_nothing < before.found_nothing or after.clicked > before.clicked, effect.subject
    assert db.session.scalar(select(func.count()).select_from(GoldenSearch)) == 1
    pairs = weekly_counts.rephrased(site_id, clock.now().date(), 90, least_visits=1, most=9)
    assert [(found.root, found.words) for found in mine_rephrasings(pairs)] == [("hoodie", ("jumper",))]


def test_in_shadow_something_is_learned_for_the_searches_from_which_shoppers_buy(
    indexing: SearchContext, site_id: int
) -> None:
    state = learning_state(site_id)
    assert state.mode is LearningMode.SHADOW and state.searches > 5
    products = [product for row in learned_rows(site_id).items for product in row.products]
    assert products and all(product.name for product in products)


def test_nobody_of_its_past_is_named_by_what_searches_led_to(site_id: int) -> None:
    assert db.session.scalar(select(func.count()).select_from(SearchProductWeek))
    assert buyers_named(site_id) == []


def test_its_shoppers_made_some_searches_popular(site_id: int) -> None:
    assert len(presentable(counted_searches(site_id), [])) > 8


def test_a_demo_shop_that_was_cut_off_before_its_history_gets_it_once(app: Flask, indexing: SearchContext) -> None:
    with app.app_context():
        import_bundle(BUNDLE, HOST, indexing.clock, images(), transaction, "tests", password_memory_kib=8)
        assert orders() == 0
        assert create(indexing) is not None
        assert orders() == len(past_orders())
        assert create(indexing) is None
        assert orders() == len(past_orders())


def test_a_demo_shop_that_was_changed_is_left_as_it_is(app: Flask, indexing: SearchContext) -> None:
    with app.app_context():
        import_bundle(BUNDLE, HOST, indexing.clock, images(), transaction, "tests", password_memory_kib=8)
        with transaction():
            site = site_at(HOST)
            activity.record(Author(site.id, "Ada", indexing.clock), "product.delete", ("product", "1"), "Deleted Tent")
        assert create(indexing) is None
        assert orders() == 0


def create(indexing: SearchContext) -> BundleReport | None:
    return create_demo(indexing.clock, images(), transaction, "tests", password_memory_kib=8, production=False)


def orders() -> int:
    db.session.rollback()
    return db.session.query(Order).count()


def _assert_sums_agree(site_id: int) -> None:
    """Orders, words, days and windows are four counts of the same."""
    led = [line for order in past_orders() for line in order["lines"] if "search" in line]
    price = dict(db.session.execute(select(OrderLine.sku, OrderLine.unit_price)).all())
    ordered = sum(len({line["search"] for line in order["lines"] if "search" in line}) for order in past_orders())
    sums = {
        model: dict(
            zip(
                SUMMED,
                db.session.execute(select(*(func.sum(getattr(model, name)) for name in SUMMED))).one(),
                strict=True,
            )
        )
        for model in (SearchWordDay, SearchDay)
    }
    assert sums[SearchWordDay] == sums[SearchDay]
    assert sums[SearchDay]["ordered"] == ordered
    assert sums[SearchDay]["revenue"] == sum(price[line["sku"]] * line["quantity"] for line in led)
    assert sums[SearchDay]["searches"] == sum(int(row["searches"]) for row in past_searches())
    window = select(func.sum(SearchWordWindow.searches)).where(SearchWordWindow.days == 90)
    assert db.session.scalar(window) == sum(int(row["searches"]) for row in past_searches() if row["days_ago"] != "90")
    total = db.session.scalar(select(func.sum(Order.total - Order.delivery_price)))
    assert total == db.session.scalar(select(func.sum(OrderLine.unit_price * OrderLine.quantity)))


def test_what_each_search_found_last_is_what_it_finds_now(indexing: SearchContext, site_id: int) -> None:
    shop, snapshot = read_shop(site_id), served(site_id)
    latest = {row["search"]: row["found"] for row in past_searches()}
    for words, counted in latest.items():
        query = replace(read_request(shop, "/search", [("q", words)]), page_size=1)
        found = search_listing(indexing.engine, shop, query, snapshot, indexing.clock.now()).listing.total
        assert counted in ("", str(found)), words


def test_the_golden_search_and_all_rules_name_what_the_shop_has() -> None:
    skus = {json.loads(line)["sku"] for line in (BUNDLE / "products.jsonl").read_text(encoding="utf-8").splitlines()}
    rules = json.loads((BUNDLE / "rules.json").read_text(encoding="utf-8"))
    named = {pin["sku"] for rule in rules for pin in rule.get("pins", [])}
    goldens = json.loads((BUNDLE / "goldens.json").read_text(encoding="utf-8"))
    assert len(rules) == 3 and named | {golden["sku"] for golden in goldens} <= skus
