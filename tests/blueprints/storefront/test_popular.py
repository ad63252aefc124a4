"""Products below a search that found nothing: those that sell well."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.domain.orders.models import CANCELLED
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.conftest import Get
from tests.blueprints.storefront.test_related import ordered
from tests.fakes.clock import StoppedClock
from tests.statements import statements


def popular(page: str) -> tuple[str, list[str]]:
    """The heading, and the addresses of the products below it."""
    section = re.search(r'<section aria-labelledby="popular"><h2 id="popular">(.*?)</h2>.*?</section>', page, re.DOTALL)
    return (section[1], re.findall(r'href="/p/([^"]+)"', section[0])) if section else ("", [])


@pytest.fixture
def lately(clock: StoppedClock) -> None:
    """The orders of the small shop were made yesterday."""
    clock.jump(days=(small_shop.BEGAN - clock.now()).days + 1)


@pytest.mark.usefixtures("lately")
def test_what_stands_in_most_orders_comes_first(app: Flask, site_id: int, get: Get) -> None:
    with app.app_context(), transaction():
        other = small_shop.build("other.test", "Other shop")
        ordered(site_id, 1, "tent-5", "mug-10", "tent-1", "tent-7")
        ordered(site_id, 2, "mug-10", "tent-1", "tent-7")
        ordered(site_id, 3, "mug-10", "tent-1")
        ordered(site_id, 4, "mug-10", "tent-2", "tent-4")
        for number in range(5, 9):
            ordered(site_id, number, "tent-9", status=CANCELLED)
            ordered(other, number, "tent-9")
    assert popular(get("/search?q=zzzqqqxxx").text) == ("Popular products", ["mug-10", "tent-1", "tent-7", "tent-5"])


@pytest.mark.usefixtures("lately")
def test_where_few_products_sell_what_the_shop_features_and_the_newest_follow(
    app: Flask, site_id: int, get: Get
) -> None:
    with app.app_context(), transaction():
        ordered(site_id, 1, "tent-7")
    heading, found = popular(get("/search?q=zzzqqqxxx").text)
    assert (heading, found[0], len(found)) == ("You might like", "tent-7", 8)
    assert len(set(found)) == 8 and not {"tent-2", "tent-4", "tent-8"} & set(found)


def test_old_orders_say_nothing_of_what_sells(app: Flask, site_id: int, get: Get) -> None:
    with app.app_context(), transaction():
        ordered(site_id, 1, "tent-7", "tent-5", "tent-1", "mug-10")
    assert popular(get("/search?q=zzzqqqxxx").text)[0] == "You might like"


def test_they_are_read_once_for_all_searches_of_an_hour(app: Flask, site_id: int, get: Get) -> None:
    def of_orders(words: str) -> int:
        with statements(app) as made:
            assert get(f"/search?q={words}").status_code == 200
        return len([one for one in made if "order_lines" in one])

    assert [of_orders("zzzqqqxxx"), of_orders("zzzqqqyyy"), of_orders("wwwvvvuuu")] == [1, 0, 0]


def test_a_search_that_finds_something_shows_none(get: Get) -> None:
    assert popular(get("/search?q=mug").text) == ("", [])
