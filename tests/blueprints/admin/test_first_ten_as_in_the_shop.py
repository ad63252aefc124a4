"""Test a search shows the first ten products in the order in which the shop shows them."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.domain.search.engine import SearchContext
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront.shopper import Shopper
from tests.domain.relevance.trials.preview_shop import save_rule, save_synonym, shop
from tests.factories import make_user
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient

KINDS = ("mug", "cup", "jug", "tea pot", "travel cup")
TRAITS = ("Blue", "Green", "Large", "Small", "Enamel", "Steel", "Blue steel", "Large green")
NAMES = {
    f"P-{number:02}": f"{trait} {kind}"
    for number, (trait, kind) in enumerate((trait, kind) for trait in TRAITS for kind in KINDS)
}
SEARCHES = (
    "mug",  # With pins.
    "MUG ",
    "cup",  # With boosts and buries.
    "beaker",  # Known by a synonym alone.
    "blue",
    "blue steel mug",  # Few have all words: the others lack some.
    "enamel spoon jug",
    "larg green",  # The last word is the beginning of one.
    "mgu",  # A slip.
    "travel cup for tea",
    "P-07",
    "zzzz",
)


@pytest.fixture
def site_id(app: Flask, indexing: SearchContext, clock: StoppedClock) -> int:
    with app.app_context():
        site_id = shop(indexing, "localhost", NAMES)
        with transaction():
            make_user(db.session.get_one(Site, site_id), Role.MERCHANDISER, email="mia@shop.test")
        pins = [{"sku": "P-38", "position": 2}, {"sku": "P-01", "position": 5}, {"sku": "GONE", "position": 1}]
        save_rule(indexing, site_id, term="mug", pins=pins)
        save_rule(indexing, site_id, term="cup", boosts=["P-36", "P-31"], buries=["P-01", "P-06"])
        save_synonym(indexing, site_id, "beaker", "mug")
    clock.move(seconds=2)
    return site_id


def _in_the_shop(shopper: Shopper, words: str, more: str = "") -> list[str]:
    page = shopper.client.get(f"/search{more}", query_string={"q": words}, base_url=shopper.base)
    assert page.status_code == 200
    main = page.text.partition("<main")[2].partition('aria-labelledby="popular"')[0]
    return list(dict.fromkeys(re.findall(r'href="/p/([^"?#]+)', main)))


def _tested(mia: PageClient, words: str) -> tuple[int, list[str]]:
    headers = {"Accept": "application/json"}
    answer = mia.client.get("/admin/search/test", query_string={"q": words}, base_url=mia.base, headers=headers).json
    return answer["found"], [product["seoName"] for product in answer["products"]]


@pytest.mark.parametrize("filters", [["manufacturer", "price"], []], ids=["filtered by maker and price", "no filters"])
@pytest.mark.parametrize("page_size", [12, 24])
def test_the_first_ten_of_a_test_are_the_first_ten_of_the_shop(
    app: Flask, site_id: int, clock: StoppedClock, page_size: int, filters: list[str]
) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {"listing-page-size": page_size, "search-default-filters": filters})
    clock.move(seconds=2)
    shopper, mia = Shopper(app, "localhost"), PageClient(app).signed_in("mia@shop.test")
    for words in SEARCHES:
        found, tested = _tested(mia, words)
        assert tested == _in_the_shop(shopper, words)[:10], words
        assert len(tested) == min(found, 10)
