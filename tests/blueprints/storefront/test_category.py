"""Category pages over HTTP."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask import Flask
from sqlalchemy import event, select, update

from app import ports
from app.blueprints.storefront.presentation import _pictures_beside_heading
from app.domain.catalogue.models import Product, ProductImage
from app.domain.merchandising.models import Node
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.conftest import Get
from tests.fakes.clock import StoppedClock


def names(text: str) -> list[str]:
    return re.findall(r'<span class="name">(.*?)</span>', text)


def links(text: str) -> list[str]:
    return [unescape(link) for link in re.findall(r'href="(.*?)"', text)]


def test_a_category_shows_its_products_and_those_of_the_categories_below(get: Get):
    page = get("/c/camping")
    assert page.status_code == 200
    assert "<h1>Camping</h1>" in page.text
    assert "<strong>11</strong> products" in page.text
    assert '<a href="/c/camping/tents">Tents</a>' in page.text


def test_disabled_products_are_not_shown(get: Get):
    assert "tent 2<" not in get("/c/camping/tents?pageSizeOverride=100").text


def test_the_order_made_by_hand_leads_the_category(get: Get):
    assert names(get("/c/gifts").text) == ["Fell tent 9", "Fell tent 1"]


def test_filters_narrow_the_list_and_can_be_taken_away(get: Get):
    page = get("/c/camping?colour=Fern&manufacturer=Moor").text
    assert "<strong>2</strong> products" in page
    assert "/c/camping?manufacturer=Moor" in links(page)
    assert "/c/camping?colour=Fern" in links(page)
    assert "Colour: Fern" in page


def test_counts_of_a_facet_are_not_shrunk_by_its_own_choice(get: Get):
    page = get("/c/camping?manufacturer=Moor").text
    assert re.search(r"<span>Fell &amp; Fern</span> <small>6</small>", page)


def test_cards_have_photographs_in_sizes_and_load_the_first_ones_at_once(app: Flask, get: Get, site_id: int):
    with app.app_context():
        with transaction():
            change_settings(site_id, {"listing-page-size": 6})
            for product in db.session.query(Product).filter_by(site_id=site_id):
                product.images = [ProductImage(site_id=site_id, file="a.webp", alt="", width=900, height=900)]
        small_shop.index(site_id)
    pictures = re.findall(r"<picture>.*?</picture>", get("/c/camping").text, re.DOTALL)
    assert len(pictures) == 6
    folder = f"/media/{site_id}"
    sizes = f'srcset="{folder}/a-tiny.webp 240w, {folder}/a-small.webp 480w, {folder}/a.webp 900w" sizes="'
    assert all(sizes in picture and 'width="900" height="900"' in picture for picture in pictures)
    assert all(f'<img src="{folder}/a.jpg"' in picture for picture in pictures)
    assert ["fetchpriority" in picture for picture in pictures] == [True] + [False] * 5
    assert ["lazy" in picture for picture in pictures] == [False] * 4 + [True] * 2


def test_every_display_kind_is_drawn(get: Get):
    page = get("/c/camping").text
    assert 'id="f-manufacturer-1"' in page
    assert 'fill="#123456"' in page
    assert 'name="weight_min"' in page and 'name="price_max"' in page
    assert 'href="/c/camping?inStock=true"' in page
    assert page.count('<span class="unit">kg</span>') == 2
    assert "Weight: from 1 kg</a>" in get("/c/camping?weight_min=1").text


def test_value_links_are_not_for_crawlers(get: Get):
    page = get("/c/camping").text
    rail = page[page.index('id="filters"') : page.index('class="results"')]
    assert all('rel="nofollow"' in link for link in re.findall(r"<a [^>]*>", rail))


def test_a_category_without_filters_has_no_rail(get: Get):
    page = get("/c/camping/mugs").text
    assert "f-manufacturer" not in page
    assert 'popovertarget="filters">' not in page


def test_pages_follow_each_other_and_end(get: Get):
    first, last = get("/c/camping").text, get("/c/camping?p=3").text
    assert 'rel="next"' in first and 'rel="prev"' not in first
    assert 'rel="prev"' in last and 'rel="next"' not in last
    assert "Camping | Small shop – Page 3</title>" in last
    assert get("/c/camping?p=4").status_code == 404


def test_prices_are_filtered_in_major_units(get: Get):
    page = get("/c/camping?price_min=80&price_max=90").text
    assert sorted(names(page)) == ["Fell tent 9", "Moor tent 8"]
    assert "Price: £80.00 – £90.00" in page


@pytest.mark.parametrize("page", ["0", "-1", "%D9%A1", "1.0", "x", "1e9", ""])
def test_a_page_that_is_no_number_shows_the_first(get: Get, page: str):
    assert "<strong>11</strong>" in get(f"/c/camping?p={page}").text


@pytest.mark.parametrize("page", ["1000000000", "9" * 30])
def test_a_page_past_the_end_is_not_found(get: Get, page: str):
    assert get(f"/c/camping?p={page}").status_code == 404


def test_an_unknown_value_of_a_known_facet_finds_nothing(get: Get):
    page = get("/c/camping?colour=Plaid")
    assert page.status_code == 200
    assert "No products match" in page.text


def test_unknown_parameters_filter_nothing(get: Get):
    assert "<strong>11</strong>" in get("/c/camping?whatever=1&utm_source=mail").text
    assert "whatever=1" in get("/c/camping?whatever=1").text
    assert "utm_source" not in get("/c/camping?utm_source=mail").text


def test_too_many_parameters_are_refused(get: Get):
    assert get("/c/camping?" + "&".join(f"a{n}=1" for n in range(21))).status_code == 400
    assert get("/c/camping?" + "&".join(f"colour=c{n}" for n in range(11))).status_code == 400


@pytest.mark.parametrize(
    "query", ["colour=%00", "colour=%FF%FE", "%F0%28=1", "colour=<script>alert(1)</script>", "a[]=1", "=1", "&&&=&"]
)
def test_hostile_parameters_never_break_the_page(get: Get, query: str):
    page = get(f"/c/camping?{query}")
    assert page.status_code in (200, 400)
    assert "<script>alert" not in page.text


@pytest.mark.parametrize("path", ["/c/none", "/c/camping/hidden", "/c/tents", "/c/CAMPING", "/c/camping/tents/none"])
def test_unknown_and_hidden_categories_are_not_found(get: Get, path: str):
    page = get(path)
    assert page.status_code == 404
    assert 'action="/search"' in page.text


def test_a_swap_gets_the_listing_alone_and_the_page_tells_caches(get: Get):
    headers = {"HX_Request": "true", "HX_Boosted": "true", "HX_Target": "div#listing"}
    fragment = get("/c/camping?colour=Fern", **headers)
    assert "<html" not in fragment.text and 'id="listing"' in fragment.text
    assert fragment.text.startswith("<title>Camping | Small shop</title>")
    for answer in (fragment, get("/c/camping?colour=Fern", Accept_Encoding="gzip"), get("/")):
        assert "HX-Request" in answer.headers["Vary"]
    assert "HX-Target" in fragment.headers["Vary"]
    restored = get("/c/camping?colour=Fern", HX_History_Restore_Request="true", **headers)
    assert "<html" in restored.text


def test_the_page_and_the_swap_show_the_same_listing(get: Get):
    whole = get("/c/camping?colour=Fern").text
    part = get("/c/camping?colour=Fern", HX_Request="true", HX_Target="div#listing").text
    assert part[part.index('<div id="listing"') :].strip() in whole


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/c/camping?pageSizeOverride=100", 1),
        ("/c/gifts", 2),
        ("/search?q=tent", 3),  # One of them once for each version of the shop: whether rankings are compared.
        ("/", 2),  # One of them once for each version of the shop: the order of a category whose tile shows a product.
        ("/p/tent-3", 6),  # One of them once an hour: what was bought with it.
        ("/collections/best", 3),
        ("/pages/delivery", 2),
    ],
)
def test_a_page_costs_few_statements(app: Flask, get: Get, clock: StoppedClock, path: str, most: int):
    get("/c/camping?p=2")
    clock.move(seconds=2)
    requests: list[str] = []

    def note(connection, cursor, statement: str, *_: object) -> None:
        requests.append(statement)

    with app.app_context():
        event.listen(db.engine, "before_cursor_execute", note)
    assert get(path).status_code == 200
    assert 0 < len([statement for statement in requests if statement.lstrip().startswith("SELECT")]) <= most


def test_a_change_of_the_categories_shows_at_once_where_it_was_made(app: Flask, get: Get, site_id: int):
    get("/c/gifts")
    with app.app_context(), transaction():
        db.session.query(Node).filter_by(site_id=site_id, path="gifts").one().name = "Presents"
    assert "<h1>Presents</h1>" in get("/c/gifts").text


def test_a_change_by_another_process_shows_within_a_second(app: Flask, get: Get, site_id: int, clock: StoppedClock):
    get("/c/gifts")
    with app.app_context(), db.engine.begin() as other:
        other.execute(update(Node).where(Node.site_id == site_id, Node.path == "gifts").values(name="Presents"))
        other.execute(update(Site).where(Site.id == site_id).values(config_version=Site.config_version + 1))
    assert "<h1>Gifts</h1>" in get("/c/gifts").text
    clock.move(seconds=1)
    assert "<h1>Presents</h1>" in get("/c/gifts").text


@pytest.mark.parametrize("path", ["/c/camping", "/search?q=tent"])
def test_a_list_too_long_to_page_through_says_so_and_links_its_last_page(
    get: Get, monkeypatch: pytest.MonkeyPatch, path: str
):
    for module in ("engine", "listings.browsing"):
        monkeypatch.setattr(f"app.domain.search.{module}.RESULT_WINDOW", 3)
    sign = "&" if "?" in path else "?"
    page = get(f"{path}{sign}pageSizeOverride=2&p=3")
    assert page.status_code == 200
    assert "This list is too long to page through" in page.text and names(page.text) == []
    assert f"{path}{sign}pageSizeOverride=2&p=2" in links(page.text)
    assert '<meta name="robots" content="noindex, follow">' in page.text
    last = get(f"{path}{sign}pageSizeOverride=2&p=2").text
    assert len(names(last)) == 1
    assert get(f"{path}{sign}pageSizeOverride=2&p=999").status_code == 404, "the list itself has no such page"


def test_a_category_is_one_request_to_the_engine_and_none_where_it_is_cached(
    app: Flask, get: Get, monkeypatch: pytest.MonkeyPatch
):
    with app.app_context():
        engine = ports.search_engine()
    calls: list[str] = []
    for name in ("search", "search_many", "status"):
        real = getattr(type(engine), name)
        counted = lambda self, *given, name=name, real=real: calls.append(name) or real(self, *given)  # noqa: E731
        monkeypatch.setattr(type(engine), name, counted)
    get("/c/camping?sort=name")
    assert calls == ["search", "search_many"], "the second is how Whoosh's engine does the first"
    get("/c/camping?sort=name")
    assert len(calls) == 2


def test_a_description_is_shown_as_the_html_that_it_is(app: Flask, get: Get):
    with app.app_context(), transaction():
        camping = db.session.scalars(select(Node).where(Node.path == "camping")).one()
        camping.description = "<p>All for <b>camp</b></p>"
    assert '<div class="prose"><p>All for <b>camp</b></p></div>' in get("/c/camping").text


def test_a_trail_through_a_category_called_home_begins_with_the_shop(app: Flask, get: Get):
    with app.app_context(), transaction():
        camping = db.session.scalars(select(Node).where(Node.path == "camping")).one()
        camping.name = "Home"
    page = get("/c/camping/tents").text
    trail = re.search(r'<nav class="trail".*?</nav>', page, re.DOTALL)
    assert trail and re.findall(r"<a [^>]*>\s*([^<]+)</a>", trail[0]) == ["Small shop", "Home"]
    assert re.search(r'"BreadcrumbList".*?"name": ?"Small shop", ?"item": ?"https://shop.test/"', page)


def lead(text: str) -> str:
    found = re.search(r'class="lead-picture(?: drawn)?" src="([^"]+)"', text)
    assert found
    return found[1]


def test_a_category_begins_with_its_picture_else_with_those_of_products_behind_the_first(
    app: Flask, get: Get, site_id: int
):
    text = get("/c/camping").text
    begins, _, cards = text.partition('<ul class="cards">')
    beside = re.findall(r'class="lead-picture(?: drawn)?" src="([^"]+)"', begins)
    first = re.search(r'src="([^"]+)"', cards)
    assert 1 <= len(beside) <= 3 and len(set(beside)) == len(beside)
    assert first and first[1].partition(".svg")[0] not in {it.partition("-cutout")[0] for it in beside}
    with app.app_context(), transaction():
        db.session.query(Node).filter_by(site_id=site_id, path="camping").one().picture = "0123abcd.webp"
    own = lead(get("/c/camping").text)
    assert own.startswith(f"/media/{site_id}/0123abcd") and lead(get("/c/camping?colour=Fern").text) == own


def test_what_is_sold_out_stands_beside_a_heading_only_where_nothing_else_does(app: Flask, site_id: int):
    def card(id: int, in_stock: bool) -> dict[str, object]:
        return {"id": id, "image": f"{id:08x}.webp", "kind": "tent", "name": "Tent", "colour": "", "inStock": in_stock}

    def beside(*in_stock: bool) -> list[str]:
        with app.test_request_context(base_url="http://shop.test"):
            cards = [card(id, is_there) for id, is_there in enumerate((True, *in_stock))]
            return [picture.rpartition("/")[2][:8] for picture in _pictures_beside_heading(cards)]

    assert beside(False, True) == ["00000002"]
    assert beside(False, False) == ["00000001", "00000002"]


def test_a_list_without_products_begins_with_its_heading_alone(get: Get):
    text = get("/c/camping?price_min=9000").text
    assert re.search(r'<header class="head lead[^"]* words">', text) and "lead-picture" not in text


def test_a_long_description_stands_below_the_products(app: Flask, get: Get, site_id: int):
    with app.app_context(), transaction():
        camping = db.session.query(Node).filter_by(site_id=site_id, path="camping").one()
        camping.description = f"<p>{'All for camp. ' * 30}</p>"
    text = get("/c/camping").text
    assert text.count("All for camp.") >= 30 and text.index('class="prose further"') > text.index('id="listing"')
