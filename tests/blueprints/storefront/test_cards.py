"""Cards: what lists show of a product besides its name and price."""

from __future__ import annotations

import re
from typing import Any

from flask import Flask

from app.domain.catalogue.models import Product, ProductImage
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.conftest import Get
from tests.statements import statements


def card_of(page: str, seo_name: str) -> str:
    cards = re.findall(r'<li class="card">.*?</li>', page, re.DOTALL)
    return next(card for card in cards if f'href="/p/{seo_name}"' in card)


def change(app: Flask, site_id: int, seo_name: str, files: str = "", **fields: Any) -> None:
    with app.app_context():
        with transaction():
            product = db.session.query(Product).filter_by(site_id=site_id, seo_name=seo_name).one()
            product.images = [
                ProductImage(site_id=site_id, position=place, file=f"{file}.webp", alt="", width=800, height=600)
                for place, file in enumerate(files)
            ]
            for name, value in fields.items():
                setattr(product, name, value)
        small_shop.index(site_id)


def test_a_card_shows_the_rating_as_stars_with_its_number_in_words(app: Flask, get: Get, site_id: int) -> None:
    change(app, site_id, "tent-9", rating=4.46)
    card = card_of(get("/c/gifts").text, "tent-9")
    assert "★★★★<i>★</i>" in card
    assert '<span class="unseen">Rated </span>4.5<span class="unseen"> out of 5</span>' in card
    assert 'class="rating"' not in card_of(get("/c/gifts").text, "tent-1")


def test_a_card_has_the_second_picture_for_a_mouse_and_loads_it_only_when_it_is_shown(
    app: Flask, get: Get, site_id: int
) -> None:
    change(app, site_id, "tent-9", files="abc")
    card = card_of(get("/c/gifts").text, "tent-9")
    first, second = re.findall(r"<picture>.*?</picture>", card, re.DOTALL)
    assert f"/media/{site_id}/a.jpg" in first and "second" not in first
    assert f'srcset="/media/{site_id}/b-small.webp"' in second and 'class="second" loading="lazy"' in second
    assert 'alt=""' in second, "the name of the product stands beside it"
    assert "c.jpg" not in card


def test_one_photograph_has_no_second_picture_and_a_drawing_one_of_its_use(app: Flask, get: Get, site_id: int) -> None:
    change(app, site_id, "tent-9", files="a")
    page = get("/c/gifts").text
    assert "second" not in card_of(page, "tent-9")
    assert card_of(page, "tent-1").count("/picture/") == 2


def test_cards_with_pictures_and_ratings_need_no_statement_more(app: Flask, get: Get, site_id: int) -> None:
    with statements(app) as before:
        get("/c/camping/tents?sort=newest")
    for number in (6, 7, 8, 9):
        change(app, site_id, f"tent-{number}", files="ab", rating=4.0)
    with statements(app) as after:
        assert get("/c/camping/tents?sort=newest").text.count('class="second"') == 4
    assert len(after) <= len(before)
