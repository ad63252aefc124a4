"""Product pages over HTTP."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.domain.catalogue.models import Product, ProductImage
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.conftest import Get


def test_a_product_shows_price_stock_and_where_it_belongs(get: Get):
    page = get("/p/tent-5")
    assert page.status_code == 200
    assert "<h1>Fell tent 5</h1>" in page.text
    assert "£50.00" in page.text and "Only 1 left" in page.text
    assert re.findall(r'<li><a href="(/c/[^"]*)">', page.text[page.text.index('class="trail"') :])[:2] == [
        "/c/camping",
        "/c/camping/tents",
    ]


def test_attributes_meant_for_the_page_are_shown_in_order_with_their_labels(get: Get):
    page = get("/p/tent-5").text
    facts = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page)
    assert facts == [
        ("Brand", "Fell &amp; Fern"),
        ("Colour", "Odd"),
        ("Weight", "2.5 kg"),
        ("Waterproof", "Yes"),
    ]
    assert "hush" not in page


def test_the_description_keeps_its_markup(get: Get):
    assert "<p>Made for <b>rain</b>.</p>" in get("/p/tent-5").text


def test_a_lower_price_is_shown_beside_the_old_one(get: Get):
    page = get("/p/tent-1").text
    assert '<strong class="sale">£10.00</strong>' in page
    assert "£15.00</s>" in page


def option(page: str, name: str) -> str:
    forms = re.findall(r'<form class="options".*?</form>', page, re.DOTALL)
    return next(form for form in forms if f"<legend>{name}:" in form)


def test_variants_are_chosen_by_forms_that_need_no_script(get: Get):
    page = get("/p/tent-3").text
    assert "Code: S-3-L" in page, "the first that can be had"
    assert "£45.50" in page
    small = get("/p/tent-3?variant=S-3-S").text
    assert "Sold out" in small and "£30.00" in small
    colours = option(page, "Colour")
    assert colours.startswith('<form class="options" action="/p/tent-3"') and "method=" not in colours
    assert re.findall(r'type="radio" name="variant" value="([^"]*)"', colours) == ["S-3-L", "S-3-N"]
    assert "<noscript><button" in colours


def test_the_chosen_values_are_ticked_and_what_is_sold_out_is_struck_through_and_said(get: Get):
    sizes = option(get("/p/tent-3").text, "Size")
    small, large = re.findall(r"<label.*?</label>", sizes, re.DOTALL)
    assert "<legend>Size: <strong>Large</strong>" in sizes
    assert " checked" in large and " checked" not in small
    assert 'class="gone"' in small and "(sold out)" in small
    assert 'class="gone"' not in large


def test_colours_are_swatches_and_other_options_plain_buttons(get: Get):
    page = get("/p/tent-3").text
    drawn = re.findall(r'<img[^>]* src="(/picture/[^"]*)"', option(page, "Colour"))
    assert len(set(drawn)) == 2, "without photographs each colour is drawn"
    assert "<svg" not in option(page, "Size") and "<img" not in option(page, "Size")


def test_a_colour_is_shown_by_the_picture_of_its_variant_where_they_differ(app: Flask, get: Get, site_id: int):
    def show(**pictures: str) -> tuple[int, list[str]]:
        with app.app_context(), transaction():
            product = db.session.query(Product).filter_by(site_id=site_id, seo_name="tent-3").one()
            product.images = [
                ProductImage(site_id=site_id, position=place, file=f"{name}.webp", alt="", width=800, height=600)
                for place, name in enumerate("ab")
            ]
            for variant in product.variants:
                variant.picture = pictures.get(variant.options["Colour"])
        colours = option(get("/p/tent-3").text, "Colour")
        return colours.count('class="dot"'), re.findall(rf'srcset="/media/{site_id}/(.-tiny.webp)"', colours)

    assert show() == (2, [])
    assert show(Navy="b.webp") == (0, ["a-tiny.webp", "b-tiny.webp"])


def test_the_shop_says_how_a_product_is_had_and_links_what_it_says_about_it(get: Get):
    page = get("/p/tent-5").text
    facts = page.partition('class="buying-facts"')[2].partition("</ul>")[0]
    assert "Collect it in the shop" in facts and "Pay there" in facts
    assert re.findall(r'href="([^"]*)">([^<]*)', facts) == [("/pages/delivery", "Delivery in the rain")]


def test_a_sold_out_product_has_neither_button_nor_bar(get: Get):
    assert get("/p/tent-5").text.count('form="add"') == 1
    page = get("/p/tent-4").text
    assert 'form="add"' not in page and "buy-bar" not in page


def test_choosing_a_variant_brings_its_picture_to_the_front_with_and_without_scripts(app: Flask, get: Get):
    with app.app_context(), transaction():
        product = db.session.query(Product).filter_by(seo_name="tent-3").one()
        for place, file in enumerate(("a.webp", "b.webp")):
            image = ProductImage(site_id=product.site_id, position=place, file=file, alt=file, width=40, height=30)
            product.images.append(image)
        next(variant for variant in product.variants if variant.sku == "S-3-S").picture = "b.webp"
    page = get("/p/tent-3?variant=S-3-S").text
    assert re.findall(r'alt="(.\.webp)"', page) == ["b.webp", "a.webp"]
    assert re.findall(r'alt="(.\.webp)"', get("/p/tent-3").text) == ["a.webp", "b.webp"]
    assert page.count('id="gallery"') == 1 and 'hx-select-oob="#gallery"' in page


def test_an_unknown_variant_shows_the_product_as_it_comes(get: Get):
    assert "Code: S-3-L" in get("/p/tent-3?variant=%3Cscript%3E").text


def test_a_product_without_photographs_is_drawn(get: Get):
    page = get("/p/tent-5").text
    pictures = re.findall(r'<img src="(/picture/[^"]*)"', page[: page.index("Similar products")])
    assert ["scene" in picture or "detail" in picture for picture in pictures] == 2 * [False, True, True], (
        "large ones, and small ones that lead to them"
    )
    assert all(picture.startswith("/picture/tent/") and get(picture).status_code == 200 for picture in pictures)


def test_photographs_come_in_their_order(app: Flask, get: Get, site_id: int):
    with app.app_context(), transaction():
        product = db.session.query(Product).filter_by(site_id=site_id, seo_name="tent-5").one()
        product.images = [
            ProductImage(site_id=site_id, position=1, file="b.webp", alt="Back", width=80, height=60),
            ProductImage(site_id=site_id, position=0, file="a.webp", alt="", width=800, height=600),
        ]
    page = get("/p/tent-5").text
    assert re.findall(rf'<img src="/media/{site_id}/(.\.jpg)"\s+alt="(.*?)"', page) == [
        ("a.jpg", "Fell tent 5"),
        ("b.jpg", "Back"),
        ("a.jpg", ""),
        ("b.jpg", ""),
    ], "large ones with their words, small ones that lead to them without"
    assert f'<meta property="og:image" content="https://shop.test/media/{site_id}/a.jpg">' in page


def test_a_photograph_comes_in_the_sizes_that_screens_show_and_the_first_one_first(app: Flask, get: Get, site_id: int):
    with app.app_context(), transaction():
        product = db.session.query(Product).filter_by(site_id=site_id, seo_name="tent-5").one()
        product.images = [
            ProductImage(site_id=site_id, position=0, file="a.webp", alt="", width=800, height=600),
            ProductImage(site_id=site_id, position=1, file="b.webp", alt="Back", width=80, height=60),
        ]
    first, second, *small = re.findall(r"<picture>.*?</picture>", get("/p/tent-5").text, re.DOTALL)
    folder = f"/media/{site_id}"
    assert f'srcset="{folder}/a-tiny.webp 240w, {folder}/a-small.webp 480w, {folder}/a.webp 800w"' in first
    assert 'fetchpriority="high"' in first and "lazy" not in first
    assert f'srcset="{folder}/b.webp">' in second and 'loading="lazy"' in second
    assert [picture.count('loading="lazy"') for picture in small] == [1, 1] and 'sizes="5rem"' in small[0]


@pytest.mark.parametrize("name", ["tent-2", "none", "TENT-5"])
def test_disabled_and_unknown_products_are_not_found(get: Get, name: str):
    assert get(f"/p/{name}").status_code == 404


def test_a_product_of_another_shop_is_not_found(app: Flask, get: Get, site_id: int):
    with app.app_context():
        small_shop.build("other.test", "Other shop")
        with transaction():
            db.session.query(Product).filter_by(site_id=site_id, seo_name="tent-5").one().enabled = False
    assert get("/p/tent-5").status_code == 404
    assert get("/p/tent-5", host="other.test").status_code == 200


@pytest.mark.parametrize(
    ("rating", "stars", "number"),
    [(4.46, "★★★★<i>★</i>", "4.5"), (5.0, "★★★★★<i></i>", "5"), (0.4, "<i>★★★★★</i>", "0.4")],
)
def test_a_rating_is_shown_as_stars_and_said_in_words(
    app: Flask, get: Get, site_id: int, rating: float, stars: str, number: str
):
    with app.app_context(), transaction():
        db.session.query(Product).filter_by(site_id=site_id, seo_name="tent-5").one().rating = rating
    shown = get("/p/tent-5").text
    assert stars in shown
    assert f'<span class="unseen">Rated </span>{number}<span class="unseen"> out of 5</span>' in shown


@pytest.mark.parametrize("rating", [None, 0.0])
def test_without_a_rating_there_are_no_stars(app: Flask, get: Get, site_id: int, rating: float | None):
    with app.app_context(), transaction():
        db.session.query(Product).filter_by(site_id=site_id, seo_name="tent-5").one().rating = rating
    assert 'class="rating"' not in get("/p/tent-5").text


def test_each_of_several_pictures_is_led_to_by_a_small_one_without_scripts(app: Flask, get: Get, site_id: int):
    with app.app_context(), transaction():
        product = db.session.query(Product).filter_by(site_id=site_id, seo_name="tent-5").one()
        product.images = [
            ProductImage(site_id=site_id, position=place, file=f"{name}.webp", alt=name, width=800, height=600)
            for place, name in enumerate("abc")
        ]
        other = db.session.query(Product).filter_by(site_id=site_id, seo_name="tent-7").one()
        other.images = [ProductImage(site_id=site_id, position=0, file="d.webp", alt="", width=800, height=600)]
    frames, _, thumbs = (
        get("/p/tent-5").text.partition('class="frames"')[2].partition("</section>")[0].partition("</ul>")
    )
    assert re.findall(r'<li id="(picture-\d)"><a href="([^"]*)"', frames) == [
        (f"picture-{number}", f"/media/{site_id}/{name}.webp") for number, name in enumerate("abc", start=1)
    ]
    assert re.findall(r'<a href="#([^"]*)" aria-label="([^"]*)"', thumbs) == [
        (f"picture-{number}", f"Picture {number} of 3") for number in (1, 2, 3)
    ]
    assert thumbs.count("aria-current") == 1
    assert "thumbs" not in get("/p/tent-7").text, "one picture needs none"
