"""What a shop chose for its looks, as shoppers see it."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from PIL import Image

from app import ports
from app.domain.appearance.appearances import read_sent, save_appearance
from app.domain.catalogue.models import Collection, CollectionEntry, Page, Product
from app.domain.merchandising.shop import collection_rows
from app.domain.shared.author import Author
from app.extensions import db
from app.transaction import transaction
from app.web.themes.look import Look
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.conftest import Get
from tests.fakes.clock import StoppedClock
from tests.statements import statements

Choose = Callable[..., None]


@pytest.fixture
def choose(app: Flask, site_id: int, clock: StoppedClock) -> Choose:
    """Save an appearance, given by its JSON."""

    def choose(**sent: Any) -> None:
        with app.app_context(), transaction():
            save_appearance(Author(site_id, "Anna", clock), None, read_sent(sent))
        clock.move(seconds=1)

    return choose


@pytest.fixture
def stored_picture(app: Flask, site_id: int) -> dict[str, Any]:
    out = BytesIO()
    Image.new("RGB", (1_200, 600), "green").save(out, "PNG")
    with app.app_context():
        stored = ports.images().keep(site_id, out.getvalue())
    return {"file": stored.file, "width": stored.width, "height": stored.height}


def test_a_shop_that_chose_nothing_has_only_its_theme(get: Get) -> None:
    page = get("/").text
    assert "/static/look/" not in page and 'rel="preload"' not in page
    assert 'class="contact-facts"' not in page


def test_colours_font_and_corners_are_one_style_sheet_that_is_kept_for_good(get: Get, choose: Choose) -> None:
    choose(accent="#8a1f5c", background="#fff8f0", font="figtree", corners="square")
    page = get("/c/camping").text
    address = re.search(r'<link rel="stylesheet" href="(/static/look/[^"]+)">', page)
    font = re.search(r'<link rel="preload" href="([^"]+)" as="font" type="font/woff2" crossorigin>', page)
    assert address and font
    style = get(address[1])
    assert style.mimetype == "text/css" and "immutable" in style.headers["Cache-Control"]
    assert "--accent: light-dark(#8a1f5c" in style.text and "--ground: light-dark(#fff8f0" in style.text
    assert f'url("{font[1]}")' in style.text and "--r: 0px" in style.text
    with get(font[1]) as file:
        assert file.data[:4] == b"wOF2"
    assert get(address[1].partition("?")[0]).headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize(
    "name", ["x", "zzzzzz_theme_theme_theme", "theme_111111_theme_theme", "theme_theme_comic_theme"]
)
def test_a_look_that_no_shop_can_have_is_not_found(get: Get, name: str) -> None:
    assert get(f"/static/look/{name}.css").status_code == 404


def test_the_name_of_a_look_says_all_of_it() -> None:
    look = Look("#8a1f5c", "", "dm-sans", read_sent({"corners": "round"}).corners)
    assert Look.named(look.name) == look
    assert Look.named(Look().name) == Look()


def test_logo_and_favicon_stand_where_name_and_sign_were(
    get: Get, choose: Choose, stored_picture: dict[str, Any]
) -> None:
    choose(logo=stored_picture, favicon=stored_picture)
    page = get("/").text
    assert re.search(r'<a class="brand" href="/"><img src="/media/\d+/\w+-small.webp" alt="Small shop"', page)
    assert re.search(r'<link rel="icon" href="/media/\d+/\w+-small.webp" type="image/webp">', page)


def test_the_hero_shows_picture_texts_and_button(get: Get, choose: Choose, stored_picture: dict[str, Any]) -> None:
    texts = {"heroHeading": "Out <there>", "heroText": "All year", "heroButton": "Look", "heroLink": "/c/camping"}
    choose(**texts, heroPicture=stored_picture, heroFocus="top-left")
    page = get("/").text
    assert "<h1>Out &lt;there&gt;</h1>" in page and "<p>All year</p>" in page
    assert '<a class="button" href="/c/camping">Look</a>' in page
    assert "hero pictured focus-top-left" in page and 'fetchpriority="high"' in page


def test_sections_stand_in_their_order_and_those_without_products_are_left_out(get: Get, choose: Choose) -> None:
    choose(
        sections=[
            {"kind": "newest", "heading": "Fresh"},
            {"kind": "products", "rule": "level", "ruleValue": "tents", "heading": "Tents for two"},
            {"kind": "products", "rule": "manufacturer", "ruleValue": "Nobody", "heading": "From nobody"},
            {"kind": "collection", "collection": "best"},
            {"kind": "collection", "collection": "gone"},
            {"kind": "text", "heading": "Repairs", "text": "We do.\nAlways."},
            {"kind": "hero"},
        ]
    )
    page = get("/").text
    main = page[page.index("<main") : page.index("</main>")]
    headings = re.findall(r"<h[12][^>]*>(.*?)</h[12]>", main)
    assert [text for text in headings if text != "Fresh"] == [
        "Tents for two",
        "Best of rain",
        "Repairs",
        "Welcome to Small shop",
    ]
    assert "<p>We do.</p><p>Always.</p>" in main and 'href="/collections/best"' in main


def test_collections_are_read_at_once_each_with_the_first_of_its_products(
    app: Flask, site_id: int, get: Get, choose: Choose
) -> None:
    names = [f"collection-{number}" for number in range(4)]
    with app.app_context():
        with transaction():
            products = {p.sku: p.id for p in db.session.query(Product).filter_by(site_id=site_id)}
            for name in names:
                made = Collection(site_id=site_id, name=name, seo_name=name, updated_at=small_shop.BEGAN)
                db.session.add(made)
                db.session.flush()
                for position, sku in enumerate(("S-7", "S-12", "S-4")):
                    entry = {"site_id": site_id, "collection_id": made.id, "product_id": products[sku]}
                    db.session.add(CollectionEntry(**entry, position=position))
        small_shop.index(site_id)
        rows = collection_rows(site_id, {*names, "old", "none"}, 2)
        assert {name: row.product_ids for name, row in rows.items()} == {
            name: (products["S-7"], products["S-12"]) for name in names
        }
    choose(sections=[{"kind": "collection", "collection": name} for name in [*names, names[0], "old", "none"]])
    get("/")
    with statements(app) as seen:
        page = get("/").text
    shown = re.findall(r'<h2 id="shelf-\d">(?:<a[^>]*>)?([\w-]+)', page)
    assert shown == [*names, names[0]]
    assert re.findall(r'<a href="/p/([^"]+)"', page)[:3] == ["tent-7", "mug-12", "tent-4"]
    assert len([statement for statement in seen if "collection" in statement]) == 1


def test_a_home_page_without_a_hero_still_has_its_heading(get: Get, choose: Choose) -> None:
    choose(sections=[])
    assert '<h1 class="unseen">Small shop</h1>' in get("/").text


def test_contact_stands_in_the_footer_of_every_page(get: Get, choose: Choose) -> None:
    choose(
        email="hello@shop.test",
        phone="+44 1539 496",
        address="1 High Street\nKendal",
        openingHours="Mon–Fri: 9:00–17:30",
        social=["https://www.instagram.com/shop"],
    )
    page = get("/pages/delivery").text
    for part in (
        'href="mailto:hello@shop.test"',
        'href="tel:+441539496"',
        "1 High Street<br>Kendal",
        "<dt>Mon–Fri</dt><dd>9:00–17:30</dd>",
        '<a href="https://www.instagram.com/shop" rel="me noopener">Instagram</a>',
    ):
        assert part in page, part


@pytest.mark.parametrize("phone", ["Ask for Sam", "+"])
def test_a_phone_number_without_digits_is_text_and_no_link(get: Get, choose: Choose, phone: str) -> None:
    choose(phone=phone)
    page = get("/pages/delivery").text
    assert f"<li>{phone}</li>" in page and 'href="tel:' not in page


def test_the_page_at_contact_shows_the_contact_data(app: Flask, get: Get, choose: Choose, site_id: int) -> None:
    with app.app_context(), transaction():
        page = Page(site_id=site_id, title="Contact", seo_name="contact", body="<p>Ring us.</p>", enabled=True)
        page.updated_at = ports.clock().now()
        db.session.add(page)
    choose(phone="01539 496 0123", address="12 Market Square")
    article = get("/pages/contact").text.partition("<article")[2].partition("</article>")[0]
    assert 'href="tel:015394960123"' in article and "12 Market Square" in article
    other = get("/pages/delivery").text.partition("<article")[2].partition("</article>")[0]
    assert "12 Market Square" not in other
