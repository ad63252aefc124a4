"""The worklist's pages."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.domain.catalogue.models import Product
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.domain.taxonomy.products.worklist import PAGE_SIZE
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.domain.taxonomy.classified_shop import add_taxonomy, attribute, make_classified, make_shop
from tests.factories import make_product

WORKLIST = "/admin/catalogue/taxonomy/worklist"
SLEEPS = attribute("sleeps", "NUMBER", mandatory=True)


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    found = merchandiser(app)
    with app.app_context(), transaction():
        add_taxonomy(db.session.get_one(Site, found.site_id))
    return found


@pytest.fixture
def tent(app: Flask, mia: Merchandiser) -> int:
    with app.app_context(), transaction():
        return make_classified(db.session.get_one(Site, mia.site_id), values={"weight": 2}, name="Ridge tent").id


def values(app: Flask, product_id: int) -> dict[str, Any]:
    with app.app_context():
        return db.session.get_one(Product, product_id).taxonomy_attributes


def test_it_lists_levels_with_counts_and_rows_with_only_what_is_missing(mia: Merchandiser, tent: int) -> None:
    page = mia.get(WORKLIST)
    assert f"{WORKLIST}?level=tents" in {link.get("href") for link in page.all("a")}
    names = {field.get("name") for field in page.all("input", "select")}
    assert {"attr:sleeps", "attr:free"} <= names
    assert "attr:weight" not in names


def test_an_empty_worklist_names_a_first_step(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        make_product(db.session.get_one(Site, mia.site_id))
    page = mia.get(WORKLIST)
    assert "/admin/catalogue/products?completeness=unclassified" in {link.get("href") for link in page.all("a")}
    with app.app_context(), transaction():
        change_settings(mia.site_id, {"taxonomy-active-id": ""})
    assert [link for link in mia.get(WORKLIST).all("a") if "primary" in link.get("class", "")]


def test_a_row_says_what_is_still_missing_and_what_was_wrong(app: Flask, mia: Merchandiser, tent: int) -> None:
    mia.get(WORKLIST)
    answer = mia.swap(f"{WORKLIST}/{tent}", {"revision": 1, "attr:sleeps": "many", "attr:free": "true"}).text
    assert "Sleeps takes a number." in answer
    assert 'value="many"' in answer
    assert 'name="attr:free"' not in answer
    assert values(app, tent) == {"weight": 2, "free": True}


def test_a_complete_row_says_so_goes_and_the_counts_follow(app: Flask, mia: Merchandiser, tent: int) -> None:
    mia.get(WORKLIST)
    answer = mia.swap(f"{WORKLIST}/{tent}", {"revision": 1, "attr:sleeps": "2", "attr:free": "false"}).text
    assert "It is complete." in answer
    assert "data-goes" in answer
    assert 'hx-target="#worklist-levels"' in answer
    assert "level=tents" not in answer
    assert values(app, tent) == {"weight": 2, "sleeps": 2, "free": False}
    assert "Every product with a level" in mia.fragment(WORKLIST).text


def test_a_row_that_somebody_saved_meanwhile_keeps_what_was_typed(app: Flask, mia: Merchandiser, tent: int) -> None:
    mia.get(WORKLIST)
    answer = mia.swap(f"{WORKLIST}/{tent}", {"revision": 7, "attr:sleeps": "2"})
    assert answer.status_code == 409
    assert 'value="2"' in answer.text
    assert 'name="revision" value="1"' in answer.text
    assert values(app, tent) == {"weight": 2}


def test_without_javascript_a_saved_row_leads_back_to_the_same_list(mia: Merchandiser, tent: int) -> None:
    mia.get(WORKLIST)
    form = {"revision": 1, "attr:sleeps": "2", "attr:free": "true"}
    answer = mia.post(f"{WORKLIST}/{tent}?level=tents&sort=changed", form)
    assert answer.location == f"{WORKLIST}?level=tents&sort=changed"
    assert "Ridge tent is complete." in mia.get(answer.location).texts["p"]


def test_a_level_whose_id_is_a_number_like_the_first_pages_can_be_opened(app: Flask) -> None:
    noah = merchandiser(app)
    with app.app_context(), transaction():
        site = db.session.get_one(Site, noah.site_id)
        add_taxonomy(site, levels=[{"levelId": "1", "name": "Tents", "attributes": [SLEEPS]}])
        product = make_product(site)
        product.taxonomy_level_id, product.completeness_score = "1", 0
    page = noah.get(WORKLIST)
    assert f"{WORKLIST}?level=1" in {link.get("href") for link in page.all("a")}
    answer = noah.fragment(f"{WORKLIST}?level=1&p=1")
    assert answer.headers["HX-Replace-Url"] == f"{WORKLIST}?level=1"


def test_what_has_no_level_leads_to_the_product_list(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        make_classified(db.session.get_one(Site, mia.site_id), None)
    hrefs = {link.get("href") for link in mia.get(WORKLIST).all("a")}
    assert "/admin/catalogue/products?completeness=unclassified" in hrefs


@pytest.mark.parametrize("query", ["", "?level=none", "?level=%C3%A9&sort=x&p=-1", "?p=99999999"])
def test_every_address_of_the_list_is_answered(mia: Merchandiser, tent: int, query: str) -> None:
    mia.get(WORKLIST + query)


def test_a_page_that_was_worked_off_shows_what_is_left(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, mia.site_id)
        for number in range(PAGE_SIZE + 1):
            make_classified(site, name=f"Tent {number:03}")
    assert f"Tent {PAGE_SIZE:03}" in mia.fragment(f"{WORKLIST}?p=2").text
    answer = mia.fragment(f"{WORKLIST}?p=3")
    assert f"Tent {PAGE_SIZE:03}" in answer.text
    assert answer.headers["HX-Replace-Url"] == f"{WORKLIST}?p=2"


def test_without_an_active_taxonomy_it_says_what_to_do(app: Flask) -> None:
    page = merchandiser(app).get(WORKLIST)
    assert "No taxonomy is active" in page.texts["p"]


def test_products_of_another_shop_are_not_found(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        other = make_classified(make_shop("other.localhost")).id
    mia.get(WORKLIST)
    assert mia.swap(f"{WORKLIST}/{other}", {"revision": 1, "attr:sleeps": "2"}).status_code == 404
    assert values(app, other) == {}
