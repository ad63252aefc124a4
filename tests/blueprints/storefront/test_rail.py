"""The filters beside a listing: long ones, sliders, ratings, and the number of products that choices leave."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Tree
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.conftest import Get

FILTERS = {"HX_Request": "true", "HX_Target": "aside#filters"}
APPLY = re.compile(r'popovertargetaction="hide" data-address="([^"]+)"( disabled)?><span aria-live="polite">([^<]+)<')


@pytest.fixture
def many_brands(app: Flask, site_id: int) -> None:
    """Each product of another brand, rated one to five stars."""
    with app.app_context():
        with transaction():
            for number, product in enumerate(db.session.query(Product).filter_by(site_id=site_id)):
                product.manufacturer, product.rating = f"Brand {number}", 1 + number % 5
            tree = db.session.query(Tree).filter_by(site_id=site_id).one()
            tree.facets = [*tree.facets, {"facetId": "rating", "display": "range"}]
        small_shop.index(site_id)


def rail(text: str) -> str:
    return text[text.index('id="filters"') : text.index('class="results"')]


def test_a_long_filter_has_all_its_links_a_button_to_unfold_them_and_a_box_to_search_in_them(
    get: Get, many_brands: None
):
    filters = rail(get("/c/camping").text)
    assert len(re.findall(r'<a id="f-manufacturer-\d+" href="/c/camping\?manufacturer=Brand\+\d+"', filters)) == 11
    assert "<span>Show all 11</span>" in filters and 'aria-expanded="false"' in filters
    assert 'aria-label="Search in Brand"' in filters


def test_with_as_many_values_as_an_address_carries_the_others_are_no_links(get: Get, many_brands: None):
    brands = re.findall(r"<span>(Brand \d+)</span>", rail(get("/c/camping").text))
    chosen = [f"manufacturer={brand.replace(' ', '+')}" for brand in brands]
    assert get(f"/c/camping?{'&'.join(chosen)}").status_code == 400
    filters = rail(get(f"/c/camping?{'&'.join(chosen[:10])}").text)
    links = re.findall(r'<a id="f-manufacturer-\d+" href="([^"]+)"', filters)
    assert len(links) == 10 and all(link.count("manufacturer=") == 9 for link in links)
    assert re.findall(r"<span>(Brand \d+)</span>", filters) == brands
    assert filters.count("At most 10 values of a filter can be chosen.") == 1
    assert "At most 10" not in rail(get(f"/c/camping?{'&'.join(chosen[:9])}").text)


def test_a_short_filter_is_just_its_links(get: Get):
    filters = rail(get("/c/camping").text)
    assert "Show all" not in filters and "Search in" not in filters


def test_ratings_are_chosen_by_stars(get: Get, many_brands: None):
    filters = rail(get("/c/camping").text)
    assert re.findall(r'id="f-rating-\d" href="([^"]+)" rel="nofollow"', filters) == [
        f"/c/camping?rating_min={stars}" for stars in (4, 3, 2)
    ]
    assert "rating_max" not in filters
    chosen = get("/c/camping?rating_min=4").text
    assert "4 stars and up" in rail(chosen) and "Rating: 4 stars and up" in chosen
    assert '<meta name="robots" content="noindex, follow">' in chosen


def test_a_range_has_a_slider_without_names_beside_its_boxes(get: Get):
    form = re.search(
        r'<form action="/c/camping" class="ends">.*?</form>', get("/c/camping?price_min=30").text, re.DOTALL
    )
    assert form
    handles = re.findall(r'<input type="range"[^>]*>', form[0])
    assert len(handles) == 2 and not any(" name=" in handle for handle in handles)
    assert 'aria-label="Price from"' in handles[0] and 'step="2"' in handles[0] and 'value="30"' in handles[0]
    assert 'name="price_min" value="30"' in form[0]


def test_the_sheet_says_how_many_products_it_shows_and_has_close_and_clear(get: Get):
    filters = rail(get("/c/camping").text)
    assert '<span aria-live="polite">Show 11 products</span>' in filters
    assert ">Close</button>" in filters
    assert '<button class="button quiet clear-filters" id="clear-filters" type="button">Clear</button>' in filters
    filtered = " ".join(rail(get("/c/camping?colour=Fern").text).split())
    assert '<a class="button quiet clear-filters" id="clear-filters" href="/c/camping">Clear</a>' in filtered


def applied(text: str) -> tuple[str, str, bool]:
    """The label of the button of the sheet, the address that it applies, and whether it can be pressed."""
    (address, disabled, label) = APPLY.findall(text)[0]
    return label, address.replace("&amp;", "&"), not disabled


def counts(text: str, facet_id: str) -> dict[str, str]:
    found = re.findall(rf'id="f-{facet_id}-\d+".*?<span>([^<]+)</span> <small>([^<]*)</small>', text, re.DOTALL)
    return dict(found)


def test_the_sheet_requests_itself_for_what_is_chosen_in_it(get: Get):
    answer = get("/c/camping?colour=Fern&manufacturer=Moor", **FILTERS)
    assert answer.text.startswith("<aside") and "card" not in answer.text
    assert applied(answer.text) == ("Show 2 products", "/c/camping?colour=Fern&manufacturer=Moor", True)
    assert "HX-Target" in answer.headers["Vary"] and answer.headers["X-Robots-Tag"].startswith("noindex")


def test_the_counts_of_the_sheet_follow_what_is_chosen_in_other_filters(get: Get):
    before = counts(get("/c/camping", **FILTERS).text, "manufacturer")
    after = counts(get("/c/camping?colour=Fern", **FILTERS).text, "manufacturer")
    assert after.keys() <= before.keys() and sum(map(int, after.values())) == 4 < sum(map(int, before.values()))


@pytest.mark.parametrize("path", ["/c/camping?colour=Fern&price_min=9000", "/search?q=mug&manufacturer=Nobody"])
def test_where_nothing_matches_the_button_cannot_be_pressed(get: Get, path: str):
    label, _, can_be_pressed = applied(get(path, **FILTERS).text)
    assert (label, can_be_pressed) == ("No products match", False)


@pytest.fixture
def brand_pages(app: Flask, site_id: int) -> None:
    with app.app_context(), transaction():
        tree = db.session.query(Tree).filter_by(site_id=site_id).one()
        tree.default_landing_rules = [{"facetId": "manufacturer"}]


def test_a_value_with_a_page_of_its_own_is_staged_by_its_filter_and_applied_by_its_page(get: Get, brand_pages: None):
    assert get("/c/camping/tents?manufacturer=Moor").status_code == 301
    staged = get("/c/camping/tents?manufacturer=Moor", **FILTERS).text
    assert applied(staged) == ("Show 3 products", "/c/camping/tents/brand/moor", True)
    assert 'id="filters" popover aria-label="Filters" data-address="/c/camping/tents?manufacturer=Moor"' in staged
    page = rail(get("/c/camping/tents/brand/moor").text)
    assert 'data-address="/c/camping/tents?manufacturer=Moor"' in page, "its own page stages from the same filters"


def test_links_to_pages_of_values_stay_as_search_engines_read_them(get: Get, brand_pages: None):
    links = re.findall(
        r'<a id="f-manufacturer-\d+" href="([^"]+)"( rel="nofollow")? data-facet-href="([^"]+)"',
        rail(get("/c/camping/tents").text),
    )
    assert ("/c/camping/tents/brand/moor", "", "/c/camping/tents?manufacturer=Moor") in links
