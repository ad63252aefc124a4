"""Suggestions for programs, as words are typed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.blueprints.v1.catalogue import SuggestionsShape
from app.domain.search_statistics.counting.queries import site_today
from app.domain.search_statistics.models import SearchDay, SuggestionDay
from app.extensions import db
from app.jobs.search_statistics import drain
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.counted_searches import count
from tests.fakes.clock import StoppedClock
from tests.snapshots import built

Suggest = Callable[[str], dict[str, Any]]


@pytest.fixture
def site_id(app: Flask) -> int:
    return built(app, small_shop.build)


@pytest.fixture
def suggest(app: Flask, site_id: int) -> Suggest:
    client = app.test_client()

    def suggest(query: str) -> dict[str, Any]:
        answer = client.get(f"/v1/product/suggest{query}", base_url="http://shop.test")
        assert answer.status_code == 200, answer.text
        assert not SuggestionsShape().validate(answer.json), "what is described"
        found: dict[str, Any] = answer.json
        return found

    return suggest


def test_categories_brands_and_products_are_suggested(suggest: Suggest) -> None:
    found = suggest("?q=te")
    assert found["categories"] == [{"name": "Tents", "above": ["Camping"], "url": "http://shop.test/c/camping/tents"}]
    first = found["products"][0]
    assert {name: first[name] for name in ("skuCode", "name", "price", "compareAtPrice", "currency", "inStock")} == {
        "skuCode": "S-1",
        "name": "Fell tent 1",
        "price": 1000,
        "compareAtPrice": 1500,
        "currency": "gbp",
        "inStock": True,
    }
    assert first["url"] == "http://shop.test/p/tent-1" and first["image"].startswith("http://shop.test/picture/")
    assert len(found["products"]) == 5
    assert suggest("?q=moor")["brands"] == [
        {"name": "Moor", "products": 5, "url": "http://shop.test/search?manufacturer=Moor&q=Moor"}
    ]


def test_popular_searches_are_suggested_before_anything_is_typed(
    app: Flask, site_id: int, suggest: Suggest, clock: StoppedClock
) -> None:
    with app.app_context(), transaction():
        today = site_today(clock, site_id)
        for ago in range(3):
            count(site_id, today, today - timedelta(days=ago), "tent", searches=4)
    assert suggest("")["searches"] == ["tent"] and suggest("")["products"] == []
    assert suggest("?q=te")["searches"] == ["tent"]


def test_a_slip_of_the_finger_is_corrected(suggest: Suggest) -> None:
    assert suggest("?q=tnet%20")["corrected"] == "tent"
    assert suggest("?q=tent")["corrected"] is None


def test_a_word_of_the_language_is_offered_another_spelling(suggest: Suggest) -> None:
    found = suggest("?q=tint%20")
    assert (found["corrected"], found["didYouMean"], found["products"]) == (None, "tent", [])
    assert suggest("?q=tnet%20")["didYouMean"] is None


def test_a_letter_and_words_that_fit_nothing_suggest_nothing(suggest: Suggest) -> None:
    for query in ("?q=t", "?q=qqqqzzzz", "?q=%25"):
        assert not any(suggest(query).values())


def test_what_is_too_long_is_refused(app: Flask, site_id: int) -> None:
    answer = app.test_client().get(f"/v1/product/suggest?q={'x' * 300}", base_url="http://shop.test")
    assert answer.status_code == 400 and answer.json["errors"]


def test_nothing_is_counted(app: Flask, site_id: int, suggest: Suggest) -> None:
    suggest("?q=te")
    with app.app_context():
        drain()
        assert db.session.query(SearchDay).count() == db.session.query(SuggestionDay).count() == 0
